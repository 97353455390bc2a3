"""What moving a threshold of answers without a chat model, or of the citation checker, does: its benchmark before and after.

    python benchmarks/answer_thresholds.py extractive SET [--questions 150]        # as `extraction.py`
    python benchmarks/answer_thresholds.py abstain SET TURNS.jsonl                 # as `conversations.py abstain`
    python benchmarks/answer_thresholds.py support CORPUS.jsonl [--each 60]        # as `citations.py`

    [--only close fragment …] [--by 0.7 1.4 | --set close=0.8 max_sentences=4]

Each threshold that --only names, or every one, is multiplied by each factor in turn (whole numbers move by at least one), everything
else as it is; --set instead changes all that it names at once. Texts are embedded and searched for once. Prints what differs from
the first line, which is of the thresholds as they are. `docs/algorithms/answers.md` says what each of them is for.
"""

from __future__ import annotations

import argparse
import asyncio
import dataclasses
import json
import random
import tempfile
from collections import Counter
from collections.abc import Awaitable, Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import citations
import conversations
import extraction
import sets

from citewell import Citewell
from citewell.adapters.embedder.builtin import BuiltinEmbedder
from citewell.adapters.reader.builtin import BuiltinReader
from citewell.adapters.reader.reading_model import ReadingModel
from citewell.agent.citations import support
from citewell.agent.citations.check import CitationChecker
from citewell.agent.extractive import thresholds
from citewell.agent.extractive.answerer import Extract, ExtractiveAnswerer
from citewell.agent.extractive.thresholds import ExtractiveThresholds
from citewell.types import Hit

Figures = dict[str, Any]
Measure = Callable[[dict[str, float]], Awaitable[Figures]]


async def answered(
    embedder: Any, changes: dict[str, float], asked: Sequence[tuple[str, str, Sequence[Hit]]]
) -> list[Extract]:
    answerer = ExtractiveAnswerer(
        embedder, dataclasses.replace(thresholds.THRESHOLDS, **changes), BuiltinReader(ReadingModel.open())
    )
    return [await answerer.answer(question, hits, message=message) for message, question, hits in asked]


def extractive(folder: Path, questions: int, embedder: Any) -> Measure:
    data, known = sets.load(folder), extraction.answers(folder)
    keys = sorted(data.queries)
    random.Random(1).shuffle(keys)
    keys = keys[:questions]
    with tempfile.TemporaryDirectory() as scratch, Citewell(scratch) as citewell:
        citewell.add_texts(data.records())
        asked = [(text := data.queries[key], text, citewell.search(text, 10)) for key in keys]

    async def measure(changes: dict[str, float]) -> Figures:
        found = first = sentences = given = 0
        for key, extract in zip(keys, await answered(embedder, changes, asked), strict=True):
            wanted = extraction.plain(known[key])
            given += extract.answered
            sentences += len(extract.parts) * extract.answered
            found += extract.answered and wanted in extraction.plain(extract.text)
            first += extract.answered and wanted in extraction.plain(extract.parts[0])
        shares = {"answered": given, "found": found, "first": first}
        return {name: round(count / len(keys), 3) for name, count in shares.items()} | {
            "precision": round(found / max(1, sentences), 3)
        }

    return measure


def abstain(folder: Path, turns: Path, embedder: Any) -> Measure:
    expected: list[bool] = []
    asked: list[tuple[str, str, Sequence[Hit]]] = []
    with tempfile.TemporaryDirectory() as scratch, Citewell(scratch) as citewell:
        citewell.add_texts(sets.load(folder).records())
        for turn in conversations.read_lines(turns):
            if turn["expected_behaviour"] not in ("ask_clarification", "no_retrieval"):
                read = conversations.standalone(turn["last_user"], conversations.thread(turn["history"]))
                message = " ".join(turn["last_user"].split())
                asked.append((message, read.question, conversations.find(citewell, read)))
                expected.append(turn["expected_behaviour"] == "retrieve_then_refuse")

    async def measure(changes: dict[str, float]) -> Figures:
        given = await answered(embedder, changes, asked)
        count = Counter((not extract.answered, refuse) for extract, refuse in zip(given, expected, strict=True))
        quality = conversations.quality(count)
        return {name: quality[name] for name in ("refused rightly", "refused wrongly", "f1")}

    return measure


def supported(corpus: Path, each: int, embedder: Any) -> Measure:
    passages, checker = citations.read_passages(corpus), CitationChecker(embedder)

    async def measure(changes: dict[str, float]) -> Figures:
        kept = dataclasses.asdict(support.THRESHOLDS)
        for name, value in changes.items():
            object.__setattr__(support.THRESHOLDS, name, value)
        try:
            figures: Figures = {}
            for name in citations.PLANTED:
                figures[name] = await citations.caught(checker, citations.Maker(passages, 1), name, each)
            figures |= await citations.false_alarms(checker, citations.Maker(passages, 1), each)
        finally:
            for name, value in kept.items():
                object.__setattr__(support.THRESHOLDS, name, value)
        return figures

    return measure


def trials(value: Any, only: Sequence[str], factors: Sequence[float]) -> Iterator[dict[str, float]]:
    for field in dataclasses.fields(value):
        if only and field.name not in only:
            continue
        known = getattr(value, field.name)
        for factor in factors:
            if isinstance(known, int):
                yield {
                    field.name: max(1, round(known * factor), known + 1) if factor > 1 else max(1, int(known * factor))
                }
            else:
                # A share above 1 would refuse everything.
                yield {field.name: min(1.0, round(known * factor, 4))}


async def run(arguments: argparse.Namespace) -> None:
    embedder = BuiltinEmbedder.load()
    remembering = citations.Remembering(embedder)
    value: ExtractiveThresholds | support.SupportThresholds = thresholds.THRESHOLDS
    if arguments.what == "support":
        value = support.THRESHOLDS
        measure = supported(arguments.data[0], arguments.each, remembering)
    elif arguments.what == "abstain":
        measure = abstain(*arguments.data, remembering)
    else:
        measure = extractive(arguments.data[0], arguments.questions, remembering)
    base = await measure({})
    print(json.dumps(base), flush=True)
    changed = [dict(map(assignment, arguments.set))] if arguments.set else trials(value, arguments.only, arguments.by)
    for changes in changed:
        figures = await measure(changes)
        differ = {name: [base[name], figure] for name, figure in figures.items() if figure != base[name]}
        print(json.dumps({"set": changes, **differ}), flush=True)
    await embedder.aclose()


def assignment(text: str) -> tuple[str, float]:
    name, _, value = text.partition("=")
    return name, int(value) if value.isdecimal() else float(value)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=("extractive", "abstain", "support"))
    parser.add_argument("data", type=Path, nargs="+")
    parser.add_argument("--questions", type=int, default=150)
    parser.add_argument("--each", type=int, default=60)
    parser.add_argument("--only", nargs="+", default=[])
    parser.add_argument("--by", type=float, nargs="+", default=[0.7, 1.4])
    parser.add_argument("--set", nargs="+", default=[])
    asyncio.run(run(parser.parse_args()))


if __name__ == "__main__":
    main()
