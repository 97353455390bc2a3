"""The small closed classes of words that can turn a sentence round, by language: denials, limits, opposites, boundaries of clauses."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

AT_MOST, AT_LEAST = "≤", "≥"
_LANGUAGES = ("en", "de", "fr", "es", "it", "pt", "nl")


def _by_language(**lists: str) -> Mapping[str, frozenset[str]]:
    return {language: frozenset(lists.get(language, "").split()) for language in _LANGUAGES}


_DENIALS = _by_language(
    en="not no never none neither cannot nobody nothing nowhere hardly scarcely barely",
    de="nicht nie niemals weder nichts niemand kein keine keinen keinem keiner keines nirgends kaum",
    fr="pas jamais aucun aucune ni rien personne nul nulle",
    es="no nunca jamás ningún ninguna ninguno ni nada nadie tampoco",
    it="non mai nessun nessuna nessuno né nulla niente",
    pt="não nunca jamais nenhum nenhuma nem nada ninguém",
    nl="niet nooit geen niets niemand nergens nauwelijks",
)
# Words that change how far a statement reaches; those between two bars say the same.
_REACH = {
    "en": "only solely exclusively | always | sometimes | rarely seldom | partly partially | almost nearly | except excluding | unless | without",
    "de": "nur ausschließlich allein | immer stets | manchmal | selten | teilweise | fast beinahe | außer ausgenommen | ohne",
    "fr": "seulement uniquement exclusivement | toujours | parfois | rarement | partiellement | presque | sauf hormis excepté | sans",
    "es": "solo sólo solamente únicamente exclusivamente | siempre | raramente | parcialmente | casi | salvo excepto | sin",
    "it": "solo soltanto unicamente esclusivamente | sempre | talvolta | raramente | parzialmente | quasi | salvo eccetto tranne | senza",
    "pt": "só somente apenas unicamente exclusivamente | sempre | raramente | parcialmente | quase | salvo exceto | sem",
    "nl": "alleen slechts uitsluitend | altijd | soms | zelden | deels gedeeltelijk | bijna | behalve uitgezonderd | zonder",
}
# After a denial: "not only" and "no matter" deny nothing.
_AFFIRMING = _by_language(
    en="only just merely matter doubt",
    de="nur",
    fr="seulement uniquement",
    es="solo sólo solamente",
    it="solo soltanto",
    pt="só apenas somente",
    nl="alleen slechts",
)
_BOUNDARIES = _by_language(
    en="but while whereas although though because unless if when which who whom whose until",
    de="aber sondern während obwohl weil wenn falls sofern dass welche welcher bis",
    fr="mais tandis alors quoique bien parce que si quand lorsque qui lequel laquelle",
    es="pero sino mientras aunque porque si cuando que quien cual",
    it="ma mentre sebbene perché se quando che chi quale",
    pt="mas enquanto embora porque se quando que quem qual",
    nl="maar terwijl hoewel omdat als indien wanneer dat die wie",
)
_COMPARING = frozenset(("than", "als", "que", "di", "do", "da", "dan"))
# Between two things that may change places: "A and B", "A is B".
_SYMMETRIC = _by_language(
    en="and or nor of is are was were",
    de="und oder ist sind war waren",
    fr="et ou est sont était",
    es="y e o es son era",
    it="e o è sono era",
    pt="e ou é são era",
    nl="en of is zijn was",
)
_OPPOSITES = {
    "en": "before/after until/from until/after until/since over/under above/below more/less more/fewer most/least most/fewest higher/lower"
    " with/without within/outside inside/outside within/after up/down for/against all/some all/none all/part every/some each/some always/sometimes always/never"
    " including/except including/excluding included/except earlier/later earliest/latest first/last must/may must/can shall/may has/may"
    " only/also both/neither both/either longer/shorter older/younger same/different if/unless increase/decrease half/double",
    "de": "vor/nach vorher/nachher über/unter mehr/weniger meisten/wenigsten mindestens/höchstens frühestens/spätestens mit/ohne"
    " innerhalb/außerhalb innerhalb/nach binnen/nach für/gegen alle/einige immer/nie immer/manchmal ab/bis von/bis früher/später erste/letzte ersten/letzten muss/darf"
    " müssen/dürfen muss/kann müssen/können inklusive/exklusive einschließlich/außer länger/kürzer älter/jünger höher/niedriger höher/geringer",
    "fr": "avant/après plus/moins plus/minimum maximum/minimum avec/sans sur/sous dessus/dessous dans/après intérieur/extérieur pour/contre tous/certains"
    " toujours/jamais toujours/parfois premier/dernier première/dernière doit/peut doivent/peuvent inclus/sauf tôt/tard jusqu/partir",
    "es": "antes/después más/menos máximo/mínimo con/sin sobre/bajo dentro/fuera favor/contra todos/algunos siempre/nunca siempre/veces"
    " primero/último primera/última debe/puede deben/pueden incluido/excepto hasta/desde",
    "it": "prima/dopo più/meno massimo/minimo con/senza sopra/sotto dentro/fuori favore/contro tutti/alcuni sempre/mai primo/ultimo"
    " prima/ultima deve/può devono/possono incluso/escluso fino/da",
    "pt": "antes/depois mais/menos máximo/mínimo com/sem sobre/sob dentro/fora favor/contra todos/alguns sempre/nunca primeiro/último"
    " primeira/última deve/pode devem/podem incluído/exceto até/desde",
    "nl": "voor/na meer/minder meeste/minste minstens/hoogstens minimaal/maximaal met/zonder boven/onder binnen/buiten voor/tegen alle/sommige"
    " altijd/nooit vanaf/tot vroeger/later eerste/laatste moet/mag moeten/mogen moet/kan moeten/kunnen inclusief/exclusief",
}
# What limits an amount, as words in a row; a denial before it turns it round: "no more than".
_LIMITS = {
    "en": {
        AT_MOST: "at most|up to|a maximum of|maximum of|at the latest|at the most|less than|fewer than|lower than|smaller than|shorter than"
        "|younger than|or less|or fewer|below|under|maximum|max|earlier than",
        AT_LEAST: "at least|a minimum of|minimum of|at the earliest|more than|greater than|higher than|larger than|longer than|older than"
        "|or more|over|above|exceed|exceeds|exceeded|exceeding|minimum|upwards of|later than",
    },
    "de": {
        AT_MOST: "höchstens|maximal|bis zu|spätestens|weniger als|jünger als|kürzer als|unter",
        AT_LEAST: "mindestens|wenigstens|minimal|frühestens|mehr als|älter als|länger als|über|überschreitet|überschreiten",
    },
    "fr": {
        AT_MOST: "au plus|au maximum|jusqu à|jusqu|au plus tard|moins de|maximum",
        AT_LEAST: "au moins|au minimum|au plus tôt|plus de|minimum|dépasse|dépasser",
    },
    "es": {
        AT_MOST: "como máximo|un máximo de|máximo de|máximo|a más tardar|menos de|hasta",
        AT_LEAST: "como mínimo|un mínimo de|mínimo de|mínimo|al menos|por lo menos|más de|supera|superar",
    },
    "it": {
        AT_MOST: "al massimo|un massimo di|massimo di|massimo|non oltre|al più tardi|meno di|fino a",
        AT_LEAST: "almeno|al minimo|un minimo di|minimo di|minimo|più di|oltre|supera|superare",
    },
    "pt": {
        AT_MOST: "no máximo|um máximo de|máximo de|máximo|o mais tardar|menos de|até",
        AT_LEAST: "pelo menos|no mínimo|um mínimo de|mínimo de|mínimo|mais de|excede|exceder|ultrapassar",
    },
    "nl": {
        AT_MOST: "hoogstens|maximaal|ten hoogste|uiterlijk|minder dan|jonger dan|korter dan|tot|onder",
        AT_LEAST: "minstens|minimaal|ten minste|tenminste|op zijn vroegst|meer dan|ouder dan|langer dan|boven|overschrijdt",
    },
}


@dataclass(frozen=True, slots=True)
class Grammar:
    """The closed classes of one language. affirming: words with which a denial denies nothing; reach: words and the class of which each is one; limits: rows of words, the longest first, and
    which of the two they mean."""

    denials: frozenset[str]
    affirming: frozenset[str]
    symmetric: frozenset[str]
    reach: Mapping[str, int]
    boundaries: frozenset[str]
    opposites: frozenset[tuple[str, str]]
    limits: tuple[tuple[tuple[str, ...], str], ...]

    def denies(self, word: str) -> bool:
        """Whether a case-folded word denies."""
        return word in self.denials or word.endswith(("n't", "n’t"))

    def joins(self, word: str) -> bool:
        """Whether a case-folded word may come between two things that can change places."""
        return word in self.symmetric

    def compares(self, word: str) -> bool:
        """Whether a case-folded word may come before what something is compared with."""
        return word in _COMPARING

    def are_opposites(self, one: str, other: str) -> bool:
        """Whether two case-folded function words say the opposite."""
        return (one, other) in self.opposites or {one, other} == {AT_MOST, AT_LEAST}


def _grammar(language: str) -> Grammar:
    pairs = [pair.split("/") for pair in _OPPOSITES[language].split()]
    limits = [(tuple(row.split()), meaning) for meaning, rows in _LIMITS[language].items() for row in rows.split("|")]
    return Grammar(
        _DENIALS[language],
        _AFFIRMING[language],
        _SYMMETRIC[language],
        {word: number for number, same in enumerate(_REACH[language].split("|")) for word in same.split()},
        _BOUNDARIES[language],
        frozenset((a, b) for one, other in pairs for a, b in ((one, other), (other, one))),
        tuple(sorted(limits, key=lambda limit: -len(limit[0]))),
    )


_GRAMMARS = {language: _grammar(language) for language in _LANGUAGES}


def grammar_of(language: str | None) -> Grammar | None:
    """The closed classes of a language (ISO 639-1), where they are known."""
    return _GRAMMARS.get(language or "en")
