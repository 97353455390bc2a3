"""Citewell and its peers on one PDF, in turn, with the same model: `python benchmarks/run.py REPORT.pdf`."""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from pathlib import Path

import page
import queries
import report
import systems
from process import quiet
from systems import OURS, PEERS, Job, Measured

ROOT = Path(__file__).resolve().parent.parent
RESULTS = ROOT / "benchmarks" / "results"


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("pdf", type=Path, help="a text PDF; some hundreds of pages make a fair comparison")
    parser.add_argument("--only", nargs="*", metavar="SYSTEM", help=f"some of: {', '.join([OURS, *PEERS])}")
    parser.add_argument("--queries", type=int, default=100, help="how many, made from the text")
    parser.add_argument("--repeat", type=int, default=1, help="runs per system; the median one counts")
    parser.add_argument("--sets", nargs="*", type=Path, default=[], help="folders in the layout of BEIR: adds nDCG@10")
    parser.add_argument("--all", action="store_true", help="also growth, HTTP, deletion, and search during ingest")
    parser.add_argument("--output", type=Path, default=RESULTS / "ingest.json")
    parser.add_argument("--docs", action="store_true", help="write docs/benchmarks.md too")
    return parser.parse_args()


def main() -> None:
    options = arguments()
    wanted = [n for n in [OURS, *PEERS] if not options.only or any(part.lower() in n.lower() for part in options.only)]
    made, pages = queries.from_pdf(options.pdf, options.queries)
    loads, measured = [], []
    with tempfile.TemporaryDirectory(prefix="citewell-bench-") as scratch:
        for name in wanted:
            runs = []
            for number in range(options.repeat):
                loads.append(round(quiet(), 2))
                say(f"{name}: {options.pdf.name}")
                runs.append(measure(name, Job(options.pdf, made, 10, new_folder(scratch, name, number))))
            measured.append(report.median(runs))
    facts = {"pages": pages, "megabytes": options.pdf.stat().st_size / 1e6, "queries": len(made), "load_before": loads}
    result = report.as_json(measured, facts)
    options.output.parent.mkdir(parents=True, exist_ok=True)
    options.output.write_text(json.dumps(result, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    print(report.terminal(report.HEADER, report.rows(result)))
    if options.sets:
        also("quality.py", *options.sets, "--only", *wanted)
    if options.all:
        also("search.py", "--sizes", "10000", "100000", "1000000")
        also("http_search.py")
        also("churn.py")
        also("while_ingesting.py", options.pdf)
    if options.docs:
        page.main()


def measure(name: str, job: Job) -> Measured:
    if name != OURS:
        return systems.measure_peer(name, job)
    measured = systems.measure_citewell(job)
    command = [sys.executable, Path(__file__).with_name("embed_alone.py"), job.scratch / "citewell"]
    printed = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    measured.embed_alone_seconds = float(printed.split()[0])
    return measured


def also(script: str, *arguments: str | Path) -> None:
    """Another benchmark, in a process of its own."""
    say(script)
    subprocess.run([sys.executable, Path(__file__).with_name(script), *arguments], check=True)


def new_folder(scratch: str, name: str, number: int) -> Path:
    folder = Path(scratch) / f"{name.partition(' ')[0].lower()}-{number}"
    folder.mkdir(exist_ok=True)
    return folder


def say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


if __name__ == "__main__":
    main()
