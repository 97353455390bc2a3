"""Questions of `training/documents` and `training/passages`: the statements that answer them, and those beside them that seem to."""

from __future__ import annotations

import json
import random
import zlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from citewell.text.analysis import analyze
from citewell.text.sentences import sentence_spans
from reading_training.published import Example

STYLES = frozenset(("plain", "plain2", "short", "polite", "indirect", "story", "order", "nonnative", "typo", "casual"))
"""Wordings in the document's own language; all others are in another."""
_HELD = 6  # one domain in so many is left out, to measure by
_BESIDE = 3  # statements that do not answer, for each wording
_WITH_BEFORE = 0.85


@dataclass(frozen=True, slots=True)
class Asked:
    """A question in its wordings, those in the document's language and others; the statements that answer with the characters that are the
    answer, and those that support it."""

    own: tuple[str, ...]
    others: tuple[str, ...]
    answers: dict[int, tuple[int, int]]
    supporting: frozenset[int] = frozenset()


@dataclass(frozen=True, slots=True)
class Document:
    """Statements, each with the one before it or the heading above, and questions."""

    statements: list[tuple[str, str]]
    questions: list[Asked]


def read_own(folder: Path, *, held: bool = False) -> list[Document]:
    """Those of the domains to learn from, or of those that are left out."""
    return [*_documents(folder, held), *_passages(folder, held)]


def examples_of(documents: Sequence[Document], source: random.Random) -> Iterator[Example]:
    """One wording of each question in the document's language and one in another, where there is one, each with the statements beside the
    answer that are most like the question in the document's language."""
    for document in documents:
        words = [frozenset(analyze(f"{text} {before}", "en")) for text, before in document.statements]
        for asked in document.questions:
            plain = source.choice(asked.own)
            wordings = [plain, source.choice(asked.others)] if asked.others else [plain]
            others = [n for n in range(len(words)) if n not in asked.supporting]
            terms = frozenset(analyze(plain, "en"))
            others.sort(key=lambda n: -len(words[n] & terms) - source.random())
            nearest = others[: _BESIDE if asked.answers else 2]
            for wording in wordings:
                if asked.answers:
                    number, span = source.choice(list(asked.answers.items()))
                    text, before = document.statements[number]
                    yield Example(wording, before if source.random() < _WITH_BEFORE else "", text, span)
                for number in nearest:
                    text, before = document.statements[number]
                    yield Example(wording, before, text, None)


def _documents(folder: Path, held: bool) -> Iterator[Document]:
    for one in _lines(folder / "documents"):
        if (zlib.crc32((one["d"] + one["title"]).encode()) % _HELD == 0) != held:
            continue
        statements = _statements(one["text"])
        asked = [_asked(question["q"], statements, question["a"], question["s"]) for question in one["qs"]]
        yield Document(statements, [*asked, *(Asked(*_wordings(missing["q"]), {}) for missing in one["not"])])


def _passages(folder: Path, held: bool) -> Iterator[Document]:
    for one in _lines(folder / "passages"):
        if (zlib.crc32(one["d"].encode()) % _HELD == 0) != held:
            continue
        texts = (one["p"], *one["near"])
        statements = [(text, before or one["head"]) for part in texts for text, before in _statements(part)]
        own = [text for text, _ in _statements(one["p"]) if one["a"] in text]
        missing = [Asked((_plain(text),), (), {}) for text in one["not"]]
        yield Document(statements, [_asked(one["q"], statements, [one["a"]], own), *missing])


def _lines(folder: Path) -> Iterator[dict[str, Any]]:
    for file in sorted(folder.glob("*.jsonl")):
        yield from map(json.loads, file.read_text("utf-8").splitlines())


def _asked(
    wordings: Mapping[str, str],
    statements: Sequence[tuple[str, str]],
    answers: Sequence[str],
    sentences: Sequence[str],
) -> Asked:
    supporting = {n for n, (text, _) in enumerate(statements) if any(text in s or s in text for s in sentences)}
    found = {
        number: (statements[number][0].find(answer), statements[number][0].find(answer) + len(answer))
        for number in supporting
        for answer in answers
        if answer in statements[number][0]
    }
    return Asked(*_wordings(wordings), found, frozenset(supporting))


def _wordings(wordings: Mapping[str, str]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    own = tuple(_plain(text) for style, text in wordings.items() if style in STYLES)
    return own, tuple(_plain(text) for style, text in wordings.items() if style not in STYLES)


def _plain(text: str) -> str:
    return text.replace("[", "").replace("]", "")


def _statements(text: str) -> list[tuple[str, str]]:
    """Sentences and list items, each with the one before it, or the heading above."""
    found: list[tuple[str, str]] = []
    heading = before = ""
    for line in map(str.strip, text.splitlines()):
        if not line or line.startswith("#"):
            heading, before = (line.lstrip("# ") if line else heading), ""
            continue
        plain = line.lstrip("-*• ").strip()
        for start, end in sentence_spans(plain) or [(0, len(plain))]:
            if end - start > 3:
                found.append((plain[start:end].strip(), before or heading))
                before = found[-1][0]
    return found
