"""`citewell eval`: how well searches find what people judged relevant."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.table import Table

from citewell.cli.common import AsJson, print_json, settings_of
from citewell.client import run
from citewell.system import console
from citewell.types import JsonValue

if TYPE_CHECKING:
    from citewell.retrieve.evaluate import Judgements, Quality
    from citewell.settings import Settings

app = typer.Typer(name="eval", no_args_is_help=True, help="Measure search on texts with judged queries.")


@app.callback()
def evaluation() -> None:
    """Measure search on texts with judged queries."""


@app.command()
def retrieval(
    corpus: Annotated[Path, typer.Option(exists=True, dir_okay=False, help='JSON lines: {"_id", "title", "text"}.')],
    queries: Annotated[Path, typer.Option(exists=True, dir_okay=False, help='JSON lines: {"_id", "text"}.')],
    qrels: Annotated[
        Path, typer.Option(exists=True, dir_okay=False, help="Tab-separated query, document and grade, with a header.")
    ],
    only: Annotated[list[str] | None, typer.Option(help="A configuration's name. Repeatable.")] = None,
    as_json: AsJson = False,
) -> None:
    """Print nDCG@10, recall@10 and MRR with 95 % bootstrap intervals, for each leg, each fusion, feedback and the reranker.

    Uses the configured models, and a temporary folder that is removed afterwards.
    """
    from citewell.retrieve.evaluate import CONFIGURATIONS, read_corpus, read_judgements

    judged = read_judgements(queries, qrels)
    names = only or list(CONFIGURATIONS)
    with tempfile.TemporaryDirectory(prefix="citewell-eval-") as folder:
        measured = run(_measure(settings_of(Path(folder), workers=0), read_corpus(corpus), judged, names))
    if as_json:
        print_json({"configurations": [_as_json(one, measured) for one in measured]})
    else:
        _print(measured)


async def _measure(
    settings: Settings, records: list[dict[str, str]], judged: Judgements, names: list[str]
) -> list[Quality]:
    # Imported here, because it takes seconds and no other command needs it.
    from citewell.composition import open_services
    from citewell.features.search.evaluation import measure

    async with open_services(settings) as services:
        await services.resources.add_records(services.local_owner, records, None)
        return await measure(services.search, services.local_owner, judged, names)


def _as_json(one: Quality, measured: list[Quality]) -> dict[str, JsonValue]:
    """Add the difference from the default, query by query, if both were measured."""
    from citewell.retrieve.evaluate import DEFAULT, difference

    out = one.to_json()
    for default in measured:
        if default.name == DEFAULT and one is not default:
            change = difference(one, default)
            out["ndcg_minus_default"] = {
                "mean": round(change.mean, 4),
                "low": round(change.low, 4),
                "high": round(change.high, 4),
            }
    return out


def _print(measured: list[Quality]) -> None:
    from citewell.retrieve.evaluate import table

    header, *rows = table(measured)
    grid = Table(box=None, header_style="dim", padding=(0, 2, 0, 0))
    for number, title in enumerate(header):
        grid.add_column(title, justify="left" if number == 0 else "right", no_wrap=True)
    for row in rows:
        grid.add_row(*map(console.escape, row))
    console.out.print(grid)
    console.out.print(f"[dim]{measured[0].queries} queries; means with 95 % bootstrap intervals[/]")
