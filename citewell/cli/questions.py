"""`citewell search` and `citewell ask`."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from citewell.cli.common import AsJson, Data, print_json, where
from citewell.client import request_json
from citewell.system import console

if TYPE_CHECKING:
    from citewell.types import JsonValue

app = typer.Typer()
Projects = Annotated[
    list[str] | None, typer.Option("--project", help="Only files in this project, by name or id. Repeatable.")
]
Rerank = Annotated[
    bool | None, typer.Option("--rerank/--no-rerank", help="Rerank the passages. Default: as configured.")
]
RerankCandidates = Annotated[int | None, typer.Option(help="How many passages to rerank. Default: as configured.")]
RerankTopN = Annotated[
    int | None, typer.Option(help="How many passages to keep after reranking. Default: as configured.")
]
RerankThreshold = Annotated[
    float | None, typer.Option(help="Lowest rerank score to keep, on the reranker's scale. Default: as configured.")
]
Indexes = Annotated[
    list[str] | None,
    typer.Option("--index", help="Use this index, by id, instead of the active one. Repeatable."),
]
Within = Annotated[list[str] | None, typer.Option("--in", help="Only this file, by id or identifier. Repeatable.")]
Filters = Annotated[
    list[str] | None,
    typer.Option("--filter", help="A filter: 'page>=3', metadata.camera=Leica, or JSON. Repeatable; all must match."),
]


@app.command()
def search(
    query: Annotated[str | None, typer.Argument(help="Words or a question. Leave it out with --picture.")] = None,
    data: Data = None,
    picture: Annotated[
        Path | None,
        typer.Option(help="Find pictures like this one, instead of passages.", exists=True, dir_okay=False),
    ] = None,
    top_k: Annotated[
        int | None, typer.Option("--top-k", "-k", help="How many passages. Default: as configured.")
    ] = None,
    projects: Projects = None,
    within: Within = None,
    filters: Filters = None,
    rerank: Rerank = None,
    rerank_candidates: RerankCandidates = None,
    rerank_top_n: RerankTopN = None,
    rerank_threshold: RerankThreshold = None,
    indexes: Indexes = None,
    as_json: AsJson = False,
) -> None:
    """Search, and list passages with their scores and locations."""
    scope: dict[str, JsonValue] = {"projects": projects, "resource_ids": within, "filters": _typed(filters)}
    if (query is None) == (picture is None):
        raise typer.BadParameter("Give either words to search for, or --picture.")
    if picture is not None:
        _search_pictures(picture, data, scope | {"top_k": top_k}, as_json)
        return
    body = scope | {"query": query, "top_k": top_k, "rerank": rerank, "indexes": indexes}
    body |= _rerank_limits(rerank_candidates, rerank_top_n, rerank_threshold)
    found = request_json(where(data), "POST", "/search", json=body)
    if as_json:
        print_json(found)
    else:
        console.print_notice(found)
        console.print_hits(found["hits"])


@app.command()
def ask(
    question: str,
    data: Data = None,
    projects: Projects = None,
    within: Within = None,
    filters: Filters = None,
    thread: Annotated[str | None, typer.Option(help="Continue this conversation.")] = None,
    rerank: Rerank = None,
    rerank_candidates: RerankCandidates = None,
    rerank_top_n: RerankTopN = None,
    rerank_threshold: RerankThreshold = None,
    indexes: Indexes = None,
    as_json: AsJson = False,
) -> None:
    """Answer a question, with citations."""
    scope = {"projects": projects, "resource_ids": within, "filters": _typed(filters)}
    body = scope | {"message": question, "thread_id": thread, "rerank": rerank, "indexes": indexes}
    body |= _rerank_limits(rerank_candidates, rerank_top_n, rerank_threshold)
    answer = request_json(where(data), "POST", "/chat", json=body)
    if as_json:
        print_json(answer)
    else:
        console.print_notice(answer)
        console.print_answer(answer)


def _search_pictures(picture: Path, data: Path | None, scope: dict[str, JsonValue], as_json: bool) -> None:
    from citewell.client import call, connect, run

    async def asked() -> Any:
        with picture.open("rb") as file:
            async with connect(where(data)) as client:
                form = {"files": {"file": (picture.name, file)}, "data": {"search": json.dumps(scope)}}
                return await call(client, "POST", "/search/pictures/example", **form)

    found = run(asked())
    if as_json:
        print_json(found)
    else:
        console.print_pictures(found["pictures"])
        console.print_notice(found)


def _typed(filters: Iterable[str] | None) -> list[JsonValue]:
    """Typed filters. The parser is imported only if there are any."""
    if not filters:
        return []
    from citewell.cli.filters import typed_filters

    return typed_filters(filters)


def _rerank_limits(candidates: int | None, top_n: int | None, threshold: float | None) -> dict[str, float | None]:
    return {"rerank_candidates": candidates, "rerank_top_n": top_n, "rerank_threshold": threshold}
