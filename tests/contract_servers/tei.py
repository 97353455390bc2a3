"""Text Embeddings Inference's reranking, as its OpenAPI document of version 1.7.1 has it (`POST /rerank`), started with a key."""

from __future__ import annotations

import json
from typing import Any

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from tests.contract_servers.faults import Faults, Trouble, answer

SPECIFICATION = "Text Embeddings Inference, OpenAPI document 1.7.1"
KEY = "tei-test-key"
MAX_BATCH = 32


class TeiServer:
    """An ASGI app in `app`; keeps every request body in `requests`, and asks `trouble` before it answers."""

    def __init__(self) -> None:
        self.trouble: Trouble = Faults()
        self.requests: list[dict[str, Any]] = []
        self.app = Starlette(routes=[Route("/rerank", self.rerank, methods=["POST"])])

    async def rerank(self, request: Request) -> Response:
        """POST /rerank: every text is ranked, best first."""
        body = json.loads(await request.body())
        self.requests.append(body)
        if request.headers.get("authorization") != f"Bearer {KEY}":
            return Response(status_code=401)
        if refused := await answer(self.trouble(), _shape) or _fault(body):
            return refused
        asked = set(body["query"].lower().split())
        scores = [len(asked & set(text.lower().split())) / (len(asked) or 1) for text in body["texts"]]
        order = sorted(range(len(scores)), key=lambda i: -scores[i])
        return JSONResponse([{"index": i, "score": scores[i]} for i in order])


def _fault(body: dict[str, Any]) -> Response | None:
    if unknown := body.keys() - {"query", "texts", "raw_scores", "return_text", "truncate", "truncation_direction"}:
        return _error(422, f"unknown field `{min(unknown)}`", "validation")
    texts = body.get("texts")
    if not body.get("query") or not texts or not all(isinstance(text, str) and text for text in texts):
        return _error(422, "`query` and `texts` cannot be empty", "validation")
    if len(texts) > MAX_BATCH:
        return _error(413, f"batch size {len(texts)} > maximum allowed batch size {MAX_BATCH}", "validation")
    return None


def _shape(_status: int, message: str) -> object:
    return {"error": message, "error_type": "backend"}


def _error(status: int, message: str, kind: str) -> Response:
    return JSONResponse({"error": message, "error_type": kind}, status)
