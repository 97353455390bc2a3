"""Conversations without a chat model: small talk told from questions, follow-ups made standalone, and knowing when not to answer.

python benchmarks/conversations.py smalltalk FILE.jsonl            # {"text", "intent", "label": small_talk | question_or_task | …}
python benchmarks/conversations.py recovered SET GOLD.jsonl        # a BEIR folder, {"id", "last_turn", "standalone_rewrite"}
python benchmarks/conversations.py standalone GOLD_SET SET …       # threads of one BEIR folder before the questions of others
python benchmarks/conversations.py abstain SET TURNS.jsonl         # {"last_user", "history", "expected_behaviour"}

Conversations fall into two halves by a hash of their names: what is tuned is tuned on one, and checked on the other.
"""

from __future__ import annotations

import argparse
import asyncio
import hashlib
import json
import tempfile
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import sets

from citewell import Citewell
from citewell.adapters.embedder.builtin import BuiltinEmbedder
from citewell.adapters.reader.builtin import BuiltinReader
from citewell.adapters.reader.message_reader import BuiltinMessageReader
from citewell.adapters.reader.reading_model import ReadingModel
from citewell.agent.extractive.answerer import ExtractiveAnswerer
from citewell.agent.interface import PastMessage, TurnRequest
from citewell.agent.rules import merge_hits
from citewell.agent.understand.rephrase import Rephrased
from citewell.agent.understand.thresholds import THRESHOLDS
from citewell.agent.understand.understanding import MessageReader, Understood
from citewell.types import Hit

TOP_K = 10
DEPTH = 30


def read_lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


# What the sets call small talk and we look up: the files may hold jokes and facts.
LOOKED_UP = frozenset({"fun_fact", "tell_joke", "meaning_of_life"})


READER = MessageReader(BuiltinMessageReader(ReadingModel.open()))


def understood(message: str, history: Sequence[PastMessage] = ()) -> Understood:
    """What a turn takes a message for."""
    return asyncio.run(READER.read(TurnRequest(owner_id="bench", message=message, history=tuple(history))))


def standalone(message: str, history: Sequence[PastMessage]) -> Rephrased:
    """The message in the light of its thread."""
    return understood(message, history).rephrased


async def small_talk(path: Path) -> dict[str, Any]:
    """Recall of small talk, and the share of questions taken for it, without files: in both halves of the phrases and in all."""
    rows = [row for row in read_lines(path) if row["label"] in ("small_talk", "question_or_task")]
    counts: dict[str, Counter[tuple[bool, bool]]] = {}
    started = time.perf_counter()
    for row in rows:
        is_talk = row["label"] == "small_talk" and row["intent"] not in LOOKED_UP
        read = await READER.read(TurnRequest(owner_id="bench", message=row["text"]))
        for part in (half_of(row["text"]), "all"):
            counts.setdefault(part, Counter())[is_talk, read.intent.kind == "general_conversation"] += 1
    per_message = (time.perf_counter() - started) / len(rows) * 1e3
    shares = {
        f"{name}, {part}": round(count[truth, True] / (count[truth, True] + count[truth, False]), 4)
        for part, count in sorted(counts.items())
        for name, truth in (("recall", True), ("questions lost", False))
    }
    return {**shares, "milliseconds": round(per_message, 2)}


def thread(messages: Sequence[Any]) -> tuple[PastMessage, ...]:
    """A history as the sets write it: messages with roles, or texts by user and assistant in turn."""
    if messages and isinstance(messages[0], dict):
        return tuple(PastMessage(m["role"], m["content"]) for m in messages)
    return tuple(PastMessage("assistant" if i % 2 else "user", text) for i, text in enumerate(messages))


def find(citewell: Citewell, read: Rephrased) -> list[Hit]:
    """What a turn finds."""
    depth = TOP_K if len(read.queries) == 1 and not read.beside else DEPTH
    found = [citewell.search(query, depth) for query in read.queries]
    return merge_hits(found, TOP_K, citewell.search(read.beside, depth) if read.beside else ())


def half_of(text: str) -> str:
    """One of two halves, by a hash: of a turn by its conversation, so that no conversation is in both."""
    name = text.split("<::>")[0]
    return "first half" if hashlib.md5(name.encode(), usedforsecurity=False).digest()[0] & 1 else "second half"


def measure_recovered(folder: Path, gold: Path) -> dict[str, Any]:
    """What people gain by rewriting follow-ups, and the share of it that we recover: nDCG@10 of the last turn as it stands, of ours and
    of the rewrite, over the turns that were rewritten; how many we changed of those that people left as they were; and nDCG@10 of all
    last turns that are complete by themselves: alone, in their thread, and in the thread of another conversation."""
    data = sets.load(folder)
    histories = {
        row["_id"]: row.get("metadata", {}).get("history") or [] for row in read_lines(folder / "queries.jsonl")
    }
    rewrites = {row["id"]: row["standalone_rewrite"] for row in read_lines(gold)}
    turns = [key for key in data.queries if key in rewrites and histories.get(key)]
    rewritten = [key for key in turns if bare(rewrites[key]) != bare(data.queries[key])]
    read = {key: standalone(data.queries[key], thread(histories[key])) for key in turns}
    rankings: dict[str, dict[str, list[str]]] = {"last turn": {}, "ours": {}, "rewrite": {}}
    with tempfile.TemporaryDirectory() as scratch, Citewell(scratch) as citewell:
        citewell.add_texts(data.records())
        for key in rewritten:
            last, rewrite = (Rephrased(text, (text,)) for text in (data.queries[key], rewrites[key]))
            for kind, asked in (("last turn", last), ("ours", read[key]), ("rewrite", rewrite)):
                rankings[kind][key] = records(find(citewell, asked))
        bled = measure_bleeding(citewell, data, {key: thread(turn) for key, turn in histories.items() if turn})
    left = [key for key in turns if key not in rankings["ours"]]
    changed = sum(is_changed(data.queries[key], read[key]) for key in left)
    return {
        **bled,
        **{part: gain(data, rankings, keys) for part, keys in parts(rewritten).items()},
        "left as they were": len(left),
        "of these changed": changed,
    }


def measure_bleeding(
    citewell: Citewell, data: sets.RetrievalSet, threads: Mapping[str, tuple[PastMessage, ...]]
) -> dict[str, Any]:
    """nDCG@10 of complete last turns: alone, in their thread, and in that of the conversation halfway on in the list."""
    keys = [key for key in data.queries if key in threads and not leans(data.queries[key], threads[key])]
    rankings: dict[str, dict[str, list[str]]] = {"alone": {}, "in their thread": {}, "in another": {}}
    for n, key in enumerate(keys):
        text = " ".join(data.queries[key].split())
        other = threads[keys[(n + len(keys) // 2) % len(keys)]]
        rankings["alone"][key] = records(citewell.search(text, DEPTH))
        rankings["in their thread"][key] = records(find(citewell, standalone(text, threads[key])))
        rankings["in another"][key] = records(find(citewell, standalone(text, other)))
    part = sets.RetrievalSet(data.name, data.corpus, {key: data.queries[key] for key in keys}, data.relevant)
    return {"complete": {"turns": len(keys), **{kind: round(part.ndcg10(r), 4) for kind, r in rankings.items()}}}


def leans(message: str, history: Sequence[PastMessage]) -> bool:
    """Whether a message is read in the light of its thread."""
    return understood(message, history).read.leans >= THRESHOLDS.leans


def records(found: Sequence[Hit]) -> list[str]:
    """The records of these hits, each at its first place."""
    return list(dict.fromkeys(hit.record_id or "" for hit in found))


def is_changed(text: str, read: Rephrased) -> bool:
    """Whether a message is read or searched otherwise than it stands; what it finds may be in another order."""
    plain = " ".join(text.split())
    return read.question != plain or read.queries != (plain,)


def bare(text: str) -> str:
    """Without what two ways of writing one question differ in."""
    return " ".join(text.lower().split()).strip(" ?.!")


def parts(keys: Sequence[str]) -> dict[str, list[str]]:
    """The two halves, and all."""
    halves = {half: [key for key in keys if half_of(key) == half] for half in ("first half", "second half")}
    return {**halves, "all": list(keys)}


def gain(data: sets.RetrievalSet, rankings: dict[str, dict[str, list[str]]], keys: Sequence[str]) -> dict[str, Any]:
    """nDCG@10 of each kind of query over these turns, and the share of the rewrites' gain that is recovered."""
    part = sets.RetrievalSet(data.name, data.corpus, {key: data.queries[key] for key in keys}, data.relevant)
    scores = {kind: part.ndcg10(ranking) for kind, ranking in rankings.items()}
    possible = scores["rewrite"] - scores["last turn"]
    share = (scores["ours"] - scores["last turn"]) / possible if possible else 0.0
    return {
        "turns": len(keys),
        **{kind: round(score, 4) for kind, score in scores.items()},
        "recovered": round(share, 3),
    }


def measure_changes(threads: Path, folders: Sequence[Path]) -> dict[str, Any]:
    """The share of questions of sets without threads that are changed when asked in threads about something else."""
    rows = [row.get("metadata", {}).get("history") or [] for row in read_lines(threads / "queries.jsonl")]
    before = [thread(row) for row in rows if row]
    shares: dict[str, Any] = {}
    for folder in folders:
        asked = [row["text"] for row in read_lines(folder / "queries.jsonl")]
        changed = [text for n, text in enumerate(asked) if is_changed(text, standalone(text, before[n % len(before)]))]
        shares |= {folder.name: len(changed) / len(asked), f"{folder.name}, e.g.": changed[:5]}
    return shares


async def measure_abstention(folder: Path, turns: Path) -> dict[str, Any]:
    """Refusals of turns that the set cannot answer, among those that it can.

    `searched`: everybody gets what a search finds. `given`: turns that can be answered get the passages that the set names.
    """
    embedder = BuiltinEmbedder.load()
    answerer = ExtractiveAnswerer(embedder, reader=BuiltinReader(ReadingModel.open()))
    corpus = {record["id"]: record["text"] for record in sets.load(folder).records()}
    counts: dict[str, Counter[tuple[bool, bool]]] = {}
    with tempfile.TemporaryDirectory() as scratch, Citewell(scratch) as citewell:
        citewell.add_texts(sets.load(folder).records())
        for turn in read_lines(turns):
            if turn["expected_behaviour"] in ("ask_clarification", "no_retrieval"):
                continue
            asked = standalone(turn["last_user"], thread(turn["history"]))
            refuse = turn["expected_behaviour"] == "retrieve_then_refuse"
            found = find(citewell, asked)
            for kind, hits in (("searched", found), ("given", named(citewell, corpus, turn) or found)):
                extract = await answerer.answer(asked.question, hits, message=" ".join(turn["last_user"].split()))
                for part in (half_of(turn["id"]), "all"):
                    counts.setdefault(f"{kind}, {part}", Counter())[not extract.answered, refuse] += 1
    await embedder.aclose()
    return {kind: quality(count) for kind, count in sorted(counts.items())}


def named(citewell: Citewell, corpus: dict[str, str], turn: dict[str, Any]) -> list[Hit]:
    """The passages that the set names for this turn: each is found by its own text."""
    passages = [(key, corpus[key]) for key in turn["gold_context_ids"] if key in corpus]
    return [hit for key, text in passages for hit in citewell.search(text[:1_000], TOP_K) if hit.record_id == key]


def quality(count: Counter[tuple[bool, bool]]) -> dict[str, Any]:
    """How well (refused, should have refused) agree."""
    right = count[True, True]
    precision, recall = right / max(1, right + count[True, False]), right / max(1, right + count[False, True])
    return {
        "refused rightly": right,
        "refused wrongly": count[True, False],
        "answered rightly": count[False, False],
        "answered wrongly": count[False, True],
        "precision": round(precision, 4),
        "recall": round(recall, 4),
        "f1": round(2 * precision * recall / (precision + recall), 4) if right else 0.0,
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=("smalltalk", "recovered", "standalone", "abstain"))
    parser.add_argument("paths", nargs="+", type=Path)
    arguments = parser.parse_args()
    match arguments.what:
        case "smalltalk":
            result = asyncio.run(small_talk(arguments.paths[0]))
        case "recovered":
            result = measure_recovered(*arguments.paths)
        case "standalone":
            result = measure_changes(arguments.paths[0], arguments.paths[1:])
        case _:
            result = asyncio.run(measure_abstention(*arguments.paths))
    print(json.dumps({k: round(v, 4) if isinstance(v, float) else v for k, v in result.items()}))


if __name__ == "__main__":
    main()
