"""Why there is no answer, in plain words and as a code, and what would help."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import replace
from functools import partial
from itertools import islice

from citewell.agent.extractive.frame import is_frame
from citewell.agent.spoken import (
    CHOSEN_FILES,
    NOT_COMPUTED,
    NOT_COMPUTED_HINT,
    NOT_MENTIONED,
    NOT_MENTIONED_HINT,
    NOT_MENTIONED_TWO,
    NOT_STATED,
    NOT_STATED_HINT,
    NOTHING,
    NOTHING_HINT,
    OTHER_LANGUAGE,
    OTHER_LANGUAGE_HINT,
    language_named,
    spoken,
)
from citewell.agent.understand.titles import titles_in
from citewell.text.analysis import analyze
from citewell.text.language import Script, detect_language, script_of
from citewell.text.stopwords import STOP_WORDS
from citewell.types import ChunkType, Hit, NoAnswer, NoAnswerReason, Scope

_WORD = re.compile(r"\w[\w'’.-]*\w|\w")
_TABLE_LINE = re.compile(r"^[ \t]*\|[^\n]*", re.M)
MAX_NAMED = 2  # words of the question that a reason names
_READ = 4_000  # characters of the question that are looked for, and of each passage by which its language is told
_LOOKED_FOR = 60  # words of the question
_TOLD_BY = 2  # different function words by which the language of a question is told
_PROSE_WORDS = 15  # words of a passage from which its language is told; a name or a heading has none of its own
_PROSE_TOLD_BY = 4  # different function words among them
_PART_LETTERS = 5  # of a word that is found at either end of a compound
_COMPOUNDING = frozenset({"de", "nl", "sv", "da", "no", "fi", "et", "hu"})
_ASKS_FOR = re.compile(
    r"\bhow (?:many|much|long|often|far|old|large|big|high|tall|fast|deep|heavy|wide)\b|\b(?:who|when|where|why)\b",
    re.I,
)


def explain(
    question: str, hits: Sequence[Hit], not_computed: str = "", content: Collection[str] | None = None
) -> NoAnswer:
    """The first reason that holds.

    question:     as it was written: the user knows nothing of words that a thread added to it
    content:      its words that say what it is about, in lower case; None where that is not known
    hits:         all passages found
    not_computed: why a table query could not be made, if that was tried
    """
    question = question[:_READ]
    asked = _language(question, 0, _TOLD_BY)
    say = partial(spoken, language=asked)
    if not hits:
        return NoAnswer(NoAnswerReason.NOTHING_IN_SCOPE, say(NOTHING), say(NOTHING_HINT))
    if not_computed:
        return NoAnswer(NoAnswerReason.NOT_COMPUTED, say(NOT_COMPUTED, reason=not_computed), say(NOT_COMPUTED_HINT))
    held = _languages_of(hits)
    if asked is not None and held and asked not in held and (name := language_named(held[0], asked)):
        return NoAnswer(
            NoAnswerReason.OTHER_LANGUAGE, say(OTHER_LANGUAGE, held=name), say(OTHER_LANGUAGE_HINT, held=name)
        )
    language = asked or (held[0] if held else "en")
    missing = _unmentioned(question, language, hits)
    telling = [word for word in missing if not is_frame(word, language) and (not content or word.lower() in content)]
    if named := telling[:MAX_NAMED]:
        words = [f"“{word}”" for word in named]
        told = (
            say(NOT_MENTIONED, words=words[0])
            if len(words) == 1
            else say(NOT_MENTIONED_TWO, words=words[0], other=words[1])
        )
        return NoAnswer(NoAnswerReason.NOT_MENTIONED, told, say(NOT_MENTIONED_HINT))
    asks_for = _ASKS_FOR.search(question) if missing else None
    told = f"The passages found do not clearly say {asks_for[0].lower()}." if asks_for else say(NOT_STATED)
    return NoAnswer(NoAnswerReason.NOT_STATED, told, say(NOT_STATED_HINT))


def in_scope(why: NoAnswer, scope: Scope, question: str = "") -> NoAnswer:
    """The reason for a `question` that is limited to chosen files: the others may hold the answer."""
    if scope.resource_ids is None or why.reason is NoAnswerReason.NOT_COMPUTED:
        return why
    return replace(why, hint=spoken(CHOSEN_FILES, _language(question, 0, _TOLD_BY), hint=why.hint))


def _language(text: str, fewest_words: int, told_by: int) -> str | None:
    """The language of a text that has so many words, and so many different function words of it; by its script where that tells enough."""
    words = set(_WORD.findall(text.lower()))
    if len(words) < fewest_words:
        return None
    language = detect_language(text)
    if language is None or script_of(text) is not Script.LATIN:
        return language
    return language if len(words & STOP_WORDS.get(language, frozenset())) >= told_by else None


def _languages_of(hits: Sequence[Hit]) -> list[str]:
    """The languages of the passages that are prose, that of most of them first. Rows, tables and Citewell's own summaries tell none."""
    counts: Counter[str] = Counter()
    for hit in hits:
        if hit.chunk.type in (ChunkType.TEXT, ChunkType.IMAGE):
            prose = _TABLE_LINE.sub("", hit.chunk.text[:_READ])
            if language := _language(prose, _PROSE_WORDS, _PROSE_TOLD_BY):
                counts[language] += 1
    return [language for language, _ in counts.most_common()]


def _unmentioned(question: str, language: str, hits: Sequence[Hit]) -> list[str]:
    """The words of a question that no passage, heading or file name has: names first, in order."""
    texts = [" ".join((*hit.chunk.locator.headings, hit.chunk.context, hit.filename, hit.chunk.text)) for hit in hits]
    held = {term for text in texts for term in analyze(text, language)}
    titles = {title for text in texts for title in titles_in(text)}
    ends = "\n".join(("", *sorted(held), "")) if language in _COMPOUNDING else ""
    names: list[str] = []
    others: list[str] = []
    for word in islice(_WORD.finditer(question), _LOOKED_FOR):
        terms = set(analyze(word[0], language, query=True))
        if not terms or terms & held or word[0] in names or word[0] in others:
            continue
        if any(len(t) >= _PART_LETTERS and (f"\n{t}" in ends or f"{t}\n" in ends) for t in terms):
            continue
        if set(titles_in(word[0])) & titles:
            continue
        (names if word.start() and word[0][0].isupper() else others).append(word[0])
    return [*names, *others]
