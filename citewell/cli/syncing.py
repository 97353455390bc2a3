"""`citewell sync airtable | folder | web | list | forget`: keep files in sync with their source."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any
from urllib.parse import quote, urlsplit

import typer

from citewell.cli.common import AsJson, Data, print_json, settings_of, where
from citewell.client import Where, connect, request_json, run
from citewell.connectors.engine import Synchroniser, SyncReport, SyncRequest
from citewell.connectors.interface import Connector
from citewell.errors import ConfigurationError, Conflict, ProviderError, RateLimited, Unavailable
from citewell.system import console

if TYPE_CHECKING:
    from pydantic import SecretStr

app = typer.Typer(
    name="sync", no_args_is_help=True, help="Keep files in sync with a folder, a web site or an Airtable base."
)
_SHOWN = 20
Name = Annotated[str | None, typer.Option("--name", help="A name for this source.")]
Project = Annotated[
    str | None, typer.Option("--project", help="The project for its files. Default: one named after the source.")
]
Full = Annotated[bool, typer.Option("--full", help="Read the whole source again; unchanged files are still skipped.")]
Empty = Annotated[bool, typer.Option("--empty", help="Accept that the source is empty, and delete its files.")]
Watch = Annotated[bool, typer.Option("--watch", help="Keep running, and check for changes at intervals.")]
Every = Annotated[float, typer.Option("--every", min=0.2, help="Seconds between checks with --watch.")]
Model = Annotated[bool, typer.Option("--model/--no-model", help="Let the chat model, if configured, tidy each record.")]


@app.command()
def airtable(
    mapping: Annotated[
        Path | None, typer.Option("--config", help="A TOML or JSON file with base, table, view and columns.")
    ] = None,
    base: Annotated[str | None, typer.Option(help="The base's id.", show_default="AIRTABLE_BASE_ID")] = None,
    table: Annotated[str | None, typer.Option(help="The table.", show_default="AIRTABLE_TABLE_NAME")] = None,
    view: Annotated[str | None, typer.Option(help="Only records in this view.")] = None,
    fields: Annotated[
        list[str] | None, typer.Option("--field", help="Map a column, such as tags=Labels. Repeatable.")
    ] = None,
    frames: Annotated[
        Path | None, typer.Option(help="The folder with the frames.", show_default="FRAME_BASE_DIR")
    ] = None,
    name: Name = None,
    project: Project = None,
    full: Full = False,
    empty: Empty = False,
    model: Model = True,
    watch: Watch = False,
    every: Every = 60.0,
    data: Data = None,
    as_json: AsJson = False,
) -> None:
    """Import the records of an Airtable table with their frames, and keep them in sync."""
    from citewell.connectors.airtable import AirtableAccess, AirtableSource
    from citewell.connectors.frames import FrameFolder
    from citewell.connectors.mapping import TableMapping, field_flags, read_mapping

    settings = settings_of(data)
    chosen = (TableMapping() if mapping is None else read_mapping(mapping)).with_fields(field_flags(fields or []))
    known = settings.airtable
    access = AirtableAccess(
        token=_needed(known.token, "AIRTABLE_PAT to a personal access token"),
        base=_needed(base or chosen.base or known.base_id, "AIRTABLE_BASE_ID (or --base) to the id of the base"),
        table=_needed(table or chosen.table or known.table_name, "AIRTABLE_TABLE_NAME (or --table) to the table"),
        url=known.url,
        view=view or chosen.view,
        max_bytes=settings.uploads.max_bytes,
    )
    folder = frames or (Path(chosen.frames) if chosen.frames else known.frames)
    source = AirtableSource(access, chosen, None if folder is None else FrameFolder(folder))
    request = SyncRequest(
        name=name or chosen.name or f"airtable {access.base}",
        project=chosen.project if project is None else project,
        full=full,
        empty=empty,
        by_model=model,
    )
    run(_run(settings, source, request, every if watch else None, as_json))


@app.command()
def folder(
    path: Annotated[Path, typer.Argument(help="The folder.")],
    name: Name = None,
    project: Project = None,
    empty: Empty = False,
    watch: Watch = False,
    every: Every = 2.0,
    data: Data = None,
    as_json: AsJson = False,
) -> None:
    """Import the files of a folder and its subfolders, and keep them in sync."""
    from citewell.connectors.folder import FolderSource

    source = FolderSource(path)
    request = SyncRequest(name=name or f"folder {source.folder.name or 'root'}", project=project, empty=empty)
    run(_run(where(data), source, request, every if watch else None, as_json))


@app.command()
def web(
    url: Annotated[str, typer.Argument(help="A page, a sitemap, or an RSS or Atom feed.")],
    depth: Annotated[int, typer.Option(min=0, max=20, help="How many links to follow from a page; 0: it alone.")] = 3,
    pages: Annotated[int, typer.Option(help="At most so many pages.")] = 500,
    name: Name = None,
    project: Project = None,
    empty: Empty = False,
    watch: Watch = False,
    every: Every = 3_600.0,
    data: Data = None,
    as_json: AsJson = False,
) -> None:
    """Import the pages of a web site beneath an address, of a sitemap or of a feed, and keep them in sync."""
    from citewell.connectors.web import WebAccess, WebSource

    settings = settings_of(data)
    source = WebSource(WebAccess(url=url, depth=depth, pages=pages, max_bytes=settings.uploads.max_bytes))
    host = urlsplit(url).netloc
    request = SyncRequest(name=name or f"web {host}", project=project, empty=empty)
    run(_run(settings, source, request, every if watch else None, as_json))


@app.command("list")
def list_sources(data: Data = None, as_json: AsJson = False) -> None:
    """List synced sources, and what each last run did."""
    found = request_json(where(data), "GET", "/sources")["sources"]
    if as_json:
        print_json(found)
        return
    for one in found:
        console.out.print(
            f"  [bold]{console.escape(one['name'])}[/]  {one['kind']}  [dim]{one['finished_at'] or 'not finished'}[/]"
        )
        if one["report"]:
            console.out.print(f"    {_counts(one['report'])}")


@app.command()
def forget(name: str, data: Data = None, as_json: AsJson = False) -> None:
    """Forget a source. The files it imported stay."""
    request_json(where(data), "DELETE", f"/sources/{quote(name, safe='')}")
    if not as_json:
        console.out.print(f"  forgotten {console.escape(name)}")


async def _run(
    place: Where,
    source: Connector,
    request: SyncRequest,
    every: float | None,
    as_json: bool,
    sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
) -> None:
    """Run once, or repeatedly with `every` seconds between runs."""
    import httpx

    tell = _silent if as_json else _told
    async with connect(place) as client:
        if every is None:
            _show(await Synchroniser(client, source, request, tell).run(), as_json)
            return
        request, is_first = replace(request, watching=True), True
        while True:
            try:
                report = await Synchroniser(client, source, request, tell).run()
            except (Conflict, ProviderError, RateLimited, Unavailable) as error:
                console.err.print(f"[red]{console.escape(error.message)}[/]")
            except httpx.TransportError:  # the server may come back; accepted files are then not sent again
                console.err.print("[red]The server is not responding. Retrying until it does.[/]")
            else:
                if is_first or report.did_something:
                    _show(report, as_json)
                is_first = False
            await sleep(every)


def _silent(key: str, outcome: str) -> None:
    """Print nothing: other programs read the report."""


def _told(key: str, outcome: str) -> None:
    console.out.print(f"  {outcome:<16} {console.escape(key)}")


def _show(report: SyncReport, as_json: bool) -> None:
    if as_json:
        print_json(report.to_json())
        return
    console.out.print(_counts(report.to_json()))
    for one in report.problems[:_SHOWN]:
        console.out.print(
            f"  [red]{console.escape(one['key'])}[/]  {console.escape(one['message'])} [dim]({one['code']})[/]"
        )
    for one in report.notes[:_SHOWN]:
        console.out.print(f"  [yellow]{console.escape(one['key'])}[/]  {console.escape(one['note'])}")
    left = max(len(report.problems) - _SHOWN, 0) + max(len(report.notes) - _SHOWN, 0)
    if left:
        console.out.print(f"  [dim]… and {left:,} more; use --json to see all.[/]")


def _counts(report: dict[str, Any]) -> str:
    counts = ", ".join(f"{report[name]:,} {name}" for name in ("added", "changed", "unchanged", "deleted"))
    return f"{counts}; {report['problem_count']:,} not imported  ({report['seconds']:,} s)"


def _needed(value: str | SecretStr | None, what: str) -> str:
    from pydantic import SecretStr

    plain = value.get_secret_value() if isinstance(value, SecretStr) else value
    if not plain:
        raise ConfigurationError(f"Set {what}.")
    return plain
