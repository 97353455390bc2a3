"""Commands that export or erase everything an owner has."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from citewell.cli.common import AsJson, Data, download, print_json, where
from citewell.client import request_json
from citewell.errors import InvalidInput
from citewell.system import console
from citewell.types.accounts import ERASURE_CONFIRMATION

app = typer.Typer()


@app.command()
def export(
    archive: Annotated[Path, typer.Argument(help="The ZIP archive to create; it must not exist.")],
    data: Data = None,
    as_json: AsJson = False,
) -> None:
    """Export everything, including the original files, to a ZIP archive."""
    size = download(where(data), "/export", archive)
    if as_json:
        print_json({"archive": str(archive), "bytes": size})
    else:
        console.out.print(f"{console.escape(str(archive))}  [dim]{size:,} bytes[/]")


@app.command()
def erase(
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask for confirmation.")] = False,
    data: Data = None,
    as_json: AsJson = False,
) -> None:
    """Erase all files, answers and derived data, check that nothing is left, and print a receipt."""
    if (
        not yes
        and typer.prompt(f"This cannot be undone. Type '{ERASURE_CONFIRMATION}'", err=True) != ERASURE_CONFIRMATION
    ):
        raise InvalidInput("Nothing was erased.")
    receipt = request_json(where(data), "POST", "/erasure", json={"confirm": ERASURE_CONFIRMATION})
    if as_json:
        print_json(receipt)
    else:
        for one in receipt["removed"]:
            console.out.print(
                f"  {console.escape(one['place'])}  [dim]{one['before']:,} before, {one['after']:,} now[/]"
            )
        for place in receipt["not_looked_into"]:
            console.out.print(f"  [dim]not checked: {console.escape(place)}[/]")
    if not receipt["complete"]:
        raise typer.Exit(1)
