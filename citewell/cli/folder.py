"""`citewell folder`: which database the stored files belong to, and the files in lost+found."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Annotated

import typer

from citewell.cli.common import AsJson, Data, print_json, settings_of
from citewell.client import run
from citewell.errors import InvalidInput, NotFound
from citewell.system import console
from citewell.system.lost_found import LostAndFound

app = typer.Typer(
    name="folder",
    help="The data folder: its database, and stored files that the database does not name.",
    no_args_is_help=True,
)
_Yes = Annotated[bool, typer.Option("--yes", help="Do not ask for confirmation.")]


@app.command()
def adopt(yes: _Yes = False, data: Data = None, as_json: AsJson = False) -> None:
    """From now on, use the configured database with this folder's stored files, although they did not belong together."""
    from citewell.composition.pairing import adopt

    settings = settings_of(data)
    if not yes:
        typer.confirm(f"Use the stored files of {settings.data} with the configured database?", abort=True, err=True)
    unknown = run(adopt(settings))
    if as_json:
        print_json({"unknown_files": unknown})
    else:
        console.out.print("The database and the stored files belong together from now on.")
        if unknown:
            console.out.print(f"The next start moves {unknown:,} files that the database does not name to lost+found.")


@app.command()
def migrate(data: Data = None, as_json: AsJson = False) -> None:
    """Bring the database's schema up to date, and end. Every start does so, too; this is for jobs before an upgrade of several processes."""
    from citewell.composition.stores import migrate

    run(migrate(settings_of(data)))
    if as_json:
        print_json({"migrated": True})
    else:
        console.out.print("The database's schema is up to date.")


@app.command()
def lost(data: Data = None, as_json: AsJson = False) -> None:
    """List the files in lost+found: key, size, and when each was stored."""
    found = LostAndFound(settings_of(data).data).files()
    if as_json:
        print_json([{"key": one.key, "bytes": one.size, "stored_at": one.stored_at} for one in found])
        return
    for one in found:
        at = f"{datetime.fromtimestamp(one.stored_at, UTC):%Y-%m-%d %H:%M}"
        console.out.print(f"  {at}  {console.size(one.size):>9}  {console.escape(one.key)}")
    if not found:
        console.out.print("Nothing is in lost+found.")


@app.command()
def restore(data: Data = None, as_json: AsJson = False) -> None:
    """Add the uploaded files in lost+found again, each for its owner. They stay in lost+found until `purge`."""
    from citewell.composition.recovery import restore_lost

    done = run(restore_lost(settings_of(data)))
    if as_json:
        print_json([{"key": one.key, "resource_id": one.resource_id, "problem": one.problem} for one in done])
    else:
        for one in done:
            what = f"added     {one.filename}" if one.resource_id else f"not added {one.key}: {one.problem}"
            console.out.print(f"  {console.escape(what)}")
        if not done:
            console.out.print("No uploaded file is in lost+found.")
    if any(one.resource_id is None for one in done):
        raise typer.Exit(1)


@app.command()
def purge(
    keys: Annotated[list[str] | None, typer.Argument(help="Keys, as `lost` shows them; all unless given.")] = None,
    yes: _Yes = False,
    data: Data = None,
    as_json: AsJson = False,
) -> None:
    """Delete files in lost+found for good."""
    kept = LostAndFound(settings_of(data).data)
    there = [one.key for one in kept.files()]
    wanted = keys or there
    if missing := sorted(set(wanted) - set(there)):
        raise NotFound(f"{missing[0]} is not in lost+found. See `citewell folder lost`.")
    if not yes and wanted and not typer.confirm(f"Delete {len(wanted):,} files for good?", err=True):
        raise InvalidInput("Nothing was deleted.")
    removed = kept.remove(wanted)
    if as_json:
        print_json({"deleted": removed})
    else:
        console.out.print(f"{removed:,} files deleted.")
