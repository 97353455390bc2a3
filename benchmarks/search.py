"""Search in-process as a library grows: build, open, memory, milliseconds per step, recall with and without filters.

usage: .venv/bin/python benchmarks/search.py [--sizes 10000 100000 1000000] [--queries 300] [--keep FOLDER] [--output FILE]
`--keep` builds in subfolders of FOLDER and searches what already stands there.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import generated
import numpy as np
import report

HEADER = (
    "Chunks",
    "Build s",
    "Graphs s",
    "Build MB",
    "Open s",
    "RSS MB",
    "p50 ms",
    "p95 ms",
    "p99 ms",
    "CPU ms",
    "Recall",
    "1:1000 p50 ms",
    "1:1000 recall",
)
RESULTS = Path(__file__).resolve().parent / "results"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sizes", nargs="*", type=int, default=[10_000, 100_000])
    parser.add_argument("--queries", type=int, default=300)
    parser.add_argument("--keep", type=Path)
    parser.add_argument("--build-only", action="store_true", help="with --keep: search another time")
    parser.add_argument("--output", type=Path, default=RESULTS / "search.json")
    options = parser.parse_args()
    measured = []
    for size in options.sizes:
        with place(options.keep, size) as folder:
            built = prepare(folder, size, options.queries)
            if not options.build_only:
                measured.append(built | measure(folder))
                print(json.dumps(measured[-1]), flush=True)
    if measured:
        print(report.terminal(HEADER, [row(one) for one in measured]))
        options.output.parent.mkdir(parents=True, exist_ok=True)
        out = {"machine": report.machine(), "measured": measured}
        options.output.write_text(json.dumps(out, indent=1) + "\n", encoding="utf-8")


@contextlib.contextmanager
def place(keep: Path | None, size: int) -> Iterator[Path]:
    if keep is None:
        with tempfile.TemporaryDirectory(prefix="citewell-bench-") as folder:
            yield Path(folder)
        return
    folder = keep / str(size)
    folder.mkdir(parents=True, exist_ok=True)
    yield folder


def prepare(folder: Path, size: int, queries: int) -> dict[str, Any]:
    """Build, unless that was done before; what building took."""
    done = folder / "built.json"
    if not done.exists():
        generated.write_vectors(folder / "vectors.npy", size)
        generated.write_sentences(folder / "sentences.json")
        done.write_text(json.dumps(stage("build", folder)), encoding="utf-8")
    sentences = json.loads((folder / "sentences.json").read_text(encoding="utf-8"))
    # As many again, to warm up with.
    asked = generated.questions(sentences, generated.read_vectors(folder / "vectors.npy"), 2 * queries)
    (folder / "queries.json").write_text(json.dumps([text for text, _ in asked]), encoding="utf-8")
    np.save(folder / "queries.npy", np.stack([vector for _, vector in asked]))
    return json.loads(done.read_text(encoding="utf-8"))


def measure(folder: Path) -> dict[str, Any]:
    """Search it in a new process; recall is worked out here."""
    result = stage("search", folder)
    vectors, asked = generated.read_vectors(folder / "vectors.npy"), list(np.load(folder / "queries.npy"))
    narrow = set(generated.thousandth(len(vectors)))
    admitted = [n for n in range(len(vectors)) if generated.resource_of(n) in narrow]
    for key, best in (
        ("found", generated.nearest(vectors, asked)),
        ("found_filtered", generated.nearest(vectors, asked, admitted)),
    ):
        shared = [len(best_ids & set(ids)) / len(best_ids) for best_ids, ids in zip(best, result.pop(key), strict=True)]
        result[key.replace("found", "recall")] = sum(shared) / len(shared)
    return result


def stage(name: str, folder: Path) -> dict[str, Any]:
    command = [sys.executable, str(Path(__file__).with_name("library_stages.py")), name, str(folder)]
    return json.loads(subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True).stdout)


def row(one: dict[str, Any]) -> tuple[str, ...]:
    search, narrow = one["search"], one["filtered"]
    return (
        f"{one['chunks']:,}",
        # What was built while the machine had other work is searched, and its building left out.
        *(f"{one[key]:.0f}" if key in one else "–" for key in ("build_s", "graphs_s", "build_anonymous_mb")),
        f"{one['open_s']:.1f}",
        f"{one['rss_mb']:.0f}",
        *(f"{search[key]:.1f}" for key in ("p50_ms", "p95_ms", "p99_ms", "cpu_ms")),
        f"{one['recall']:.3f}",
        f"{narrow['p50_ms']:.1f}",
        f"{one['recall_filtered']:.3f}",
    )


if __name__ == "__main__":
    main()
