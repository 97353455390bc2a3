"""nDCG@10 of Citewell and its peers on retrieval sets in the layout of BEIR, each as it is by default.

usage: .venv/bin/python benchmarks/quality.py SET... [--only SYSTEM...] [--output FILE]
Results are added to what the output file already holds, so that systems can be run one at a time.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from pathlib import Path

import report
import sets
import systems
from systems import OURS, PEERS

RESULTS = Path(__file__).resolve().parent / "results"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("sets", nargs="+", type=Path)
    parser.add_argument("--only", nargs="*", metavar="SYSTEM", help=f"some of: {', '.join([OURS, *PEERS])}")
    parser.add_argument("--output", type=Path, default=RESULTS / "quality.json")
    options = parser.parse_args()
    wanted = [n for n in [OURS, *PEERS] if not options.only or any(part.lower() in n.lower() for part in options.only)]
    found: dict[str, dict[str, float]] = {}
    if options.output.exists():
        found = json.loads(options.output.read_text(encoding="utf-8"))
    options.output.parent.mkdir(parents=True, exist_ok=True)
    for name in wanted:
        for folder in options.sets:
            print(f"{name}: {folder.name}", file=sys.stderr, flush=True)
            with tempfile.TemporaryDirectory(prefix="citewell-bench-") as scratch:
                found.setdefault(name, {})[folder.name] = retrieve(name, sets.load(folder), Path(scratch))
            options.output.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")
    names = sorted({name for one in found.values() for name in one})
    print(report.terminal(("System", *names), table(found, names)))


def table(found: dict[str, dict[str, float]], names: list[str]) -> list[tuple[str, ...]]:
    """One row per system."""
    return [
        (system, *(f"{found[system][name]:.3f}" if name in found[system] else "–" for name in names))
        for system in [OURS, *PEERS]
        if system in found
    ]


def retrieve(name: str, retrieval_set: sets.RetrievalSet, scratch: Path) -> float:
    if name == OURS:
        return systems.retrieve_citewell(retrieval_set, scratch)
    return systems.retrieve_peer(name, retrieval_set, scratch)


if __name__ == "__main__":
    main()
