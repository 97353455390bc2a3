"""Small talk: its kinds, the reply to each when no chat model writes one, and its closed vocabulary.

A message is small talk when every word of it belongs to this vocabulary; a question about a document brings words of its own.
"""

from __future__ import annotations

from enum import StrEnum


class SmallTalk(StrEnum):
    """Kinds of small talk; each has replies of its own."""

    GREETING = "greeting"
    THANKS = "thanks"
    GOODBYE = "goodbye"
    ACKNOWLEDGEMENT = "acknowledgement"
    ABOUT_ASSISTANT = "about_assistant"
    ENTERTAINMENT = "entertainment"
    MEANING_OF_LIFE = "meaning_of_life"


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


CONTRACTIONS = {
    "what's": "what is", "whats": "what is", "who's": "who is", "whos": "who is", "where's": "where is",
    "wheres": "where is", "how's": "how is", "hows": "how is", "when's": "when is", "whens": "when is", "why's": "why is",
    "that's": "that is", "thats": "that is", "it's": "it is", "there's": "there is", "let's": "let us", "lets": "let us",
    "i'm": "i am", "im": "i am", "i'd": "i would", "i'll": "i will", "i've": "i have", "ive": "i have",
    "you're": "you are", "youre": "you are", "you'd": "you would", "you'll": "you will", "you've": "you have",
    "we're": "we are", "we'll": "we will", "don't": "do not", "dont": "do not", "doesn't": "does not",
    "can't": "can not", "cant": "can not", "cannot": "can not", "won't": "will not", "isn't": "is not",
    "aren't": "are not", "wanna": "want to", "gonna": "going to", "gotta": "got to", "gimme": "give me", "lemme": "let me",
    "u": "you", "ur": "your", "r": "are", "ya": "you", "yer": "your", "pls": "please", "plz": "please", "y'all": "you",
    "thanx": "thanks", "thx": "thanks", "thankyou": "thank you", "ty": "thanks", "tysm": "thanks", "goodbye": "good bye",
    "goodnight": "good night", "hiya": "hi", "wassup": "whats up", "sup": "whats up", "buh-bye": "bye", "byebye": "bye",
}  # fmt: skip

FRAMES = (
    r"(?:please )?(?:can|could|would|will|may|might) (?:you|i|we) (?:please |kindly |possibly |maybe )?(?=tell|share|give|explain|let|say|help me (?:to )?(?:know|understand)|describe|inform|provide|ask|know|hear|have|get|find out|learn|elaborate|define|reveal|clarify|go over|list|show|talk)",
    r"i (?:would |do )?(?:really |just |also |kind of |kinda )?(?:want|wants|need|like|love|wish|would like|have) (?:for )?(?:you )?(?:to )?(?:know|tell me|hear|find out|learn|understand|ask you|ask|see|talk to me|give me|inform me|explain|say)?",
    r"i am (?:just |really |so |very |kind of |kinda )?(?:curious|wondering|interested)(?: about| to know| to learn| to hear| in| as to)?",
    r"i (?:was |am )?(?:just )?wonder(?:ing)?",
    r"(?:please )?(?:tell|inform|remind|teach) (?:me|us)(?: again)?(?: about| of)?",
    r"(?:please )?let (?:me|us) (?:know|hear)(?: about)?",
    r"(?:please )?(?:give|provide|hit|offer|supply|send) (?:me|us)(?: with)?",
    r"(?:please )?help me (?:to )?(?:know|understand|learn)",
    r"do you (?:happen to )?know(?: of)?",
    r"(?:please )?(?:share|say|explain|describe|reveal|define|elaborate on|clarify|state|list|show me|talk to me)(?: with me| to me| for me)?(?: about)?",
    r"(?:just |so |well |okay |ok |hey |and |but |also |now |then |um |uh |oh |yo |please |kindly )",
    r"(?:is it possible|is there a way|any chance)(?: for me| for you)?(?: that| to)?(?: you could)?",
    r"(?:do|would) you mind (?:if i |me |my )?(?:ask|asking|telling|tell|sharing|saying|explaining|knowing|know)(?: you| me)?(?: about)?",
    r"what (?:can|could|do|did|would) you (?:tell (?:me|us)|know|say|share|have to say)(?: about| on| of)",
    r"(?:whether|if)",
    r"the (?:knowledge|details|information) (?:of|about|on)(?: whether)?",
)

FUNCTION_WORDS = _words(
    """a an the this that these those it its is am are was were be been being do does did done have has had having will would
    can could should shall may might must to of for from in on at by with about as into out up over or and but so if whether
    not no nor then than there here what which who whom whose where when why how i me myself you your yours yourself we us
    exactly actually really just also very too much many any some all every ever even still now right today currently
    presently originally ok okay well please kindly maybe possibly sort sorts kind kinds type types of thing things stuff
    something anything everything one ones exact precise specific certain particular
    know tell say give let want need like wish ask asking get got let's going go come curious wondering wonder interested
    hear understand learn explain describe list show share define example examples sure um uh oh hey hi hello sir maam
    more other else different various such way ways they them their anyway anyways again either most least after during
    outside instead rather never always usually often mostly mainly generally usual main mind bit little regularly"""
)

PERSONA_CORE = _words(
    """name names named nickname called age old older birthday birthdate birthplace born birth live lives living lived reside
    hometown country nationality origin origins originate originated hail located location homeland from
    hobby hobbies pastime pastimes fun leisure interests pet pets dog dogs cat cats puppy kitten
    human humans real robot robots bot bots ai computer machine person people alive man woman male female artificial android
    program sentient conscious being automated
    home town free spare off above made make makes maker created create creates creator built build builder designed designer developed
    developer developers
    programmed program programmer programmers coded invented inventor invent programs parents mother father engineered
    manufactured manufacturer produced author owner owns
    boss bosses employer employers employed employ employs employment work working works job manager supervisor superior
    superiors subordinate insubordinate hired pays report answer company corporation organization
    help helps helping helped assist assistance assisting able capable capability capabilities abilities ability skills
    features functions questions question topics topic subjects subject support address refer
    feeling feel ok alright doing
    call calls called title surname identity gender sex young elderly lifetime birthdays
    voice synthesized synthetic synthesised generated automaton cyborg assistant organic biological machinery chatbot chatbots
    control controls controlled controlling command commands commanded charge serve serves served master masters leader
    parent hobbyist activity activities interest recreation recreational leisurely entertainment weekends
    task tasks skilled expert experts expertise experienced specialize specialise specialty trained training knowledge
    knowledgeable equipped qualified proficient
    fish bird birds hamster rabbit horse animal animals canine canines feline felines
    founded founder founders origin's inception conceived raised grew grow assembled manufactured put
    native citizen birthland homeland residence residing based"""
)

CAPABILITY = _words(
    """help helping assist assistance support talk talking speak chat chatting converse answer answers question questions think
    feel learn understand hear see listen everything anything love exist be alive ok fine
    human robot person real bot machine computer"""
)

PERSONA_EXTRA = _words(
    """full first last real given true proper years year months day date month place places state city town home house area
    region part world planet earth free spare time relax activities activity enjoy enjoys love loves favorite favourite
    preference prefer prefers spend passionate into animal animals animal's own owns keep household family children kids friends
    type breed breeds talking speaking chatting conversing communicating dealing actual actually living breathing flesh blood
    intelligence bodied responsible response handle do does talk discuss speak answer assist perform accomplish offer
    provide task tasks information info range scope list areas types
    put together life company's behind credit tech firm organisation entity individual group team someone somebody
    turn turning celebrate next soon call calls go goes use used using ask asked try trying good great best bad
    participate partake engage engaged pursue do-for friendly unfriendly cute pretend consider considered credit credited
    off spare downtime vacation occupy entertain entertained fond hardest easiest above under over behind
    thought mom dad brother sister friend friend's siblings spend spending appreciate joy joys excited passion passions
    ultimately higher-up processed produced
    sense long around since existence exist existing existed come comes coming came grow grew raised based
    think thinking says said looking look day days week weekend life days"""
)

MEANING_OF_LIFE = _words(
    """meaning meanings purpose purposes core key essence significance lifes life's point reason reasons goal secret answer
    life living existence existing exist universe everything
    humanity mankind people human humans earth alive world all behind mean means sense figure figured philosophy believe
    think opinion thoughts idea true real ultimate whole"""
)

GREETING = (
    r"(?:hi|hello|hey|howdy|greetings|yo|hola|hallo|bonjour|salut|ciao|salve|ola|olá|hej|namaste|salaam|aloha|guten (?:tag|morgen|abend)|moin|servus|buenos d[ií]as|buenas (?:tardes|noches)|bom dia|boa (?:tarde|noite)|buongiorno|buonasera|bonsoir)(?: (?:there|again|all|everyone|everybody|you|friend|buddy|mate|pal|dear|assistant|bot|ai|citewell|sir|madam|maam|folks|guys))*",
    r"(?:a )?(?:very )?good (?:morning|afternoon|evening|day|night)(?: to you)?(?: (?:there|sir|madam|maam|everyone|all|assistant|friend))?",
    r"(?:pleased|nice|good|great|glad|happy|lovely|a pleasure) to (?:meet|see) you(?: too| again)?",
    r"(?:so |and )?how (?:are|is|was|were|have|has|do|does|goes|did) (?:you|your|it|things|everything|life|the)(?: (?:day|morning|evening|night|weekend|week|afternoon|going|doing|been|feeling|things|life|everything|with|go|goes|you|do|today|tonight|lately|now|these|days|so|far|currently|right|this|at|the|moment|all|treating|hanging|faring|holding|up|on|your|end|been|are|is|it|feel))*",
    r"what(?: is|s) (?:up|new|good|happening|going on|cooking|cracking|the good word)(?: (?:with|you|today|now|there|man|dude|buddy|my friend|in your world|lately|right now))*",
    r"(?:is|are) (?:everything|all|things|you|it)(?: all| everything)? (?:ok|okay|alright|all right|good|well|fine|great|going|doing|having|feeling)(?: (?:ok|okay|alright|well|good|great|fine|with|you|today|right|now|a|there|day|nice|on|your|end|this|morning|evening|lately))*",
    r"(?:long time no see|you there|are you there|anyone there|anybody there|hope you are (?:doing )?well|how do you do)",
    r"(?:你好|您好|早上好|晚上好|嗨|こんにちは|おはよう|안녕하세요|привет|здравствуйте|مرحبا|السلام عليكم|שלום|नमस्ते)",
)

THANKS = (
    r"(?:(?:ok|okay|great|cool|perfect|awesome|wow|alright|well|and|so|but|no|yes|hey|man|oh|good|got it|super|excellent|wonderful|amazing|nice|lovely) )*(?:many |much |a million |big |huge |special |sincere |heartfelt )?(?:thanks|thank you|thank|cheers|gracias|merci|danke|dankesch[oö]n|obrigad[oa]|grazie|tak|tack|dank je|bedankt|much appreciated|appreciated|vielen dank|danke sch[oö]n|muchas gracias|merci beaucoup)(?: (?:you|beaucoup|sehr|bien|mille|muito|so|very|ever|really|truly|kindly|again|much|a|lot|ton|bunch|million|for|the|that|this|your|all|everything|help|helping|helped|me|out|with|information|info|answer|answers|response|reply|assistance|time|today|assist|assisting|support|patience|advice|tip|heads|up|quick|great|good|kind|helpful|service|explaining|explanation|clarifying|clarification|clearing|things|letting|know|telling|being|there|sharing|it|is|was|were|are|i|we|appreciate|am|grateful|of|to|in|on|heip|doing|bot|buddy|man|dude|friend|assistant|citewell|and|have|nice|day|one|bye|good|solving|fixing|looking|into|getting|back|what|did|do|needed|need|super|perfect|useful|just|exactly|quickly|problem|matter|issue|my|these|those|great|clear|makes|sense|awesome|cool|bunches|lots|tons|kindness|guidance|care|taking|taken|providing|giving|wanted))*",
    r"(?:i |we )?(?:really |truly |very much |so |do |greatly |would |deeply |certainly |sure )*(?:ap{1,2}r?e?[cs]h?iated?|apreciate|value)(?: (?:the|that|this|your|you|it|all|help|helping|assistance|me|for|so|much|very|a|lot|information|info|time|support|everything|out|with|answer|effort|efforts|work|doing|did|do|what|have|done|kindness|of|really))*",
    r"(?:i am |we are )?(?:so |very |really |truly |quite |extremely |most |eternally )*(?:grateful|thankful|obliged|indebted|gratified)(?: (?:for|to|the|that|this|your|you|help|assistance|it|all|of|helping|me|information|so|much|very|with|am|are|everything))*",
    r"(?:you are|you were|you have been|that is|that was|this is|this was|it is|it was|that|very|so|really|super|extremely|quite|what a|such a)(?: (?:a|an|very|so|really|super|extremely|quite|most|the|great|good|nice|kind|big|real|wonderful|amazing|best|awesome|helpful|useful|perfect|help|lifesaver|life|saver|star|brilliant|lovely|excellent|sweet|fantastic|terrific|cool|all|been|i|needed|need|wanted|just|what|exactly|clear|right|fine|it|for|now|welcome))+",
    r"(?:i (?:owe you(?: one)?|could not have done it without you))",
    r"(?:that|this|it) (?:(?:really|just|already|certainly|totally) )?(?:helps|helped|answers|answered|works|worked|clears|cleared|makes sense|does it|did it)(?: (?:me|us|a|lot|very|much|so|my|our|the|questions?|it|that|up|out|all|perfectly|great|nicely|everything|things|now))*",
    r"nice one",
    r"(?:谢谢|感谢|多谢|ありがとう(?:ございます)?|감사합니다|спасибо|شكرا|תודה|धन्यवाद)",
)

GOODBYE = (
    r"(?:ok |okay |well |alright |and |so |thanks )*(?:bye|good bye|good night|farewell|adios|au revoir|ciao|tsch[uü]ss|auf wiedersehen|hasta luego|hasta la vista|cheerio|ta ta|toodles|sayonara|arrivederci|adeus|so long|later|laters|peace out|peace|take care|cya|take it easy|signing off|over and out)(?: (?:bye|now|then|for|the|you|later|good|all|everyone|friend|buddy|and|have|a|great|nice|day|night|one|my|talk|to|soon|see|tonight|today|take|care|until|next|time|there|assistant|alligator|night))*",
    r"(?:i |we )?(?:will |shall |would |can |hope to |am going to )?(?:see|talk|speak|chat|catch|be)(?: (?:with|to|back|you|ya|up))* (?:later|soon|again|tomorrow|around|next time|another time|then|next week|shortly)(?: (?:then|on|alligator|soon|today|time|bye|now|again))*",
    r"(?:it (?:was|is|has been) )?(?:so |very |really |a |an |such )*(?:nice|great|good|lovely|pleasant|pleasure|fun|wonderful|awesome|amazing|cool|excellent|delightful|enjoyable|happy|terrific|fantastic|glad|honor|honour|joy)(?: (?:time|to|have|been|be|was|got|able|getting|a|conversation|chat|talk))* (?:talk|talking|talked|speak|speaking|spoke|spoken|chat|chatting|chatted|meet|meeting|met|see|seeing|seen|know|knowing|hear|hearing|converse|conversing|communicate|communicating|catch|catching|discuss|discussing)(?: (?:to|with|you|from|up|today|again|and|bye|now|have|a|good|nice|day|all|things))*",
    r"(?:i )?(?:really |very much |have )*(?:enjoyed|loved|liked)(?: (?:our|this|the|talking|chatting|speaking|to|with|you|conversation|talk|chat|time|meeting|very|much|so|today))+",
    r"(?:have|enjoy) (?:a|your|the|yourself)(?: (?:very|nice|good|great|wonderful|lovely|pleasant|fantastic|awesome|day|night|evening|weekend|one|rest|of|your|the|afternoon|week|time|trip|life|too))*",
    r"(?:i )?(?:have|got|need|must|am|gotta|had better|should)(?: (?:to|got|going|be|leaving|off|now|really|heading|out|get|run|go|leave|head|jet|bounce|here|of|so|then|for|today))+(?: (?:bye|see you|talk to you later|good bye|thanks|later|thank you|now))*",
    r"(?:until|till|til) (?:next time|tomorrow|then|later|we meet again|we speak again|we talk again|the next time)(?: .{0,20})?",
    r"(?:that (?:is|will be|would be) (?:all|it|everything)|i am (?:all )?(?:done|set|good|finished)|we are done|nothing else|no more questions)(?: (?:for|now|today|here|i|need|needed|wanted|thanks|thank|you|then|that|is|all|very|much))*",
    r"(?:再见|拜拜|さようなら|안녕히 가세요|до свидания|пока)",
)

ACKNOWLEDGEMENT = (
    r"(?:yes|yeah|yep|yup|no|nope|nah|ok|okay|k|kk|sure|alright|all right|right|fine|cool|great|good|nice|perfect|awesome|got it|i see|understood|makes sense|that makes sense|of course|absolutely|indeed|wow|amazing|excellent|lovely|wonderful|brilliant|never ?mind|no problem|no worries|you are welcome|sorry|my bad|oops|haha+|hehe+|lol|lmao|hmm+|oh|ah|i understand|sounds good|good to know|interesting|fair enough|very well|exactly|correct|true|please|si|oui|ja|nein|non|genau|da)",
    r"(?:good|great|nice|excellent|amazing|awesome|well|fantastic) (?:job|work|stuff|answer|bot|done|one)",
    r"(?:好的|好|是的|不是|对|はい|いいえ|네|아니요|да|нет|👍|🙏|😊|❤️|👋)+",
)

FILLERS = r"(?:[\s,.!?;:~\-–—…'\"()]|&)+"

_REPLIES: dict[SmallTalk, str] = {
    SmallTalk.GREETING: "Hello! Ask me anything about your files.",
    SmallTalk.THANKS: "You're welcome! Ask away if there is more you want to know from your files.",
    SmallTalk.GOODBYE: "Goodbye! Your files are here whenever you need an answer from them.",
    SmallTalk.ACKNOWLEDGEMENT: "All right. What would you like to know from your files?",
    SmallTalk.ABOUT_ASSISTANT: (
        "I'm Citewell, a program that answers questions from your own files and shows the page, row or passage each answer "
        "rests on. Ask me about anything you have uploaded."
    ),
    SmallTalk.ENTERTAINMENT: "I'm better with facts from your files than with entertainment. What would you like to look up?",
    SmallTalk.MEANING_OF_LIFE: "That one is beyond your files and me. What would you like to look up instead?",
}


def reply(kind: SmallTalk | None) -> str:
    """A fixed, short reply that fits the kind of small talk."""
    return _REPLIES[kind or SmallTalk.ACKNOWLEDGEMENT]
