"""`citewell serve`, `worker`, `token` and `doctor`. Each imports what it runs only when called."""

from __future__ import annotations

import gc
from typing import Annotated

import typer

from citewell.cli.common import AsJson, Data, print_json, settings_of
from citewell.client import run
from citewell.system import console
from citewell.system.deferred_models import defer_model_build
from citewell.system.folder import DataFolder

app = typer.Typer()


@app.command()
def serve(
    data: Data = None,
    host: Annotated[str | None, typer.Option(help="The address to listen on.")] = None,
    port: Annotated[int | None, typer.Option(help="The port to listen on; 0 picks a free one.")] = None,
    as_json: AsJson = False,
) -> None:
    """Run the server."""
    gc.disable()  # until it serves: imports leave no garbage, and looking for some takes a tenth of the start
    from citewell.cli.telegram import bot_beside

    with defer_model_build():
        from citewell.server import serve

    settings = settings_of(data, host=host, port=port)
    serve(settings, bot_beside(settings))


@app.command()
def worker(data: Data = None, as_json: AsJson = False) -> None:
    """Ingest files alongside servers that share the database."""
    from citewell.worker import work

    work(settings_of(data))


@app.command()
def token(data: Data = None, as_json: AsJson = False) -> None:
    """Print a token for this data folder."""
    settings = settings_of(data)
    secret = DataFolder(settings.data).token()
    if as_json:
        print_json({"token": secret})
    else:
        console.out.print(secret, markup=False)


@app.command()
def doctor(data: Data = None, as_json: AsJson = False) -> None:
    """Check the configuration: what works, what is unreachable, what is missing, and how to fix it."""
    from citewell.cli.doctor import examine, print_findings

    findings = run(examine(settings_of(data)))
    if as_json:
        print_json([finding.to_json() for finding in findings])
    else:
        print_findings(findings)
    if any(finding.level == "error" for finding in findings):
        raise typer.Exit(1)
