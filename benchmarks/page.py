"""Writes the generated part of `docs/benchmarks.md`, and its pictures, from `benchmarks/results/`.

usage: .venv/bin/python benchmarks/page.py
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import churn
import http_search
import plots
import quality
import report
import search
import while_ingesting
from report import markdown
from systems import OURS

ROOT = Path(__file__).resolve().parent.parent
RESULTS = ROOT / "benchmarks" / "results"
DOCS = ROOT / "docs"
BEGIN, END = "<!-- written by benchmarks/page.py -->", "<!-- end -->"


def main() -> None:
    (DOCS / "benchmarks").mkdir(parents=True, exist_ok=True)
    parts: list[str] = []
    for name, write in SECTIONS.items():
        path = RESULTS / f"{name}.json"
        if path.exists():
            parts += write(json.loads(path.read_text(encoding="utf-8")))
    page = DOCS / "benchmarks.md"
    before, _, rest = page.read_text(encoding="utf-8").partition(BEGIN)
    written = "\n\n".join([BEGIN, *parts, END])
    page.write_text(before + written + rest.partition(END)[2], encoding="utf-8")


def draw(file: str, drawing: str, title: str) -> str:
    """Save a picture; the Markdown that shows it."""
    (DOCS / "benchmarks" / file).write_text(drawing, encoding="utf-8")
    return f"![{title}](benchmarks/{file})"


def ingest(result: Mapping[str, Any]) -> list[str]:
    """One PDF, beside the peers."""
    pages = result["pages"]
    pictures = [
        draw(f"{pages}-pages-{file}", plots.bars(title, *columns(result["systems"], key), unit, OURS), title)
        for file, title, key, unit in report.PICTURES
    ]
    return [
        f"## One PDF of {pages} pages, from upload to searchable",
        "Each system ran in its own process, one after another, on the same file with the same all-MiniLM-L6-v2 weights, "
        "set up as its quickstart shows. Citewell was called over HTTP, its peers in-process.",
        *report.ratios(result["systems"]),
        "\n\n".join(pictures),
        *report.figures(result),
        "The model reads 256 tokens of a chunk. If a system's default chunks are longer (LlamaIndex: 1,024), only their beginnings are "
        "embedded, which is fast but finds less.",
        *report.versions(result["systems"]),
    ]


def columns(systems: Sequence[Mapping[str, Any]], key: str) -> tuple[list[str], list[float]]:
    return [one["system"] for one in systems], [one[key] for one in systems]


def ranking(found: dict[str, dict[str, float]]) -> list[str]:
    """nDCG@10 per set."""
    names = sorted({name for one in found.values() for name in one})
    return [
        "## nDCG@10",
        "Records in, ids out, with the default configuration. A record that was split ranks by its best chunk.",
        markdown(("System", *names), quality.table(found, names)),
    ]


def growth(result: Mapping[str, Any]) -> list[str]:
    """Search in-process at several sizes."""
    measured = result["measured"]
    series = {
        "p50": [(one["chunks"], one["search"]["p50_ms"]) for one in measured],
        "p95": [(one["chunks"], one["search"]["p95_ms"]) for one in measured],
        "p99": [(one["chunks"], one["search"]["p99_ms"]) for one in measured],
    }
    memory = {"resident": [(one["chunks"], one["rss_mb"]) for one in measured]}
    drawings = [
        draw(
            "growth.svg", plots.lines("Search as a library grows", "chunks", "ms", series), "Search as a library grows"
        ),
        draw("growth-memory.svg", plots.lines("Resident memory", "chunks", "MB", memory), "Memory as a library grows"),
    ]
    return [
        "## As a library grows",
        "Hybrid search in-process, including the query's embedding, over real text and generated vectors of realistic spread. Recall@10 "
        "is that of the dense leg against brute force, over everything and under a filter that admits one chunk in a thousand. *Build MB* "
        f"is the peak memory not mapped from files, of the server and of the process that builds the graphs. {host(result)}",
        markdown(search.HEADER, [search.row(one) for one in measured]),
        "\n\n".join(drawings if len(measured) > 1 else []),
    ]


def served(result: Mapping[str, Any]) -> list[str]:
    """Search over HTTP."""
    return [
        "## Over HTTP",
        f"`POST /search`, with the clients in their own process on the same machine. {host(result)}",
        markdown(http_search.HEADER, [http_search.row(one) for one in result["measured"]]),
    ]


def busy(result: Mapping[str, Any]) -> list[str]:
    """Search while a file is ingested."""
    rows = [while_ingesting.row(name, result[key]) for name, key in (("at rest", "rest"), ("ingesting", "busy"))]
    return [
        "## Search while a file is ingested",
        f"One client; the file took {result['ingest_s']:.0f} s. {host(result)}",
        markdown(while_ingesting.HEADER, rows),
    ]


def changes(result: Mapping[str, Any]) -> list[str]:
    """Deleting half a library under searches."""
    return [
        "## Deleting while searches run",
        f"{result['deleted']:,} of {result['chunks']:,} chunks were deleted in {result['delete_s']:.1f} s, {churn.PER_DELETE} "
        f"resources at a time, while searches ran without pause. {result['wrong_answers']} of {result['busy']['searches']:,} answers "
        f"contained anything deleted before the request. Dense p99 went from {result['quiet']['p99_ms']:.1f} to "
        f"{result['busy']['p99_ms']:.1f} ms. After the compaction ({result['settled_s']:.0f} s in all) recall@10 was "
        f"{result['recall_after']:.3f}, and the folder had gone from {result['size_mb']:.0f} to {result['size_after_mb']:.0f} MB. "
        f"{host(result)}",
    ]


def refusing(result: Mapping[str, Any]) -> list[str]:
    """How well scores tell what cannot be answered."""
    series = {one["score"]: one["curve"] for one in result["measured"]}
    body = [
        (
            one["score"],
            f"{one['auc']:.3f} [{one['low']:.3f}, {one['high']:.3f}]",
            f"{one['points'][1]['threshold']:.3f}",
            f"{one['points'][1]['refused']:.0%}",
        )
        for one in result["measured"]
    ]
    title = "Answerable turns kept against unanswerable ones let through"
    return [
        "## Recognising that nothing is relevant",
        f"The best hit's score over {result['answerable']} answerable and {result['unanswerable']} unanswerable conversation turns, "
        "made standalone without a chat model. Each threshold keeps 95 % of the answerable turns.",
        markdown(("Score of the best hit", "AUC", "Threshold", "Unanswerable refused"), body),
        draw("thresholds.svg", plots.curves(title, "let through", "kept", series), title),
    ]


def filtered(result: Mapping[str, Any]) -> list[str]:
    """Metadata: filters against what they mean, recall within them, and changes that a killed process left behind."""
    oracle, recall, killed = result["oracle"], result["recall_at_10"], result["killed"]
    within = ", ".join(f"{value:.3f} where {share} of the points fit" for share, value in recall.items())
    return [
        "## Filters on metadata",
        f"{result['changed']['files']:,} files with 12 fields each, and {oracle['filters']} random nested filters, "
        f"{oracle['admitting_some']} of which admit some files but not all. The embedded store and the same filter in plain Python differed on "
        f"{oracle['differences']} files. Recall@10 of a dense search is {within}. A process was killed while it changed the metadata of "
        f"all files: after the next start the index lacked {killed['behind']} of the {killed['changed_in_sql']:,} changes in SQL. {host(result)}",
    ]


def host(result: Mapping[str, Any]) -> str:
    machine = result["machine"]
    return f"{machine['cpu']}, {machine['cores']} cores, {machine['memory_gb']} GB; {machine['system']}."


SECTIONS = {
    "ingest": ingest,
    "ingest_100": ingest,
    "quality": ranking,
    "search": growth,
    "http_search": served,
    "while_ingesting": busy,
    "churn": changes,
    "metadata": filtered,
    "thresholds": refusing,
}


if __name__ == "__main__":
    main()
