"""The built browser interface: pages, scripts, styles and fonts, compressed if the browser accepts that."""

from __future__ import annotations

import mimetypes
from pathlib import Path

from fastapi import Request
from fastapi.responses import FileResponse

from citewell.errors import NotFound
from citewell.features.declared import PUBLIC
from citewell.features.routing import Router
from citewell.features.web.headers import PAGE_POLICY

STATIC = Path(__file__).parent.parent.parent / "static"
# Every address of the interface. The list is fixed, so that unknown API addresses stay 404s in JSON.
PAGES = ("/", "/conversations/{id}", "/library", "/library/{id}", "/playground", "/settings")
_FOREVER = "public, max-age=31536000, immutable"
_ENCODINGS = (("br", ".br"), ("gzip", ".gz"))
_NOT_BUILT = "The browser interface is not built: run `make run`. The API is described at /openapi.json."
# The machine's table of types may lack these or differ.
_TYPES = {".js": "text/javascript", ".mjs": "text/javascript", ".wasm": "application/wasm", ".woff2": "font/woff2"}

router = Router(include_in_schema=False, is_lenient=True)


async def page(request: Request) -> FileResponse:
    """The interface, which chooses its own screen."""
    return _document("index.html")


for address in PAGES:
    router.get(address, access=PUBLIC)(page)


@router.get("/docs", access=PUBLIC)
async def docs() -> FileResponse:
    """The API's description, to read and to try."""
    return _document("docs.html")


@router.get("/assets/{path:path}", access=PUBLIC)
async def asset(request: Request, path: str) -> FileResponse:
    """A file whose name changes with its content, so browsers cache it indefinitely."""
    file = _inside(STATIC / "assets", path)
    media_type = _TYPES.get(file.suffix) or mimetypes.guess_type(file.name)[0] or "application/octet-stream"
    # A worker's policy comes with its own script.
    headers = {"Cache-Control": _FOREVER, "Vary": "Accept-Encoding", "Content-Security-Policy": PAGE_POLICY}
    accepted = request.headers.get("accept-encoding", "")
    for encoding, suffix in _ENCODINGS:
        packed = file.with_name(file.name + suffix)
        if encoding in accepted and packed.is_file():
            return FileResponse(packed, media_type=media_type, headers={**headers, "Content-Encoding": encoding})
    return FileResponse(file, media_type=media_type, headers=headers)


def _document(name: str) -> FileResponse:
    file = STATIC / name
    if not file.is_file():
        raise NotFound(_NOT_BUILT)
    return FileResponse(
        file, media_type="text/html", headers={"Cache-Control": "no-cache", "Content-Security-Policy": PAGE_POLICY}
    )


def _inside(folder: Path, path: str) -> Path:
    """A file in the folder. Raises `NotFound` for anything else."""
    if "\x00" in path:
        raise NotFound
    file = (folder / path).resolve()
    if not file.is_relative_to(folder.resolve()) or not file.is_file():
        raise NotFound
    return file
