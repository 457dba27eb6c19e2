"""Words of nearly one meaning: people, feelings, body, home, society, things; English.

Groups of words, `|` between them, lines that begin with # are headings (processors/lexicon/query_expansion.py reads them).
"""

from __future__ import annotations

from typing import Final

GROUPS: Final = """
    # people, relations
    person people individual human folk | man male gentleman | woman lady female | child kid son daughter baby toddler |
    kid child youngster | baby newborn infant pregnant birth | boy son lad | girl daughter |
    parent mom dad mother father | mother mom mum mama | father dad papa | family relative parent sibling kin |
    relative cousin aunt uncle family | sibling brother sister | grandparent grandma grandpa grandmother grandfather |
    husband spouse partner wife marry | partner spouse girlfriend boyfriend husband wife |
    marry marriage wedding husband wife bride | wedding marry bride groom marriage ceremony |
    divorce separate breakup split | date romantic girlfriend boyfriend relationship |
    romantic romance love date valentine | relationship partner date boyfriend girlfriend bond |
    engage engagement propose ring fiance | friend buddy pal friendship mate | friendship friend bond buddy |
    colleague coworker workmate teammate | boss manager supervisor | neighbor neighbour neighbourhood |
    roommate flatmate housemate | mentor mentorship coach guide teacher advisor | student pupil class school |
    customer client shopper buyer | fan supporter follower audience | follower fan subscriber audience |
    audience crowd fan viewer | strange unknown | guest visitor invite | leader boss captain head |
    hero role model admire idol | celebrity famous star actor | famous celebrity renowned popular |
    popular famous trend trendy | meet encounter introduce | bond connect relationship close | reunite reunion meet |
    gather reunion party | party celebration gather bash event | celebrate celebration party birthday festive |
    raise bring parent child | parent raise kid | adopt adoption foster | care nurture |
    pregnant pregnancy expect baby | birth born birthday baby | die death pass loss dead funeral |
    death die loss grief funeral pass | grief mourn loss grieve death | loss lose grief death
    # feelings
    happy happiness joy cheerful delight content | joy happiness happy delight joyful |
    sad unhappy upset sorrow depress | depress depression sad mental | lonely isolation loneliness |
    lonely solo single | angry anger mad furious annoy | annoy irritate frustrate bother | frustrate frustration annoy |
    upset sad distress disappoint | disappoint disappointment letdown | excite thrill pump stoke eager enthusiastic |
    thrill excite rush | nervous anxious worry scare | anxious anxiety nervous worry | anxiety anxious stress worry |
    worry concern anxious | concern worry issue | scare afraid fear scary frighten terrify |
    fear afraid scare phobia scary | scary frighten creepy horror terrify | surprise shock unexpected amaze |
    shock surprise stun | proud pride accomplishment | ashamed shame embarrass guilty | embarrass awkward |
    guilty guilt regret | regret mistake | grateful thankful gratitude appreciate bless |
    appreciate grateful appreciation value thankful | love adore passion | enjoy love fond |
    passion passionate love enthusiasm | passionate passion love care | hate dislike detest | dislike hate bad |
    miss long homesick | homesick miss home | jealous envy envious | calm peaceful peace relax tranquil serene |
    peace calm peaceful serenity tranquility | peaceful calm serene tranquil quiet | comfort cozy comfortable console |
    cozy comfortable warm snug | comfortable comfort ease relax | stress overwhelm tense |
    tire exhaust sleepy fatigue weary | exhaust tire drain burnout | burnout exhaust stress |
    energy energetic energize lively | bore boring dull | confident confidence belief self |
    confidence confident esteem trust | brave courage courageous bold | courage brave bravery bold | trust rely faith |
    accept acceptance embrace approve | acceptance accept belong inclusive | belong acceptance home community |
    freedom free independent liberty | independent independence freedom | confuse confusion puzzle |
    doubt unsure uncertain | touch move emotional heartwarming | admire respect inspire | respect admire honor |
    forgive forgiveness apologize | apologize apology | kindness generous compassion care |
    kindness compassion generosity | compassion empathy kindness care | empathy compassion understand |
    honest honesty sincere truth | loyal loyalty faithful | patient patience calm | selfish greedy |
    shy timid introvert | friendly outgo | funny humorous hilarious | trait personality character quality attribute |
    character personality role | mood emotion vibe | vibe atmosphere mood ambiance
    # body and health
    health healthy wellness fitness medical | healthy health diet nutrition fit | illness sick disease ill |
    sick ill illness flu unwell | disease illness condition | pain hurt ache sore | hurt injure pain wound |
    injury injure hurt sprain accident wound | wound cut injury | recover recovery heal rehab |
    treatment therapy cure medication | therapy therapist counseling counselor treatment |
    counsel counseling counselor therapy | medicine medication pill drug | doctor physician nurse hospital |
    hospital doctor surgery clinic | surgery operation hospital | diet nutrition eat food healthy |
    weight pound lose diet fat | sleep nap rest insomnia bed | meditate meditation mindfulness yoga |
    mindful mindfulness meditation | allergy allergic | disability disable wheelchair |
    mental depression anxiety therapy | stretch yoga exercise | breathe breath air | hair haircut hairstyle |
    tattoo ink piercing
    # home, food, dress, animals
    house home apartment place | apartment flat condo rent | room bedroom kitchen bathroom |
    decorate decoration decor design | decor decorate design furniture | design designer style create |
    renovate renovation remodel repair | furniture table chair couch sofa | cook chef recipe meal kitchen |
    bake baker cake cookie oven | recipe dish cook ingredient | ingredient flour sugar butter |
    meal dinner lunch breakfast food | dinner supper meal restaurant | eat food meal dine |
    restaurant eatery diner cafe eat | cafe coffee bakery | drink beverage coffee tea | snack chip cookie treat |
    treat dessert snack sweet | vegetarian vegan veggie | grocery supermarket food |
    clothing clothes apparel outfit garment fashion | clothes outfit clothing wear | wear dress outfit clothes |
    outfit dress clothes costume | fashion style trend clothes | style fashion design |
    jewelry necklace ring bracelet earring | accessory bag jewelry hat | shoe sneaker boot | bag purse backpack |
    pet dog cat animal | dog puppy pup canine | cat kitten kitty | animal wildlife pet creature | breed dog cat |
    wildlife animal nature | feed food eat
    # school, media, technology, society
    school college university class | college university school campus | degree graduate diploma major |
    graduate graduation degree diploma | major degree study field | subject topic field | theme topic subject motif |
    exam test quiz final | grant fund scholarship money | education school learn teach |
    certificate certification license | computer laptop pc | software app program | app application software |
    program software code | website site online web | online internet web virtual | internet web online wifi |
    blog post write website | post share upload social | social media facebook instagram | technology tech digital |
    robot robotics engineering | engineer engineering | science scientist research | environment nature climate eco |
    pollution climate environment | recycle waste | politics political election government |
    election vote campaign office | government politics state | law legal lawyer court | lawyer attorney legal |
    police officer cop | crime criminal theft | military army veteran soldier | war military conflict |
    equality justice activism | equality discrimination | discrimination racism prejudice bias |
    religion church faith spiritual | church religion pray service faith | pray prayer church |
    faith religion belief church | spiritual religion meditation | country nation homeland |
    homeland country hometown root | root heritage ancestry origin | origin root hometown background |
    background origin history | hometown home birthplace root | immigrant immigration country | native local hometown |
    citizen nationality country | identity gender sexuality self | gender transgender woman man |
    transgender trans gender lgbtq | lgbtq gay queer transgender pride | pride lgbtq parade rainbow | city town urban |
    village town rural | park garden playground trail | library book read | beach ocean sand | lake water fish |
    camp tent campfire | picnic park outdoor | festival fair carnival event | parade march festival |
    holiday christmas thanksgiving vacation | christmas holiday santa | weather rain snow storm |
    storm hurricane rain thunder | sunset sunrise sky dusk | sky star cloud | star sky night telescope |
    view scenery landscape sight | scenery landscape view nature | nature outdoors forest scenery |
    car vehicle automobile drive | vehicle car truck | bike bicycle cycle | boat ship sail | train railway station |
    license permit drive | sport athlete game team | athlete sport player | player team athlete | coach train team |
    score goal | league team season | season year series | championship title win | fantasy magic dragon |
    mystery detective thriller | horror scary thriller | genre fantasy romance mystery | poem poetry poet |
    series show book season | character hero role | actor actress star | director film movie | script screenplay write |
    screenplay script movie | publish publisher release | draft manuscript write | edit editor revise |
    fiction novel story
    # further qualities and things
    ability skill power | absence miss | achievement award | addict addiction hook | advice guidance wisdom counsel |
    age year | ancient history | attractive beautiful cute handsome | cute adorable sweet | average normal |
    awful terrible horrible bad | bad terrible poor | basic simple | beginner novice newbie start |
    belong possession item | cautious careful safe precaution | precaution safety protect careful |
    opportunity chance offer possibility | chaos mess | commitment dedication | common share similar mutual |
    companion friend pet company | companionship company friend pet | compassionate care |
    complicate complex difficult | condition state health | connection bond relationship link | connection network |
    contract deal agreement sign | cooperation teamwork | crowd people | cultural culture | deep profound |
    defense protect | delicate fragile | despair hopeless | detail specific | devote loyal | dignity respect |
    diligent hard | diverse diversity inclusive | diversity inclusion diverse | inclusion inclusive accept diversity |
    dramatic drama | eager keen excite | economy economic | effective effect | elegant classy | senior elderly |
    encouragement support | enemy rival | rival opponent compete | enthusiasm excitement passion |
    excitement thrill joy | ethical moral | everyday daily | evil bad | exact specific | fantastic wonderful |
    fashionable trendy stylish | stylish fashionable chic | fate destiny | flexible flexibility | fortune luck money |
    luck lucky fortune | lucky fortunate luck | unlucky unfortunate | genius smart | world global earth | gossip rumor |
    graceful grace | habit behavior | handmake handcraft craft | harmony peace | heal therapeutic therapy |
    therapeutic heal calm relax | historic history historical | honor respect award | hungry hunger starve |
    ideal perfect | illegal crime | indoor home | informative education | innovative innovation creative invent |
    innovation technology invent | inspiration muse influence idea | inspirational inspire motivate |
    intense intensity | intimate close | justice fair | knowledge learn | landmark monument attraction sight |
    attraction sight tourist landmark | tourist travel tourism sightsee | sightsee tour attraction visit |
    leadership lead | legacy heritage | legend myth | lifestyle life habit | limit edition | local nearby |
    luxury fancy expensive | magic magical wizard | magical magic enchant | marvelous wonderful | mature grow |
    memorable unforgettable memory | messy clutter | clutter mess declutter | minor small | miserable sad |
    misunderstanding confusion | mysterious mystery | natural nature | negative bad hurtful |
    optimistic positive hopeful | normal usual | nostalgic nostalgia memory | obsess obsession addicted |
    obstacle hurdle barrier | odd strange weird | optimism hope | outdoor nature | outgo social extrovert | panic fear |
    partnership collaboration partner | path trail | personal private | pleasure joy | precious valuable |
    productive productivity efficient | productivity focus efficient | profit money revenue | proposal propose |
    prosper success | refugee immigrant | reliable trust | royal king queen | rural countryside farm village |
    farm farmer barn countryside | sacred holy | scholar student | setback failure obstacle | silly funny |
    similarity common | skillful skill | slim thin | social friend | soul spirit | status state | stereotype bias |
    suitable fit | supportive support | surgery procedure | sustainable eco environment |
    sustainability eco environment green | sympathy empathy | talented gift | thirsty drink |
    thoughtful considerate care | tragedy tragic | trauma traumatic | trend fashion popular | typical usual |
    injustice unfair discrimination | urgent emergency | vivid bright | discipline willpower focus | worth value |
    adult grow | album record music | alcohol beer wine drink | alarm alert | alley street | appliance oven fridge |
    arcade game | athletic sport | attic basement | auction sale | backyard garden yard | bakery cake bread pastry |
    banquet dinner | bar pub drink | pub bar beer | barbecue bbq grill | bath tub shower | bathroom toilet shower |
    battle fight war | bike motorcycle | bill invoice | blanket quilt | blog vlog | bookstore bookshop book |
    bowl pot cup | cup mug bowl | architecture building architect | bus coach | cabin cottage | cafe coffeeshop |
    cake dessert | kayak canoe paddle | cap hat | carpet rug | cartoon animation comic | animation cartoon anime |
    comic cartoon manga superhero | castle palace | chicken meat | church cathedral | cinema theater movie |
    theater theatre play stage | classroom school | pottery clay ceramic pot bowl | climate weather | clock watch |
    trainer coach gym | coat jacket | comedy funny standup | composer music | concert music |
    console xbox playstation nintendo | cookie biscuit | cuisine food | daycare kindergarten | dentist tooth |
    desk table | diagnosis illness | dialect language | filmmaker film director | dish food | dock harbor |
    document paper | doll toy | dolphin whale | dorm college | dress gown | engine motor | essay paper write |
    expedition trip adventure | expense cost | fabric cloth | ferry boat | figurine figure statue | firefighter fire |
    fish rod | flyer poster | forum community | electronics gadget device | gallery art | garage car | gas fuel |
    glasses eyeglass | god faith | grade mark | grandchild grandson granddaughter | grandkid grandchild | grass lawn |
    guidebook guide | handbag bag | harbor port | headache migraine | herb plant | road highway street |
    honeymoon wedding | hoodie sweatshirt | horse pony | hostel hotel | hotel motel inn | housing home |
    illustration draw | insect bug | invention invent | jean denim | shirt tshirt jersey | jewel jewelry gem |
    journalist reporter news | trash garbage waste junk | laboratory lab science | lamp light | lecture class |
    liquor alcohol | literature book | lodge cabin | luggage suitcase | makeup cosmetic | mansion house |
    math mathematics | mattress bed | meadow field | meat beef | mechanic car | membership member |
    memoir autobiography | merch merchandise | product merchandise item | minister pastor | pastor church |
    mission goal | nanny babysitter | necklace pendant | newspaper news | nightmare dream |
    dietitian nutritionist diet | object item | orchestra symphony | organization nonprofit charity | orphanage orphan |
    package parcel | pants jeans | pharmacy drugstore | pianist piano | playlist music | protest rally march |
    puzzle jigsaw | quest mission | rabbit bunny | recital concert | refrigerator fridge | resume cv |
    sculpture statue | spa massage | stadium arena | subway metro | supplement vitamin | taxi cab | turtle tortoise |
    vet veterinarian | wardrobe closet
"""
