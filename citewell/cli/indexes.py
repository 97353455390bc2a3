"""Commands for changing the embedding model or the vector store: build the new index alongside the old one, compare, switch, roll back."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Annotated, Any

import typer

from citewell.cli.common import AsJson, Data, print_json, where
from citewell.client import Where, call, connect, request_json, run
from citewell.errors import in_dollars
from citewell.system import console

if TYPE_CHECKING:
    import httpx

app = typer.Typer(
    name="index",
    no_args_is_help=True,
    help="Indexes: list, build for another model or store, compare, switch, roll back.",
)
_POLL_SECONDS = 0.5


@app.command("ls")
def list_indexes(data: Data = None, as_json: AsJson = False) -> None:
    """List indexes. Searches use the active one."""
    found = request_json(where(data), "GET", "/indexes")["indexes"]
    if as_json:
        print_json(found)
        return
    for index in found:
        console.out.print(
            f"  {index['state']:<9} {console.escape(index['fingerprint'])} in {index['store']}  [dim]{index['id']}  {_progress(index)}[/]"
        )


@app.command()
def status(data: Data = None, as_json: AsJson = False) -> None:
    """Show which index answers, which are being built, and what they wait for."""
    ready, found, estimates = run(_status(where(data)))
    if as_json:
        print_json({"rebuilding": ready["rebuilding"], "changing": ready["changing"], "indexes": found})
        return
    for index in found:
        if index["state"] in ("active", "filling"):
            console.out.print(f"Answers come from {console.escape(index['fingerprint'])} in {index['store']}.")
    if ready["rebuilding"] is not None:
        console.out.print(f"  {console.escape(ready['parts']['index'].get('note', ''))}")
    for change in ready["changing"]:
        name = f"{console.escape(change['fingerprint'])} in {change['store']}"
        if change["state"] == "offered":
            console.out.print(f"{name} is configured but not built, since building it costs money.")
            _print_estimate(estimates[change["index_id"]])
            console.out.print(f"  Start it with: citewell index start {change['index_id']}")
            continue
        paused = ", paused" if change["paused"] else ""
        console.out.print(f"{name} ({change['mode']}): {change['done']:,} of {change['total']:,} chunks{paused}.")
        if change["problem"]:
            console.out.print(f"  {console.escape(change['problem'])}")


@app.command()
def build(
    provider: Annotated[
        str | None, typer.Argument(help="builtin, openai, voyage or pinecone. Default: as configured.")
    ] = None,
    model: Annotated[str | None, typer.Option(help="The model. Default: the provider's.")] = None,
    dimensions: Annotated[int | None, typer.Option(help="For models that offer several vector lengths.")] = None,
    store: Annotated[str | None, typer.Option(help="The vector store. Default: as configured.")] = None,
    mode: Annotated[str, typer.Option(help="dual, gradual or fresh.")] = "dual",
    yes: Annotated[bool, typer.Option("--yes", help="Delete the current index first (mode fresh).")] = False,
    switch: Annotated[bool | None, typer.Option(help="Switch to it once complete. Default for gradual builds.")] = None,
    estimate: Annotated[bool, typer.Option("--estimate", help="Only estimate texts, tokens, time and cost.")] = False,
    pause: Annotated[float, typer.Option(help="Seconds between batches, to leave room for other work.")] = 0.0,
    max_dollars: Annotated[float | None, typer.Option(help="Pause before the build costs more than this.")] = None,
    data: Data = None,
    as_json: AsJson = False,
) -> None:
    """Build an index for another model or store, and wait until it is ready. Until then searches use the active one, except in mode fresh."""
    body: dict[str, Any] = {
        "provider": provider,
        "model": model,
        "dimensions": dimensions,
        "store": store,
        "mode": mode,
        "confirm": yes,
        "switch": switch,
        "pause_seconds": pause,
        "max_dollars": max_dollars,
    }
    if estimate:
        found = request_json(where(data), "POST", "/indexes/estimate", json=body)
        print_json(found) if as_json else _print_estimate(found)
        return
    _print_built(run(_build(where(data), body)), as_json)


@app.command()
def start(index_id: str, data: Data = None, as_json: AsJson = False) -> None:
    """Start an offered build or resume a paused one, and wait until it is ready."""
    _print_built(run(_resume(where(data), index_id)), as_json)


@app.command()
def pause(index_id: str, data: Data = None, as_json: AsJson = False) -> None:
    """Pause a build. Its progress is kept."""
    index = request_json(where(data), "PATCH", f"/indexes/{index_id}", json={"paused": True})
    if as_json:
        print_json(index)
    else:
        console.out.print(f"Paused: {_progress(index)}. Resume with: citewell index start {index['id']}")


@app.command()
def compare(
    index_id: str,
    queries: Annotated[
        list[str] | None,
        typer.Argument(help="Queries to run on both. Default: the latest questions."),
    ] = None,
    data: Data = None,
    as_json: AsJson = False,
) -> None:
    """Run questions on the active index and this one; compare overlap, ranking of cited passages, time and cost."""
    body = {"queries": queries or None}
    found = request_json(where(data), "POST", f"/indexes/{index_id}/compare", json=body)
    if as_json:
        print_json(found)
        return
    for query in found["queries"]:
        console.out.print(f"  {query['overlap']:.2f}  {console.escape(query['query'])}")
    console.out.print(f"  {found['mean_overlap']:.2f}  on average")
    for name in ("active", "candidate"):
        side = found[name]
        ranked = "no cited passages" if side["ndcg"] is None else f"nDCG {side['ndcg']:.3f} of cited passages"
        price = (
            "no price known"
            if side["dollars"] is None
            else f"{in_dollars(side['dollars'])} US dollars per 1,000 questions"
        )
        console.out.print(f"  {name:<9}  {ranked}, {side['milliseconds']:g} ms, {price}")


@app.command()
def switch(index_id: str, data: Data = None, as_json: AsJson = False) -> None:
    """Use this index for searches. Switch to the previous one to roll back."""
    index = request_json(where(data), "POST", f"/indexes/{index_id}/switch")
    if as_json:
        print_json(index)
    else:
        console.out.print(f"Answers now come from {index['fingerprint']}.")


@app.command("rm")
def delete(index_id: str, data: Data = None) -> None:
    """Delete an index that is not active."""
    request_json(where(data), "DELETE", f"/indexes/{index_id}")


def _print_estimate(found: dict[str, Any]) -> None:
    size = f"{found['texts']:,} texts, {found['tokens']:,} tokens, {found['calls']:,} calls, {found['minutes']:g} minutes, {found['megabytes']:g} MB"
    unpriced = "no price for this model in CITEWELL_PRICES"
    price = unpriced if found["dollars"] is None else f"{in_dollars(found['dollars'])} US dollars"
    left = "" if found["dollars_left"] is None else f" ({in_dollars(found['dollars_left'])} left this month)"
    console.out.print(f"{console.escape(found['fingerprint'])}: about {size}; {price}{left}.")


async def _status(place: Where) -> tuple[Any, Any, dict[str, Any]]:
    async with connect(place) as client:
        ready = await call(client, "GET", "/ready")
        found = (await call(client, "GET", "/indexes"))["indexes"]
        offered = [index for index in found if index["state"] == "offered"]
        return ready, found, {index["id"]: await _estimated(client, index) for index in offered}


async def _estimated(client: httpx.AsyncClient, index: dict[str, Any]) -> Any:
    model = {key: index["settings"].get(key) for key in ("provider", "model", "dimensions")}
    return await call(client, "POST", "/indexes/estimate", json={**model, "store": index["store"]})


async def _build(place: Where, body: dict[str, Any]) -> Any:
    async with connect(place) as client:
        return await _built(client, await call(client, "POST", "/indexes", json=body))


async def _resume(place: Where, index_id: str) -> Any:
    async with connect(place) as client:
        return await _built(client, await call(client, "PATCH", f"/indexes/{index_id}", json={"paused": False}))


async def _built(client: httpx.AsyncClient, index: Any) -> Any:
    """The index once it is built or paused."""
    while index["state"] in ("building", "filling") and not index["paused"]:
        await asyncio.sleep(_POLL_SECONDS)
        index = await call(client, "GET", f"/indexes/{index['id']}")
    return index


def _print_built(index: Any, as_json: bool) -> None:
    if as_json:
        print_json(index)
    elif index["paused"]:
        console.out.print(f"Paused: {_progress(index)}. {console.escape(index['problem'])}")
    elif index["state"] == "active":
        console.out.print(f"Answers now come from {console.escape(index['fingerprint'])} in {index['store']}.")
    else:
        console.out.print(f"{index['state']}: {index['fingerprint']}. Next: citewell index switch {index['id']}")


def _progress(index: dict[str, Any]) -> str:
    if index["state"] not in ("building", "filling"):
        return ""
    return f"{index['progress']:,} of {index['total']:,}" + (" (paused)" if index["paused"] else "")
