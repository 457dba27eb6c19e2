"""Kinds of things and what belongs to them: what one does, likes, feels, eats, owns and works on.

One entry: the words that ask for a kind, a colon, its members; further lines of it are indented (processors/lexicon/hyponyms.py).
"""

from __future__ import annotations

from typing import Final

KINDS: Final = """
    sport game athlete exercise train 运动 体育: basketball football soccer tennis baseball volleyball hockey golf
        rugby cricket badminton surf swim run jog ski skate snowboard climb box cycle bike race marathon gymnastics
        yoga kayak row wrestle martial karate taekwondo judo kickbox hike 篮球 足球 网球 羽毛球 乒乓球 排球 跑步 游泳
        滑雪 爬山 登山 骑车 骑行 瑜伽 健身 马拉松 攀岩 拳击 滑板 冲浪 打球
    martial: karate taekwondo judo kickbox box aikido fence wrestle
    exercise workout fitness 锻炼 健身: yoga gym run jog swim weight lift cardio pilates stretch cycle hike kickbox
        walk dance squat 跑步 游泳 瑜伽 健身房 举铁 拉伸 骑车 散步 深蹲
    activity hobby leisure pastime fun outdoor indoor interest weekend 活动 爱好 业余爱好 兴趣 周末 消遣: hike camp
        swim paint pottery dance run bike fish cook bake read garden sing draw climb surf ski kayak picnic photography
        knit sew yoga museum park beach concert game movie skate volunteer travel explore play guitar piano write 爬山
        露营 游泳 画画 跳舞 跑步 骑行 钓鱼 做饭 烘焙 看书 读书 唱歌 摄影 拍照 陶艺 吉他 钢琴 旅行 瑜伽 养花 种花 书法
        下棋 电影 游戏 滑雪 野餐
    outdoor nature 户外: hike camp mountain trail beach lake forest surf fish bike climb kayak park picnic garden 爬山
        露营 登山 公园 湖 海边 森林 钓鱼
    food eat dish meal cook recipe cuisine snack dinner lunch breakfast restaurant bake 食物 吃 菜 美食 做饭 晚饭 午饭
        早饭 口味 味道: pizza pasta salad soup steak sushi chicken beef pork fish seafood rice noodle bread cake
        cookie pie chocolate cheese egg sandwich burger curry taco vegetable fruit ice cream pancake lasagna turkey
        bbq grill dessert vegan roast 饺子 面条 米饭 火锅 烤肉 牛肉 鸡肉 鱼 海鲜 蛋糕 面包 水果 巧克力 包子 馒头 沙拉
        汤 粥 豆腐 辣 烧烤 米线 粽子 月饼 甜 咸 清淡
    dessert sweet treat 甜点 甜品: cake cookie pie ice cream chocolate brownie pudding cupcake tart muffin candy donut
        蛋糕 饼干 巧克力 冰淇淋 布丁 蛋挞
    drink beverage 喝 饮料: coffee tea beer wine juice soda cocktail water milk smoothie latte espresso lemonade 咖啡
        茶 啤酒 红酒 白酒 果汁 可乐 奶茶 拿铁 美式 豆浆 牛奶 乌龙 绿茶 红茶 水
    fruit 水果: apple banana orange strawberry mango grape peach pear lemon cherry watermelon blueberry 苹果 香蕉 橙子
        草莓 芒果 葡萄 桃子 梨 柠檬 西瓜 樱桃 榴莲
    pet animal 宠物 动物: dog cat puppy kitten bird fish turtle hamster rabbit snake horse guinea parrot lizard 狗 猫
        小狗 小猫 鱼 乌龟 仓鼠 兔子 鹦鹉 马 金毛
    instrument music musical 乐器 音乐: guitar piano violin drum flute cello clarinet saxophone trumpet ukulele bass
        keyboard harp 吉他 钢琴 小提琴 鼓 笛子 古筝 二胡 萨克斯
    music band song artist concert genre listen 音乐 歌 歌手 乐队 演唱会: rock jazz pop classical metal rap hip album
        song band concert singer melody playlist orchestra 摇滚 爵士 古典 专辑 唱 歌曲 民谣 钢琴 吉他
    dance 舞 跳舞: ballet salsa hip contemporary tango tap jazz freestyle studio 芭蕾 街舞 拉丁 广场舞
    book author novel read series literature writer 书 小说 作者 作家 读: novel fantasy series fiction biography
        mystery trilogy poem memoir chapter bookshelf library story thriller 小说 传记 诗 散文 图书馆 故事
    movie film tv show series watch actor director genre 电影 电视剧 剧 影片 导演 演员 看: movie film show drama
        comedy horror thriller romance trilogy series episode scene documentary 纪录片 喜剧 恐怖片 动画 剧集 电影院
        影院
    game video play console board 游戏: xbox playstation nintendo switch pc chess tournament card rpg strategy
        monopoly poker puzzle multiplayer 手柄 桌游 麻将 象棋 围棋 扑克 主机
    art paint artwork craft creative 画 艺术 作品: paint sculpture pottery draw watercolor canvas sketch portrait
        abstract landscape clay sunset gallery 油画 水彩 素描 雕塑 陶艺 国画 书法 展览
    family relative child kid son daughter parent sibling 家人 孩子 子女 父母 亲戚 who 谁: mom dad mother father son
        daughter brother sister wife husband kid baby grandma grandpa uncle aunt cousin niece nephew twin toddler 妈妈
        爸爸 我妈 我爸 儿子 女儿 哥哥 姐姐 弟弟 妹妹 老婆 老公 媳妇 娃 外公 外婆 爷爷 奶奶 叔叔 舅舅 姑姑
    mother mom 妈妈 母亲: mom mother mum 我妈 妈妈 妈 母亲 老妈
    father dad 爸爸 父亲: dad father 我爸 爸爸 爸 父亲 老爸
    wife spouse husband partner marry 妻子 丈夫 爱人 老婆 老公 媳妇 结婚 婚礼: wife husband wedding honeymoon fiance
        bride groom marry 老婆 老公 媳妇 妻子 丈夫 爱人 新娘 新郎 婚礼 蜜月 领证 彩礼
    child kid 孩子 儿子 女儿: kid child son daughter toddler baby 娃 孩子 儿子 女儿 闺女 宝宝 小孩
    grandparent grandmother grandfather 祖父母 外公 外婆 爷爷 奶奶: grandma grandpa grandfather grandmother granny
        姥爷 姥姥 爷爷 奶奶 外公 外婆
    friend people name colleague neighbor roommate boss 朋友 同事 同学 邻居 室友 老板 人 who 谁: friend buddy
        colleague coworker teammate neighbor classmate roommate mentor boss workmate pal 朋友 哥们 闺蜜 同事 同学 邻居
        室友 老板 队友 师傅
    relationship status date single 恋爱 感情 单身: single date boyfriend girlfriend breakup divorce marry engage
        partner 男朋友 女朋友 对象 分手 离婚 结婚 单身 相亲
    job work career profession occupation employ company business field industry 工作 职业 公司 行业 岗位 上班 谋生:
        teacher nurse doctor engineer lawyer chef artist designer writer manager startup store shop bank intern
        promotion hire interview freelance developer salary office boss client counselor studio 老师 护士 医生 工程师
        律师 厨师 设计师 经理 创业 开店 店 银行 实习 升职 入职 面试 程序员 工资 跳槽 辞职 转正
    education study degree major school college university course class student 学 学习 学校 专业 课程 大学 学位:
        college university degree class exam school major psychology engineering scholarship graduate certificate
        diploma teacher professor student thesis semester 大学 专业 课程 考试 毕业 证书 论文 老师 研究生 硕士 博士
        培训 网课
    country travel visit location place trip vacation abroad state nation geographical 国家 旅行 旅游 地方 去过 出国
        景点 where 哪里 哪儿: usa uk england london france paris spain italy rome germany japan tokyo china canada
        mexico australia brazil india thailand greece ireland scotland sweden switzerland europe california florida
        oregon hawaii alaska texas york chicago seattle boston 美国 英国 日本 韩国 泰国 法国 德国 意大利 新加坡 新西兰
        加拿大 澳洲 北京 上海 杭州 成都 西安 厦门 云南 新疆 西藏 三亚
    city town live move hometown settle 城市 住 搬 老家 定居 where 哪里 哪儿: york chicago seattle boston london paris
        tokyo rome angeles francisco vegas miami diego austin denver dallas barcelona amsterdam berlin toronto
        downtown 北京 上海 广州 深圳 杭州 成都 西安 南京 重庆 武汉 苏州 厦门 三亚 新加坡 东京 纽约 伦敦
    vacation trip travel holiday 旅行 旅游 度假 出差: beach mountain hotel flight road cruise camp resort island lake
        park castle hike explore 海边 酒店 高铁 飞机 机票 民宿 景区 签证 自驾 攻略 行程
    vehicle car transport drive commute 车 交通 开车: car truck motorcycle bike van jeep bus train toyota tesla 汽车
        电动车 自行车 摩托 地铁 高铁 公交
    clothes wear fashion outfit clothing 衣服 穿: shirt dress shoe sneaker jacket hat jean hoodie skirt sock boot
        scarf necklace ring 裙子 衬衫 外套 鞋 帽子 围巾 项链 戒指
    item collect gift present receive possession buy purchase 东西 礼物 生日礼物 买 收藏 物品 家具: necklace ring book
        camera guitar doll jersey sneaker ball shoe bowl mug poster figurine card letter watch photo plant bike paint
        dvd ticket toy bracelet 手表 项链 戒指 书 鞋 自行车 手机 玩具 杯子 花 吉他 耳机 键盘 桌子 柜子 沙发
    color 颜色: red blue green yellow purple pink black white orange brown grey 红色 蓝色 绿色 黄色 紫色 粉色 黑色
        白色 棕色 灰色
    health ill injury sick medical disease pain hospital allergy allergic condition doctor 健康 病 生病 身体 医院 医生
        过敏 受伤: doctor hospital surgery pain ankle knee injury asthma diet diabetes cancer cold flu therapy
        medicine fever allergic allergy sprain fracture heart stress sleep 大夫 医院 手术 发烧 感冒 咳嗽 过敏 血压
        膝盖 骨折 骨裂 胃 药 体检 住院 失眠 腰 心慌 高血压
    emotion feel mood reaction 心情 感受 情绪: happy sad proud nervous anxious excite grateful angry scare stress
        relieve lonely upset thrill 开心 难过 紧张 焦虑 激动 生气 害怕 感动 崩溃 压力 纠结
    goal plan dream future aspire hope ambition want 目标 计划 梦想 打算 将来: goal dream plan hope open start win
        improve learn build save career future 目标 计划 梦想 希望
    charity volunteer donate cause help community support 公益 志愿 志愿者 捐: shelter fundraiser homeless donate
        volunteer drive food community veteran hospital orphanage charity foundation kid 献血 捐款 义工 福利院 志愿者
    belief religion religious faith spiritual political 信仰 宗教: church god faith pray bible temple mosque buddhist
        christian muslim liberal conservative 教堂 寺庙 佛 祈祷
    identity gender orientation 身份: transgender gay lesbian queer lgbtq woman man bisexual
    award achieve win accomplishment success competition contest 奖 获奖 成就 成绩 比赛: win place trophy award medal
        champion record prize title tournament score final certificate 冠军 奖牌 奖杯 纪录 名次 决赛
    money cost price pay expensive spend fee 钱 价格 花 费用 多少钱 贵 房租: dollar buck cheap expensive budget loan
        rent price pay cost discount fee 贵 便宜 划算 押金 贷款 租金 预算 打折
    home house apartment rent live 房子 家 房 租: apartment house room rent mortgage roommate neighbourhood condo
        landlord mansion 公寓 房东 租金 小区 电梯 阳台 装修 客厅 厨房 搬家
    furniture 家具: table chair sofa couch desk bed shelf cabinet lamp 桌子 椅子 沙发 床 书架 柜子 台灯 bookshelf
        wardrobe dresser rug mirror mattress curtain 书桌 衣柜 地毯 镜子 床垫 窗帘
    tree plant flower garden 花 植物: rose sunflower tulip orchid tomato herb tree lily daisy cactus succulent 玫瑰
        桂花 兰花 多肉 绿萝 树 向日葵
    weather season climate 天气 季节: rain snow storm sunny hot cold flood hurricane heat wind 下雨 下雪 台风 热 冷 晴
        暴雨
    festival holiday celebrate event party 节日 庆祝 活动: christmas thanksgiving halloween birthday wedding easter
        parade anniversary party fair 春节 中秋 生日 国庆 元旦 圣诞 端午 婚礼 聚会
    device gadget technology hardware equipment machine tool 设备 电脑 手机 机器 工具: laptop phone computer camera
        tablet headphone keyboard monitor server printer gpu 电脑 手机 平板 耳机 键盘 显示器 服务器 显卡
    framework language library database technology stack tool software 框架 语言 数据库 技术 软件 版本: python java
        javascript rust react django flask pytorch redis mysql postgres sqlite kafka docker kubernetes k8s linux 框架
        数据库 向量
    kubernetes cluster 集群: k8s cluster node pod helm 集群
    bug error problem fail issue crash outage cause incident 问题 故障 原因 错误 事故 出错: bug error crash leak oom
        timeout fail fix exception 报错 崩溃 泄漏 挂 修 坏 故障 超时 宕机
    reason why 为什么 原因: reason due 怪不得
    keyboard 键盘: keyboard 键盘
    quit leave resign 辞职 离开: quit leave fire resign lose layoff 辞 辞职 离职 裁员
    sleep 睡: sleep bed nap insomnia dream 睡觉 失眠 熬夜 起床
    inspire motivate influence encourage 启发 鼓励 激励: inspire inspiration motivate passion love experience dream
        journey 启发 鼓励 热爱
    advice suggest recommend tip recommendation 建议 推荐: recommend suggest advice tip check 推荐 建议 试试
    learn skill teach 技能 学会 教: learn teach class lesson practice skill tutorial 学 课 教练 练
    dessert sweet treat pastry 甜品: cake cupcake cheesecake cookie brownie pie tart icecream gelato pudding tiramisu
        mousse parfait donut macaron croissant muffin fudge caramel candy sundae 蛋糕 芝士蛋糕 饼干 冰淇淋 布丁
        提拉米苏 泡芙 马卡龙 甜甜圈 蛋挞
    drink beverage 饮品: water coffee tea juice soda milk beer wine whiskey vodka rum gin champagne cocktail smoothie
        lemonade latte cappuccino espresso matcha kombucha boba colon sake 水 咖啡 茶 果汁 可乐 牛奶 啤酒 红酒 白酒
        黄酒 鸡尾酒 奶茶 豆浆 柠檬水 抹茶
    alcohol 酒: beer wine whiskey vodka rum gin champagne cocktail tequila sake 啤酒 红酒 白酒 威士忌 黄酒
    flower 花: rose tulip lily sunflower daisy orchid daffodil peony lavender carnation hydrangea violet iris marigold
        lotus cherry jasmine poppy bouquet 玫瑰 百合 郁金香 向日葵 牡丹 兰花 茉莉 荷花 樱花 桂花 康乃馨 绣球
    plant garden grow 植物: tomato herb basil mint cactus succulent fern rose tree vegetable lettuce pepper strawberry
        lavender seed bamboo ivy aloe bonsai 多肉 绿萝 仙人掌 吊兰 薄荷 番茄 小葱 竹子
    toy 玩具: doll lego puzzle teddy bear car ball kite robot plush block train 积木 娃娃 乐高 拼图 风筝 毛绒玩具
    collection collect collectible 收藏: stamp coin card figurine figure vinyl record book comic jersey sneaker doll
        poster antique dvd shell rock postcard magnet memorabile 邮票 硬币 手办 黑胶 球鞋 古董 卡 明信片
    gift present birthday 礼物: necklace ring bracelet watch book flower card chocolate perfume toy paint letter scarf
        gadget voucher mug bouquet ticket camera guitar puppy 项链 戒指 手表 花 巧克力 香水 玩具 书 围巾 口红 贺卡 包
    decoration decor decorate 装饰: paint poster plant light candle flag picture photo lamp pillow rug mirror curtain
        vase balloon 画 海报 灯 蜡烛 照片 气球 花瓶
    symbol sign emblem logo: flag heart cross star rainbow necklace ring dove tattoo eagle rose butterfly pendant 旗
        十字架 心 彩虹
    tattoo: arm ankle flower symbol butterfly shoulder
    crime 犯罪: theft robbery murder fraud burglary scam assault hack 偷 诈骗 抢劫 被盗
    military army service: soldier veteran marine navy army war deploy officer medal base 军人 退伍 部队 当兵 海军
    government official: mayor president senator governor council congress minister office 市长 总统 政府
    beauty cosmetics cosmetic skincare makeup 化妆品: lipstick mascara cream lotion perfume foundation serum shampoo
        sunscreen nail 口红 面霜 香水 粉底 面膜 防晒
    hair hairstyle appearance look 外貌: blonde brown curly straight long short bald beard dye haircut braid tall slim
        glasses 长发 短发 卷发 染发 胡子 眼镜 高 瘦
    relax unwind calm stress relief cope selfcare 放松 减压: yoga meditate meditation walk read bath music
        run paint massage sleep nature breathe therapy journal dance tea hike pottery garden nap game spa stretch swim
        瑜伽 冥想 散步 看书 泡澡 听歌 跑步 按摩 睡觉 泡温泉
    motivation inspire inspiration reason 动力: family friend love passion dream experience childhood mentor book
        teacher loss faith fan nature challenge 家人 朋友 梦想 热爱 老师
    challenge obstacle struggle setback difficulty hardship adversity 困难 挑战: injury loss rejection failure money
        stress job illness doubt fear lose fail divorce competition pressure crash debt burnout breakup 失败 受伤 失业
        压力 拒绝 生病
    fear afraid phobia scared scare 害怕: height spider dark snake fly crowd death water failure public needle clown
        怕黑 恐高 蛇 虫子
    achievement accomplishment success proud 成就: win award graduate promotion medal record publish finish goal
        degree trophy championship marathon scholarship certificate 获奖 毕业 升职 冠军 考上 出版 完成
    goal plan resolution future aspiration 目标 愿望: travel learn lose save buy start graduate write run open build
        career family marry move publish win business 减肥 存钱 考研 旅行 创业 买房 学会 考证
    habit routine daily 习惯: morning run walk coffee exercise meditate journal read sleep gym breakfast yoga wake
        早起 跑步 看书 喝水 熬夜 午睡 散步
    chore housework 家务: clean laundry dish vacuum mop sweep cook iron trash dust 洗碗 洗衣服 拖地 打扫 倒垃圾
    advice tip suggestion 建议: recommend remember practice focus breathe plan rest patience stay 多 试试 别
    skill talent ability 技能: cook dance sing draw code paint play write speak drive swim juggle photography piano
        guitar language program leadership 做饭 唱歌 画画 编程 英语 开车 游泳 弹琴
    business store shop startup company venture 生意: bakery cafe restaurant studio boutique clothing salon gym
        bookstore agency consult online brand product customer investor shop app 面包店 咖啡店 餐厅 工作室 服装店 花店
        网店 奶茶店 书店
    promote advertise marketing market 推广: flyer ad website instagram social video influencer campaign discount sale
        blog poster event giveaway collaborate 广告 传单 朋友圈 打折 抖音 直播
    problem issue trouble difficulty 麻烦: break leak bug crash error delay noise lose pain fail stick conflict
        argument mistake cost 坏 漏 吵 丢 故障 吵架 迟到
    damage repair broken break renovate 损坏: roof window door pipe engine leak crack screen floor wall kitchen
        bathroom 漏水 屋顶 窗户 水管 屏幕
    vacation activity trip 度假: beach hike swim ski surf snorkel dive camp sightsee museum cruise tour castle spa
        shop photo kayak safari 潜水 滑雪 泡温泉 爬山 看海 逛街 拍照
    stay accommodation lodge 住宿: hotel hostel airbnb resort cabin tent inn campsite villa motel guesthouse 酒店 民宿
        帐篷 青旅 客栈
    outdoor nature activity 户外活动: hike camp fish kayak climb bike picnic hunt run ski surf garden stargaze
        birdwatch canoe raft swim 徒步 露营 钓鱼 野餐 骑行 滑雪 漂流 攀岩
    together activity family friend 一起: picnic movie dinner game hike camp travel cook beach park museum swim bowl
        bake board concert 野餐 看电影 吃饭 逛街 露营 打球
"""
