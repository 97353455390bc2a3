"""Command-line output: progress, passages, answers with references, lists; and log setup for servers and workers."""

from __future__ import annotations

import json
import logging
from datetime import UTC, datetime
from functools import cached_property
from typing import TYPE_CHECKING, Any

from citewell.errors import DatabaseAway
from citewell.system.characters import cut, isolated
from citewell.system.source_lines import only_page, page_lines
from citewell.system.tracing import current_ids

if TYPE_CHECKING:
    from rich.console import Console


class Output:
    """A console created on first use: importing rich takes a fifth of a command's load time, and few commands need it.

    `serve` and `--json` never do.
    """

    def __init__(self, *, stderr: bool = False) -> None:
        self._stderr = stderr

    @cached_property
    def console(self) -> Console:
        """The underlying rich console."""
        from rich.console import Console

        return Console(stderr=self._stderr, highlight=False, soft_wrap=True)

    def print(self, value: object, *, markup: bool = True) -> None:
        """Prints a line or any rich renderable; `markup`: interpret square brackets as styles."""
        self.console.print(value, markup=markup)


def start_log(level: str, format: str = "text") -> None:
    """Starts logging to standard error at this level and above, as text or with an object of JSON a line."""
    logging.basicConfig(level=level.upper(), format="%(asctime)s %(levelname)s %(name)s: %(message)s")
    for handler in logging.getLogger().handlers:
        handler.addFilter(_is_news)
        if format == "json":
            handler.setFormatter(JsonFormatter())
    logging.getLogger("alembic").setLevel(logging.WARNING)  # logs at every start, even with nothing to migrate
    # These log every URL they call, and URLs of webhooks and attachments are secrets.
    for client in ("httpx", "httpx2"):
        logging.getLogger(client).setLevel(logging.WARNING)
    logging.getLogger("mcp").setLevel(logging.WARNING)  # logs the end of each call as that of a session


class JsonFormatter(logging.Formatter):
    """A record as a line of JSON: `time` (RFC 3339, UTC), `level`, `logger`, `message` and, if there are any, `error` and the ids of the span."""

    def format(self, record: logging.LogRecord) -> str:
        """Formats a record."""
        at = datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
        said = {"time": at, "level": record.levelname, "logger": record.name, "message": record.getMessage()}
        if record.exc_info:
            said["error"] = self.formatException(record.exc_info)
        return json.dumps(said | current_ids(), ensure_ascii=False)


def _is_news(record: logging.LogRecord) -> bool:
    """Drops records about an unreachable database, which `Database` logs once itself."""
    told = (*(record.exc_info or ()), *(record.args if isinstance(record.args, tuple) else ()))
    return not any(isinstance(one, DatabaseAway) for one in told)


out = Output()
err = Output(stderr=True)

_GOOD = {"indexed", "analyzed", "described"}
_SHOWN_CHARACTERS = 280
_OUTCOMES = {
    "unchanged": "already known",
    "retried": "known, retried",
    "reread": "known, parsed again with these options",
    "reindexed": "known, indexed again with these options",
}


def escape(text: str) -> str:
    """Escapes a text so that rich interprets none of it as markup."""
    from rich.markup import escape

    return escape(text)


def size(count: int) -> str:
    """Formats a number of bytes for people."""
    value = float(count)
    for unit in ("B", "KB", "MB", "GB"):
        if value < 1024 or unit == "GB":
            return f"{value:.0f} {unit}" if unit == "B" else f"{value:.1f} {unit}"
        value /= 1024
    return f"{count} B"


def print_outcome(resource: dict[str, Any], outcome: str) -> None:
    """Prints a line for a file that has reached a terminal state, and one for each problem."""
    status = resource["status"]
    colour = "green" if status in _GOOD else "yellow" if status in {"partial", "stored"} else "red"
    seconds = ((resource["extraction_duration_ms"] or 0) + (resource["indexing_duration_ms"] or 0)) / 1000
    already = f", {_OUTCOMES[outcome]}" if outcome in _OUTCOMES else ""
    out.print(
        f"  [{colour}]{status:<9}[/] {escape(resource['filename'])}  "
        f"[dim]{resource['chunk_count']} chunks, {seconds:.1f} s{already}[/]"
    )
    if resource["error_message"]:
        out.print(f"            {escape(resource['error_message'])} [dim]({resource['error_code']})[/]")
    for note in coverage_notes(resource["coverage"]):
        out.print(f"            [dim]{escape(note)}[/]")


def coverage_notes(coverage: dict[str, Any] | None, most: int = 5) -> list[str]:
    """Returns the problems in the coverage report, in at most `most` lines."""
    if not coverage:
        return []
    notes = [*coverage["warnings"], *coverage["skipped"]]
    for unit in coverage["units"]:
        place = "" if unit["unit"] == "file" else f"{unit['unit']} {unit['name'] or unit['number']}: "
        notes += [place + text for text in (*unit["warnings"], *unit["skipped"])]
    more = [f"and {len(notes) - most} more notes: see the coverage report"] if len(notes) > most else []
    return notes[:most] + more


def print_notice(found: dict[str, Any]) -> None:
    """Prints notices about results to stderr, such as that the index is being rebuilt."""
    if found.get("notice"):
        err.print(f"[yellow]{escape(found['notice'])}[/]")


def print_hits(hits: list[dict[str, Any]]) -> None:
    """Prints passages with their scores and locations."""
    if not hits:
        out.print("Nothing found.")
    for number, hit in enumerate(hits, 1):
        scores = "  ".join(f"{name} {value:.3f}" for name, value in hit["scores"].items())
        out.print(f"[bold]{number}. {escape(isolated(hit['label']))}[/]  [dim]{scores}[/]")
        text = " ".join(hit["text"].split())
        shortened = text if len(text) <= _SHOWN_CHARACTERS else cut(text, _SHOWN_CHARACTERS) + "…"
        out.print(f"   {escape(isolated(shortened))}")


def print_pictures(pictures: list[dict[str, Any]]) -> None:
    """Prints pictures with their scores and locations."""
    if not pictures:
        out.print("Nothing found.")
    for number, one in enumerate(pictures, 1):
        out.print(f"[bold]{number}. {escape(one['label'])}[/]  [dim]{one['found_by']} {one['score']:.3f}[/]")


def print_answer(answer: dict[str, Any]) -> None:
    """Prints an answer, then its numbered sources; if there is no answer, prints suggestions."""
    out.print("\n".join(escape(isolated(line)) for line in answer["answer"].split("\n")))
    if hint := (answer.get("no_answer") or {}).get("hint"):
        out.print(f"[dim]{escape(hint)}[/]")
    references: dict[int, dict[str, Any]] = {}
    for citation in answer["citations"]:
        references.setdefault(citation["n"], citation)
    if references:
        out.print("\n[bold]References[/]")
    places = [
        (
            n,
            (one["resource_id"], one["version"], one["verdict"], _origin(one)),
            one["filename"],
            only_page(one["locator"] or {}),
            one["label"],
        )
        for n, one in references.items()
    ]
    for numbers, label in page_lines(places):
        citation = references[numbers[0]]
        mark = "" if citation["verdict"] == "supported" else f"  [yellow]{citation['verdict']}[/]"
        shown = "".join(f"[{n}]" for n in numbers)
        out.print(f"  {escape(shown)} {escape(isolated(label))}{_origin(citation)}{mark}")


def _origin(citation: dict[str, Any]) -> str:
    """Formats the path and record of a synced file at its source."""
    said = citation.get("metadata") or {}
    parts = [said.get("source_frame_path") or said.get("source_path"), said.get("source_airtable_id")]
    shown = ", ".join(str(part) for part in parts if part)
    return f"  [dim]{escape(shown)}[/]" if shown else ""


def print_resources(resources: list[dict[str, Any]]) -> None:
    """Prints a table of resources."""
    from rich.table import Table

    if not resources:
        out.print("No files yet. Add some with: citewell add FILE…")
        return
    table = Table(box=None, header_style="dim", padding=(0, 2, 0, 0))
    for column in ("id", "file", "status", "size", "chunks", "added"):
        table.add_column(column, justify="right" if column in {"size", "chunks"} else "left", overflow="fold")
    for r in resources:
        added = r["created_at"][:16].replace("T", " ")
        table.add_row(
            r["id"][:8], escape(r["filename"]), r["status"], size(r["file_size_bytes"]), str(r["chunk_count"]), added
        )
    out.print(table)
