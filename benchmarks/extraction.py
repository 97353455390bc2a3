"""Do the extracted sentences answer? Questions with known answers, everything searched for, no chat model.

    python benchmarks/extraction.py SET [--questions 300] [--seed 1]     # a BEIR folder; queries with metadata.answer

found: the answer stands in the text of the extract; first: in its first sentence; right page: in a cited passage that holds it;
precision: found per sentence given.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import random
import tempfile
from pathlib import Path
from typing import Any

import sets

from citewell import Citewell
from citewell.adapters.embedder.builtin import BuiltinEmbedder
from citewell.adapters.reader.builtin import BuiltinReader
from citewell.adapters.reader.reading_model import ReadingModel
from citewell.agent.extractive.answerer import ExtractiveAnswerer


def answers(folder: Path) -> dict[str, str]:
    lines = (folder / "queries.jsonl").read_text(encoding="utf-8").splitlines()
    return {row["_id"]: row["metadata"]["answer"] for row in map(json.loads, lines)}


def plain(text: str) -> str:
    return " ".join(text.lower().split())


async def measure(folder: Path, questions: int, seed: int) -> dict[str, Any]:
    data, known = sets.load(folder), answers(folder)
    keys = sorted(data.queries)
    random.Random(seed).shuffle(keys)
    keys = keys[:questions]
    embedder = BuiltinEmbedder.load()
    answerer = ExtractiveAnswerer(embedder, reader=BuiltinReader(ReadingModel.open()))
    answered = found = first = sentences = characters = 0
    with tempfile.TemporaryDirectory() as scratch, Citewell(scratch) as citewell:
        citewell.add_texts(data.records())
        for key in keys:
            extract = await answerer.answer(data.queries[key], citewell.search(data.queries[key], 10))
            wanted = plain(known[key])
            answered += extract.answered
            if extract.answered:
                found += wanted in plain(extract.text)
                first += wanted in plain(extract.parts[0])
                sentences += len(extract.parts)
                characters += len(extract.text)
    await embedder.aclose()
    return {
        "questions": len(keys),
        "answered": round(answered / len(keys), 4),
        "found": round(found / len(keys), 4),
        "first": round(first / len(keys), 4),
        "sentences": round(sentences / max(1, answered), 2),
        "characters": round(characters / max(1, answered)),
        "precision": round(found / max(1, sentences), 4),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("set", type=Path)
    parser.add_argument("--questions", type=int, default=300)
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    print(json.dumps(asyncio.run(measure(arguments.set, arguments.questions, arguments.seed))))


if __name__ == "__main__":
    main()
