"""`citewell audit`: who saw, changed and exported what."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from citewell.cli.common import AsJson, Data, download, print_json, where
from citewell.client import request_json
from citewell.errors import InvalidInput
from citewell.system import console
from citewell.types.audit import AuditAction, AuditOutcome

app = typer.Typer()
_FORMATS = {".ndjson": "ndjson", ".jsonl": "ndjson", ".csv": "csv"}


@app.command()
def audit(
    action: Annotated[AuditAction | None, typer.Option(help="Only this action.")] = None,
    outcome: Annotated[AuditOutcome | None, typer.Option(help="Only entries with this outcome.")] = None,
    subject: Annotated[str | None, typer.Option(help="Only entries about this id: a file, a token, …")] = None,
    since: Annotated[str | None, typer.Option(help="From this time on (UTC), such as 2026-03-01T08:00.")] = None,
    until: Annotated[str | None, typer.Option(help="Before this time (UTC).")] = None,
    owner: Annotated[str | None, typer.Option(help="An owner's id, or `all`. Default: this machine's owner.")] = None,
    limit: Annotated[int, typer.Option(min=1, max=500)] = 50,
    export: Annotated[
        Path | None, typer.Option(help="Write all matching entries to this file: .csv or .ndjson.")
    ] = None,
    data: Data = None,
    as_json: AsJson = False,
) -> None:
    """Show who saw, changed and exported what, newest first."""
    wanted = {"action": action, "outcome": outcome, "subject": subject, "since": since, "until": until, "owner": owner}
    params: dict[str, Any] = {name: str(value) for name, value in wanted.items() if value is not None}
    place = where(data)
    if export is not None:
        if export.suffix not in _FORMATS:
            raise InvalidInput(f"{export.name} ends in neither .csv nor .ndjson. Choose one of these formats.")
        size = download(place, "/audit/export", export, params | {"format": _FORMATS[export.suffix]})
        if as_json:
            print_json({"file": str(export), "bytes": size})
        else:
            console.out.print(f"{console.escape(str(export))}  [dim]{size:,} bytes[/]")
        return
    found = request_json(place, "GET", "/audit", params=params | {"limit": limit})["entries"]
    if as_json:
        print_json(found)
        return
    for one in found:
        who = one["actor_name"] or one["actor"]
        console.out.print(
            f"  {one['at'][:19]}  {one['action']:<24} {one['outcome']:<11} {console.escape(who)}  [dim]{console.escape(one['subject'] or '')}[/]"
        )
