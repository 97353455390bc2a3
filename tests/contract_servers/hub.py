"""Hugging Face's hub, as huggingface_hub 1.x asks it: the description of a model, the tree of its files, and the files (`HF_ENDPOINT`)."""

from __future__ import annotations

import hashlib
from pathlib import Path

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

SPECIFICATION = "Hugging Face Hub API, as huggingface_hub 1.33 asks it"
REVISION = "0123456789abcdef0123456789abcdef01234567"


class HubServer:
    """An ASGI app in `app`; has the models in `folders`, by their names, and keeps the paths of requests in `requests`."""

    def __init__(self, folders: dict[str, Path]) -> None:
        self.folders = folders
        self.requests: list[str] = []
        model = "/api/models/{owner}/{name}"
        self.app = Starlette(
            routes=[
                Route(f"{model}/revision/{{revision}}", self.described),
                Route(f"{model}/tree/{{revision}}", self.tree),
                Route(model, self.described),
                Route("/{owner}/{name}/resolve/{revision}/{path:path}", self.file, methods=["GET", "HEAD"]),
            ]
        )

    async def described(self, request: Request) -> Response:
        """GET /api/models/…: the commit and the names of the files."""
        folder = self._asked(request)
        if folder is None:
            return _missing("RepoNotFound", "Repository not found")
        name = _name(request)
        siblings = [{"rfilename": path} for path in _files(folder)]
        return JSONResponse({"_id": name, "id": name, "sha": REVISION, "private": False, "siblings": siblings})

    async def tree(self, request: Request) -> Response:
        """GET /api/models/…/tree/…: each file's size and hash."""
        folder = self._asked(request)
        if folder is None:
            return _missing("RepoNotFound", "Repository not found")
        found = [
            {"type": "file", "path": path, "size": len(data), "oid": _hash(data)}
            for path, data in _files(folder).items()
        ]
        return JSONResponse(found)

    async def file(self, request: Request) -> Response:
        """GET and HEAD /…/resolve/…: a file, with the commit that it is of."""
        folder = self._asked(request)
        data = None if folder is None else _files(folder).get(request.path_params["path"])
        if data is None:
            return _missing("EntryNotFound", "Entry not found")
        headers = {"etag": f'"{_hash(data)}"', "x-repo-commit": REVISION, "accept-ranges": "bytes"}
        return Response(data, headers=headers, media_type="application/octet-stream")

    def _asked(self, request: Request) -> Path | None:
        self.requests.append(f"{request.method} {request.url.path}")
        return self.folders.get(_name(request))


def _name(request: Request) -> str:
    return f"{request.path_params['owner']}/{request.path_params['name']}"


def _files(folder: Path) -> dict[str, bytes]:
    return {
        path.relative_to(folder).as_posix(): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()
    }


def _hash(data: bytes) -> str:
    return hashlib.sha1(data, usedforsecurity=False).hexdigest()


def _missing(code: str, message: str) -> Response:
    return JSONResponse({"error": message}, 404, headers={"x-error-code": code, "x-error-message": message})
