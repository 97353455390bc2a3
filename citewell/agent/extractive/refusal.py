"""Why there is no answer, in plain words and as a code, and what would help."""

from __future__ import annotations

import re
from collections.abc import Sequence

from citewell.agent.extractive.confidence import TELLING
from citewell.text.analysis import analyze
from citewell.text.language import detect_language
from citewell.types import Hit, NoAnswer, NoAnswerReason

_WORD = re.compile(r"\w[\w'’.-]*\w|\w")
MAX_NAMED = 2  # words of the question that a reason names
_READ = 4_000  # characters of the question that are looked for, and of the passages by which their language is told
_LANGUAGES = {
    "ar": "Arabic", "de": "German", "en": "English", "es": "Spanish", "fr": "French", "it": "Italian", "ja": "Japanese", "ko": "Korean",
    "nl": "Dutch", "pl": "Polish", "pt": "Portuguese", "ru": "Russian", "sv": "Swedish", "tr": "Turkish", "uk": "Ukrainian", "zh": "Chinese",
}  # fmt: skip


def explain(question: str, hits: Sequence[Hit], not_computed: str = "") -> NoAnswer:
    """The first reason that holds. `hits`: all passages found; `not_computed`: why a table query could not be made, if that was tried."""
    if not hits:
        return NoAnswer(
            NoAnswerReason.NOTHING_IN_SCOPE,
            "There is nothing to search in the files in scope.",
            "Upload a file, or ask about more of them.",
        )
    if not_computed:
        return NoAnswer(
            NoAnswerReason.NOT_COMPUTED,
            f"I could not work it out from the tables: {not_computed}.",
            "Name the columns and rows as the sheet does.",
        )
    question = question[:_READ]
    asked, held = detect_language(question), detect_language("\n".join(hit.chunk.text for hit in hits)[:_READ])
    if asked in _LANGUAGES and held in _LANGUAGES and asked != held:
        return NoAnswer(
            NoAnswerReason.OTHER_LANGUAGE,
            f"The question is in {_LANGUAGES[asked]} and the passages found are in {_LANGUAGES[held]}; the built-in model hardly "
            "reads one by the other.",
            f"Ask in {_LANGUAGES[held]}, or connect a chat model.",
        )
    if missing := _unmentioned(question, asked, hits):
        words = " or ".join(f"“{word}”" for word in missing)
        return NoAnswer(
            NoAnswerReason.NOT_MENTIONED,
            f"No passage found mentions {words}.",
            "Upload a file that does, or use the words of your files.",
        )
    return NoAnswer(
        NoAnswerReason.NOT_STATED,
        "The passages found are about it, but none states this.",
        "Upload a file that states it, or ask for something more specific.",
    )


def _unmentioned(question: str, language: str | None, hits: Sequence[Hit]) -> list[str]:
    """The words of a question that no passage, heading or file name has, in order."""
    texts = ((*hit.chunk.locator.headings, hit.chunk.context, hit.filename, hit.chunk.text) for hit in hits)
    held = {term for parts in texts for term in analyze(" ".join(parts), language)}
    missing: list[str] = []
    for word in _WORD.findall(question):
        terms = set(analyze(word, language, query=True))
        if terms and not terms & (held | TELLING) and word not in missing:
            missing.append(word)
            if len(missing) == MAX_NAMED:
                break
    return missing
