"""From handing over a file to the first answer that cites it: PDFs, and many small files, through a whole server.

For each case a new server on an empty folder: seconds, and CPU seconds of the server and its parsers, until a question about the
first pages is answered with a citation, until one about the last pages is, and until every passage has its vector; then, in the same
run, embedding the same passages and doing nothing else. With `--peer` a peer takes the same files before it can answer at all.
"""

from __future__ import annotations

import argparse
import json
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass, field
from itertools import islice
from pathlib import Path

import http_search
import httpx
import pypdfium2
import report
import server
import systems
from process import quiet
from queries import letters

ROOT = Path(__file__).resolve().parent.parent
HEADER = (
    "Case",
    "First answer s",
    "CPU s",
    "Last page s",
    "CPU s",
    "Full s",
    "CPU s",
    "Embedding alone s",
    "CPU s",
    "Full / alone",
)
_RUN = re.compile(r"(?<!\S)(?:[a-z][a-z'’]* ){9}[a-z]+")
"""Ten words of running text."""
_PAUSE = 0.1
_LIMIT_SECONDS = 1_800.0
_PER_LOOK = 200


@dataclass(frozen=True)
class Asked:
    """A question, and words of the passage that answers it."""

    words: str
    question: str


@dataclass(frozen=True)
class Case:
    """Files to hand over at once, and a question about the first and the last words of them."""

    name: str
    files: tuple[Path, ...]
    first: Asked
    last: Asked


@dataclass
class Outcome:
    """Seconds since the files were handed over, and CPU seconds of the server and its parsers since then, at each point."""

    name: str
    load_before: float
    seconds: dict[str, float] = field(default_factory=dict[str, float])
    cpu: dict[str, float] = field(default_factory=dict[str, float])
    peers: dict[str, dict[str, float]] = field(default_factory=dict[str, dict[str, float]])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("pdfs", nargs="*", type=Path)
    parser.add_argument("--small", type=int, default=0, metavar="N", help="also N text files of some 150 words")
    parser.add_argument("--pages", type=int, metavar="N", help="also the first N pages of each PDF")
    parser.add_argument("--peer", nargs="*", default=[], choices=systems.PEERS, help="peers that take the same files")
    parser.add_argument("--output", type=Path, default=ROOT / "benchmarks" / "results" / "first_answer.json")
    options = parser.parse_args()
    outcomes: list[Outcome] = []
    with tempfile.TemporaryDirectory(prefix="citewell-bench-") as scratch:
        for number, case in enumerate(_cases(options, Path(scratch))):
            folder = Path(scratch) / str(number)
            folder.mkdir()
            outcomes.append(measure(case, folder))
            for peer in options.peer:
                outcomes[-1].peers[peer] = _take(peer, case, folder)
            print(json.dumps(asdict(outcomes[-1])), file=sys.stderr, flush=True)
    result = {"machine": report.machine(), "cases": [asdict(one) for one in outcomes]}
    options.output.parent.mkdir(parents=True, exist_ok=True)
    options.output.write_text(json.dumps(result, indent=1) + "\n", encoding="utf-8")
    print(report.terminal(HEADER, [row(one) for one in outcomes]))


def row(one: Outcome) -> tuple[str, ...]:
    figures = [f"{value[key]:.1f}" for key in ("first", "last", "full", "alone") for value in (one.seconds, one.cpu)]
    return one.name, *figures, f"{one.seconds['full'] / one.seconds['alone']:.2f}"


def measure(case: Case, folder: Path) -> Outcome:
    """Hand the files over, and ask."""
    data = folder / "data"
    outcome = Outcome(case.name, round(quiet(30), 2))
    with server.serving(data) as ours, ours.client() as client:
        server.search(client, "warm", 1)  # the embedder is there
        started, before = time.perf_counter(), ours.cpu_seconds

        def note(point: str) -> None:
            outcome.seconds[point] = round(time.perf_counter() - started, 2)
            outcome.cpu[point] = round(ours.cpu_seconds - before, 2)
            print(f"{case.name}: {point} {outcome.seconds[point]} s", file=sys.stderr, flush=True)

        with ThreadPoolExecutor(1) as uploading:
            handed_over = uploading.submit(_hand_over, ours, case.files)
            _until(lambda: _cited(client, case.first))
            note("first")
            _until(lambda: _cited(client, case.last))
            note("last")
            ids = handed_over.result()
        _until(lambda: _are_done(client, ids), pause=1.0)
        note("full")
    outcome.seconds["alone"], outcome.cpu["alone"] = _embed_alone(data)
    return outcome


def _hand_over(ours: server.Server, files: tuple[Path, ...]) -> list[str]:
    """Upload the files one after the other; their ids."""
    ids: list[str] = []
    with ours.client() as client:
        for path in files:
            with path.open("rb") as file:
                ids.append(client.post("/ingest", files={"file": (path.name, file)}).raise_for_status().json()["id"])
    return ids


def _cited(client: httpx.Client, asked: Asked) -> bool:
    """Whether the answer cites what was asked for. No question is asked while a search does not find its words."""
    hits = server.search(client, asked.words, 3)
    holding = {hit["chunk_id"] for hit in hits if letters(asked.words) in letters(hit["text"])}
    if not holding:
        return False
    answer = client.post("/chat", json={"message": asked.question}).raise_for_status().json()
    return any(citation["chunk_id"] in holding for citation in answer["citations"])


def _until(holds: Callable[[], bool], pause: float = _PAUSE) -> None:
    deadline = time.monotonic() + _LIMIT_SECONDS
    while not holds():
        if time.monotonic() > deadline:
            raise RuntimeError(f"It did not happen within {_LIMIT_SECONDS:g} seconds.")
        time.sleep(pause)


def _are_done(client: httpx.Client, ids: list[str]) -> bool:
    """Whether all files have their terminal state; those that have are taken from `ids`."""
    while ids:
        looked_at = ids[:_PER_LOOK]
        listed = client.get("/resources", params={"id": looked_at, "fields": "summary", "limit": _PER_LOOK})
        for resource in listed.raise_for_status().json()["resources"]:
            if resource["status"] in server.TERMINAL:
                if resource["status"] != "indexed":
                    raise RuntimeError(f"{resource['filename']} is {resource['status']}: {resource['error_message']}")
                ids.remove(resource["id"])
        if not set(looked_at).isdisjoint(ids):
            return False
    return True


def _embed_alone(data: Path) -> tuple[float, float]:
    command = [sys.executable, str(Path(__file__).with_name("embed_alone.py")), str(data)]
    printed = subprocess.run(command, capture_output=True, text=True, check=True).stdout.split()
    return round(float(printed[0]), 2), round(float(printed[1]), 2)


def _take(peer: str, case: Case, scratch: Path) -> dict[str, float]:
    """Seconds until a peer can answer, after its model was loaded; CPU seconds with that. Many texts it gets all at once."""
    if case.files[0].suffix != ".pdf":
        seconds, cpu = systems.take_texts(peer, case.files, scratch)
        return {"seconds": round(seconds, 2), "cpu": round(cpu, 2)}
    measured = systems.measure_peer(peer, systems.Job(case.files[0], [case.first.words], 10, scratch))
    return {"seconds": round(measured.ingest_seconds, 2), "cpu": round(measured.cpu_seconds, 2)}


def _cases(options: argparse.Namespace, scratch: Path) -> Iterator[Case]:
    for path in options.pdfs:
        whole = pypdfium2.PdfDocument(path)
        yield _of_pdf(path)
        if options.pages and options.pages < len(whole):
            yield _of_pdf(_beginning(whole, options.pages, scratch / f"{path.stem}-{options.pages}.pdf"))
    if options.small:
        yield _of_texts(options.small, scratch / "small")


def _of_pdf(path: Path) -> Case:
    """Asks for the first and for the last ten words of running text."""
    with pypdfium2.PdfDocument(path) as document:
        pages = len(document)
        runs = [
            run for page in document for run in _RUN.findall(" ".join(page.get_textpage().get_text_bounded().split()))
        ]
    if not runs:
        raise ValueError(f"{path} has no ten words of running text to ask about.")
    asked = [Asked(run, f"What is said about “{run}”?") for run in (runs[0], runs[-1])]
    return Case(f"PDF, {pages} pages", (path,), *asked)


def _beginning(whole: pypdfium2.PdfDocument, pages: int, path: Path) -> Path:
    part = pypdfium2.PdfDocument.new()
    part.import_pages(whole, list(range(pages)))
    part.save(path)
    return path


def _of_texts(count: int, folder: Path) -> Case:
    """Text files of some 120 words, each with a fact of its own."""
    folder.mkdir()
    texts = http_search.sentences(seed=count)
    facts = [f"Locker {number} is opened with the code {7919 * number % 100_003}." for number in range(count)]
    for number, fact in enumerate(facts):
        (folder / f"note-{number}.txt").write_text("\n\n".join([*islice(texts, 4), fact]), encoding="utf-8")
    asked = [Asked(facts[n], f"With which code is locker {n} opened?") for n in (0, count - 1)]
    files = tuple(folder / f"note-{number}.txt" for number in range(count))
    return Case(f"{count:,} text files", files, *asked)


if __name__ == "__main__":
    main()
