"""`citewell add`: upload files, and follow each until it can be searched or says why it cannot."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, BinaryIO

import typer
from rich.progress import BarColumn, Progress, SpinnerColumn, TaskID, TextColumn

from citewell.cli.common import (
    AsJson,
    Chunking,
    Data,
    Images,
    Multimodal,
    Project,
    Tables,
    option_fields,
    print_json,
    where,
)
from citewell.cli.metadata import annotations_of_each
from citewell.client import Where, call, connect, run
from citewell.connectors.beneath import open_beneath
from citewell.errors import InvalidInput
from citewell.system import console
from citewell.types import TERMINAL

if TYPE_CHECKING:
    import httpx

app = typer.Typer()
_TERMINAL = {status.value for status in TERMINAL}
_AT_ONCE = 8
_SKIPPED_NAMES = {".DS_Store", "Thumbs.db"}


@app.command()
def add(
    paths: Annotated[list[Path], typer.Argument(help="Files or folders.")],
    data: Data = None,
    project: Project = None,
    password: Annotated[str | None, typer.Option(help="Password for encrypted files.")] = None,
    meta: Annotated[list[str] | None, typer.Option(help="Metadata for every file, key=value. Repeatable.")] = None,
    meta_file: Annotated[
        Path | None, typer.Option(help="Metadata per file: CSV with a column `file`, or JSON keyed by file name.")
    ] = None,
    identifier: Annotated[str | None, typer.Option(help="A short name for the file, unique in its project.")] = None,
    caption: Annotated[
        str | None, typer.Option(help="Text that belongs to the file; embedded together with a picture.")
    ] = None,
    expires_in_hours: Annotated[
        float | None, typer.Option(help="Delete the files after this many hours; 0: never.")
    ] = None,
    multimodal: Multimodal = None,
    tables: Tables = None,
    images: Images = None,
    chunking: Chunking = None,
    as_json: AsJson = False,
) -> None:
    """Add files, and wait until each is searchable or has failed with a reason.

    A file that is already stored is read again only if the options have changed.
    """
    found = _files(paths)
    files = list(found)
    given = {"project": project, "password": password or None, "caption": caption}
    given["expires_in_hours"] = None if expires_in_hours is None else str(expires_in_hours)
    shared = {name: value for name, value in given.items() if value is not None}
    shared |= option_fields(multimodal, tables, images, chunking)
    said = annotations_of_each(files, meta or (), meta_file, identifier)
    fields = {path: shared | said[path].fields() for path in files}
    added = run(_add(where(data), found, fields, quiet=as_json))
    if as_json:
        print_json(added)
    if any(resource["status"] == "failed" for resource in added):
        raise typer.Exit(1)


async def _add(
    place: Where, files: Mapping[Path, Path | None], fields: Mapping[Path, dict[str, str]], quiet: bool
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
                        return await _add_one(client, path, files[path], fields[path], progress, task, quiet)
                    finally:
                        progress.remove_task(task)
                        progress.advance(overall)

            return list(await asyncio.gather(*map(one, files)))


async def _add_one(
    client: httpx.AsyncClient,
    path: Path,
    folder: Path | None,
    fields: dict[str, str],
    progress: Progress,
    task: TaskID,
    quiet: bool,
) -> dict[str, Any]:
    try:
        with _opened(path, folder) as file:
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


def _opened(path: Path, folder: Path | None) -> BinaryIO:
    return path.open("rb") if folder is None else open_beneath(folder, path.relative_to(folder).parts)


def _files(paths: list[Path]) -> dict[Path, Path | None]:
    """The files to add, each with the folder it was found in, if any. Folders are replaced by their files, except hidden files and links."""
    files: dict[Path, Path | None] = {}
    for path in paths:
        if path.is_dir():
            inside = (p for p in sorted(path.rglob("*")) if not p.is_symlink() and p.is_file())
            files |= {p: path for p in inside if p.name not in _SKIPPED_NAMES and not _is_hidden(p.relative_to(path))}
        elif path.exists():
            files[path] = None
        else:
            raise InvalidInput(f"No such file or folder: {str(path)!r}.")
    if not files:
        raise InvalidInput("The folder contains no files to add.")
    return files


def _is_hidden(path: Path) -> bool:
    return any(part.startswith(".") for part in path.parts)


def _progress(quiet: bool) -> Progress:
    return Progress(
        SpinnerColumn(),
        TextColumn("{task.description}"),
        BarColumn(bar_width=20),
        TextColumn("[dim]{task.fields[stage]}"),
        console=console.out.console,
        transient=True,
        disable=quiet or not console.out.console.is_terminal,
    )
