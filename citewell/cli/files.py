"""`citewell ls` and `citewell rm`."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from citewell.cli.common import AsJson, Data, Project, print_json, where
from citewell.client import Where, call, connect, run
from citewell.errors import InvalidInput
from citewell.system import console

app = typer.Typer()


@app.command()
def ls(
    data: Data = None,
    project: Project = None,
    status: Annotated[str | None, typer.Option(help="Only files in this state; `ready` means fully processed.")] = None,
    as_json: AsJson = False,
) -> None:
    """List files."""
    found = run(_list(where(data), project, status))
    if as_json:
        print_json(found)
    else:
        console.print_resources(found)


@app.command()
def rm(
    resources: Annotated[list[str], typer.Argument(help="Ids, id prefixes, identifiers, or file names.")],
    data: Data = None,
    as_json: AsJson = False,
) -> None:
    """Delete files and everything derived from them."""
    receipts = run(_remove(where(data), resources))
    if as_json:
        print_json(receipts)
        return
    for name, receipt in receipts:
        console.out.print(
            f"  deleted   {console.escape(name)}  [dim]{receipt['chunks']} chunks, {receipt['files']} files[/]"
        )


async def _list(place: Where, project: str | None, status: str | None) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = []
    params = {k: v for k, v in {"project": project, "status": status, "limit": "200"}.items() if v is not None}
    async with connect(place) as client:
        while True:
            page = await call(client, "GET", "/resources", params=params)
            found += page["resources"]
            if page["next_cursor"] is None:
                return found
            params["cursor"] = page["next_cursor"]


async def _remove(place: Where, wanted: list[str]) -> list[tuple[str, dict[str, Any]]]:
    known = await _list(place, None, None)
    chosen: dict[str, str] = {}
    for name in wanted:
        matches = [
            r
            for r in known
            if name in (r["id"], r["filename"], r["identifier"]) or (len(name) >= 4 and r["id"].startswith(name))
        ]
        if not matches:
            raise InvalidInput(f"There is no file {name!r}. List files with: citewell ls")
        if len({r["id"] for r in matches}) > 1:
            raise InvalidInput(f"{name!r} matches several files. Use an id from: citewell ls")
        chosen[matches[0]["id"]] = matches[0]["filename"]
    async with connect(place) as client:
        return [(name, await call(client, "DELETE", f"/resources/{i}")) for i, name in chosen.items()]
