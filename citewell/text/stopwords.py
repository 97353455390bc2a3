"""Function words by language (ISO 639-1): they tell languages apart, and are left out of the lexical index.

Only words that carry no subject: articles, pronouns, prepositions, conjunctions, auxiliaries, question words.
Written lower-case with their accents, apostrophes already split (`l'avion` is `l`, `avion`).
"""

from __future__ import annotations

_LISTS: dict[str, str] = {
    "en": """
        a about after again all also am an and any are as at be because been before being between both but by can cannot
        could did do does doing don down during each else few for from further had has have having he her here hers him his
        how i if in into is it its itself just ll me might more most must my no nor not now of off on once only or
        other our ours out over own per re s same shall she should so some such t than that the their theirs them then there
        these they this those though through to too under until up upon us ve very was we were what when where whether which
        while who whom whose why will with within without would you your yours am vs via per upon please tell
    """,
    "de": """
        ab aber alle allem allen aller alles als also am an ander andere anderem anderen anderer anderes anders auch auf aus
        bei beim bin bis bist da damit dann das dass daß dazu dein deine dem den denn der deren des dessen dich die dies diese
        diesem diesen dieser dieses dir doch dort du durch ein eine einem einen einer eines einig einige einigen er es etwa
        etwas euch euer eure für gegen gibt habe haben hat hatte hatten hier hin hinter ich ihm ihn ihnen ihr ihre ihrem ihren
        ihrer ihres im in indem ins ist ja jede jedem jeden jeder jedes jene jener jetzt kann kein keine keinen keiner können
        könnte man manche mein meine mich mir mit muss müssen nach nicht nichts noch nun nur ob oder ohne sehr sein seine
        seinem seinen seiner seines seit selbst sich sie sind so solche soll sollte sondern sonst über um und uns unser unsere
        unter viel viele vielen vom von vor während war waren warum was weil welche welchem welchen welcher welches wem wen
        wenn wer werde werden weshalb wessen wie wieder will wir wird wo woher wohin womit worden wurde wurden würde würden
        zu zum zur zwar zwischen wann wofür wodurch woran worauf woraus wovon worüber worum wozu worin wobei
    """,
    "fr": """
        à au aucun aucune aussi autre autres aux avec avait avaient avez avoir avons ayant c ce ceci cela celle celles celui
        ces cet cette ceux chaque chez combien comme comment d dans de depuis des donc dont du elle elles en encore entre es
        est et étaient était étant été être eu eux fait furent fut il ils j je jusqu l la laquelle le lequel les lesquelles
        lesquels leur leurs lors lorsque lui m ma mais me même mes moi moins mon n ne ni nos notre nous on ont ou où par
        parce pas pendant peut plus pour pourquoi qu quand que quel quelle quelles quels qui quoi s sa sans se selon sera
        ses si son sont sous sur t ta te tes toi ton tous tout toute toutes très tu un une vos votre vous y
    """,
    "es": """
        a al algo algún alguna algunas algunos ante antes aquel aquella aquellos aunque cada como cómo con contra cual cuál
        cuales cuáles cualquier cuando cuándo cuanta cuánta cuánto cuántos cuántas cuyo de del desde donde dónde durante e el
        él ella ellas ellos en entre era eran es esa esas ese eso esos esta está estaba están estas este esto estos fue fueron
        ha había habían han hasta hay la las le les lo los más me mi mis muy nada ni no nos nosotros nuestra nuestro o os otra
        otras otro otros para pero poco por porque pues que qué quien quién quienes quiénes se sea según ser si sí sido sin
        sino sobre son su sus también tan tanto te tiene tienen toda todas todo todos tu tus un una unas uno unos y ya yo
    """,
    "it": """
        a ad agli ai al alla alle allo anche ancora avere aveva avevano c che chi ci ciò coi col come con contro cosa cui d
        da dagli dai dal dalla dalle dallo degli dei del della delle dello dentro di dopo dove e è ed era erano essere essi
        fra fu furono gli ha hanno ho i il in io l la le lei li lo loro lui ma mentre mi mia mio ne negli nei nel nella
        nelle nello no noi non nostra nostro o ogni oppure per perché però più poi prima qual quale quali quando quanta
        quante quanti quanto quella quelle quelli quello questa queste questi questo se sei senza si sia siano sono sta
        stata state stati stato su sua sue sugli sui sul sulla sulle suo suoi te ti tra tu tutta tutte tutti tutto un una uno vi voi
    """,
    "pt": """
        a à ainda além alguém algum alguma ante antes ao aos apenas após as às até cada com como contra cuja cujo da das de
        dela dele deles depois desde dessa desse desta deste do dos e é ela elas ele eles em entre era eram essa essas esse
        esses esta está estão estas este estes eu foi foram há isso isto já lhe lhes mais mas me mesmo meu minha muito na não
        nas nem nenhum no nos nós nossa nosso num numa o onde os ou outra outras outro outros para pela pelas pelo pelos
        pode por porque porquê qual quais qualquer quando quanta quantas quanto quantos que quê quem se sem ser seu seus sido
        sob sobre sua suas são também te tem têm tendo tinha toda todas todo todos tu um uma umas uns você vocês
    """,
    "nl": """
        aan al alle alles als ander andere bij daar dan dat de der deze die dit doch doen door dus een eens en er ge geen geweest
        had hadden heb hebben heeft hem het hier hij hoe hoeveel hun iemand iets ik in is ja je kan konden kunnen maar me meer
        men met mij mijn moet moeten na naar niet niets nog nu of om omdat onder ons onze ook op over reeds te tegen toch toen
        tot tussen u uit uw van veel voor waar waarom wanneer waren was wat we welk welke werd werden wezen wie wij wil worden
        wordt zal ze zei zelf zich zij zijn zo zonder zou zouden
    """,
    "sv": """
        alla allt än att av blev bli blir de dem den denna deras dess dessa det detta dig din ditt du där då efter ej eller en
        er era ett från för ha hade han hans har hennes henne hon honom hur här i icke ingen inom inte jag ju kan kunde man
        med mellan men mig min mitt mot mycket ni någon något några när och om oss på samma sedan sig sin sina sitt själv
        skulle som så till under upp ut utan vad var vara varför varit vars vem vi vid vilka vilken vilket vår våra är åt över många
    """,
    "da": """
        ad af alle alt at blev blive bliver da de dem den denne der deres det dette dig din dog du efter eller en end er et
        for fra ham han hans har havde have hende hendes her hos hun hvad hvem hver hvilke hvilken hvilket hvis hvor hvordan
        hvorfor hvornår i ikke ind jeg jer jo kan kunne man mange med meget men mig min mod mellem ned noget nogle nu når og
        også om op os over på selv sig sin sine skal skulle som sådan så til ud under var være været vi vil ville vor
    """,
    "no": """
        alle at av både ble bli blir da de deg dem den denne der dere deres det dette din disse du eller en er et ett etter
        for fordi fra før ha hadde han hans har henne her hun hva hvem hver hvilke hvilken hvis hvor hvordan hvorfor i ikke
        ingen inn ja jeg kan kunne man mange med meg meget mellom men min mot må ned noe noen nå når og også om opp oss over
        på samme seg selv sin sine skal skulle slik som så til under ut var vi vil ville være vært vår å
    """,
    "fi": """
        ei eivät ennen että hän he heidän hänen ja jo joka joiden joissa joita jokin jonka jos jossa josta jota joten jotka kanssa
        keitä kenen ketä kuin kuinka kuka kun kunnes me meidän mihin mikä miksi millä millainen milloin minä minkä missä mistä
        mitä mitkä moni monta muut mutta myös ne niiden niin niistä niitä nuo nyt ole olen oli olivat ollut olla on ovat se sekä
        sen siellä siihen siinä siitä sitä sinä tai tämä tämän tässä tästä tätä te tuo vaan vai vain vaikka yli
    """,
    "hu": """
        a ahol aki akik amely amelyek ami amikor az azok azon azt azzal be belül csak de e egy egyes egyik el ellen előtt és ez
        ezek ezen ezt ezzel fel fog ha hány hogy hogyan hol honnan hová ide igen ill is itt kell kellett ki kicsoda kik le legyen
        lehet lesz lett ma már meg mely melyik mennyi mert mi mikor milyen mint mit míg minden most nagyon nekem nem nincs
        olyan ott ő ők össze pedig szerint és s sem sok során számára től tól után úgy utána vagy van vannak volt voltak
    """,
    "tr": """
        acaba ama ancak arada aslında az bana bazı belki ben benim beri bile bir biraz birçok biri birkaç biz bu buna bunlar
        bunu bunun burada çok çünkü da daha dahi de defa değil diğer diye dolayı en fakat gibi göre ha hangi hani hem hep hepsi
        her hiç için içinde ile ilgili ise işte kaç kadar kendi ki kim kime kimin mi mı mu mü nasıl ne neden nedir nerede
        nereye niçin o olan olarak oldu olduğu olması on ona onlar onu onun orada oysa sadece sanki sen siz sonra şey şu tarafından
        tüm var ve veya ya yani yok zaman hangisi neydi idi
    """,
    "pl": """
        a aby albo ale bardzo bez bo być był była było były co czy czyli dla do dlaczego gdy gdyby gdzie go i ich ile im innych
        iż ja jak jaka jaki jakie jako je jednak jego jej jest jeszcze jeśli już ją każdy kiedy kto która które którego której
        którzy który których ma mają mi między może można my na nad nam nas nie nich nim niż o od on ona one oni oraz po pod
        poza przed przez przy są się ta tak także tam te tego tej ten też to tu ty tych tylko tym u w we więc wszystko z za ze
    """,
    "cs": """
        a aby ale ani až bez by byl byla byli bylo být co což či do jak jaká jaké jaký jako je jeho jejich její jen jenž ještě ji
        jsem jsou k kde kdo kdy když které kteří která který kolik ke má mají mezi mi mu může my na nad nebo nejsou není než nic
        o od ona oni on pak po pod podle pokud pouze proč pro proti před přes při s se si své svůj ta tak také tam tato te ten
        tento to tohoto toto tu ty u už v vám váš ve více však z za ze že
    """,
    "ro": """
        a acea această aceasta aceea acei aceia acel acela acele acest acesta aceste acestea acolo ai al ale am ar are aș asupra au
        avea avut ca că câți câte cât când care cărei căror ce cel cea cei cele cine cu cum da dar de deci decât din dintre
        după ea ei el ele era erau este eu fi fie fost fără i iar îl îi în între într își la le li lor lui mai mult multe mulți
        ne nici noi nu o ori pe pentru pentru prin s sa să sau se spre sub sunt său săi sale te toate tot toți tu un una unde
        unei unele unor unui unul va voi vor
    """,
    "vi": """
        ai anh bao nhiêu bằng bị bởi các cái cho chỉ chúng có còn của cũng cùng dù được do đã đang đây đến đều để đó đâu gì giữa
        hay hoặc khi không là lại làm lên mà mỗi một nào này nên nếu nhưng những như ở ra rằng rất rồi sao sau sẽ so ta tại
        theo thế thì trên trong từ tuy và vào vẫn vậy về vì với việc ông bà họ nó
    """,
    "id": """
        ada adalah akan anda antara apa apakah atau bagaimana bahwa banyak beberapa bisa berapa bukan dalam dan dapat dari dengan
        di dia dimana hanya harus ia ini itu jika juga kami kapan karena ke kepada kita lain lebih mana maka mengapa mereka
        oleh pada para pernah saat saja salah sangat saya sebagai sebuah secara sedang sejak seperti serta setelah siapa sudah
        tak telah tentang tersebut tetapi tidak untuk yaitu yang
    """,
    "ca": """
        a al als amb aquell aquella aquest aquesta això atès cada com d de del dels des després el ella elles ells els en entre
        era eren és es està estan fer fins fou ha han hi i l la les li llur més meu molt no nosaltres o on per però perquè pels
        pel qual quals quan quant quants que què qui s sense ser seu seva seus són sota també tan tot tots un una unes uns va van
    """,
    "et": """
        aga ei ega et ette ja ju ka kas kes kelle keda kui kuid kuidas kus kust kuhu ma mida mis mille millal miks mitte mitu
        nad nende neid nii ning nüüd oli olid olla ole olen on oma peale pärast saab sa see seda selle selles siis ta tema
        te tuli välja vaid veel või üle
    """,
    "lt": """
        aš ant apie ar bei bet buvo būti dar dėl ir iš iki jai jam jei ji jie jis jo jų jos juos kad kada kai kaip kas kiek ko
        kodėl kokia koks kur kuri kurie kurio kurios kurių kuris nei ne nėra nes nuo o per po prie prieš su šio ši šis tai tarp
        tas ten tik to tos tų už yra
    """,
    "ru": """
        а без более бы был была были было быть в вам вас весь во вот все всего всех вы где да даже для до его ее её ей ему если
        есть еще ещё же за здесь и из или им их к как какая какие каким каких какого какое какой какую ко когда кого кем кому
        который которая которое которые кто куда ли лишь между меня мне может можно мой мы на над надо нас не него нее неё нет ни
        них но ну о об один однако он она они оно от откуда по под почему при про с сам свое свои своих свою себе себя сколько
        со так такие такой также там те тем то того тоже той только том тот ту ты у уже чего чей чем через что чтобы чье чья эта
        эти это этого этой этом этот эту я
    """,
    "uk": """
        а або але без би був була були було бути в вас ви від він вона вони воно все всі де для до його її їй їм їх є є з за
        зі і із й каже коли котрий кого ким кому хто куди ми мене між може на над нас не нею ні них ніж о ось по під при про
        свій свої скільки та так також там те тебе тим то тоді той тому ту у це цей ця ці через чи чим чого чому що щоб як яка яке який
        які яких якого якої якою
    """,
    "bg": """
        а аз без беше би бил била били било в вече ви вие все всички във върху г ги го да дали до докато е един една едно за защо
        и из или им има как каква какво какви какъв като кога кого коя кои кой което която които който колко към къде ли ме между
        ми му на над най не нещо ни ние но някои о от по под при с са само се си след със така тази там те тези ти то това този той
        тя у че чрез ще я
    """,
    "sr": """
        а али ако би био била било били бити без већ да до док где га гдје је јер још за због и из или им их ју к као када како ко
        која које који којих кад колико ли ме међу може му на над не него није но о од он она они оно пре по под при са се своје сам
        само су та тај тако те то тог том у уз што шта
    """,
    "el": """
        αλλά αν αντί από αυτά αυτές αυτή αυτό αυτοί αυτός αυτού αυτών για γιατί δε δεν δύο εάν είναι εκείνη εκείνο εκείνος εμείς εν
        ένα έναν ένας ενώ επί εσείς έχει έχουν η ήταν θα κάθε και κατά κι μα με μετά μη μην μια μία μόνο μου μπορεί να ο οι όπως
        όπου όταν ότι ου πιο ποια ποιά ποιες ποιο ποιό ποιοι ποιος ποιός ποιον ποιους πόσα πόσες πόσο πόσοι πόσους πότε που πού
        πριν προς πως πώς σας σε στα στη στην στης στις στο στον στους σύμφωνα τα τι τη την της τις το τον του τους των ως
    """,
    "ar": """
        أو أي أين أيضا أيضاً أن أنا أنت أنه أنها إذا إلا إلى إن إنه إنها الان التي الذي الذين اللذين اي اين ان الى او بعد بعض بل بما
        به بها بين تم تكون تلك ثم جدا حتى حول حيث حين خلال دون ذلك سوف عام عن عند عندما على عليه عليها غير فإن في فيه فيها قبل قد كان
        كانت كانوا كل كم كما كيف لا لأن لدى لقد لكن لم لماذا لن له لها لهم لو ليس ليست ما ماذا متى مثل مع من منذ منه منها نحن نعم هؤلاء
        هذا هذه هل هم هنا هناك هو هي و وهو وهي يتم يكون
    """,
    "fa": """
        آن آنها آنچه از اگر اما او این اینکه با باید بر برای بسیار بود بودن بودند به بی تا تر توسط چرا چگونه چند چه چون چیزی چیست خود
        دارد دارند داشت در دیگر را روی زیر سپس شد شده شود شوند عنوان کجا کدام کرد کردند کرده کسی کنید کند کنند که کی گونه ما مانند مورد
        می نه نمی نیز ها های هر هم همه همین هیچ و ولی یا یک است هستند
    """,
    "ur": """
        اس اسے اگر ان اور اپنی اپنے ایک بھی تک تو تھا تھی تھے جب جس جن جو جہاں سب سے سکتا سکتی صرف طرح کا کب کتنا کتنے کتنی کر کرتا کرتے
        کرنا کرنے کس کسی کو کون کونسا کہ کہا کہاں کی کیا کیسے کیوں کے گا گئی گئے گی گیا لیے مگر میں نہیں نے وہ پر پھر ہم ہو ہوا ہوتا ہوتی
        ہوتے ہوئی ہوئے ہی ہے ہیں یا یہ
    """,
    "hi": """
        अपना अपनी अपने अब आदि आप इन इनका इनकी इनके इस इसका इसकी इसके इसमें इसे उन उनका उनकी उनके उन्हें उन्होंने उस उसका उसकी उसके उसे एक
        एवं ऐसे ओर और कब कर करता करते करना करने करें कहा कहाँ कहां का काफी कितना कितनी कितने किन किया किस किसका किसकी किसके किसने किसी किसे
        की कुछ के को कोई कौन कौनसा क्या क्यों गई गए गया चाहिए जब जहाँ जा जाता जाती जाते जाने जिन जिस जिसका जिसे जिसमें जो तक तथा तब तरह तो था
        थी थीं थे द्वारा न नहीं ना ने पर परंतु पहले फिर बहुत बाद भी मगर में मैं यदि यह यहाँ या ये रहा रही रहे लिए लेकिन वह वहाँ वाला वाली
        वाले वे व सकता सकते सकती सब सभी साथ से हम ही हुआ हुई हुए है हैं हो होता होती होते होना होने
    """,
    "ne": """
        अनि अब अरु आफ्नो उनको उनी उनीहरू एक एउटा कति कसरी कसको कसले कहाँ कहिले का कि किन कुन के को गरी गरेको गरे छ छन् छैन जब जस जसको जहाँ
        जुन जो तथा तर थियो थिए देखि धेरै नै पनि पर्छ बाट बारे भएको भने भयो मा मात्र यस यसको यो र रहेको लाई ले वा सँग साथ हरू हुन हुने हो
    """,
}

STOP_WORDS: dict[str, frozenset[str]] = {code: frozenset(words.split()) for code, words in _LISTS.items()}

# Particles and question words of scripts without spaces: n-grams that are one of these say nothing about the subject.
_UNSPACED_LISTS: dict[str, str] = {
    "zh": """
        的 了 是 在 和 与 與 或 及 也 都 而 就 这 這 那 什么 什麼 怎么 怎麼 怎样 怎樣 多少 哪 哪个 哪個 哪些 哪里 哪裡 谁 誰 为什 為什 么 麼
        如何 是否 吗 嗎 呢 吧 一个 一個 几 幾 何时 何時 是什 有多
    """,
}
UNSPACED_STOP_RUNS: dict[str, frozenset[str]] = {
    code: frozenset(runs.split()) for code, runs in _UNSPACED_LISTS.items()
}
