"""Words of nearly one meaning: Chinese, each group with the English words that it is asked for with.

Groups of words, `|` between them, lines that begin with # are headings (processors/lexicon/query_expansion.py reads them).
"""

from __future__ import annotations

from typing import Final

GROUPS: Final = """
    买 购买 下单 入手 buy purchase order 花 | 卖 出售 sell sale 转让 | 花钱 消费 spend 花 费用 |
    价格 价钱 多少钱 price cost 贵 便宜 元 块 | 租 租房 rent 房租 房东 公寓 | 借 贷款 loan borrow 欠 |
    送 礼物 gift present 给 | 收到 receive 拿到 收 | 吃 吃饭 eat 餐 饭 菜 | 做饭 做菜 烹饪 cook 下厨 菜谱 |
    烘焙 bake 蛋糕 面包 烤 | 餐厅 饭店 饭馆 restaurant 馆子 店 | 早饭 早餐 breakfast | 午饭 午餐 lunch |
    晚饭 晚餐 dinner | 零食 snack 饼干 薯片 | 好吃 美味 delicious tasty 味道 | 辣 spicy 川菜 火锅 | 甜 sweet 甜点 蛋糕 |
    减肥 瘦 diet weight 体重 节食 | 健身 锻炼 运动 exercise workout gym 跑步 | 跑步 run jog 慢跑 马拉松 |
    爬山 登山 徒步 hike 山 | 游泳 swim 泳池 | 骑车 骑行 自行车 bike cycle 单车 | 打球 篮球 足球 羽毛球 球 sport |
    比赛 竞赛 competition contest match 赛 决赛 | 赢 获胜 win 冠军 得奖 | 输 lose 失败 败 | 奖 获奖 奖项 award prize |
    成绩 分数 score grade 考 | 考试 exam test 考 考研 通过 | 学习 学 study learn 上课 | 学校 school 大学 高中 小学 |
    大学 university college 学校 专业 | 毕业 graduate 毕业生 毕业证 | 课程 课 class 培训 班 |
    老师 教师 teacher 教练 导师 | 学生 student 同学 班 | 作业 homework 论文 | 论文 paper thesis 毕业论文 |
    专业 major 学科 | 读书 看书 阅读 read 书 | 书 book 小说 本书 | 作者 作家 author writer | 写 写作 write 文章 |
    日记 diary journal 笔记 | 画 画画 绘画 paint draw 作品 油画 | 拍照 照片 摄影 photo picture camera 相机 |
    相机 camera 镜头 摄影 | 视频 video 录像 直播 | 唱歌 歌 sing song ktv 歌手 | 音乐 music 歌 听歌 曲 |
    乐器 instrument 吉他 钢琴 | 跳舞 舞蹈 舞 dance | 表演 演出 performance show 舞台 | 演唱会 concert 音乐会 演出 |
    电影 movie film 影院 片 | 电视剧 剧 series show 追剧 | 游戏 game 玩 打游戏 手游 | 玩 play 游戏 玩具 |
    爱好 兴趣 hobby interest 喜欢 | 喜欢 爱 love 最爱 热爱 喜爱 | 讨厌 不喜欢 hate dislike 烦 |
    旅行 旅游 travel trip 出游 玩 度假 | 度假 vacation holiday 假期 旅行 | 出差 business trip 差旅 |
    酒店 hotel 民宿 住宿 宾馆 | 机票 飞机 flight plane 航班 机场 | 高铁 火车 train 车票 动车 | 开车 驾驶 drive 车 驾照 |
    车 汽车 car 买车 轿车 电动车 | 地铁 公交 subway bus 通勤 | 通勤 commute 上班 路上 | 搬家 搬 move 新家 搬到 |
    住 居住 live 住处 家 | 家 house home 房子 | 房子 房 house apartment 买房 公寓 住房 |
    装修 renovate decorate 家具 翻新 | 打扫 清洁 收拾 clean 家务 整理 | 家务 chore 打扫 洗碗 | 洗 wash 洗衣 洗衣服 |
    修 修理 维修 repair fix 坏 | 坏 坏了 break 故障 修 | 丢 丢失 弄丢 lose 找不到 | 偷 steal 小偷 | 找到 find 发现 |
    找工作 求职 job 面试 应聘 | 工作 上班 职业 work job 岗位 公司 | 公司 企业 company 单位 firm |
    面试 interview 应聘 offer | 入职 加入 join 上岗 新工作 | 辞职 离职 quit resign 跳槽 裸辞 | 跳槽 换工作 辞职 job |
    裁员 失业 layoff fire unemployed | 升职 晋升 promotion 加薪 提拔 | 工资 薪水 salary 收入 月薪 奖金 |
    加班 overtime 忙 工作 | 老板 领导 上司 boss manager | 同事 colleague coworker 搭档 | 客户 customer client 甲方 |
    项目 project 任务 | 会议 开会 meet 会 | 报告 汇报 report 总结 | 创业 开店 startup business 公司 |
    店 商店 shop store 开店 | 生意 business 买卖 店 | 投资 invest 股票 基金 | 银行 bank 存款 贷款 |
    存钱 攒钱 save 存款 积蓄 | 保险 insurance 投保 | 朋友 好友 friend 闺蜜 哥们 | 邻居 neighbor 楼下 隔壁 |
    室友 roommate 合租 舍友 | 家人 家庭 family 亲人 | 父母 爸妈 parent 爸爸 妈妈 | 妈妈 母亲 mother mom 老妈 我妈 |
    爸爸 父亲 father dad 老爸 我爸 | 孩子 小孩 child kid 宝宝 娃 儿子 女儿 | 儿子 son 男孩 孩子 |
    女儿 daughter 女孩 闺女 孩子 | 哥哥 弟弟 brother 兄弟 | 姐姐 妹妹 sister 姐妹 | 爷爷 外公 姥爷 grandfather grandpa |
    奶奶 外婆 姥姥 grandmother grandma | 亲戚 relative 叔叔 阿姨 舅舅 姑姑 表哥 表妹 | 丈夫 老公 husband 先生 |
    妻子 老婆 wife 太太 媳妇 | 男朋友 男友 boyfriend 对象 | 女朋友 女友 girlfriend 对象 |
    恋爱 谈恋爱 date relationship 对象 | 结婚 婚礼 marry wedding 婚 领证 | 离婚 divorce 分开 | 分手 breakup 分开 |
    怀孕 pregnant 预产期 孕 | 出生 生 born birth 生日 | 生日 birthday 庆生 蛋糕 | 去世 过世 die death 走了 逝世 离世 |
    葬礼 funeral 去世 | 宠物 pet 狗 猫 | 狗 小狗 dog puppy 狗狗 | 猫 小猫 cat kitten 猫咪 | 养 养了 pet raise 宠物 |
    种 种植 plant grow 种花 | 花 植物 flower plant 养花 | 花园 garden 阳台 种花 | 身体 健康 health body 体检 |
    生病 病 sick ill 感冒 发烧 不舒服 | 感冒 cold flu 发烧 咳嗽 | 疼 痛 pain hurt 疼痛 酸痛 |
    受伤 伤 injury hurt 扭伤 骨折 | 医院 hospital 医生 看病 门诊 | 医生 大夫 doctor 医院 | 看病 就医 医院 doctor 挂号 |
    手术 surgery operation 开刀 | 药 吃药 medicine 药物 药片 | 过敏 allergy allergic 过敏源 | 体检 checkup 检查 身体 |
    检查 check examination 体检 | 睡觉 睡眠 sleep 失眠 睡 | 失眠 insomnia 睡不着 熬夜 | 累 疲惫 tire 疲劳 辛苦 |
    压力 stress pressure 紧张 焦虑 | 焦虑 紧张 anxiety nervous 压力 担心 | 放松 relax 减压 休息 解压 |
    休息 rest 放假 睡 | 开心 高兴 happy 快乐 愉快 | 难过 伤心 sad 难受 哭 | 生气 愤怒 angry 发火 吵架 |
    吵架 争吵 argue quarrel 矛盾 | 害怕 恐惧 afraid fear 怕 | 担心 担忧 worry 焦虑 | 后悔 regret 遗憾 |
    感动 move touch 感谢 | 骄傲 自豪 proud | 惊喜 surprise 意外 | 失望 disappoint 遗憾 | 孤独 寂寞 lonely 一个人 |
    无聊 bore 没意思 | 兴奋 激动 excite 期待 | 期待 expect 盼 盼望 | 梦想 理想 dream 愿望 目标 | 目标 goal 计划 梦想 |
    计划 plan 安排 规划 | 决定 decide decision 选择 | 选择 choose 选 挑 | 推荐 recommend 建议 安利 |
    建议 advice suggest 推荐 | 帮助 帮忙 帮 协助 | 支持 鼓励 support encourage | 志愿者 义工 volunteer 公益 |
    捐 捐款 donate 捐赠 公益 | 教 teach 教会 培训 | 学会 掌握 learn 学 | 练习 练 practice 训练 | 训练 train 练 培训 |
    参加 加入 join attend 报名 | 报名 sign enroll 参加 | 活动 event activity 聚会 | 聚会 party gather 聚餐 团聚 |
    聚餐 dinner 吃饭 聚会 | 庆祝 celebrate 庆 聚会 | 节日 festival holiday 春节 中秋 | 春节 过年 除夕 年夜饭 |
    习惯 habit 每天 坚持 | 开始 start begin 起 | 坚持 persist 每天 | 放弃 quit 戒 | 戒 戒烟 戒酒 quit |
    烟 抽烟 smoke 戒烟 | 酒 喝酒 drink alcohol 啤酒 白酒 | 咖啡 coffee 拿铁 美式 咖啡馆 | 茶 喝茶 tea 奶茶 |
    奶茶 milk tea 饮料 | 水果 fruit 苹果 西瓜 | 衣服 服装 clothes 裙子 外套 穿 | 鞋 鞋子 shoe 球鞋 运动鞋 |
    包 背包 bag 书包 | 首饰 项链 戒指 jewelry necklace ring | 手机 电话 phone 号码 | 电脑 笔记本 computer laptop |
    屏幕 显示器 screen monitor | 键盘 keyboard 轴 | 耳机 headphone 降噪 | 家具 furniture 沙发 桌子 床 |
    空调 冰箱 洗衣机 电器 appliance | 天气 weather 下雨 气温 | 下雨 雨 rain 暴雨 | 雪 下雪 snow 滑雪 |
    热 炎热 hot 高温 夏天 | 冷 寒冷 cold 冬天 降温 | 海 海边 beach sea 沙滩 | 山 mountain 爬山 山顶 | 湖 河 lake river |
    风景 景色 scenery view 美景 | 公园 park 散步 | 散步 走路 walk 遛弯 | 博物馆 museum 展览 展 |
    展览 exhibition 画展 展 | 图书馆 library 书 | 教堂 寺庙 church temple | 城市 city 市 地方 |
    老家 家乡 故乡 hometown | 国家 country 出国 国 | 出国 留学 abroad 国外 | 留学 abroad 国外 study |
    地址 address 位置 小区 | 小区 楼 社区 community | 时间 time 日期 | 周末 weekend 星期六 星期天 |
    早起 起床 wake 早上 | 迟到 late 晚到 | 等 wait 排队 | 约 预约 appointment 约定 | 预订 预定 book reserve 订 |
    取消 cancel 退 | 推迟 延期 postpone delay | 快递 包裹 package delivery | 外卖 takeout delivery 点餐 |
    密码 password 密钥 | 账号 account 用户 | 网站 website 网页 | 软件 app 应用 software 程序 | 代码 code 编程 程序 |
    程序员 开发 developer programmer engineer | 工程师 engineer 技术 开发 | 服务器 server 机器 主机 云 |
    数据库 database mysql redis | 部署 deploy 上线 发布 | 上线 发布 release launch deploy | 测试 test 测 |
    问题 problem bug 故障 | 故障 宕机 outage incident 事故 挂 | 报错 错误 error 异常 bug | 修复 fix 解决 bug |
    解决 solve fix 搞定 修复 | 优化 optimize 改进 提升 性能 | 性能 performance 延迟 速度 吞吐 | 延迟 latency 慢 性能 |
    慢 slow 卡 延迟 | 快 fast 提速 速度 | 内存 memory 泄漏 oom | 磁盘 disk 存储 storage | 配置 config 设置 参数 |
    版本 version 升级 release | 升级 upgrade 更新 版本 | 迁移 migrate migration 切换 换成 | 替换 replace 换成 换 |
    合并 merge 合 | 备份 backup 恢复 | 恢复 recover restore 还原 | 安全 security 漏洞 安全性 | 漏洞 vulnerability 安全 |
    监控 monitor 告警 alert 报警 | 告警 报警 alert alarm 监控 | 日志 log 记录 | 文档 document doc 说明 |
    模型 model 训练 微调 | 训练 train 模型 微调 | 数据 data 数据集 | 实验 experiment 测试 | 结果 result 效果 |
    效果 effect 结果 提升 | 原因 reason 因为 怪 | 方案 plan solution 方法 | 方法 method 办法 方式 | 工具 tool 软件 |
    框架 framework 库 | 语言 language python java 英语 | 英语 english 外语 口语 | 团队 team 小组 组 |
    小组 group team 组 | 负责 responsible lead 负责人 | 会员 member 成员 | 成员 member 队员 人 | 数量 number 多少 几 |
    颜色 color 色 | 大小 size 尺寸 尺码 | 名字 叫 取名 | 性格 personality 脾气 内向 外向 | 年龄 岁 age 几岁 |
    身高 height 高 | 体重 weight 斤 公斤 | 童年 小时候 childhood 儿时 | 回忆 memory 记忆 怀念 | 故事 story 经历 |
    经历 experience 故事 | 秘密 secret 瞒 | 新闻 news 消息 | 消息 news message 通知 | 微信 wechat 消息 聊天 |
    聊天 chat talk 聊 | 吵 噪音 noise 吵闹 | 安静 quiet 清静 | 干净 clean 整洁 | 漂亮 好看 美 beautiful |
    便宜 cheap 划算 打折 优惠 | 贵 expensive 价格 花 | 打折 优惠 discount sale 促销 | 免费 free 不要钱 |
    危险 dangerous 安全 小心 | 事故 车祸 accident 意外 | 警察 police 派出所 报警 | 法律 律师 law lawyer |
    政府 government 政策 | 战争 war 军队 | 军人 当兵 soldier army veteran | 宗教 信仰 religion faith |
    祈祷 拜佛 pray 寺 | 环保 environment 垃圾 分类 | 科学 science 科技 研究 | 研究 research 课题 论文 |
    机器人 robot 人工智能 | 吵醒 吵 noise 噪音 | 搬走 搬家 move | 养生 保健 health 中药 | 锻炼身体 锻炼 健身 |
    体检报告 体检 检查 | 血糖 糖尿病 diabetes | 血压 高血压 | 眼睛 近视 视力 眼镜 eye | 牙 牙齿 牙疼 智齿 牙医 dentist |
    皮肤 过敏 湿疹 皮肤科 | 胃 肠胃 胃病 肚子 stomach | 腰 腰疼 腰椎 背 | 膝盖 关节 腿 knee | 骨折 摔 摔伤 受伤 |
    住院 出院 医院 手术 | 感冒药 药 感冒 | 怀孕 孕妇 宝宝 生孩子 | 幼儿园 小学 上学 孩子 school | 高考 考试 大学 志愿 |
    考研 研究生 读研 考试 | 考证 证书 考试 资格 | 驾照 学车 驾校 科目 license | 英语 口语 雅思 托福 四六级 外语 |
    辅导 补课 家教 补习班 tutor | 奖学金 学费 scholarship tuition | 实习 实习生 internship intern | 简历 求职 resume |
    年终奖 奖金 bonus | 涨薪 加薪 涨工资 工资 raise | 社保 公积金 保险 | 创始人 老板 founder |
    合伙人 合伙 partner 搭档 | 同学 同班 室友 classmate | 师傅 师父 老师 导师 | 大伯 叔叔 伯伯 uncle |
    阿姨 姨妈 姑妈 aunt | 侄女 侄子 外甥 nephew niece | 婆婆 岳母 公公 岳父 | 订婚 求婚 结婚 propose engage |
    彩礼 嫁妆 结婚 婚礼 | 蜜月 旅行 婚礼 honeymoon | 相亲 对象 恋爱 约会 | 约会 date 恋爱 | 吵架 冷战 和好 矛盾 |
    道歉 apologize 对不起 原谅 | 礼貌 尊重 respect | 信任 相信 trust | 帮忙 照顾 care 照看 | 照顾 看护 照看 陪 |
    陪 陪伴 一起 | 打电话 电话 call phone | 视频通话 视频 电话 | 发消息 微信 短信 message | 朋友圈 微博 小红书 post |
    直播 主播 stream 视频 | 博客 公众号 文章 blog | 播客 podcast 听 | 新闻 报道 报纸 news | 租客 房客 房东 租 |
    押金 租金 房租 deposit | 房贷 贷款 月供 mortgage | 首付 买房 房价 | 中介 房产 租房 agent |
    水电 电费 水费 物业 bill | 漏水 水管 修 leak | 马桶 卫生间 厕所 浴室 | 厨房 灶台 油烟机 kitchen |
    阳台 花 晾衣服 balcony | 电梯 楼梯 楼 elevator | 停车 车位 停车场 park | 堵车 交通 塞车 traffic | 加油 充电 油费 |
    打车 出租车 滴滴 taxi | 自驾 开车 自驾游 roadtrip | 行李 箱子 行李箱 luggage | 护照 签证 passport visa |
    导游 跟团 旅行团 tour guide | 攻略 行程 路线 itinerary | 门票 票 ticket 景区 | 海鲜 虾 螃蟹 seafood |
    火锅 涮 麻辣 hotpot | 烧烤 烤肉 撸串 barbecue | 面条 面 拉面 noodle | 饺子 包饺子 馄饨 dumpling |
    米饭 炒饭 饭 rice | 蛋糕 甜品 生日 cake | 面包 吐司 烘焙 bread | 早点 早餐 豆浆 包子 | 素食 吃素 vegetarian vegan |
    忌口 不吃 过敏 香菜 | 口味 味道 清淡 辣 taste | 餐具 碗 筷子 盘子 杯子 | 杯子 水杯 马克杯 cup mug |
    锅 炒锅 砂锅 pan pot | 冰箱 fridge 家电 | 洗衣机 洗衣 烘干机 washer | 空调 冷气 暖气 heater |
    扫地 扫地机器人 打扫 吸尘器 | 垃圾 倒垃圾 分类 trash | 快递 网购 包裹 淘宝 京东 | 退货 退款 退换 refund |
    优惠券 优惠 红包 打折 coupon | 会员卡 办卡 会员 membership | 充值 缴费 付费 pay | 转账 支付 付款 收款 pay |
    信用卡 刷卡 银行卡 credit | 理财 基金 股票 投资 | 亏 亏损 赔 lose | 赚钱 赚 挣钱 收入 earn | 预算 开销 支出 budget |
    捡 捡到 拾 | 收养 领养 adopt 流浪猫 流浪狗 | 猫粮 狗粮 喂 宠物 | 兽医 宠物医院 vet 绝育 | 遛狗 散步 狗 |
    鱼缸 养鱼 金鱼 鱼 | 鹦鹉 鸟 养鸟 bird | 多肉 绿植 盆栽 植物 plant | 浇水 施肥 种花 | 阳光 太阳 晴天 sun |
    台风 暴雨 洪水 typhoon | 地震 灾 earthquake | 冬天 下雪 寒假 winter | 夏天 暑假 summer | 春天 春 spring |
    秋天 秋 autumn | 清明 扫墓 祭祖 | 端午 粽子 龙舟 | 中秋 月饼 赏月 | 国庆 国庆节 长假 黄金周 |
    圣诞 圣诞节 christmas | 元旦 新年 跨年 | 情人节 七夕 valentine | 放假 假期 休假 请假 holiday |
    请假 休假 年假 病假 leave | 加班 熬夜 通宵 overtime | 早起 晨跑 起床 | 午睡 午觉 睡 nap | 做梦 梦 噩梦 dream |
    冥想 正念 打坐 meditate | 瑜伽 yoga 拉伸 | 跑步机 健身房 跑步 gym | 教练 私教 coach trainer |
    羽毛球 打球 球拍 badminton | 乒乓球 打球 球拍 | 篮球 打球 球场 basketball | 足球 踢球 世界杯 soccer football |
    台球 桌球 billiard | 滑雪 雪场 单板 ski | 滑冰 冰场 skate | 潜水 浮潜 dive | 冲浪 surf 海 | 钓鱼 鱼竿 fish |
    露营 帐篷 camp | 攀岩 climb 岩馆 | 骑行 公路车 单车 cycle | 马拉松 半马 跑步 marathon | 太极 太极拳 武术 |
    广场舞 跳舞 舞 | 书法 毛笔 写字 calligraphy | 国画 水墨 画画 | 油画 水彩 素描 画画 | 陶艺 泥 手工 pottery |
    手工 编织 diy 手作 craft | 摄影 相机 拍照 单反 | 乐队 band 主唱 演出 | 吉他 弹 弹吉他 guitar |
    钢琴 弹 弹琴 练琴 piano | 古筝 二胡 民乐 | 演唱会 音乐节 门票 concert | 话剧 戏剧 剧场 theater |
    相声 脱口秀 喜剧 comedy | 动漫 动画 漫画 anime comic | 科幻 小说 三体 scifi | 悬疑 推理 侦探 mystery |
    纪录片 documentary 片 | 综艺 节目 真人秀 show | 追星 偶像 明星 idol | 手办 收藏 模型 figurine |
    积木 乐高 玩具 lego | 桌游 狼人杀 剧本杀 麻将 | 麻将 打牌 扑克 牌 | 象棋 围棋 下棋 chess | 王者荣耀 游戏 手游 |
    魔方 拼图 puzzle | 志愿 义工 支教 volunteer | 献血 捐血 blood | 敬老院 养老院 老人 | 孤儿院 福利院 孤儿 |
    环保 低碳 节能 eco | 党员 入党 | 移民 出国 绿卡 immigrant | 退休 养老 retire 退休金 | 遗产 遗嘱 继承 |
    官司 起诉 律师 法院 | 合同 签约 协议 contract | 发票 报销 invoice | 警告 提醒 warn remind |
    提醒 备忘 闹钟 reminder | 密钥 token 凭证 key | 接口 api 调用 endpoint | 前端 页面 frontend ui |
    后端 服务端 backend | 微服务 服务 service | 网关 gateway 代理 proxy | 缓存 cache redis | 队列 消息 kafka queue |
    索引 index 检索 | 查询 query sql | 事务 锁 transaction lock | 主从 复制 replica 同步 | 分库 分表 分片 shard |
    扩容 缩容 scale 副本 | 容器 docker 镜像 container image | 集群 节点 cluster node | 流水线 ci pipeline 构建 |
    构建 编译 build | 回滚 rollback 撤回 | 灰度 发布 canary | 压测 性能 benchmark 吞吐 | 超时 timeout 延迟 |
    重启 restart 挂 | 崩溃 crash 挂 宕机 | 内存泄漏 oom 内存 leak | 死锁 锁 deadlock | 排查 定位 调试 debug |
    重构 refactor 代码 | 评审 review 代码 | 需求 requirement 产品经理 | 产品 product 功能 feature | 功能 feature 需求 |
    用户 user 客户 | 权限 permission 认证 auth | 登录 login 账号 认证 | 加密 encrypt 证书 tls | 域名 dns 网络 |
    网络 network 带宽 | 显卡 gpu 算力 | 训练 finetune 微调 train | 推理 inference 部署 | 向量 embed 检索 相似度 |
    向量库 milvus 向量 数据库 | 提示词 prompt 大模型 | 大模型 llm 模型 qwen | 准确率 accuracy 指标 效果 |
    召回率 recall 指标 | 标注 数据集 label annotation | 爬虫 抓取 crawler | 脚本 script 自动化 |
    定时任务 cron 调度 schedule | 调度 scheduler 任务 | 日报 周报 汇报 report | 截止 deadline 期限 ddl |
    里程碑 milestone 进度 | 进度 progress 计划
"""
