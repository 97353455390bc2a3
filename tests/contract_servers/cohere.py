"""Cohere's reranking, as its OpenAPI document of August 2026 has it (`POST /v2/rerank`); Jina's and vLLM's are called alike."""

from __future__ import annotations

import json
from typing import Any

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from tests.contract_servers.faults import Faults, Trouble, answer

SPECIFICATION = "Cohere API v2, OpenAPI document of 2026-08-20"
KEY = "cohere-test-key"
MAX_DOCUMENTS = 10_000
_MODELS = ("rerank-v3.5", "rerank-v4.0-fast", "rerank-v4.0-pro", "rerank-v5.0-fast", "rerank-v5.0-pro")


class CohereServer:
    """An ASGI app in `app`; keeps every request body in `requests`, and asks `trouble` before it answers."""

    def __init__(self) -> None:
        self.trouble: Trouble = Faults()
        self.requests: list[dict[str, Any]] = []
        self.app = Starlette(routes=[Route("/v2/rerank", self.rerank, methods=["POST"])])

    async def rerank(self, request: Request) -> Response:
        """POST /v2/rerank."""
        body = json.loads(await request.body())
        self.requests.append(body)
        if request.headers.get("authorization") != f"Bearer {KEY}":
            return JSONResponse({"message": "invalid api token"}, 401)
        if refused := await answer(self.trouble(), _shape) or _fault(body):
            return refused
        asked = set(body["query"].lower().split())
        scores = [len(asked & set(text.lower().split())) / (len(asked) or 1) for text in body["documents"]]
        order = sorted(range(len(scores)), key=lambda i: -scores[i])[: body.get("top_n", len(scores))]
        results = [{"index": i, "relevance_score": scores[i]} for i in order]
        meta = {"api_version": {"version": "2"}, "billed_units": {"search_units": 1}}
        return JSONResponse({"id": "test", "results": results, "meta": meta})


def _fault(body: dict[str, Any]) -> Response | None:
    if unknown := body.keys() - {"model", "query", "documents", "top_n", "max_tokens_per_doc", "priority"}:
        return JSONResponse({"message": f"unknown field: {min(unknown)}"}, 400)
    if body.get("model") not in _MODELS:
        return JSONResponse(
            {"message": f"model '{body.get('model')}' not found, make sure the correct model ID was used"}, 404
        )
    documents = body.get("documents")
    if not body.get("query") or not documents or not all(isinstance(text, str) and text for text in documents):
        return JSONResponse({"message": "invalid request: query and documents must not be empty"}, 400)
    if len(documents) > MAX_DOCUMENTS:
        return JSONResponse({"message": f"too many documents, max is {MAX_DOCUMENTS}"}, 400)
    if body.get("top_n", 1) < 1:
        return JSONResponse({"message": "invalid request: top_n must be at least 1"}, 400)
    return None


def _shape(_status: int, message: str) -> object:
    return {"message": message}
