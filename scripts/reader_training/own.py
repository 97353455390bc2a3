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
from reader_training.questions import SEED, Example

ENGLISH = ("plain", "plain2", "short", "polite", "indirect", "story", "order", "nonnative", "typo", "casual")
_HELD = 6  # one domain in so many is left out, to measure by
_BESIDE = 4  # statements that do not answer, for each wording
_WITH_BEFORE = 0.85


@dataclass(frozen=True, slots=True)
class _Asked:
    """A question in its wordings, the statements that answer with the characters that are the answer, and those that support it."""

    wordings: list[str]
    answers: dict[int, tuple[int, int]]
    supporting: frozenset[int]


def read_own(folder: Path) -> list[Example]:
    """All examples of the domains that are not held out, in an order of their own."""
    source = random.Random(SEED)
    examples = [one for file in (*_documents(folder), *_passages(folder)) for one in _examples(*file, source)]
    source.shuffle(examples)
    return examples


def _documents(folder: Path) -> Iterator[tuple[list[tuple[str, str]], list[_Asked]]]:
    for one in _lines(folder / "documents"):
        if zlib.crc32((one["d"] + one["title"]).encode()) % _HELD == 0:
            continue
        statements = _statements(one["text"])
        asked = [_asked(question, statements, question["a"], question["s"]) for question in one["qs"]]
        yield statements, [*asked, *(_Asked(_wordings(missing), {}, frozenset()) for missing in one["not"])]


def _passages(folder: Path) -> Iterator[tuple[list[tuple[str, str]], list[_Asked]]]:
    for one in _lines(folder / "passages"):
        if zlib.crc32(one["d"].encode()) % _HELD == 0:
            continue
        texts = (one["p"], *one["near"])
        statements = [(text, before or one["head"]) for part in texts for text, before in _statements(part)]
        own = [text for text, _ in _statements(one["p"]) if one["a"] in text]
        yield (
            statements,
            [_asked(one, statements, [one["a"]], own), *(_Asked([_plain(t)], {}, frozenset()) for t in one["not"])],
        )


def _lines(folder: Path) -> Iterator[dict[str, Any]]:
    for file in sorted(folder.glob("*.jsonl")):
        yield from map(json.loads, file.read_text("utf-8").splitlines())


def _asked(
    question: Mapping[str, Any], statements: Sequence[tuple[str, str]], answers: Sequence[str], sentences: Sequence[str]
) -> _Asked:
    supporting = {n for n, (text, _) in enumerate(statements) if any(text in s or s in text for s in sentences)}
    found = {
        number: (statements[number][0].find(answer), statements[number][0].find(answer) + len(answer))
        for number in supporting
        for answer in answers
        if answer in statements[number][0]
    }
    return _Asked(_wordings(question), found, frozenset(supporting))


def _wordings(question: Mapping[str, Any]) -> list[str]:
    return [_plain(question["q"][style]) for style in ENGLISH if style in question["q"]]


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


def _examples(
    statements: Sequence[tuple[str, str]], questions: Sequence[_Asked], source: random.Random
) -> Iterator[Example]:
    words = [frozenset(analyze(f"{text} {before}", "en")) for text, before in statements]
    for asked in questions:
        others = [number for number in range(len(statements)) if number not in asked.supporting]
        for wording in asked.wordings:
            terms = frozenset(analyze(wording, "en"))
            for number, span in asked.answers.items():
                text, before = statements[number]
                yield Example(wording, before if source.random() < _WITH_BEFORE else "", text, span)
            nearest = sorted(others, key=lambda number: -len(words[number] & terms) - source.random())
            for number in nearest[: _BESIDE if asked.answers else _BESIDE // 2]:
                yield Example(wording, statements[number][1], statements[number][0], None)
