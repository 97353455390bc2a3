"""The built-in embedder: sessions × threads × tokens per run, the embedder beside the bare session, and queries meanwhile.

`python benchmarks/embedder.py [--texts FILE]` prints three tables; FILE has a text per line (default: paragraphs of Python's
own help, cut to what a chunk holds). Configurations take turns in every round, and the best round counts, so that other
work on the machine weighs on all alike. "CPU µs" is processor time per token, which other work changes least.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import pydoc_data.topics
import random
import statistics
import time
from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import onnxruntime
import report

from citewell.adapters.embedder import builtin
from citewell.adapters.embedder.builtin import BuiltinEmbedder, by_length
from citewell.adapters.embedder.builtin_model import MODEL_FOLDER, BuiltinModel

ROOT = Path(__file__).resolve().parent.parent
WORDS_PER_TEXT = 160
QUERIES = (
    "maximum loan for first-time borrowers",
    "how are exceptions chained?",
    "revenue by quarter",
    "what is a slot",
)
SHIPPED = "2 × 1 thread, shared"


@dataclass(frozen=True, slots=True)
class Configuration:
    """`workers` threads call `sessions` sessions, each of which computes with `threads` threads of its own."""

    name: str
    workers: int
    sessions: int
    threads: int
    spinning: bool = False


CONFIGURATIONS = (
    Configuration("1 × 1 thread", 1, 1, 1),
    Configuration("1 × 2 threads", 1, 1, 2),
    Configuration("1 × 2 threads, spinning", 1, 1, 2, spinning=True),
    Configuration("2 × 2 threads", 2, 2, 2),
    Configuration("2 × 1 thread, apart", 2, 2, 1),
    Configuration(SHIPPED, 2, 1, 1),
)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--texts", type=Path, help="a text per line")
    parser.add_argument("--tables", nargs="*", choices=("configurations", "tokens_per_run", "embedder", "queries"))
    parser.add_argument("--count", type=int, default=256, help="texts per measurement")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--output", type=Path, default=ROOT / "benchmarks" / "results" / "embedder.json")
    options = parser.parse_args()
    texts = read_texts(options.texts, options.count)
    model = BuiltinModel.open()
    token_ids = model.tokenizer.ids(texts)
    tokens = sum(map(len, token_ids))
    print(f"{len(texts)} texts, {tokens:,} tokens; {onnxruntime.__version__=}")
    tables: dict[str, Callable[[], list[dict[str, str]]]] = {
        "configurations": lambda: configurations(token_ids, tokens, options.rounds),
        "tokens_per_run": lambda: tokens_per_run(token_ids, tokens, options.rounds),
        "embedder": lambda: embedder_beside_session(model, texts, token_ids, tokens, options.rounds),
        "queries": lambda: asyncio.run(queries(texts)),
    }
    measured = {}
    for name in options.tables or tables:
        measured[name] = rows = tables[name]()
        print(f"\n{report.terminal(tuple(rows[0]), [tuple(row.values()) for row in rows])}", flush=True)
    options.output.parent.mkdir(parents=True, exist_ok=True)
    result = {"machine": report.machine(), "onnxruntime": onnxruntime.__version__, **measured}
    options.output.write_text(json.dumps(result, indent=1) + "\n", encoding="utf-8")


def read_texts(file: Path | None, count: int) -> list[str]:
    """Texts of a chunk's size, from a few words to what the model reads."""
    if file is not None:
        return file.read_text(encoding="utf-8").splitlines()[:count]
    words = " ".join(pydoc_data.topics.topics[name] for name in sorted(pydoc_data.topics.topics)).split()
    sizes = random.Random(3)
    texts: list[str] = []
    while len(texts) < count:
        size = min(WORDS_PER_TEXT, max(4, round(sizes.gauss(110, 50))))
        start = sizes.randrange(len(words) - size)
        texts.append(" ".join(words[start : start + size]))
    return texts


def configurations(token_ids: list[list[int]], tokens: int, rounds: int) -> list[dict[str, str]]:
    """Tokens per second of bare sessions, by how the processors are shared out."""
    batches = arrays(token_ids)
    trials: dict[str, Callable[[], None]] = {}
    for one in CONFIGURATIONS:
        sessions = [session(one.threads, one.spinning) for _ in range(one.sessions)]
        trials[one.name] = lambda one=one, sessions=sessions: run_raw(batches, sessions, one.workers)
    return [speed("sessions × threads", name, took, tokens) for name, took in take_turns(trials, rounds).items()]


def tokens_per_run(token_ids: list[list[int]], tokens: int, rounds: int) -> list[dict[str, str]]:
    """Tokens per second of the shipped configuration, by how many tokens go to the session at once."""
    shared = [session(1)]
    trials: dict[str, Callable[[], None]] = {}
    for most in (1, 64, 128, 256, 512, 1024):
        batches = arrays(token_ids, most)
        trials[str(most) if most > 1 else "one text"] = lambda batches=batches: run_raw(batches, shared, 2)
    return [speed("at most", name, took, tokens) for name, took in take_turns(trials, rounds).items()]


def embedder_beside_session(
    model: BuiltinModel, texts: list[str], token_ids: list[list[int]], tokens: int, rounds: int
) -> list[dict[str, str]]:
    """From strings to vectors through the embedder, beside the bare session on the same batches, ready-made."""
    embedder, batches = BuiltinEmbedder(model, threads=2), arrays(token_ids)
    trials: dict[str, Callable[[], None]] = {
        "bare session": lambda: run_raw(batches, [model.session], 2),
        "embedder": lambda: asyncio.run(_embed(embedder, texts)),
    }
    took = take_turns(trials, rounds * 2)
    ratio = took["bare session"][0] / took["embedder"][0], took["bare session"][1] / took["embedder"][1]
    rows = [speed("what", name, one, tokens) | {"of the bare session": "", "by CPU": ""} for name, one in took.items()]
    rows[1] |= {"of the bare session": f"{ratio[0]:.3f}", "by CPU": f"{ratio[1]:.3f}"}
    return rows


async def _embed(embedder: BuiltinEmbedder, texts: Sequence[str]) -> None:
    await embedder.embed(texts)


async def queries(texts: list[str]) -> list[dict[str, str]]:
    """Milliseconds to embed a query: alone, while documents are embedded, and so without priority."""
    embedder = BuiltinEmbedder.load(threads=2)
    rows = [{"queries": "alone", **await _latency(embedder)}]
    rows.append({"queries": "while documents are embedded", **await _meanwhile(embedder, texts)})
    niceness, builtin._NICENESS = builtin._NICENESS, 0
    rows.append({"queries": "the same, documents at equal priority", **await _meanwhile(BuiltinEmbedder.load(), texts)})
    builtin._NICENESS = niceness
    return rows


async def _meanwhile(embedder: BuiltinEmbedder, texts: list[str]) -> dict[str, str]:
    documents = asyncio.create_task(embedder.embed(texts * 20))
    await asyncio.sleep(1.0)
    result = await _latency(embedder)
    documents.cancel()
    await asyncio.gather(documents, return_exceptions=True)
    return result


async def _latency(embedder: BuiltinEmbedder, count: int = 200) -> dict[str, str]:
    times: list[float] = []
    for number in range(count + 10):
        started = time.perf_counter()
        await embedder.embed([QUERIES[number % len(QUERIES)]], "query")
        times.append((time.perf_counter() - started) * 1e3)
        await asyncio.sleep(0.005)
    times = sorted(times[10:])
    return {"p50 ms": f"{statistics.median(times):.1f}", "p95 ms": f"{times[int(len(times) * 0.95)]:.1f}"}


def session(threads: int, spinning: bool = False) -> onnxruntime.InferenceSession:
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads, options.inter_op_num_threads = threads, 1
    options.enable_mem_pattern = False
    options.add_session_config_entry("session.intra_op.allow_spinning", str(int(spinning)))
    return onnxruntime.InferenceSession(MODEL_FOLDER / "model.onnx", options, providers=["CPUExecutionProvider"])


def arrays(token_ids: list[list[int]], most: int = builtin.TOKENS_PER_RUN) -> list[np.ndarray]:
    """The batches that the embedder makes, as the session takes them."""
    batches = by_length(token_ids, most)
    return [np.array([token_ids[index] for index in batch], np.int64) for batch in batches]


def run_raw(batches: list[np.ndarray], sessions: list[onnxruntime.InferenceSession], workers: int) -> None:
    waiting = deque(batches)

    def work(number: int) -> None:
        while waiting:
            try:
                batch = waiting.popleft()
            except IndexError:
                return
            sessions[number % len(sessions)].run(["sentence"], {"input_ids": batch})

    with ThreadPoolExecutor(workers) as pool:
        list(pool.map(work, range(workers)))


def take_turns(trials: dict[str, Callable[[], None]], rounds: int) -> dict[str, tuple[float, float]]:
    """Least wall and least processor seconds of each trial, after one round that does not count."""
    best = dict.fromkeys(trials, (float("inf"), float("inf")))
    for number in range(rounds + 1):
        for name, trial in trials.items():
            wall, processor = time.perf_counter(), time.process_time()
            trial()
            took = time.perf_counter() - wall, time.process_time() - processor
            if number:
                best[name] = min(best[name][0], took[0]), min(best[name][1], took[1])
    return best


def speed(title: str, name: str, took: tuple[float, float], tokens: int) -> dict[str, str]:
    return {title: name, "tokens/s": f"{tokens / took[0]:,.0f}", "CPU µs": f"{took[1] / tokens * 1e6:.0f}"}


if __name__ == "__main__":
    main()
