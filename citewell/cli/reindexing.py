"""`citewell reindex`: process many files again."""

from __future__ import annotations

import asyncio
from typing import Annotated, Any

import typer
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn

from citewell.cli.common import AsJson, Data, print_json, where
from citewell.client import Where, call, connect, run
from citewell.errors import InvalidInput
from citewell.system import console

app = typer.Typer()
_POLL_SECONDS = 0.3


@app.command()
def reindex(
    every: Annotated[bool, typer.Option("--all", help="All files.")] = False,
    failed: Annotated[bool, typer.Option("--failed", help="Only files that failed or are partial.")] = False,
    project: Annotated[str | None, typer.Option("--project", help="Only files in this project, by name or id.")] = None,
    read_again: Annotated[bool, typer.Option("--read-again", help="Also read the original files again.")] = False,
    data: Data = None,
    as_json: AsJson = False,
) -> None:
    """Chunk and embed files again, after a failure or a change of settings, and wait until it is done.

    An interrupted run continues the next time the data folder is used. Unchanged texts are not embedded again.
    """
    if not (every or failed or project) or (every and (failed or project)):
        raise InvalidInput("Choose files with --all, --failed, --project NAME, or both --failed and --project.")
    body = {"project": project, "failed": failed, "read_again": read_again}
    done = run(_reindex(where(data), body, quiet=as_json))
    if as_json:
        print_json(done)
    else:
        console.out.print(f"{done['total']:,} files reindexed; {done['failed']:,} failed or are partial.")
    if done["failed"]:
        raise typer.Exit(1)


async def _reindex(place: Where, body: dict[str, Any], quiet: bool) -> dict[str, Any]:
    columns = (TextColumn("reindexing"), BarColumn(bar_width=20), MofNCompleteColumn())
    hidden = quiet or not console.out.console.is_terminal
    with Progress(*columns, console=console.out.console, transient=True, disable=hidden) as progress:
        async with connect(place) as client:
            now = await call(client, "POST", "/reindex", json=body)
            task = progress.add_task("", total=now["total"])
            while now["state"] == "running":
                progress.update(task, completed=now["done"])
                await asyncio.sleep(_POLL_SECONDS)
                now = await call(client, "GET", f"/reindex/{now['id']}")
            return now
