"""Words of nearly one meaning: what is, what is done, thought and said; English.

Groups of words, `|` between them, lines that begin with # are headings (processors/lexicon/query_expansion.py reads them).
"""

from __future__ import annotations

from typing import Final

GROUPS: Final = """
    # existence, relation, sameness
    exist live survive | identical alike similar resemble match common |
    differ difference unlike contrast distinct diverse vary | compare comparison versus contrast similar difference |
    connect link relate relation associate join attach tie | combine mix merge blend unite integrate incorporate |
    separate split divide detach part | include consist involve comprise cover | exclude omit skip miss |
    change alter modify adjust adapt transform shift switch convert | replace substitute swap exchange trade switch |
    improve improvement progress enhance upgrade develop growth grow advance |
    worsen decline deteriorate decrease drop | increase rise grow raise boost expand gain add |
    reduce decrease low cut shrink drop lessen | begin start launch open commence initiate establish set |
    end finish complete conclude stop close quit | continue persist carry proceed resume ongoing |
    stop quit halt cease cancel pause | repeat redo return regular | reason lead due trigger result factor |
    result outcome effect consequence impact influence | affect impact influence change effect |
    prevent avoid stop block hinder protect | happen occur event place
    # quantity, order, time
    numerous multiple | entire complete total | half part piece portion slice share |
    main primary principal major key central chief | initial original early begin debut |
    final recent late previous end | upcoming follow future late | previous past early prior |
    ancient elderly age vintage antique | recent late fresh modern novel brand | young youth teen teenager kid junior |
    early morning dawn sunrise | late evening night midnight |
    frequent frequently regular regularly usual daily weekly routine habit | rare rarely seldom unusual uncommon |
    schedule calendar plan timetable appointment agenda routine |
    routine habit ritual schedule daily regular practice tradition |
    tradition custom ritual culture heritage annual ceremony | duration long length period spin |
    moment memory memorable occasion time highlight | anniversary birthday celebrate celebration year |
    deadline due date submit | wait delay postpone patience | hurry rush quick fast speed hasty
    # space, motion
    place location spot site venue area destination | area region neighbourhood district zone local |
    live reside stay home house inhabit dwell | close nearby adjacent | distant remote abroad overseas |
    inside indoor interior | outdoor exterior outdoors | top peak summit high | bottom base |
    travel trip journey visit tour explore voyage roadtrip vacation getaway | visit tour attend stop |
    trip vacation holiday getaway journey roadtrip tour cruise excursion | move relocate relocation settle transfer |
    leave depart quit exit departure | arrive reach arrival land | return back revisit homecoming |
    walk stroll hike wander march trek | hike trek trail mountain climb walk | run jog sprint race marathon |
    drive ride road car trip | fly flight plane airport airline | ride bike horse cycle drive |
    climb ascend mountain summit boulder | swim pool dive beach ocean | jump leap hop skip |
    fall drop slip trip stumble collapse | throw toss pitch hurl | carry bring haul transport |
    send mail ship deliver post package | push press shove | pull drag tug | lift raise weight hoist
    # matter and senses
    hot warm heat sunny boil | cold chilly freeze frost | wet rain damp soak | dry drought desert |
    clean wash tidy declutter organize neat scrub laundry | dirty mess messy stain filthy |
    bright light shine glow sunny vibrant | dark night shadow dim black | color colour hue shade paint vibrant |
    loud noise noisy sound | quiet silent silence peace peaceful calm | smell scent aroma odor perfume |
    taste flavor flavour delicious tasty yummy yum | delicious tasty yummy yum scrumptious flavor mouthwatering |
    sweet sugar dessert candy | spicy hot pepper chili | soft gentle smooth fluffy | hard tough difficult solid |
    heavy weight load | beautiful gorgeous stun lovely breathtaking beauty | ugly hideous awful |
    big large huge giant enormous massive | small tiny mini | strong strength power powerful tough |
    weak fragile frail weakness | break damage crack destroy | repair fix restore mend refurbish renovate maintenance |
    build construct create assemble construction | create design build produce craft invent |
    destroy ruin damage wreck demolish | fire burn flame blaze wildfire campfire | water lake river ocean sea stream |
    ocean sea beach coast shore wave surf | forest wood tree jungle park | mountain hill peak summit range alp |
    garden plant flower grow yard soil | flower bloom blossom bouquet petal
    # thought and knowledge
    thought reflect ponder mind | reflect reflection introspection contemplate meditate journal |
    belief faith trust opinion | opinion view thought perspective stance |
    perspective view outlook viewpoint mindset attitude | idea concept thought suggestion notion inspiration |
    knowledge understand aware familiar | understand comprehend grasp realize |
    realize realise notice discover understand | learn study lesson class teach |
    teach teacher instruct coach train mentor tutor lesson | study learn research exam school read |
    research study investigate explore analyze investigation | discover find explore discovery learn uncover |
    find discover locate search | search seek hunt find | remember recall memory remind reminder reminisce nostalgia |
    forget lose miss | memory remember souvenir nostalgia keepsake reminder photo childhood |
    imagine imagination dream creative visualize | creative creativity imagination artistic art expression |
    express expression share convey show | decide decision choose choice determine pick |
    choose pick select choice decide option prefer | prefer favorite favourite favor |
    favorite favourite love prefer top | guess suppose assume estimate predict |
    expect expectation anticipate hope await | hope optimistic hopeful dream |
    plan intend prepare upcoming goal schedule | prepare preparation prep ready plan arrange |
    goal aim objective target dream aspiration ambition plan | dream aspiration goal ambition hope vision |
    purpose reason goal intention aim | significance symbol represent symbolize significant |
    symbol symbolize represent sign emblem reminder | represent symbolize symbol stand |
    important significant vital crucial essential key matter special |
    special unique meaningful significant treasure sentimental | unique special original rare |
    interest curious passion hobby fascinate | interest fascinate intrigue curious | curious curiosity interest |
    focus concentrate attention concentration | skill ability talent technique capability expertise |
    talent gift skill ability | clever smart intelligent bright wise | wise wisdom advice sage |
    problem issue trouble challenge difficulty obstacle setback |
    challenge difficulty obstacle struggle tough hurdle setback problem adversity |
    difficult hard tough challenge struggle | easy simple effortless | solve solution fix resolve answer |
    method technique approach strategy process | strategy plan tactic approach method |
    technique method skill style approach | mistake error fault wrong fail | genuine authentic |
    lie false fake deceive | secret hide private confidential | proof evidence show demonstrate | test exam quiz trial |
    attempt test experiment taste | measure size length weight scale
    # communication
    mention talk speak state | inform share describe explain | talk speak chat discuss conversation speech |
    discuss talk conversation debate chat | conversation chat talk discussion dialogue |
    speech talk presentation speak lecture address | present presentation show speech slide | question inquire request |
    answer reply respond response | call phone ring video | phone call mobile text cell |
    message text email letter note chat | write writer author compose journal blog |
    journal diary write notebook blog log | letter note card mail write | story tale narrative storytelling novel |
    news announcement update hear announce | announce announcement news reveal share |
    advise advice suggest recommend tip guidance | recommend suggest recommendation advice suggestion |
    suggest suggestion recommend propose advice | invite invitation guest host | promise vow swear commit |
    promote promotion advertise advertising marketing market publicity campaign |
    advertise ad advertising promote campaign flyer commercial | show display exhibit exhibition demonstrate |
    exhibit exhibition gallery museum display show |
    photo picture photograph photography pic image snapshot camera portrait | picture photo image pic draw paint |
    camera photo photography lens shoot | video film record clip vlog youtube stream | draw sketch illustrate art |
    paint painter art canvas watercolor | art artist artwork artistic paint creative |
    music song musician band melody tune | sing song singer choir voice | song music tune track melody lyric |
    perform performance show stage concert act play | concert show gig festival performance band tour live |
    dance dancer choreography ballet | instrument play guitar piano violin | listen hear music podcast audio |
    read book novel page | book novel read author title | author writer novelist write | movie film cinema watch flick |
    watch view movie show | show series tv program episode | game play video | play game sport perform |
    joke funny humor laugh comedy hilarious | laugh funny joke giggle humor | language speak spanish french english |
    call nickname title | sign symbol signal mark notice | signal sign gesture | quote motto |
    lesson class learn teach moral takeaway
    # volition, effort, work
    desire hope | ready eager open | determine determination persevere perseverance resilience persistent grit |
    persevere perseverance resilience push determination | resilient resilience strong strength persevere tough |
    motivate motivation inspire drive encourage push | inspire inspiration motivate influence encourage |
    encourage support motivate cheer inspire | influence inspire affect impact shape | support encourage back assist |
    assist aid support volunteer helpful | volunteer charity donate shelter community |
    donate donation charity contribute fundraiser fund | charity donation nonprofit fundraiser foundation volunteer |
    fundraiser fundraise charity donation raise money | contribute contribution donate |
    charity issue campaign advocacy | advocate advocacy activist campaign support |
    community neighbourhood group local society | join participate member enroll attend sign |
    participate join attend involve compete enter | attend visit join participate |
    event gather meet conference workshop party occasion | meet conference gather appointment |
    workshop class seminar session train | conference convention seminar summit event | group team club crew gang band |
    team group squad teammate club | club group society member | organize arrange plan host run set |
    host organize party hold throw | lead leader manage guide captain | manage handle run control cope |
    cope handle manage deal stress | work job labor task project |
    job work career position employment occupation profession role | career job profession path work field occupation |
    position role job title post | hire recruit employ employee | fire layoff lose dismiss unemployed |
    unemployed unemployment job lose layoff | retire retirement pension | quit resign leave |
    employer company boss work firm | company business firm corporation startup |
    business company shop store startup venture enterprise entrepreneur | venture business startup project enterprise |
    startup business company launch | entrepreneur business startup owner founder | project work task assignment build |
    task chore duty job work | chore clean cook laundry dish housework | duty responsibility task obligation |
    responsibility duty role obligation | promotion raise advance career |
    success succeed successful achieve accomplishment win |
    achieve accomplish achievement accomplishment succeed reach milestone |
    accomplishment achievement milestone success proud accomplish | milestone achievement goal accomplishment |
    win victory winner champion beat | lose loss defeat fail | fail failure lose setback |
    compete competition contest tournament match race rival |
    competition contest tournament championship match game compete | award prize trophy medal honor win |
    prize award trophy win reward | reward prize award treat benefit | practice train rehearse exercise drill |
    train practice workout exercise coach | exercise workout gym fitness train | effort work dedication hard |
    dedicate dedication commit devotion devote hard | commit commitment dedicate promise |
    busy hectic swamp schedule pack | rest relax break nap sleep | relax unwind chill rest calm soothe |
    relax unwind stress calm therapeutic | stress pressure anxiety overwhelm tension | pressure stress demand |
    break rest pause vacation | free spare leisure | fun enjoy enjoyment entertain play blast |
    enjoy love fun pleasure | hobby pastime interest leisure passion activity | activity hobby pursuit event exercise |
    adventure explore thrill journey excite | explore discover adventure travel wander | utilize employ apply |
    tool equipment device gear instrument | equipment gear tool device kit | device gadget tool machine |
    supply material resource | material fabric wood clay metal | collect collection gather collector |
    gather collect meet | hold retain save store | save rescue store | protect safe guard defend conserve |
    conserve conservation protect environment sustainability wildlife | rescue save adopt shelter |
    safe safety secure security protect | danger dangerous risk hazard unsafe | risk danger gamble chance |
    accident crash injury incident hurt | emergency accident hospital crisis ambulance | escape flee getaway retreat |
    retreat getaway yoga meditation
    # possession and money
    possess belong | receive obtain acquire | receive gift accept | gift present donate offer |
    gift present birthday surprise | buy purchase shop order | purchase buy shop acquire | sell sale market |
    shop store buy mall market boutique | store shop market supermarket | order buy request deliver |
    pay cost bill fee payment | cost price expensive pay dollar | price cost dollar cheap expensive |
    expensive costly pricey price | cheap affordable inexpensive bargain discount | discount sale deal coupon bargain |
    money cash finance fund dollar financial | finance financial money budget bank fund | budget money spend save |
    spend cost pay money | loan debt borrow mortgage bank | borrow loan lend | invest investment investor stock fund |
    investor investment fund backer | earn income salary wage money | salary income wage pay |
    rich wealthy wealth luxury | poor poverty homeless | rent lease apartment landlord | owner landlord |
    steal rob theft thief | lose miss misplace | share split divide
    # further verbs
    accompany join | achieve reach attain fulfill realize | admit confess acknowledge | adore love cherish |
    afford pay budget | agree agreement consent approve | aid relief support | permit permission |
    amaze astonish impress surprise awe | impress impressive amaze admire | anger angry rage temper |
    apply application applicant submit | argue argument quarrel fight dispute disagree |
    fight argue battle conflict struggle | conflict dispute disagreement fight tension |
    arrange organize plan schedule | arrest police jail prison | assure promise guarantee | attack assault hit |
    attempt effort | attract appeal draw | balance juggle manage time | ban forbid prohibit | bear tolerate endure |
    endure survive suffer bear | suffer struggle pain endure | beat defeat win | behave behavior conduct manner |
    benefit advantage profit gain | advantage benefit pro strength | disadvantage drawback con weakness downside |
    bet gamble wager | bite sting | blame fault accuse | blow wind burst | bother disturb annoy | bury burial grave |
    calculate count compute math | catch grab capture | capture catch photo record | pursue follow chase career dream |
    cheat deceive trick | trick prank fool | check inspect verify examine | inspect examine check inspection |
    cheer encourage root applaud | chop cut slice | claim state assert | clear obvious plain |
    climb boulder rock mountain | collaborate collaboration partner cooperate teamwork team | command order instruct |
    comment remark feedback | feedback comment review critique response opinion |
    review feedback rating critic opinion | critic criticism critique review | criticize criticism judge blame |
    complain complaint moan | compliment praise congratulate | praise compliment applaud admire |
    congratulate congratulation praise | confirm verify check | face confront deal | contemplate plan |
    consult advise advice professional | consume eat drink | contact reach call message touch |
    persuade convince influence | copy imitate duplicate | correct fix | count number | crash accident collide wreck |
    crave hunger | cry tear weep sob | tear cry emotional | cure heal treat remedy | cut trim slice | dare brave risk |
    declare announce state | deliver bring delivery | demand require | refuse reject decline deny |
    reject rejection refuse decline | rely depend trust count | describe description explain | deserve earn worth |
    detect notice discover | dig shovel | disappear vanish lose | disagree argue differ |
    distract distraction interrupt | distribute hand deliver | donate volunteer contribute | doubt question uncertain |
    drown sink | edit revise proofread | educate teach education awareness | awareness educate campaign aware |
    elect vote choose | embrace hug accept | hug embrace cuddle | emphasize stress highlight |
    enroll register sign join | entertain amuse fun | envy jealous | equip gear outfit | establish create start |
    evaluate assess judge | examine inspect study | exhaust tire drain | expose reveal show | extend lengthen stretch |
    fail flunk failure | fetch bring | fill full | fold bend | follow track pursue | fund finance sponsor grant |
    sponsor sponsorship endorsement fund deal | endorsement sponsor deal brand | gain earn obtain win | gaze stare |
    grab seize | guard protect watch | guide lead direct show | harm hurt damage | hide secret conceal |
    highlight moment memorable favorite | host hostess organize | recognize recognition identify |
    ignore neglect overlook | improve practice | impact change influence difference | inform notify |
    injure hurt wound | insist demand | install set setup | intend plan aim | introduce meet introduction |
    involve engage participate | isolate lonely | kick hit punch | kiss love hug | knock hit | launch open release |
    lock key secure | maintain preserve | preserve save conserve | memorize remember learn | mention bring talk |
    mess untidy | mind brain | mourn grieve | observe watch notice | notice observe spot | offer propose |
    overcome conquer defeat beat face challenge | participate volunteer attend | pause stop break |
    perform act play sing dance | plant grow sow | predict forecast guess | prepare train study practice |
    pretend act fake | process handle | production produce film play | promise vow pledge | propose suggest marry |
    prove show | provide supply offer | publish release book print | punish punishment | pursue study career |
    react respond reaction | receive win | recover heal | recharge rest relax refresh energy |
    rehearse practice rehearsal | reject turn | release publish launch | relieve ease relief calm | rely lean |
    remain stay | remove clear delete | repair fix car | resolve solve settle | retire stop | roast grill |
    satisfy satisfaction content happy | satisfaction satisfy happy fulfill reward | reward fulfill satisfy meaningful |
    scare frighten | scream shout yell | serve service military | settle move resolve | shape form |
    shelter home refuge | shoot film photo gun | showcase show display exhibit present | shut close | sit seat |
    smile grin laugh | smoke cigarette | socialize mingle hang friend | solve figure | spark inspire trigger start |
    specialize focus expert | expert professional specialist skill | spread share | stick glue |
    strengthen strong build | struggle difficulty hard | submit send apply | suit fit match | surprise unexpected |
    suspect doubt | tackle handle face | taste food | tease joke | threaten danger | tie bond | touch move |
    track record follow | translate translation language | trap catch | twist turn | upload post | urge encourage |
    value appreciate important | vote election | wake awake rise | warn warning | waste trash | wrap gift
"""
