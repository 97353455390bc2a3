"""Whether two questions ask the same in other words, beyond doubt: nothing that could change the answer may differ.

Both are reduced to a form. What only makes a question polite, a sentence or definite is left out; everything else is kept: figures, names,
negations, years, limits, whose it is, and the order of words. Forms must be equal, but for plurals and synonyms.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence, Set
from dataclasses import dataclass
from functools import lru_cache

from citewell.text.language import detect_language
from citewell.text.meanings import are_opposites, is_noun, mean_the_same, share_a_meaning
from citewell.text.stopwords import STOP_WORDS

MAX_CHARACTERS = 500
"""Longer messages are compared as they are written: they hold texts, not only a question."""

_TOKEN = re.compile(r"\d+(?:[.,:/'’\-]\d+)*%?|[^\W\d_]+(?:['’\-.&/]?[^\W_]+)*[+#]*|[<>=≤≥+\-/*%$€£#&]", re.UNICODE)
_CLITIC = re.compile(r"['’](?:s|re|m)$", re.I)
_NOT = re.compile(r"(?:n['’]t|nt)$", re.I)
# Words that make a phrase a sentence or definite.
_FREE = {
    "en": frozenset(["the", "a", "an", "is", "are", "be", "am", "please", "kindly", "there"]),
    "de": frozenset(
        [
            "der",
            "die",
            "das",
            "den",
            "dem",
            "des",
            "ein",
            "eine",
            "einen",
            "einem",
            "einer",
            "eines",
            "ist",
            "sind",
            "bitte",
            "denn",
            "eigentlich",
            "es",
        ]
    ),
    "fr": frozenset(["le", "la", "les", "l", "un", "une", "est", "sont", "c", "ce"]),
    "es": frozenset(["el", "la", "los", "las", "un", "una", "unos", "unas", "es", "son"]),
    "it": frozenset(["il", "lo", "la", "i", "gli", "le", "l", "un", "una", "uno", "è", "sono"]),
    "pt": frozenset(["o", "os", "as", "um", "uma", "é", "são"]),
    "nl": frozenset(["de", "het", "een", "is", "zijn"]),
}
# Question words, by what they ask for; "what" asks for nothing that a bare phrase does not.
_ASKS = {
    "en": "what: which: who:who whom:who whose:whose when:when where:where why:why how:how",
    "de": "was: welche: welcher: welches: welchen: welchem: wer:who wen:who wem:whom wessen:whose wann:when wo:where warum:why weshalb:why"
    " wieso:why wie:how woher:whence wohin:whither wieviel:much",
    "fr": "quel: quelle: quels: quelles: que: qu: quoi: qui:who quand:when où:where pourquoi:why comment:how combien:much",
    "es": "qué: cuál: cuáles: quién:who quiénes:who cuándo:when dónde:where cómo:how cuánto:much cuánta:much cuántos:many cuántas:many",
    "it": "che: cosa: quale: quali: chi:who quando:when dove:where perché:why come:how quanto:much quanta:much quanti:many quante:many",
    "pt": "que: qual: quais: quem:who quando:when onde:where porquê:why como:how quanto:much quantos:many quantas:many",
    "nl": "wat: welke: wie:who wanneer:when waar:where waarom:why hoe:how hoeveel:much",
}
# Verbs that stand before or after the subject, as the sentence wants it.
_MOVES = frozenset(
    [
        "do",
        "does",
        "did",
        "was",
        "were",
        "will",
        "would",
        "can",
        "could",
        "may",
        "might",
        "must",
        "shall",
        "should",
        "has",
        "have",
        "had",
    ]
)
_ASK_FOR = {
    "en": (
        r"(?:(?:hi|hello|hey|ok|okay|well|so|and|thanks|thank you|good (?:morning|afternoon|evening))\b[\s,.!]*)*"
        r"(?:(?:(?:can|could|would|will) you (?:please |kindly )?|please |kindly )?(?:tell|let|give|show) me(?: know)?"
        r"|(?:please )?(?:i['’]d like|i would like|i want|i need) to (?:know|find out)|i(?: just)? wonder(?:ed)?|i['’]m wondering"
        r"|i am wondering|do you know|(?:can|could|would) you (?:please |kindly )?say|would you mind telling me|any idea"
        r"|(?:can|could) (?:i|we) (?:please )?(?:know|ask)|may i ask)\b[\s,:]*"
    ),
    "de": (
        r"(?:(?:hallo|hi|guten (?:tag|morgen|abend)|ok|danke|also|und)\b[\s,.!]*)*"
        r"(?:(?:(?:kannst du|können sie|könntest du|könnten sie|würdest du|würden sie) )?(?:mir |uns )?(?:bitte )?"
        r"(?:sag(?:e|en)?|nenn(?:e|en)?)(?: sie)? (?:mir|uns)?(?: bitte)?|ich (?:möchte|würde|will) (?:gern |gerne )?wissen"
        r"|ich wüsste gern(?:e)?|(?:weisst|weißt) du|wissen sie|(?:kannst du|können sie|könntest du|könnten sie) (?:mir|uns) (?:bitte )?sagen)\b[\s,:]*"
    ),
    "fr": (
        r"(?:(?:bonjour|salut|merci|ok|et)\b[\s,.!]*)*"
        r"(?:(?:peux-tu|pouvez-vous|pourrais-tu|pourriez-vous) me dire|dis-moi|dites-moi|(?:je voudrais|j['’]aimerais) savoir|sais-tu|savez-vous"
        r"|est-ce que|est-ce qu['’])(?:\b|(?<=['’]))[\s,:]*"
    ),
    "es": (
        r"(?:(?:hola|gracias|buenos días|buenas tardes|ok|y)\b[\s,.!]*)*"
        r"¿?(?:(?:puedes|puede|podrías|podría) decirme|dime|dígame|(?:quiero|quisiera|me gustaría) saber|sabes|sabe usted)\b[\s,:]*"
    ),
}
_LEAD = {language: re.compile(rf"[\W_]*{pattern}", re.I) for language, pattern in _ASK_FOR.items()}
_TAIL = re.compile(
    r"[\s,.!]*(?:please|pls|thanks|thank you|thanks in advance|bitte|danke|s['’]il (?:te|vous) pla[iî]t|merci|por favor|gracias)?[\s.!?…]*$",
    re.I,
)
_OF = {"en": "of", "de": "von", "fr": "de", "es": "de", "it": "di", "pt": "de", "nl": "van"}
# Words that a question may have or lack: prepositions of place and belonging, and what it is called that is asked for.
_LOOSE = (
    frozenset(
        [
            "of",
            "for",
            "in",
            "on",
            "at",
            "by",
            "with",
            "about",
            "as",
            "that",
            "this",
            "these",
            "those",
            "it",
            "its",
            "own",
            "also",
            "there",
            "be",
            "been",
            "being",
            "s",
        ]
    )
    | frozenset(
        ["show", "list", "find", "give", "name", "tell", "make", "get", "please", "know", "see", "question", "answer"]
    )
    | frozenset(["and", "have", "has", "had", "come", "comes", "made", "mean", "means", "take", "takes", "year"])
)
_RELATING = frozenset(
    [
        "to",
        "from",
        "than",
        "per",
        "between",
        "against",
        "over",
        "under",
        "vs",
        "versus",
        "through",
        "into",
        "before",
        "after",
    ]
)
_NUMBERS = {
    name: str(n)
    for n, name in enumerate(
        ["zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve"]
    )
}
_STEM = 5  # letters in which forms of one word agree
MAX_CHANGED = 1
"""Words in which two questions of one form may differ and be the same sentence with another word in it."""
MIN_NEAR = 0.88
"""Cosine of two questions from which synonyms in them mean the same: "start" and "begin" do, "close" as "near" and as "shut" do not."""


@dataclass(frozen=True, slots=True)
class QuestionForm:
    """A question reduced to what could change its answer.

    asks:  what it asks for, besides "what"; whether it is a question of yes or no
    moves: auxiliary verbs, wherever they are
    words: everything else, in order, nouns in the singular
    """

    language: str
    asks: tuple[str, ...]
    moves: tuple[str, ...]
    words: tuple[str, ...]

    @property
    def key(self) -> str:
        """The form as a text. Equal keys are equal questions, but not the other way round."""
        return "\x1f".join((self.language, *self.asks, "|", *self.moves, "|", *self.words))


@lru_cache(maxsize=2_048)
def form_of(question: str) -> QuestionForm:
    """The form of a question; of a long message, the message as it is."""
    text = question.strip()
    if len(text) > MAX_CHARACTERS:
        return QuestionForm("", (), (), (text,))
    language = detect_language(text) or "en"
    text = _TAIL.sub("", text)
    if lead := _LEAD.get(language):
        text = text[found.end() :] if (found := lead.match(text)) and found.end() < len(text) else text
    tokens = list(_tokens(text))
    asks, moves, rest = _parted(tokens, language)
    rest = _genitive_first(rest, language)
    return QuestionForm(
        language,
        tuple(sorted(asks)),
        tuple(sorted(moves)),
        tuple(_base(word, language) for word in rest),
    )


def ask_the_same(one: str, other: str, near: float = 0.0) -> bool:
    """Whether the answer to one question answers the other, beyond doubt.

    near: the cosine of their vectors. Only of questions that are as near as this may single words differ, and only for synonyms.
    """
    first, second = form_of(one), form_of(other)
    if first.key == second.key:
        return True
    alike = (first.language, first.asks, first.moves) == (second.language, second.asks, second.moves)
    if near < MIN_NEAR or first.language != "en" or not alike:
        return False
    if len(first.words) == len(second.words):
        pairs = zip(first.words, second.words, strict=True)
        changed = [pair for pair in pairs if pair[0] != pair[1]]
        if len(changed) <= MAX_CHANGED:  # one question with another word in it: only a synonym may be
            return all(_are_synonyms(*pair) for pair in changed)
    return _is_reworded(first, second)


def _tokens(text: str) -> Iterator[str]:
    """Words, figures and signs. Contracted negations are parted: they negate."""
    is_shouted = text.isupper()
    for match in _TOKEN.finditer(text):
        token = match[0]
        if (
            _NOT.search(token)
            and token.lower() != "nt"
            and len(token) > 3
            and (token[-3:-2] in "'’" or "'" in token or "’" in token)
        ):
            yield _NOT.sub("", token).lower()
            yield "not"
            continue
        token = _CLITIC.sub("", token)
        acronym = len(token) <= 4 and token.isupper() and len(token) > 1 and not is_shouted
        if token:
            yield token if acronym or (len(token) == 1 and token.isupper() and match.start() > 0) else token.casefold()


def _parted(tokens: list[str], language: str) -> tuple[list[str], list[str], list[str]]:
    """What is asked for, the auxiliary verbs, and the other words."""
    free = _FREE.get(language, frozenset())
    asking = dict(pair.split(":") for pair in _ASKS.get(language, "").split())
    asks, moves, rest = [], [], []
    has_question_word = any(token in asking for token in tokens)
    if (
        tokens
        and not has_question_word
        and language == "en"
        and (tokens[0] in _MOVES or tokens[0] in ("is", "are", "am"))
    ):
        asks.append("whether")
    elif tokens and not has_question_word and language != "en" and tokens[0] in free:
        asks.append("whether" if _is_verb(tokens[0], language) else "")
    for place, token in enumerate(tokens):
        if token in asking:
            asks.append(asking[token])
        elif language == "en" and token in _MOVES:
            moves += [] if token in ("do", "does") else [token]
        elif token not in free or (len(token) == 1 and not _is_article(tokens, place, language)):
            rest.append(token)
    return [one for one in asks if one], moves, rest


def _is_verb(token: str, language: str) -> bool:
    return token in {
        "de": ("ist", "sind"),
        "fr": ("est", "sont"),
        "es": ("es", "son"),
        "it": ("è", "sono"),
        "pt": ("é", "são"),
    }.get(language, ())


def _is_article(tokens: list[str], place: int, language: str) -> bool:
    """Whether a single letter makes what follows indefinite; after a noun it names a thing, as in "house a"."""
    if place + 1 == len(tokens):
        return False
    before = tokens[place - 1] if place else ""
    stop = STOP_WORDS.get(language, frozenset())
    return not before or before in stop or (language == "en" and not is_noun(before))


def _genitive_first(words: list[str], language: str) -> list[str]:
    """ "price of boiler" as "boiler price", where nothing but that is asked for."""
    of = _OF.get(language)
    if of is None or words.count(of) != 1:
        return words
    place = words.index(of)
    stop = STOP_WORDS.get(language, frozenset())
    end = next((k for k in range(place + 1, len(words)) if words[k] in stop), len(words))
    head, owner = words[:place], words[place + 1 : end]
    if not head or not owner or any(word in stop for word in head):
        return words
    return [*owner, *head, *words[end:]]


def _base(word: str, language: str) -> str:
    """The singular of an English noun; any other word as it is."""
    if language != "en" or len(word) < 5 or not word.isalpha() or not word.islower() or not word.endswith("s"):
        return word
    if word.endswith(("ss", "us", "is", "ics")):
        return word
    if word.endswith("ies"):
        return f"{word[:-3]}y"
    return word[:-2] if word.endswith(("ches", "shes", "sses", "xes", "zes")) else word[:-1]


def _is_reworded(first: QuestionForm, second: QuestionForm) -> bool:
    """Whether two near questions name the same things in the same order, with the same figures and limits, whatever their verbs.

    A noun or an adjective that only one of them has makes it another question, as does a word whose opposite the other has.
    """
    (one, kept), (other, other_kept) = _named(first), _named(second)
    if kept != other_kept or any(are_opposites(a, b) for a in first.words for b in second.words):
        return False
    things, others = [word for word in one if is_noun(word)], [word for word in other if is_noun(word)]
    if len(things) != len(others) or not things:
        return False
    if not _name_the_same(things, others) and not (
        _may_be_reordered(first, set(one) & set(other), kept) and _name_the_same(sorted(things), sorted(others))
    ):
        return False
    traits, other_traits = set(one) - set(things), set(other) - set(others)
    return all(
        any(a == b or _are_related(a, b) for b in [*there, *things, *others])
        for here, there in ((traits, other_traits), (other_traits, traits))
        for a in here
    )


def _name_the_same(things: Sequence[str], others: Sequence[str]) -> bool:
    return all(a == b or _are_related(a, b) for a, b in zip(things, others, strict=True))


def _may_be_reordered(form: QuestionForm, common: Set[str], kept: Sequence[str]) -> bool:
    """Whether the order of nouns says nothing: no verb or word of direction relates them, and nobody is asked for."""
    return not {"who", "whom", "whose"} & set(form.asks) and not _RELATING & set(kept) and all(map(is_noun, common))


def _named(form: QuestionForm) -> tuple[list[str], tuple[str, ...]]:
    """The words of substance in order, and what must agree exactly: figures, single letters, and words that limit, deny or relate."""
    words, kept = [], list[str]()
    for word in (part for whole in form.words for part in re.split(r"[-/]", whole)):
        word = _NUMBERS.get(word, word)
        if not word.isalpha() or len(word) == 1:
            kept.append(word.casefold())
        elif word in _LOOSE:
            continue
        elif word in STOP_WORDS["en"] or not word.islower():
            kept.append(word)
        else:
            words.append(_base(word, "en"))
    return words, tuple(sorted(kept))


def _are_related(one: str, other: str) -> bool:
    """Whether two words are synonyms, or forms of one word: "summarise" and "summary"."""
    same_start = one[:_STEM] == other[:_STEM] and min(len(one), len(other)) >= _STEM
    return _are_synonyms(one, other) or (same_start and mean_the_same(one, other))


def _are_synonyms(one: str, other: str) -> bool:
    """Whether two English words share a meaning. Names, figures and function words have no synonyms."""
    plain = one.isalpha() and other.isalpha() and one.islower() and other.islower()
    return plain and not {one, other} & STOP_WORDS["en"] and share_a_meaning(one, other)
