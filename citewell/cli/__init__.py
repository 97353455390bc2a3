"""The command line: `citewell serve | add | search | ask | ls | rm | reindex | sync | index | eval | export | erase | audit | accounts | quotas | webhooks | mcp | worker | telegram | doctor | token`."""

from __future__ import annotations

import sys

import typer

from citewell import console
from citewell.cli import (
    accounts,
    audit,
    evaluation,
    files,
    indexes,
    mcp,
    owner_data,
    quotas,
    reindexing,
    syncing,
    telegram,
    webhooks,
)
from citewell.cli.common import SilentServer
from citewell.errors import CitewellError, Unavailable

_MAX_ALLOWED = 40
_WRONG, _TRY_AGAIN = 2, 75
"""Exit codes: of what trying again does not mend, and (`EX_TEMPFAIL` of sysexits.h) of a server that cannot be reached at present."""
app = typer.Typer(
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    help="Ask questions about your own files, and see exactly where each answer stands.",
)
app.add_typer(files.app)
app.add_typer(mcp.app)
app.add_typer(reindexing.app)
app.add_typer(owner_data.app)
app.add_typer(audit.app)
app.add_typer(indexes.app, name="index")
app.add_typer(syncing.app, name="sync")
app.add_typer(evaluation.app, name="eval")
app.add_typer(accounts.app, name="accounts")
app.add_typer(quotas.app, name="quotas")
app.add_typer(telegram.app, name="telegram")
app.add_typer(webhooks.app, name="webhooks")


def main() -> None:
    """Run the command line; a Citewell error is printed as one line, without a traceback."""
    try:
        app()
    except CitewellError as error:
        # On one line, because a quoted library error may span several.
        message = " ".join(error.message.split())
        allowed = error.details.get("allowed")
        if isinstance(allowed, list) and allowed:
            message += f" Allowed: {', '.join(map(str, allowed[:_MAX_ALLOWED]))}{', …' if len(allowed) > _MAX_ALLOWED else '.'}"
        console.err.print(f"[red]{console.escape(message)}[/] [dim]({error.code})[/]")
        sys.exit(_TRY_AGAIN if isinstance(error, Unavailable) else _WRONG)
    except SilentServer as error:
        console.err.print(
            f"[red]The server that holds the data folder does not answer:[/] {console.escape(str(error))}"
        )
        sys.exit(_WRONG)
