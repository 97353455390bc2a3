"""Commands for changing the embedding model: build the new index alongside the old one, compare, switch, roll back."""

from __future__ import annotations

import asyncio
from typing import Annotated, Any

import typer

from citewell import console
from citewell.cli.common import AsJson, Data, print_json, run
from citewell.client import call, connect
from citewell.settings import Settings, load_settings

app = typer.Typer(no_args_is_help=True, help="Indexes: list, build another model's, compare, switch, roll back.")
_POLL_SECONDS = 0.5


@app.command("ls")
def list_indexes(data: Data = None, as_json: AsJson = False) -> None:
    """List indexes; the active one serves searches."""
    found = run(_call(load_settings(data=data), "GET", "/indexes"))["indexes"]
    if as_json:
        print_json(found)
        return
    for index in found:
        built = f"{index['progress']:,} of {index['total']:,}" if index["state"] == "building" else ""
        console.out.print(
            f"  {index['state']:<9} {console.escape(index['fingerprint'])}  [dim]{index['id']}  {built}[/]"
        )


@app.command()
def build(
    provider: Annotated[str, typer.Argument(help="builtin, openai, voyage, pinecone or fastembed.")],
    model: Annotated[str | None, typer.Option(help="The model's name; the provider's usual one by default.")] = None,
    dimensions: Annotated[int | None, typer.Option(help="For models that can give shorter vectors.")] = None,
    estimate: Annotated[bool, typer.Option("--estimate", help="Only say what it would take.")] = False,
    pause: Annotated[float, typer.Option(help="Seconds between batches: a gradual build.")] = 0.0,
    data: Data = None,
    as_json: AsJson = False,
) -> None:
    """Build the index of another model alongside the active one, which keeps serving searches; wait until it is ready."""
    body = {"provider": provider, "model": model, "dimensions": dimensions, "pause_seconds": pause}
    if estimate:
        found = run(_call(load_settings(data=data), "POST", "/indexes/estimate", json=body))
        print_json(found) if as_json else _print_estimate(found)
        return
    built = run(_build(load_settings(data=data), body))
    if as_json:
        print_json(built)
    else:
        console.out.print(f"{built['state']}: {built['fingerprint']}. Next: citewell index switch {built['id']}")


@app.command()
def compare(
    index_id: str,
    queries: Annotated[list[str], typer.Argument(help="Queries to run in both.")],
    data: Data = None,
    as_json: AsJson = False,
) -> None:
    """Run queries in the active index and in this one, and report how far they agree."""
    body = {"queries": queries}
    found = run(_call(load_settings(data=data), "POST", f"/indexes/{index_id}/compare", json=body))
    if as_json:
        print_json(found)
        return
    for query in found["queries"]:
        console.out.print(f"  {query['overlap']:.2f}  {console.escape(query['query'])}")
    console.out.print(f"  {found['mean_overlap']:.2f}  on average")


@app.command()
def switch(index_id: str, data: Data = None, as_json: AsJson = False) -> None:
    """Make an index serve searches. Switching to the previous one rolls back."""
    index = run(_call(load_settings(data=data), "POST", f"/indexes/{index_id}/switch"))
    if as_json:
        print_json(index)
    else:
        console.out.print(f"Answers now come from {index['fingerprint']}.")


@app.command("rm")
def delete(index_id: str, data: Data = None) -> None:
    """Delete an index that is not active."""
    run(_call(load_settings(data=data), "DELETE", f"/indexes/{index_id}"))


def _print_estimate(found: dict[str, Any]) -> None:
    size = (
        f"{found['texts']:,} texts, {found['tokens']:,} tokens, {found['calls']:,} calls, {found['minutes']:g} minutes"
    )
    unpriced = "no price of this model in CITEWELL_PRICES"
    price = unpriced if found["dollars"] is None else f"{found['dollars']:.4f} US dollars"
    left = "" if found["dollars_left"] is None else f" ({found['dollars_left']:.2f} left this month)"
    console.out.print(f"{console.escape(found['fingerprint'])}: about {size}; {price}{left}.")


async def _call(settings: Settings, method: str, path: str, **request: Any) -> Any:
    async with connect(settings) as client:
        return await call(client, method, path, **request)


async def _build(settings: Settings, body: dict[str, Any]) -> Any:
    async with connect(settings) as client:
        index = await call(client, "POST", "/indexes", json=body)
        while index["state"] == "building":
            await asyncio.sleep(_POLL_SECONDS)
            index = await call(client, "GET", f"/indexes/{index['id']}")
        return index
