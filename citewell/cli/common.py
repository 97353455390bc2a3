"""What all commands share: options, running, and JSON for other programs."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from citewell.client import Where, connect, run
from citewell.errors import InvalidInput, from_code
from citewell.system.environment import lone_data_folder
from citewell.system.folder import DataFolder

if TYPE_CHECKING:
    from citewell.settings import Settings

Data = Annotated[Path | None, typer.Option("--data", help="The data folder.", show_default="CITEWELL_DATA")]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON.")]
Project = Annotated[str | None, typer.Option("--project", help="A project's name or id.")]

Multimodal = Annotated[
    bool | None, typer.Option("--multimodal/--no-multimodal", help="Describe pictures with the vision model.")
]
Tables = Annotated[bool | None, typer.Option("--tables/--no-tables", help="Extract tables (default: yes).")]
Images = Annotated[bool | None, typer.Option("--images/--no-images", help="Keep images (default: yes).")]
Chunking = Annotated[str | None, typer.Option(help="How to chunk: STRATEGY[:SIZE[:OVERLAP]], such as tokens:1000:100.")]


def settings_of(data: Path | None, **values: object) -> Settings:
    """All settings, validated. Imported here, since most commands talk to a running server, which has its own."""
    from citewell.settings import load_settings

    return load_settings(data=data, **values)


def where(data: Path | None) -> Where:
    """What `connect` needs: the data folder if that is enough, else the settings."""
    folder = lone_data_folder(data)
    return settings_of(data) if folder is None else DataFolder(folder)


def option_values(multimodal: bool | None, tables: bool | None, images: bool | None) -> dict[str, bool]:
    """The given options, under their names in requests."""
    named = {"multimodal": multimodal, "extract_tables": tables, "extract_images": images}
    return {name: value for name, value in named.items() if value is not None}


def option_fields(
    multimodal: bool | None, tables: bool | None, images: bool | None, chunking: str | None
) -> dict[str, str]:
    """The given options, as form fields."""
    fields = {name: str(value).lower() for name, value in option_values(multimodal, tables, images).items()}
    return fields | ({"chunking": json.dumps(chunking_of(chunking))} if chunking else {})


def chunking_of(text: str) -> dict[str, str | int]:
    """`tokens:1000:100` as the strategy, size and overlap that requests name; raises `InvalidInput`."""
    strategy, *sizes = text.split(":")
    if len(sizes) > 2 or not all(size.isascii() and size.isdigit() for size in sizes):
        raise InvalidInput(
            f"{text!r} is not a chunking strategy. Write STRATEGY[:SIZE[:OVERLAP]], such as tokens:1000:100."
        )
    return {"strategy": strategy} | {name: int(size) for name, size in zip(("size", "overlap"), sizes, strict=False)}


def download(place: Where, path: str, target: Path, params: dict[str, Any] | None = None) -> int:
    """Write the response to a GET into a new file, which appears only once it is complete; returns its size in bytes.

    Raises the server's error, or `InvalidInput` if the file exists.
    """
    if target.exists():
        raise InvalidInput(f"{target} already exists. Choose another name.")
    return run(_download(place, path, target, params))


async def _download(place: Where, path: str, target: Path, params: dict[str, Any] | None) -> int:
    async with connect(place) as client, client.stream("GET", path, params=params) as response:
        if not response.is_success:
            error = (await response.aread(), response.json()["error"])[1]
            raise from_code(error["code"], error["message"], error.get("details"))
        written = target.with_name(f"{target.name}.part")
        try:
            handle = os.open(written, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o600)
            with os.fdopen(handle, "wb") as file:
                size = sum([file.write(piece) async for piece in response.aiter_bytes()])
            written.replace(target)
        finally:
            written.unlink(missing_ok=True)
    return size


def print_json(value: object) -> None:
    """Print a value for other programs: no wrapping, no colour."""
    print(json.dumps(value, ensure_ascii=False, indent=2))  # noqa: T201 - rich would wrap it
