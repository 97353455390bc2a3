"""The command that sends many files through the stages again."""

from __future__ import annotations

import asyncio
from typing import Annotated, Any

import typer
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn

from citewell import console
from citewell.cli.common import AsJson, Data, print_json, where
from citewell.client import Where, call, connect, run
from citewell.errors import InvalidInput

app = typer.Typer()
_POLL_SECONDS = 0.3


@app.command()
def reindex(
    every: Annotated[bool, typer.Option("--all", help="All files.")] = False,
    failed: Annotated[bool, typer.Option("--failed", help="Only files that failed, wholly or in part.")] = False,
    project: Annotated[
        str | None, typer.Option("--project", help="Only files of this project: its name or id.")
    ] = None,
    read_again: Annotated[
        bool, typer.Option("--read-again", help="Read the files again too, from their bytes.")
    ] = False,
    data: Data = None,
    as_json: AsJson = False,
) -> None:
    """Cut and embed files again, after a change of settings or a failure, and wait until it is done.

    What is interrupted goes on when the data folder is used the next time. Texts that did not change are not embedded again.
    """
    if not (every or failed or project) or (every and (failed or project)):
        raise InvalidInput("Say which files: --all, --failed, --project NAME, or the last two together.")
    body = {"project": project, "failed": failed, "read_again": read_again}
    done = run(_reindex(where(data), body, quiet=as_json))
    if as_json:
        print_json(done)
    else:
        console.out.print(
            f"{done['total']:,} files indexed again, {done['failed']:,} of them failed, wholly or in part."
        )
    if done["failed"]:
        raise typer.Exit(1)


async def _reindex(place: Where, body: dict[str, Any], quiet: bool) -> dict[str, Any]:
    columns = (TextColumn("indexing again"), BarColumn(bar_width=20), MofNCompleteColumn())
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
