"""Small talk: its kinds, the words and phrases it is recognised by, and the reply to each kind when no chat model writes one.

Everything that is not one of these kinds is looked up, jokes and facts included: the files may hold them.
"""

from __future__ import annotations

from enum import StrEnum


class SmallTalk(StrEnum):
    """Kinds of small talk; each has a reply of its own."""

    GREETING = "greeting"
    THANKS = "thanks"
    GOODBYE = "goodbye"
    ACKNOWLEDGEMENT = "acknowledgement"
    ABOUT_ASSISTANT = "about_assistant"


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


# What is typed for other words, and contractions that would hide a "you" or a "my".
ABBREVIATIONS = {
    "u": "you", "ur": "your", "r": "are", "ya": "you", "y'all": "you", "thx": "thanks", "thanx": "thanks", "ty": "thanks",
    "tysm": "thanks", "thankyou": "thanks", "gm": "good morning", "gn": "good night", "cya": "see you", "k": "ok",
    "ttyl": "talk to you later", "nvm": "never mind", "np": "no problem", "kk": "ok", "sup": "what is up",
    "wassup": "what is up", "im": "i am", "gotta": "have to", "wanna": "want to", "pls": "please", "plz": "please",
    "whats": "what is", "whos": "who is", "hows": "how is", "wheres": "where is", "whens": "when is", "can't": "can not",
    "won't": "will not", "let's": "let us",
}  # fmt: skip
CONTRACTED = {"'s": " is", "'re": " are", "'m": " am", "'ve": " have", "'d": " would", "'ll": " will", "n't": " not"}

# A clause of nothing but these, the words that go with them and function words is small talk.
POLITE: dict[SmallTalk, frozenset[str]] = {
    SmallTalk.THANKS: _words(
        """thanks thank cheers appreciate appreciated grateful gracias merci danke dankeschön obrigado obrigada grazie tak tack dank
        bedankt teşekkürler спасибо شكرا धन्यवाद 谢谢 感谢 多谢 ありがとう ありがとうございます 감사합니다"""
    ),
    SmallTalk.GOODBYE: _words(
        """bye goodbye farewell adios adiós adeus tschüss tschüs tschau arrivederci revoir luego пока 再见 拜拜 さようなら
        goodnight later cheerio"""
    ),
    SmallTalk.GREETING: _words(
        """hi hello hey hiya howdy yo greetings hola bonjour bonsoir salut ciao hallo moin servus ola olá hej namaste aloha
        buongiorno buonasera buenos buenas guten bom ça merhaba привет здравствуйте مرحبا שלום नमस्ते 你好 您好 嗨 こんにちは 안녕하세요
        morning afternoon evening"""
    ),
    SmallTalk.ACKNOWLEDGEMENT: _words(
        """ok okay yes yeah yep yup genau whatever no nope nah sure alright right fine fair cool great good nice perfect awesome excellent wonderful
        amazing wow lol haha hehe hmm oh ah understood noted exactly true correct sorry oops indeed interesting oui si sí ja nein
        non vale da да нет хорошо 好的 好 是的 はい いいえ 네 아니요"""
    ),
}
POLITE_COMPANIONS = _words(
    """please lot much many million bunch again there everyone everybody all friend friends mate buddy pal team bot assistant
    citewell help helped helps helpful answer answers question info information day days weekend night time week then now today
    mille beaucoup bien sehr muito muchas vielen tag abend dag hasta au buen bon dia días noite noches tardes va tudo bem je wel zusammen enough really very so
    got see take care works worries problem never mind job work done thing partner sir madam"""
)
ASKING = _words("what which who whom whose where when why how find show list give tell")
ASKING_FIRST = _words("is are was were do does did can could would will should may am have has")

# Phrases that a message is compared with, by meaning. A handful of each kind: they are examples, not a list of what is recognised.
PROTOTYPES: dict[SmallTalk, tuple[str, ...]] = {
    SmallTalk.GREETING: (
        "hi", "hello there", "good morning", "how are you?", "how is it going?", "what's up", "nice to meet you",
        "hello, how are things today", "is anyone there?", "¿cómo estás?", "wie geht es dir?", "comment ça va ?",
    ),
    SmallTalk.THANKS: (
        "thanks", "thank you very much", "I appreciate your help", "that was very helpful", "you are great",
        "that is exactly what I needed", "that answers my question, thanks",
    ),
    SmallTalk.GOODBYE: (
        "bye", "goodbye", "see you later", "talk to you soon", "good night", "have a nice day", "I have to go now",
        "it was nice talking to you", "that is all for today", "I must run", "until next time", "I am leaving now",
    ),
    SmallTalk.ACKNOWLEDGEMENT: (
        "ok", "yes", "no", "got it", "great", "that makes sense", "never mind", "sounds good", "that works for me",
        "good to know", "my mistake", "that is funny",
    ),
    SmallTalk.ABOUT_ASSISTANT: (
        "who are you?", "what is your name?", "what should I call you?", "are you a robot or a human?", "are you a real person?",
        "is this a computer generated voice?", "are you ChatGPT?", "which model are you?", "are you intelligent?",
        "how old are you?", "what is your age?", "when is your birthday?", "where are you from?", "where do you come from?",
        "where do you live?", "in which country were you born?", "what is your home town?", "who made you?", "who created you?",
        "which company built and programmed you?", "who developed and designed you?", "who do you work for?",
        "who is your boss?", "which person or group employs you?", "what can you do?", "what can I ask you?",
        "what topics can you help me with?", "what tasks are you capable of?", "how do you work?", "what are your hobbies?",
        "what do you do in your free time?", "what do you like to do outside of work?", "do you have any pets?",
        "do you own a dog or a cat?", "do you prefer dogs or cats?", "do you have feelings?", "what do you do for fun?",
        "which languages do you speak?", "describe yourself", "tell me about yourself", "wer bist du?", "qui es-tu ?",
        "¿quién eres?", "chi sei?", "quem é você?",
    ),
}  # fmt: skip
QUESTION_PROTOTYPES = (
    "what is the interest rate?", "how do I apply for a loan?", "who is the manager?", "when is the deadline?",
    "where is the office?", "list all the fees", "summarize the report", "tell me about the program", "tell me a joke",
    "tell me a fun fact", "what is the meaning of life?", "what does this word mean?", "how much does it cost?",
    "how many are there?", "is it allowed to bring a dog?", "compare the two years", "translate this to French",
    "set a reminder for tomorrow", "what is the weather today?", "book a flight", "how old is the president?",
    "what is the name of this song?", "who wrote the book?", "can you help me find my phone?", "can you change the date?",
    "why was it rejected?", "thank you letter template", "greeting cards", "what do you charge?", "do you offer insurance?",
    "where is it made?", "what should I do?", "what else?", "are you sure?", "who founded the company?",
    "what are your opening hours?", "what files do I have?", "where did you find that?", "call my mom", "play some music",
    "send a message", "interesting facts about it", "how do you open an account?", "what do you need to register?",
    "what do you recommend?", "who are your customers?", "where are your branches?", "what is your policy on refunds?",
    "how do you say hello in Spanish?", "good restaurants nearby", "tell me more", "when do you close?",
    "what would you recommend for dinner?", "when should you water plants?", "is it good for your health?",
    "how long does it take to get your license?", "do you think I need a visa?", "what do you have on the menu?",
    "who do you lend to?", "what do you do with the data?", "how do you spell it?", "good news from the market",
    "what is new in the handbook?", "what happened today?", "what are people interested in?", "more details", "why?",
    "is that all?", "is that right?", "who?", "where is it?", "wie hoch ist der Zinssatz?", "quel est le taux d'intérêt ?",
    "¿cuál es la tasa de interés?", "quanto costa?", "qual é o prazo?",
)  # fmt: skip

_REPLIES: dict[SmallTalk, str] = {
    SmallTalk.GREETING: "Hello! Ask me anything about your files.",
    SmallTalk.THANKS: "You're welcome! Ask away if there is more you want to know from your files.",
    SmallTalk.GOODBYE: "Goodbye! Your files are here whenever you need an answer from them.",
    SmallTalk.ACKNOWLEDGEMENT: "All right. What would you like to know from your files?",
    SmallTalk.ABOUT_ASSISTANT: (
        "I'm Citewell, a program that answers questions from your own files and shows the page, row or passage each answer "
        "rests on. Ask me about anything you have uploaded."
    ),
}


def reply(kind: SmallTalk | None) -> str:
    """A fixed, short reply that fits the kind of small talk."""
    return _REPLIES[kind or SmallTalk.ACKNOWLEDGEMENT]


def is_reply(text: str) -> bool:
    """Whether an assistant's message is one of the fixed replies."""
    return text.strip() in _REPLIES.values()
