"""Commands about files and questions: add, search, ask, ls, rm; and serve, token, doctor.

Modules that only one command needs and that take seconds to import are imported inside it.
"""

from __future__ import annotations

import asyncio
import gc
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.progress import BarColumn, Progress, SpinnerColumn, TaskID, TextColumn

from citewell import console
from citewell.cli.common import (
    AsJson,
    Chunking,
    Data,
    Images,
    Multimodal,
    Tables,
    option_fields,
    print_json,
    request_json,
    run,
    settings_of,
    where,
)
from citewell.cli.metadata import said_of_each
from citewell.cli.telegram import bot_beside
from citewell.client import Where, call, connect
from citewell.errors import InvalidInput
from citewell.folder import DataFolder
from citewell.types import TERMINAL, JsonValue

if TYPE_CHECKING:
    import httpx

app = typer.Typer()
Project = Annotated[str | None, typer.Option("--project", help="A project's name or id.")]
Projects = Annotated[
    list[str] | None, typer.Option("--project", help="A project's name or id; may be repeated, any of them counts.")
]
Rerank = Annotated[
    bool | None, typer.Option("--rerank/--no-rerank", help="Let the reranker order passages; else as configured.")
]
RerankCandidates = Annotated[
    int | None, typer.Option(help="How many passages the reranker is given; else as configured.")
]
RerankTopN = Annotated[int | None, typer.Option(help="How many passages the reranker keeps; else as configured.")]
RerankThreshold = Annotated[
    float | None, typer.Option(help="The least score on the reranker's own scale; else as configured.")
]
Indexes = Annotated[
    list[str] | None,
    typer.Option("--index", help="Ask this index, by id, in place of the one that answers; may be repeated."),
]
Within = Annotated[list[str] | None, typer.Option("--in", help="Only this file, by id or identifier; may be repeated.")]
Filters = Annotated[
    list[str] | None,
    typer.Option(
        "--filter", help="Such as 'page>=3' or metadata.camera=Leica, or JSON; may be repeated, all must hold."
    ),
]
_TERMINAL = {status.value for status in TERMINAL}
_AT_ONCE = 8
_SKIPPED_NAMES = {".DS_Store", "Thumbs.db"}


@app.command()
def serve(
    data: Data = None,
    host: Annotated[str | None, typer.Option(help="The address to listen on.")] = None,
    port: Annotated[int | None, typer.Option(help="The port to listen on; 0 takes a free one.")] = None,
    as_json: AsJson = False,
) -> None:
    """Run the server."""
    gc.disable()  # until it serves: nothing that is imported is garbage, and looking takes a tenth of the start
    from citewell.server import serve

    settings = settings_of(data, host=host, port=port)
    serve(settings, bot_beside(settings))


@app.command()
def worker(data: Data = None, as_json: AsJson = False) -> None:
    """Run the durable stages alongside servers that share a database."""
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
def add(
    paths: Annotated[list[Path], typer.Argument(help="Files or folders.")],
    data: Data = None,
    project: Project = None,
    password: Annotated[str | None, typer.Option(help="Opens encrypted files.")] = None,
    meta: Annotated[list[str] | None, typer.Option(help="Metadata of every file, key=value; may be repeated.")] = None,
    meta_file: Annotated[
        Path | None, typer.Option(help="Metadata by file: CSV with a column `file`, or JSON by file name.")
    ] = None,
    identifier: Annotated[str | None, typer.Option(help="A short name of the file, unique in its project.")] = None,
    multimodal: Multimodal = None,
    tables: Tables = None,
    images: Images = None,
    chunking: Chunking = None,
    as_json: AsJson = False,
) -> None:
    """Add files, and wait until each can be searched or says why it cannot.

    Files that are known already are read again where the options ask for something else than before.
    """
    files = _files(paths)
    shared = {k: v for k, v in {"project": project, "password": password}.items() if v}
    shared |= option_fields(multimodal, tables, images, chunking)
    said = said_of_each(files, meta or (), meta_file, identifier)
    fields = {path: shared | said[path].fields() for path in files}
    added = run(_add(where(data), files, fields, quiet=as_json))
    if as_json:
        print_json(added)
    if any(resource["status"] == "failed" for resource in added):
        raise typer.Exit(1)


@app.command()
def search(
    query: str,
    data: Data = None,
    top_k: Annotated[int | None, typer.Option("--top-k", "-k", help="How many; else as configured.")] = None,
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
    """List passages with scores and places."""
    scope = {"projects": projects, "resource_ids": within, "filters": _typed(filters)}
    body = scope | {"query": query, "top_k": top_k, "rerank": rerank, "indexes": indexes}
    body |= _rerank_limits(rerank_candidates, rerank_top_n, rerank_threshold)
    found = run(request_json(where(data), "POST", "/search", json=body))
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
    thread: Annotated[str | None, typer.Option(help="Go on in this conversation.")] = None,
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
    answer = run(request_json(where(data), "POST", "/chat", json=body))
    if as_json:
        print_json(answer)
    else:
        console.print_notice(answer)
        console.print_answer(answer)


def _typed(filters: Iterable[str] | None) -> list[JsonValue]:
    """Filters as they were typed. What reads them is imported by a command that has some."""
    if not filters:
        return []
    from citewell.cli.filters import typed_filters

    return typed_filters(filters)


def _rerank_limits(candidates: int | None, top_n: int | None, threshold: float | None) -> dict[str, float | None]:
    return {"rerank_candidates": candidates, "rerank_top_n": top_n, "rerank_threshold": threshold}


@app.command()
def ls(
    data: Data = None,
    project: Project = None,
    status: Annotated[str | None, typer.Option(help="Only this state; `ready` means any fully processed one.")] = None,
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
    resources: Annotated[list[str], typer.Argument(help="Ids, beginnings of ids, identifiers, or file names.")],
    data: Data = None,
    as_json: AsJson = False,
) -> None:
    """Delete files and everything made of them."""
    receipts = run(_remove(where(data), resources))
    if as_json:
        print_json(receipts)
        return
    for name, receipt in receipts:
        console.out.print(
            f"  deleted   {console.escape(name)}  [dim]{receipt['chunks']} chunks, {receipt['files']} files[/]"
        )


@app.command()
def doctor(data: Data = None, as_json: AsJson = False) -> None:
    """Say what is configured, what can be reached, what is missing and how to get it."""
    from citewell.doctor import examine, print_findings

    findings = run(examine(settings_of(data)))
    if as_json:
        print_json([finding.to_json() for finding in findings])
    else:
        print_findings(findings)
    if any(finding.level == "error" for finding in findings):
        raise typer.Exit(1)


async def _add(
    place: Where, files: list[Path], fields: Mapping[Path, dict[str, str]], quiet: bool
) -> list[dict[str, Any]]:
    """Upload files, a few at a time, and follow each to its terminal state; resources with the `outcome` of the upload."""
    gate = asyncio.Semaphore(_AT_ONCE)
    with _progress(quiet) as progress:
        overall = progress.add_task("all files", total=len(files), stage="")
        async with connect(place) as client:

            async def one(path: Path) -> dict[str, Any]:
                async with gate:
                    task = progress.add_task(console.escape(path.name), total=None, stage="uploading")
                    try:
                        return await _add_one(client, path, fields[path], progress, task, quiet)
                    finally:
                        progress.remove_task(task)
                        progress.advance(overall)

            return list(await asyncio.gather(*map(one, files)))


async def _add_one(
    client: httpx.AsyncClient, path: Path, fields: dict[str, str], progress: Progress, task: TaskID, quiet: bool
) -> dict[str, Any]:
    try:
        with path.open("rb") as file:
            response = await client.post("/ingest", files={"file": (path.name, file)}, data=fields)
        body = response.json()
        if not response.is_success:
            return _refused(path, body["error"], progress, quiet)
        resource, outcome = body, body["outcome"]
        pause = 0.05
        while resource["status"] not in _TERMINAL:
            progress.update(task, stage=resource["status"])
            await asyncio.sleep(pause)
            pause = min(1.0, pause * 1.3)
            resource = await call(client, "GET", f"/resources/{resource['id']}")
    except OSError as error:
        return _refused(path, {"code": "unreadable", "message": error.strerror or str(error)}, progress, quiet)
    if not quiet:
        console.print_outcome(resource, outcome)
    return resource | {"outcome": outcome}


def _refused(path: Path, error: dict[str, Any], progress: Progress, quiet: bool) -> dict[str, Any]:
    if not quiet:
        progress.console.print(f"  [red]refused  [/] {console.escape(path.name)}  {console.escape(error['message'])}")
    return {"filename": path.name, "status": "failed", "error_code": error["code"], "error_message": error["message"]}


async def _list(place: Where, project: str | None, status: str | None) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = []
    params = {k: v for k, v in {"project": project, "status": status, "limit": "200"}.items() if v}
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
            raise InvalidInput(f"There is no file {name!r}. List the files with: citewell ls")
        if len({r["id"] for r in matches}) > 1:
            raise InvalidInput(f"{name!r} matches several files. Give an id from: citewell ls")
        chosen[matches[0]["id"]] = matches[0]["filename"]
    async with connect(place) as client:
        return [(name, await call(client, "DELETE", f"/resources/{i}")) for i, name in chosen.items()]


def _files(paths: list[Path]) -> list[Path]:
    """The files to add: folders are replaced by their content, without hidden files."""
    files: list[Path] = []
    for path in paths:
        if path.is_dir():
            inside = (p for p in sorted(path.rglob("*")) if p.is_file() and p.name not in _SKIPPED_NAMES)
            files += [p for p in inside if not any(part.startswith(".") for part in p.relative_to(path).parts)]
        elif path.exists():
            files.append(path)
        else:
            raise InvalidInput(f"There is no file {str(path)!r}.")
    if not files:
        raise InvalidInput("No files were found there.")
    return files


def _progress(quiet: bool) -> Progress:
    return Progress(
        SpinnerColumn(),
        TextColumn("{task.description}"),
        BarColumn(bar_width=20),
        TextColumn("[dim]{task.fields[stage]}"),
        console=console.out,
        transient=True,
        disable=quiet or not console.out.is_terminal,
    )
