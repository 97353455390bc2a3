"""The words of German questions about data as those of the English lexicon, so that the same rules read them."""

from __future__ import annotations

import re

from citewell.agent.tables.language.links import TableWords, name_norms
from citewell.agent.tables.language.wording import norm
from citewell.text.language import detect_language

_TIME = r"\d|januar|februar|märz|april|mai|juni|juli|august|september|oktober|november|dezember"
_PHRASES: tuple[tuple[str, str], ...] = (
    (r"wie ?viele verschiedenen?", "how many different"),
    (r"wie ?viele?", "how many"),
    (r"wie (?:hoch|groß) (?:ist|war|sind|waren) (?:der|die|das)?", "what is the"),
    (r"was kostet", "what does cost"),
    (r"anzahl(?: der| aller)?", "number of"),
    (r"durchschnittlich(?:e[rsnm]?)?|(?:im )?durchschnitt|mittelwert", "average"),
    (r"median", "median"),
    (r"gesamtsumme|summe(?: der| aller| von)?", "total"),
    (r"insgesamt", "in total"),
    (r"gibt es", "are there"),
    (r"am meisten", "the most"),
    (r"am wenigsten", "the least"),
    (r"(?:am )?höchste[rsnm]?", "highest"),
    (r"(?:am )?(?:niedrigste|geringste)[rsnm]?", "lowest"),
    (r"(?:am )?größte[rsnm]?", "largest"),
    (r"(?:am )?kleinste[rsnm]?", "smallest"),
    (r"(?:am )?teuerste[rsnm]?", "most expensive"),
    (r"(?:am )?(?:billigste|günstigste)[rsnm]?", "cheapest"),
    (r"(?:am )?(?:neueste|jüngste)[rsnm]?", "latest"),
    (r"letzte[rsnm]?", "last"),
    (r"erste[rsnm]?", "first"),
    (r"(?:am )?(?:älteste|früheste)[rsnm]?", "earliest"),
    (r"mehr als|größer als|höher als|über", "over"),
    (r"weniger als|kleiner als|niedriger als|unter", "under"),
    (r"mindestens", "at least"),
    (r"höchstens|maximal", "at most"),
    (r"verdient|verdienen", "earns"),
    (r"ausgegeben", "spent"),
    (r"kostet|kosten", "cost"),
    (r"pro|je", "per"),
    (rf"nach (?:dem )?(?={_TIME})", "after "),
    (rf"vor (?:dem )?(?={_TIME})", "before "),
    (rf"seit (?:dem )?(?={_TIME})", "since "),
    (r"nach", "by"),
    (r"welche[rsnm]?", "which"),
    (r"wer", "who"),
    (r"wann", "when"),
    (r"wo", "where"),
    (r"im|in der|in den|in dem", "in"),
    (r"nicht", "not"),
    (r"ohne", "without"),
    (r"oder", "or"),
    (r"und", "and"),
    (r"mit", "with"),
    (r"alle[rsnm]?", "all"),
    (r"zeige?|nenne|liste", "show"),
    (r"sind|waren", "are"),
    (r"ist|war", "is"),
    (r"hat|haben|hatte[n]?", "has"),
    (r"wir|uns", "we"),
    (r"der|die|das|den|dem|des|ein(?:e[rsnm]?)?", "the"),
    (r"von|für|aus|bei|auf", "of"),
    (r"januar", "january"),
    (r"februar", "february"),
    (r"märz", "march"),
    (r"mai", "may"),
    (r"juni", "june"),
    (r"juli", "july"),
    (r"oktober", "october"),
    (r"dezember", "december"),
)  # fmt: skip
_LEXICON = tuple(
    (re.compile(rf"(?i)(?<![\w-])(?:{german})" + ("" if english.endswith(" ") else r"(?![\w-])")), english)
    for german, english in _PHRASES
)
_GERMAN = re.compile(
    r"(?i)(?<!\w)(?:wie ?viele?|wie (?:hoch|groß)|anzahl|durchschnitt\w*|mittelwert|summe|gesamtsumme|insgesamt|am (?:meisten|wenigsten)"
    r"|welche[rsnm]?|wer|wann|was kostet|mehr als|weniger als|mindestens|höchstens"
    r"|(?:höch|niedrig|gering|größ|klein|teuer|billig|günstig|neue|jüng|letz|ält|früh|frühe|er)s?te[rsnm]?)(?!\w)"
)
"""Words that tell a German question: those that ask, count, rank or compare."""


def as_english(question: str, words: TableWords) -> str:
    """A German question with its small words in English; words of the table's columns and cells stay, as does any other question."""
    if _GERMAN.search(question) is None and detect_language(question) != "de":
        return question
    known = {part for column in words.table.columns for part in name_norms(column)}
    known |= {part for entries in words.by_first.values() for key, _, _ in entries for part in key}

    def english(found: re.Match[str], word: str) -> str:
        return found[0] if known.intersection(map(norm, found[0].split())) else word

    for pattern, word in _LEXICON:
        question = pattern.sub(lambda found, word=word: english(found, word), question)
    return question
