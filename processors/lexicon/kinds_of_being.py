"""Kinds of things and what belongs to them: creatures, body, places, professions, arts, dishes, products, ….

One entry: the words that ask for a kind, a colon, its members; further lines of it are indented (processors/lexicon/hyponyms.py).
"""

from __future__ import annotations

from typing import Final

KINDS: Final = """
    bird: parrot eagle owl duck goose chicken pigeon crow robin swan penguin canary hawk turkey peacock hummingbird
        feather 鹦鹉 老鹰 鸽子 鸭子 麻雀 喜鹊 天鹅 企鹅
    insect bug: bee butterfly ant mosquito spider fly beetle dragonfly ladybug caterpillar 蚊子 蝴蝶 蜜蜂 蚂蚁 蟑螂
    wildlife wild animal: lion tiger elephant bear deer wolf fox monkey giraffe zebra panda kangaroo squirrel whale
        dolphin shark snake eagle leopard rhino hippopotamus koala safari zoo 狮子 老虎 大象 熊 熊猫 猴子 长颈鹿 鹿 狼
        狐狸 海豚 鲸鱼 动物园
    reptile: snake lizard turtle tortoise gecko iguana crocodile alligator 蛇 蜥蜴 乌龟
    breed dog: retriever labrador poodle husky shepherd bulldog beagle corgi terrier chihuahua dachshund collie puppy
        mutt 金毛 拉布拉多 泰迪 哈士奇 柯基 柴犬
    body part organ limb 部位: head face eye ear nose mouth tooth neck shoulder arm elbow wrist hand finger back chest
        stomach hip leg knee ankle foot toe heart lung liver kidney brain skin muscle bone spine 头 眼睛 耳朵 鼻子 牙
        脖子 肩膀 胳膊 手 手腕 背 腰 肚子 腿 膝盖 脚 脚踝 心脏 肺 肝 皮肤 肌肉 骨头
    injury: sprain fracture break bruise burn cut concussion tear twist ankle knee wrist shoulder back scar wound 扭伤
        骨折 骨裂 摔 伤 拉伤
    symptom: headache fever cough pain nausea dizzy fatigue rash ache sore cramp swell itch 头疼 头痛 发烧 咳嗽 恶心
        头晕 疼 痒 拉肚子
    disease illness sickness condition diagnosis 疾病: cancer diabetes asthma arthritis flu cold covid pneumonia
        migraine allergy hypertension stroke infection virus anxiety depression insomnia gastritis ulcer obesity
        anemia 癌症 糖尿病 哮喘 关节炎 感冒 流感 新冠 肺炎 偏头痛 高血压 胃炎 肥胖 抑郁症 痛风
    medicine medication treatment remedy cure 治疗: pill antibiotic insulin vaccine painkiller vitamin surgery therapy
        inhaler ointment acupuncture physiotherapy dose prescription 药 中药 疫苗 手术 针灸 理疗 维生素 消炎药 吃药
    dentist dental: tooth brace cavity gum wisdom 牙 牙医 牙齿 智齿 牙套 洗牙
    profession occupation job career 职业 who 谁: accountant actor architect artist attorney author baker banker
        barber barista bartender biologist carpenter cashier chef chemist cleaner clerk coach consultant cook
        counselor dancer dentist designer detective developer director doctor driver economist editor electrician
        engineer farmer firefighter gardener hairdresser janitor journalist judge lawyer librarian manager mechanic
        model musician nanny nurse optician painter pharmacist photographer physicist pilot plumber police politician
        postman producer professor programmer psychologist realtor receptionist reporter researcher sailor salesman
        scientist secretary singer soldier surgeon tailor teacher therapist translator tutor vet waiter waitress
        welder writer freelancer intern 会计 演员 建筑师 律师 作家 面包师 咖啡师 木匠 厨师 教练 顾问 牙医 设计师 司机
        编辑 电工 工程师 农民 消防员 记者 法官 经理 护士 画家 药剂师 摄影师 飞行员 警察 教授 程序员 心理医生 研究员
        销售 秘书 歌手 军人 裁缝 老师 翻译 兽医 服务员 作者 快递员 公务员
    industry sector field 行业: finance banking healthcare education technology retail hospitality manufacturing
        agriculture construction fashion entertainment media automotive energy logistics insurance tourism game film
        music 金融 教育 医疗 互联网 零售 制造业 农业 建筑 时尚 娱乐 媒体 物流 保险 旅游
    workplace office: desk cubicle meet boss colleague headquarters 办公室 工位 会议室
    sport 运动: archery athletics badminton ballet baseball basketball billiard bowl box cricket cycle dive fence fish
        football frisbee golf gymnastics handball hockey horseback judo kayak kitesurf lacrosse pickleball polo row
        rugby sail skateboard ski snowboard soccer softball squash surf swim tennis triathlon volleyball wakeboard
        weightlifting wrestling yoga 射箭 羽毛球 棒球 篮球 台球 保龄球 拳击 击剑 足球 飞盘 高尔夫 体操 曲棍球 马术
        柔道 皮划艇 划船 橄榄球 帆船 滑板 滑雪 滑冰 垒球 冲浪 游泳 网球 乒乓球 排球 举重 摔跤 瑜伽 铁人三项
    sport ball: ball basketball football soccer tennis baseball golf volleyball 球 篮球 足球
    position team: striker guard forward goalkeeper pitcher quarterback defender midfielder captain center 前锋 后卫
        门将 中锋 队长
    equipment gear 装备: helmet racket bat glove ball tent backpack boot skate ski board bike weight mat rope camera
        tripod 头盔 球拍 手套 帐篷 背包 滑雪板 瑜伽垫 跑鞋
    board card tabletop game 桌游: chess checker monopoly scrabble poker uno bridge catan domino risk clue dungeon
        dragon jenga solitaire card dice 象棋 围棋 五子棋 麻将 扑克 桌游 狼人杀 剧本杀 斗地主
    video computer console game 电子游戏: minecraft fortnite zelda mario pokemon overwatch cyberpunk witcher halo sim
        tetris valorant dota league xbox playstation nintendo steam switch fifa rpg shooter quest controller 原神
        王者荣耀 塞尔达 马里奥 手柄 主机 英雄联盟
    craft handicraft handmade handmake diy 手工: knit crochet sew quilt embroidery pottery ceramic woodworking origami
        scrapbook jewelry candle weave macrame carve clay loom 编织 刺绣 陶艺 木工 折纸 缝纫 钩针 十字绣
    hobby pastime leisure 爱好: read write paint draw knit garden fish hunt camp hike cook bake dance sing photography
        collect travel chess puzzle astronomy birdwatch woodwork pottery yoga calligraphy magic karaoke meditation
        podcast blog volunteer skate surf stargaze 看书 写作 画画 钓鱼 露营 做饭 烘焙 唱歌 摄影 收藏 下棋 书法 追剧
        瑜伽 旅行 观星 K歌 写诗
    artwork art medium 艺术品: paint draw sculpture mural sketch watercolor oil acrylic portrait landscape photograph
        print collage pottery ceramic statue graffito pastel charcoal 油画 水彩 素描 雕塑 壁画 丙烯 版画 书法 国画
    subject painting paint picture scene: sunset sunrise flower landscape mountain ocean beach forest portrait
        abstract tree lake sky animal horse sunflower rainbow 日落 日出 花 山 大海 森林 肖像 风景
    genre music style 风格 曲风: rock pop jazz blues classical country folk metal rap hiphop reggae soul punk techno
        electronic indie opus disco funk gospel instrumental 摇滚 流行 爵士 古典 民谣 金属 说唱 电子 戏曲
    instrument 乐器: guitar piano violin viola cello bass drum flute clarinet oboe saxophone trumpet trombone
        harmonica harp banjo mandolin ukulele accordion organ keyboard synthesizer tambourine xylophone recorder 吉他
        钢琴 小提琴 大提琴 贝斯 鼓 架子鼓 长笛 单簧管 萨克斯 小号 口琴 竖琴 尤克里里 手风琴 电子琴 古筝 二胡 琵琶 笛子
    musician band composer singer artist: band singer guitarist drummer composer rapper pianist beatles queen mozart
        beethoven bach vivaldi swift sheeran adele coldplay drake beyonce 周杰伦 歌手 乐队 贝多芬 莫扎特
    dance 舞种: ballet hiphop salsa tango waltz contemporary jazz ballroom breakdance flamenco swing tap zumba folk
        samba 芭蕾 街舞 探戈 华尔兹 拉丁 爵士舞 民族舞 古典舞
    genre book movie film literature 类型: fantasy romance mystery thriller horror comedy drama action adventure
        biography documentary science scifi historical crime dystopian memoir superhero animation western musical
        classic poetry 科幻 爱情 悬疑 惊悚 恐怖 喜剧 动作 冒险 传记 纪录片 历史 犯罪 武侠 动画 言情
    book novel title 书名: hobbit potter gatsby mockingbird alchemist sapiens dune educate bible 三体 红楼梦 西游记
        水浒传 三国演义 活着 百年孤独
    movie film title 片名: titanic inception avatar godfather matrix freeze marvel avenger disney pixar batman
        spiderman interstellar gladiator ring potter war 泰坦尼克号 流浪地球 哪吒 星际穿越
    show series television tv 节目: friend sitcom drama reality anime documentary throne netflix hbo cartoon episode
        season 综艺 动漫 美剧 韩剧 真人秀
    write writing piece: poem novel story essay article blog script screenplay letter memoir journal song lyric speech
        report 诗 小说 文章 剧本 博客 论文 日记 歌词 信
    reading read material publication: book magazine newspaper comic blog article manga novel journal 杂志 报纸 漫画
        书 期刊
    performance show entertainment event: concert play musical opus ballet circus comedy theater recital festival
        parade exhibition 话剧 音乐剧 歌剧 马戏 相声 脱口秀 音乐会
    vehicle transport transportation car 交通工具: car truck van bus train subway bicycle bike motorcycle scooter boat
        ship ferry plane helicopter taxi uber tram jeep suv sedan prius toyota honda ford tesla bmw audi mustang
        ferrari 汽车 卡车 公交 火车 高铁 地铁 自行车 摩托车 电动车 船 飞机 出租车 滴滴 特斯拉 比亚迪 宝马 奔驰 奥迪
        丰田 本田 大众
    car part: engine tire brake wheel transmission battery bumper windshield exhaust 发动机 轮胎 刹车 电池
    clothing garment apparel outfit 服装: shirt blouse sweater hoodie sweatshirt jacket coat suit vest dress skirt
        jeans pants short leg sock glove scarf tie belt pajamas uniform swimsuit costume gown jersey 衬衫 毛衣 卫衣
        夹克 大衣 羽绒服 西装 裙子 牛仔裤 裤子 短裤 袜子 手套 围巾 领带 校服 泳衣 旗袍 汉服
    shoe footwear 鞋子: sneaker boot sandal heel slipper loafer nike adidas trainer jordan 球鞋 靴子 凉鞋 高跟鞋 拖鞋
        跑鞋
    accessory jewelry 配饰: necklace ring bracelet earring watch hat cap scarf sunglass belt purse bag pendant brooch
        tattoo 项链 戒指 手链 耳环 手表 帽子 围巾 墨镜 腰带 包
    brand label 品牌: nike adidas apple samsung gucci sony google puma armour canon nikon lego ikea starbucks toyota
        huawei xiaomi 耐克 阿迪达斯 苹果 三星 索尼 华为 小米 宜家 星巴克 佳能
    house room home 房间: bedroom kitchen bathroom livingroom live basement attic garage garden balcony office yard
        porch study 卧室 厨房 卫生间 客厅 阳台 书房 车库 院子 地下室
    appliance kitchenware 家电: fridge oven stove microwave dishwasher washer dryer toaster blender kettle vacuum
        mixer pan pot knife fryer 冰箱 烤箱 微波炉 洗碗机 洗衣机 空调 电饭煲 吸尘器 锅 空气炸锅 扫地机器人
    tool 工具: hammer drill screwdriver wrench knife scissors ladder shovel brush 锤子 电钻 锯子 螺丝刀 扳手 剪刀 梯子
    nature landscape natural landform 自然 地貌: mountain hill valley river lake ocean sea beach island forest desert
        waterfall canyon cave volcano glacier meadow cliff coast jungle swamp trail 山 河 湖 海 岛 森林 沙漠 瀑布 峡谷
        山洞 火山 冰川 草原 悬崖 海岸
    weather 天气: rain snow storm wind cloud fog sun sunny heatwave hail thunder lightning hurricane tornado drought
        flood blizzard humid 下雨 下雪 暴雨 台风 雾 雾霾 晴天 阴天 高温 冰雹 雷 洪水
    disaster emergency 灾难: flood fire wildfire earthquake hurricane tornado storm tsunami accident outage drought
        landslide 洪水 火灾 地震 台风 海啸 停电 泥石流
    season 季节: spring summer fall autumn winter 春天 夏天 秋天 冬天
    sky astronomy space planet: star moon planet sun galaxy comet meteor eclipse telescope constellation mars jupiter
        saturn venus aurora 星星 月亮 行星 太阳 流星 望远镜 日食 银河
    place venue spot location site 地点 场所 where 哪里 哪儿: park beach museum library restaurant cafe bar mall store
        school church gym stadium theater cinema zoo aquarium hospital hotel airport station market gallery garden
        farm castle bridge tower square temple palace club studio lake mountain forest island 公园 海边 博物馆 图书馆
        餐厅 咖啡馆 酒吧 商场 学校 教堂 健身房 体育馆 电影院 动物园 医院 酒店 机场 车站 市场 美术馆 农场 城堡 广场
        寺庙 古镇
    landmark attraction sight monument 景点 where 哪里 哪儿: tower castle palace bridge museum temple cathedral wall
        statue park ruin pyramid eiffel colosseum bigben louvre 故宫 长城 西湖 外滩 天坛 兵马俑 布达拉宫 迪士尼
    theme park amusement: disney disneyland universal rollercoaster ferris carousel 迪士尼 游乐园 过山车 环球影城
    restaurant cuisine food type 菜系: italian chinese japanese mexican thai indian french korean vietnamese greek
        spanish turkish american mediterranean sushi pizza ramen taco bbq steakhouse seafood diner buffet 川菜 粤菜
        湘菜 日料 韩餐 西餐 火锅 烧烤 海底捞 自助 东北菜
    country nation abroad overseas 国家 where 哪里 哪儿: usa america canada mexico brazil argentina chile peru cuba
        england britain uk ireland scotland wales france spain portugal italy germany austria switzerland belgium
        netherlands denmark norway sweden finland iceland poland czech hungary greece turkey russia ukraine egypt
        morocco kenya nigeria ethiopia africa india pakistan nepal china japan korea thailand vietnam indonesia bali
        malaysia singapore philippines australia zealand israel iran iraq dubai colombia croatia jamaica 美国 加拿大
        墨西哥 巴西 英国 法国 西班牙 意大利 德国 瑞士 荷兰 瑞典 挪威 俄罗斯 埃及 印度 日本 韩国 泰国 越南 马来西亚
        新加坡 澳大利亚 新西兰
    continent: europe asia africa america australia antarctica 欧洲 亚洲 非洲 美洲 大洋洲
    state region province 省 州 where 哪里 哪儿: california texas florida york oregon washington colorado arizona
        nevada utah alaska hawaii georgia virginia carolina ohio michigan illinois massachusetts pennsylvania
        minnesota wisconsin montana tennessee louisiana 四川 广东 云南 浙江 江苏 山东 湖南 湖北 河南 河北 福建 海南
        新疆 西藏 内蒙古 东北
    city town 城市 where 哪里 哪儿: york angeles chicago houston boston seattle francisco vegas miami orlando denver
        austin dallas phoenix portland philadelphia atlanta washington toronto vancouver montreal london manchester
        edinburgh dublin paris rome milan venice florence barcelona madrid lisbon berlin munich amsterdam brussels
        vienna prague budapest athens istanbul moscow stockholm oslo copenhagen zurich geneva dubai cairo nairobi
        mumbai delhi bangkok singapore tokyo osaka kyoto seoul beijing shanghai sydney melbourne rio 北京 上海 广州
        深圳 杭州 南京 苏州 成都 重庆 武汉 西安 长沙 天津 青岛 大连 厦门 昆明 大理 丽江 桂林 三亚 拉萨 哈尔滨 沈阳
        郑州 宁波 香港 澳门 台北 东京 大阪 京都 首尔 曼谷 纽约 洛杉矶 伦敦 巴黎 罗马 悉尼
    language tongue 外语: english spanish french german italian portuguese chinese mandarin japanese korean russian
        arabic hindi latin dutch swedish sign 英语 法语 德语 日语 韩语 西班牙语 普通话 粤语 俄语
    nationality origin ethnic: american british canadian mexican french german italian spanish swedish chinese
        japanese korean indian african brazilian australian irish dutch russian greek
    holiday festival 节日: christmas thanksgiving halloween easter hanukkah diwali ramadan valentine newyear
        independence labor memorial mother father patrick 春节 中秋节 端午节 元宵节 清明节 国庆节 五一 元旦 圣诞节
        情人节 七夕 万圣节 感恩节 母亲节 父亲节
    celebrate celebration party occasion 庆祝: birthday wedding anniversary graduation christmas thanksgiving
        promotion shower reunion housewarming baptism engagement festival 生日 婚礼 纪念日 毕业 满月 升学宴 乔迁
    family relative 亲戚 who 谁: mother father mom dad parent sister brother sibling son daughter child wife husband
        aunt uncle cousin niece nephew grandma grandpa grandmother grandfather grandparent stepmother stepfather twin
        inlaw granny 妈妈 爸爸 姐姐 妹妹 哥哥 弟弟 儿子 女儿 妻子 丈夫 阿姨 叔叔 舅舅 姑姑 表哥 表姐 表弟 表妹 堂哥
        外甥 侄子 奶奶 爷爷 外婆 外公 婆婆 岳母
    sibling: brother sister twin 哥哥 弟弟 姐姐 妹妹 双胞胎
    parent: mother father mom dad mum stepmom stepdad 妈妈 爸爸 父亲 母亲
    grandparent: grandma grandpa grandmother grandfather granny gran nana 奶奶 爷爷 外婆 外公
    marital relationship status 婚姻: single marry divorce engage widow boyfriend girlfriend husband wife partner
        breakup date fiance 单身 已婚 离婚 订婚 分手 恋爱 男朋友 女朋友 老公 老婆
    emotion feeling feel 心情 情绪: happy sad angry excite nervous anxious scare afraid proud ashamed grateful
        thankful jealous lonely bore tire overwhelm frustrate disappoint hopeful relieve relief surprise embarrass
        guilty calm peaceful stress joy fear grief love thrill ecstatic delight content confident upset worry
        heartbroken inspire awe 开心 难过 生气 激动 紧张 焦虑 害怕 骄傲 感激 孤独 无聊 累 失望 惊讶 尴尬 内疚 平静
        感动 委屈 兴奋 郁闷
    personality trait characteristic quality attribute describe 性格: care thoughtful generous honest brave shy outgo
        funny smart creative patient stubborn lazy ambitious confident humble loyal friendly passionate determine
        strong supportive empathetic compassionate authentic selfless optimistic organize independent adventurous
        curious responsible reliable 善良 大方 诚实 勇敢 内向 外向 幽默 聪明 耐心 固执 懒 自信 谦虚 热情 细心 开朗
        乐观
    value principle belief important 价值: honesty kindness family love respect freedom equality loyalty courage faith
        trust justice acceptance compassion integrity 诚实 善良 家庭 尊重 自由 平等 公平
    religion belief faith religious spiritual 宗教: christian christianity catholic protestant muslim islam jewish
        judaism hindu buddhist buddhism atheist church mosque temple synagogue bible god jesus pray prayer baptism
        meditation 基督教 佛教 道教 伊斯兰教 天主教 教堂 寺 上帝 佛 拜佛 念经
    political politics belief view: liberal conservative democrat republican leave election vote campaign policy
        congress mayor senator activist 选举 投票 政策
    social cause issue movement activism charity 公益: homelessness homeless poverty hunger climate environment animal
        veteran education equality lgbtq racism woman domestic violence health disability literacy orphan refugee
        shelter conservation cancer foodbank 贫困 环保 流浪 留守儿童 残疾 教育 捐款 支教
    volunteer charity community service 志愿: shelter soup kitchen foodbank orphanage hospital tutor mentor cleanup
        fundraiser donate homeless elderly hospice library 支教 敬老院 福利院 献血 义卖 流浪动物 捡垃圾
    fundraiser fundraising raise: auction bake sale marathon raffle gala charity walk concert donation 义卖 募捐 拍卖
    education degree study school 学历: bachelor master phd doctorate diploma certificate kindergarten elementary
        middle high college university graduate undergraduate bootcamp scholarship semester thesis internship 本科
        硕士 博士 研究生 大专 高中 初中 小学 幼儿园 学位 证书 奖学金 实习 论文
    subject major field discipline course 学科 专业: math mathematics physics chemistry biology history geography
        literature english art music psychology sociology philosophy economics business law medicine nursing
        engineering computer science politics journalism architecture education accounting marketing statistic
        astronomy ecology 数学 物理 化学 生物 历史 地理 语文 英语 心理学 哲学 经济学 法律 医学 工程 计算机 会计 金融
        建筑 新闻
    class workshop course lesson activity 课 培训班: yoga pottery paint cook dance art photography language music swim
        write code pilates spin aerial zumba ceramics 瑜伽课 舞蹈课 钢琴课 英语课 游泳课 画画 书法
    device gadget electronics 设备 数码: phone smartphone iphone android laptop macbook computer tablet ipad kindle
        camera headphone earbud speaker tv projector drone smartwatch watch console printer router monitor keyboard
        mouse robot charger 手机 电脑 笔记本 平板 相机 耳机 音箱 电视 投影仪 无人机 手表 路由器 显示器 键盘 鼠标
        充电器
    app application platform website social media software 平台: facebook instagram twitter tiktok youtube whatsapp
        snapchat linkedin pinterest reddit discord zoom spotify netflix twitch uber airbnb amazon ebay etsy google
        blog podcast website 微信 微博 抖音 小红书 淘宝 京东 知乎 B站 快手 支付宝 美团 滴滴 豆瓣 飞书 钉钉
    programming program language code 编程语言: python java javascript typescript rust golang kotlin swift ruby php
        scala sql html css bash c++
    database store cache 数据库: mysql postgres postgresql mongodb redis sqlite oracle cassandra elasticsearch
        clickhouse milvus hbase dynamodb
    framework library 框架: react vue angular django flask spring rails express pytorch tensorflow keras fastapi
        langchain nextjs svelte
    infrastructure devops cloud tool 运维: docker kubernetes k8s jenkins terraform ansible aws azure gcp nginx kafka
        prometheus grafana git github gitlab linux helm istio rabbitmq 阿里云 腾讯云
    model ai be machine learning learn 模型: gpt llama qwen bert claude geminus transformer llm deepseek resnet yolo
        大模型 通义
    transaction money finance income 钱: salary wage bonus loan mortgage rent tax savings investment stock bond
        insurance pension budget debt credit bank crypto bitcoin scholarship grant 工资 奖金 贷款 房贷 房租 税 存款
        股票 基金 保险 养老金 预算 债 信用卡 理财
    cost price amount pay 价格: dollar euro pound cent buck yuan thousand hundred million fee discount 元 块 万 千 百
    life event milestone change 人生: birth wedding graduation move job promotion retirement divorce death engagement
        pregnancy baby house marriage adoption anniversary funeral 出生 结婚 毕业 搬家 入职 升职 退休 离婚 去世 怀孕
        买房 订婚
    loss death pass grief lose 去世: funeral grief mourn pass widow grave cemetery heaven memorial condolence 葬礼
        追悼 墓 悼念
    childhood young youth memory past 童年: kid child school grandma toy doll playground grow cartoon nostalgia
        teenager 小时候 儿时 玩具 动画片
    time day date 时候: monday tuesday wednesday thursday friday saturday sunday weekend morning evening january
        february march april june july august september october november december 周一 周二 周三 周四 周五 周六 周日
        星期一 星期天 周末 早上 晚上
    material fabric made make 材料: wood metal plastic glass paper leather cotton wool silk clay ceramic stone steel
        gold silver canvas linen concrete 木头 金属 塑料 玻璃 纸 皮 棉 羊毛 丝绸 石头 金 银
    shape pattern design: circle square triangle heart star stripe floral spiral dot animal 圆形 方形 心形 条纹
    color colour 颜色: red orange yellow green blue purple violet pink brown black white grey gray gold silver
        turquoise beige teal navy maroon 红 橙 黄 绿 蓝 紫 粉 棕 黑 白 灰 金色 银色
    breakfast: egg pancake toast cereal oatmeal bacon waffle yogurt coffee bagel 豆浆 油条 包子 煎饼 鸡蛋 粥
    meat protein: beef chicken pork lamb turkey bacon ham sausage steak fish tofu 牛肉 鸡肉 猪肉 羊肉 鱼 香肠 火腿
    seafood: fish shrimp crab lobster salmon tuna oyster squid clam 虾 螃蟹 龙虾 三文鱼 生蚝 鱿鱼
    vegetable veggie 蔬菜: carrot broccoli spinach tomato potato onion cabbage lettuce cucumber pepper bean pea corn
        mushroom eggplant zucchini kale garlic pumpkin 胡萝卜 西兰花 菠菜 西红柿 土豆 洋葱 白菜 黄瓜 辣椒 豆角 玉米
        蘑菇 茄子 南瓜 蒜
    ingredient baking bake cooking cook 食材 调料: flour sugar butter egg milk salt oil garlic onion vanilla cinnamon
        chocolate cheese cream yeast ginger basil honey vinegar soy 面粉 糖 黄油 鸡蛋 牛奶 盐 油 蒜 姜 酱油 醋 蜂蜜
        花椒
    spice flavor sauce: cinnamon pepper chili garlic ginger basil curry vanilla mint cumin paprika salt soy ketchup
        辣椒 花椒 孜然 咖喱 薄荷 香菜
    dish meal recipe cook cuisine 菜: pasta spaghetti lasagna pizza risotto soup stew curry casserole salad sandwich
        burger steak roast stirfry sushi ramen noodle dumpling taco burrito enchilada fajita omelette chili paella
        meatball pie quiche barbecue 面条 饺子 炒饭 红烧肉 火锅 麻婆豆腐 宫保鸡丁 糖醋排骨 烤鸭 汤 米粉 小龙虾 麻辣烫
    snack 零食: chip popcorn nut cookie cracker candy pretzel bar fruit 薯片 瓜子 坚果 饼干 爆米花
"""
