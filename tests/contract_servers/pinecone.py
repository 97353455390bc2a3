"""Pinecone's inference: embed and rerank.

Written from Pinecone's OpenAPI document "Inference API", version 2026-04 (github.com/pinecone-io/pinecone-api), with the limits of the
models from its documentation. Version 2025-10, which Pinecone's package asks for, has the same two calls.
"""

from __future__ import annotations

import json
from typing import Any

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from tests.contract_servers.faults import Faults, Trouble, answer
from tests.contract_servers.vectors import tokens_of, vector

SPECIFICATION = "Pinecone Inference API 2026-04"
KEY = "pinecone-test-key"
VERSIONS = ("2026-04", "2025-10")
MAX_TEXTS = 96
MAX_DOCUMENTS = 100
_MODELS = {
    "multilingual-e5-large": (1_024, 507, ()),
    "llama-text-embed-v2": (1_024, 2_048, (384, 512, 768, 1_024, 2_048)),
}
# Pinecone took cohere-rerank-3.5 and pinecone-rerank-v0 away at the end of 2025.
_RERANKERS = {"bge-reranker-v2-m3": 1_024}
_CODES = {
    400: "INVALID_ARGUMENT",
    401: "UNAUTHENTICATED",
    404: "NOT_FOUND",
    429: "RESOURCE_EXHAUSTED",
    500: "UNKNOWN",
    503: "UNAVAILABLE",
}


class PineconeServer:
    """An ASGI app in `app`; keeps every request body in `requests`, and asks `trouble` before it answers."""

    def __init__(self) -> None:
        self.trouble: Trouble = Faults()
        self.requests: list[dict[str, Any]] = []
        self.embedded: list[str] = []
        self.forbidden: set[str] = set()
        self.app = Starlette(
            routes=[Route("/embed", self.embed, methods=["POST"]), Route("/rerank", self.rerank, methods=["POST"])]
        )

    async def embed(self, request: Request) -> Response:
        """POST /embed."""
        body = json.loads(await request.body())
        self.requests.append(body)
        if refused := _headers(request) or await answer(self.trouble(), _shape) or _embed_error(body):
            return refused
        texts, parameters = [item["text"] for item in body["inputs"]], body["parameters"]
        if any(text in self.forbidden for text in texts):
            return _error(400, "Input contains a text that cannot be processed.")
        self.embedded += texts
        size = parameters.get("dimension") or _MODELS[body["model"]][0]
        # These are not of length 1.
        values = [vector(text, parameters["input_type"], size, length=2.5) for text in texts]
        data = [{"vector_type": "dense", "values": one} for one in values]
        usage = {"total_tokens": sum(map(tokens_of, texts))}
        return JSONResponse({"model": body["model"], "vector_type": "dense", "data": data, "usage": usage})

    async def rerank(self, request: Request) -> Response:
        """POST /rerank."""
        body = json.loads(await request.body())
        self.requests.append(body)
        if refused := _headers(request) or await answer(self.trouble(), _shape) or _rerank_error(body):
            return refused
        asked = set(body["query"].lower().split())
        texts = [document["text"] for document in body["documents"]]
        scores = [len(asked & set(text.lower().split())) / (len(asked) or 1) for text in texts]
        order = sorted(range(len(scores)), key=lambda i: -scores[i])[: body.get("top_n") or len(scores)]
        shown = [{"document": body["documents"][i]} if body.get("return_documents", True) else {} for i in order]
        data = [{"index": i, "score": scores[i], **more} for i, more in zip(order, shown, strict=True)]
        return JSONResponse({"model": body["model"], "data": data, "usage": {"rerank_units": 1}})


def _headers(request: Request) -> Response | None:
    if request.headers.get("api-key") != KEY:
        return _error(401, "Invalid API key.")
    if request.headers.get("x-pinecone-api-version") not in VERSIONS:
        return _error(400, "The header X-Pinecone-Api-Version is required.")
    return None


def _embed_error(body: dict[str, Any]) -> Response | None:
    if unknown := body.keys() - {"model", "parameters", "inputs"}:
        return _error(400, f"Unknown field {min(unknown)}.")
    if body.get("model") not in _MODELS:
        return _error(404, f"Model {body.get('model')} not found.")
    _, longest, choices = _MODELS[body["model"]]
    inputs, parameters = body.get("inputs"), body.get("parameters", {})
    if not inputs or not all(isinstance(i, dict) and set(i) == {"text"} and i["text"] for i in inputs):
        return _error(400, "inputs must be a list of objects with a text that is not empty.")
    if len(inputs) > MAX_TEXTS:
        return _error(400, f"Input array exceeds the max batch size of {MAX_TEXTS}.")
    if parameters.get("input_type") not in ("passage", "query"):
        return _error(400, "input_type is required: 'passage' or 'query'.")
    if unknown := parameters.keys() - {"input_type", "truncate", *(("dimension",) if choices else ())}:
        return _error(400, f"Parameter {min(unknown)} is not supported by {body['model']}.")
    if "dimension" in parameters and parameters["dimension"] not in choices:
        return _error(400, f"dimension must be one of {choices}.")
    if parameters.get("truncate", "END") == "NONE" and any(tokens_of(i["text"]) > longest for i in inputs):
        return _error(400, f"Input exceeds the max sequence length of {longest} tokens.")
    return None


def _rerank_error(body: dict[str, Any]) -> Response | None:
    known = {"model", "query", "top_n", "return_documents", "rank_fields", "documents", "parameters"}
    if unknown := body.keys() - known:
        return _error(400, f"Unknown field {min(unknown)}.")
    if body.get("model") not in _RERANKERS:
        return _error(404, f"Model {body.get('model')} not found.")
    documents = body.get("documents")
    if not body.get("query") or not documents or not all(document.get("text") for document in documents):
        return _error(400, "query and documents must not be empty.")
    if len(documents) > MAX_DOCUMENTS:
        return _error(400, f"The number of documents exceeds the maximum of {MAX_DOCUMENTS}.")
    longest = _RERANKERS[body["model"]]
    if body.get("parameters", {}).get("truncate", "NONE") == "NONE":
        asked = tokens_of(body["query"])
        if any(asked + tokens_of(document["text"]) > longest for document in documents):
            return _error(400, f"Request contains a query+document pair of more than {longest} tokens.")
    return None


def _shape(status: int, message: str) -> object:
    return {"status": status, "error": {"code": _CODES.get(status, "UNKNOWN"), "message": message}}


def _error(status: int, message: str) -> Response:
    return JSONResponse(_shape(status, message), status)
