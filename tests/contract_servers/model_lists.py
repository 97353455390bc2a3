"""The lists of models of local servers, as Ollama and the OpenAI-compatible ones publish them; keeps what it was asked."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route


@dataclass(frozen=True)
class Asked:
    """A request as it came in."""

    method: str
    path: str
    query: str
    headers: frozenset[str]
    body: bytes


class ModelListServer:
    """An ASGI app in `app`: `GET /api/tags` where it is Ollama, `GET /v1/models` otherwise; `raw` is answered instead where given."""

    def __init__(self, *models: str, is_ollama: bool = False, raw: Response | None = None) -> None:
        self.asked: list[Asked] = []
        self._models = models
        self._is_ollama = is_ollama
        self._raw = raw
        methods = ["GET", "POST", "PUT", "HEAD"]
        self.app = Starlette(routes=[Route("/{path:path}", self._answer, methods=methods)])

    async def _answer(self, request: Request) -> Response:
        body = await request.body()
        self.asked.append(
            Asked(request.method, request.url.path, request.url.query, frozenset(request.headers.keys()), body)
        )
        if self._raw is not None:
            return self._raw
        if request.method == "GET" and request.url.path == ("/api/tags" if self._is_ollama else "/v1/models"):
            return JSONResponse(self._ollama() if self._is_ollama else self._openai())
        return JSONResponse({"error": "not found"}, 404)

    def _ollama(self) -> dict[str, Any]:
        details = {"format": "gguf", "family": "llama", "parameter_size": "3.2B", "quantization_level": "Q4_K_M"}
        rows = [
            {
                "name": name,
                "model": name,
                "modified_at": "2026-05-04T14:56:49Z",
                "size": 1,
                "digest": "ab",
                "details": details,
            }
            for name in self._models
        ]
        return {"models": rows}

    def _openai(self) -> dict[str, Any]:
        rows = [{"id": name, "object": "model", "created": 1_686_935_002, "owned_by": "local"} for name in self._models]
        return {"object": "list", "data": rows}
