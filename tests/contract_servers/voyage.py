"""Voyage AI's embeddings of texts and pictures, and rerankers.

Written from Voyage's OpenAPI document, version 1.1 (github.com/voyage-ai/openapi), with the limits and models of its API reference of
2026, which takes 1,000 texts in a call where the document says 128. Where neither says what a call of a model may hold
(voyage-code-4, voyage-multilingual-2, voyage-code-2, voyage-3 and its lite kind), it is that of its kin. Voyage's package relies on
vectors coming in the order of the texts, so they do; `turned` answers the other way round, with the same `index` each.
"""

from __future__ import annotations

import base64
import io
import json
import re
from typing import Any

import numpy as np
from PIL import Image, ImageStat
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from tests.contract_servers.faults import Faults, Trouble, answer
from tests.contract_servers.vectors import tokens_of, vector

SPECIFICATION = "Voyage API 1.1, with the limits of its API reference of 2026"
KEY = "voyage-test-key"
MAX_TEXTS = 1_000
CALL_TOKENS = {
    "voyage-4-large": 120_000, "voyage-4": 320_000, "voyage-4-lite": 1_000_000, "voyage-3-large": 120_000,
    "voyage-3.5": 320_000, "voyage-3.5-lite": 1_000_000, "voyage-code-4": 120_000, "voyage-code-3": 120_000,
    "voyage-code-2": 120_000, "voyage-finance-2": 120_000, "voyage-law-2": 120_000, "voyage-multilingual-2": 120_000,
    "voyage-3": 320_000, "voyage-3-lite": 1_000_000,
}  # fmt: skip
_OTHER_LENGTHS = {"voyage-3-lite": 512, "voyage-code-2": 1_536}
_FLEXIBLE = {
    "voyage-4-large",
    "voyage-4",
    "voyage-4-lite",
    "voyage-3-large",
    "voyage-3.5",
    "voyage-3.5-lite",
    "voyage-code-4",
    "voyage-code-3",
}
MULTIMODAL = ("voyage-multimodal-3", "voyage-multimodal-3.5")
MULTIMODAL_TOKENS, PIXELS_PER_TOKEN = 320_000, 560
MAX_PIXELS, MAX_IMAGE_BYTES = 16_000_000, 20_000_000
_DATA_URL = re.compile(r"data:image/(png|jpeg|webp|gif);base64,")
_RERANKERS = dict.fromkeys(
    ("rerank-3", "rerank-3-lite", "rerank-2.5", "rerank-2.5-lite", "rerank-2", "rerank-2-lite"), 600_000
)


class VoyageServer:
    """An ASGI app in `app`; keeps every request body in `requests`, and asks `trouble` before it answers."""

    def __init__(self) -> None:
        self.trouble: Trouble = Faults()
        self.requests: list[dict[str, Any]] = []
        self.embedded: list[str] = []
        self.forbidden: set[str] = set()
        self.turned = False
        self.app = Starlette(
            routes=[
                Route("/v1/embeddings", self.embeddings, methods=["POST"]),
                Route("/v1/multimodalembeddings", self.multimodal, methods=["POST"]),
                Route("/v1/rerank", self.rerank, methods=["POST"]),
            ]
        )

    async def embeddings(self, request: Request) -> Response:
        """POST /v1/embeddings."""
        body = json.loads(await request.body())
        self.requests.append(body)
        if refused := _unauthorized(request) or await answer(self.trouble(), _shape) or _embedding_error(body):
            return refused
        texts = [body["input"]] if isinstance(body["input"], str) else body["input"]
        if any(text in self.forbidden for text in texts):
            return _error(400, "Input contains a text that cannot be processed.")
        self.embedded += texts
        size = body.get("output_dimension") or _OTHER_LENGTHS.get(body["model"], 1_024)
        vectors = [vector(text, body.get("input_type"), size) for text in texts]
        return self._answer(body, vectors, {"total_tokens": sum(map(tokens_of, texts))})

    async def multimodal(self, request: Request) -> Response:
        """POST /v1/multimodalembeddings: a picture is near the name of its colour."""
        body = json.loads(await request.body())
        self.requests.append(body)
        if refused := _unauthorized(request) or await answer(self.trouble(), _shape) or _multimodal_error(body):
            return refused
        contents = [one["content"] for one in body["inputs"]]
        words = [" ".join(map(_meaning, content)) for content in contents]
        if any(text in self.forbidden for text in words):
            return _error(400, "Input contains a text that cannot be processed.")
        self.embedded += words
        size = body.get("output_dimension") or 1_024
        vectors = [vector(text, body.get("input_type"), size) for text in words]
        tokens = [(sum(map(_text_tokens, content)), sum(map(_pixels, content))) for content in contents]
        text_tokens, pixels = sum(one[0] for one in tokens), sum(one[1] for one in tokens)
        usage = {
            "text_tokens": text_tokens,
            "image_pixels": pixels,
            "video_pixels": 0,
            "total_tokens": text_tokens + pixels // PIXELS_PER_TOKEN,
        }
        return self._answer(body, vectors, usage)

    def _answer(self, body: dict[str, Any], vectors: list[list[float]], usage: dict[str, int]) -> Response:
        is_packed = "base64" in (body.get("encoding_format"), body.get("output_encoding"))
        shown = [_base64(one) for one in vectors] if is_packed else vectors
        data = [{"object": "embedding", "embedding": one, "index": i} for i, one in enumerate(shown)]
        data = data[::-1] if self.turned else data
        return JSONResponse({"object": "list", "data": data, "model": body["model"], "usage": usage})

    async def rerank(self, request: Request) -> Response:
        """POST /v1/rerank."""
        body = json.loads(await request.body())
        self.requests.append(body)
        if refused := _unauthorized(request) or await answer(self.trouble(), _shape) or _rerank_error(body):
            return refused
        asked = set(body["query"].lower().split())
        scores = [len(asked & set(text.lower().split())) / (len(asked) or 1) for text in body["documents"]]
        order = sorted(range(len(scores)), key=lambda i: -scores[i])[: body.get("top_k") or len(scores)]
        data = [{"index": i, "relevance_score": scores[i]} for i in order]
        usage = {"total_tokens": _rerank_tokens(body)}
        return JSONResponse({"object": "list", "data": data, "model": body["model"], "usage": usage})


def _unauthorized(request: Request) -> Response | None:
    if request.headers.get("authorization") != f"Bearer {KEY}":
        return _error(401, "Provided API key is invalid.")
    return None


def _embedding_error(body: dict[str, Any]) -> Response | None:
    known = {"input", "model", "input_type", "truncation", "output_dimension", "output_dtype", "encoding_format"}
    if unknown := body.keys() - known:
        return _error(400, f"Argument '{min(unknown)}' is not supported by our API.")
    model, texts = body.get("model"), body.get("input")
    if model not in CALL_TOKENS:
        return _error(400, f"Model {model} is not supported. Supported models are {sorted(CALL_TOKENS)}.")
    if body.get("encoding_format") not in (None, "base64") or body.get("output_dtype") not in (None, "float"):
        return _error(400, "encoding_format must be null or 'base64', and output_dtype 'float' here.")
    texts = [texts] if isinstance(texts, str) else texts
    if not isinstance(texts, list) or not texts or not all(isinstance(text, str) and text for text in texts):
        return _error(400, "Input cannot be an empty string or a list of empty strings.")
    if len(texts) > MAX_TEXTS:
        return _error(400, f"The batch size limit is {MAX_TEXTS}. Your batch size is {len(texts)}.")
    if body.get("input_type") not in (None, "query", "document"):
        return _error(400, "input_type must be null, 'query' or 'document'.")
    if body.get("output_dimension") not in ((None, 256, 512, 1_024, 2_048) if model in _FLEXIBLE else (None,)):
        return _error(400, f"output_dimension {body['output_dimension']} is not supported by {model}.")
    if (used := sum(map(tokens_of, texts))) > CALL_TOKENS[model]:
        return _error(
            400, f"The max allowed tokens per submitted batch is {CALL_TOKENS[model]}. Your batch has {used} tokens."
        )
    return None


def _multimodal_error(body: dict[str, Any]) -> Response | None:
    known = {"inputs", "model", "input_type", "truncation", "output_dimension", "output_dtype"}
    # The reference has `output_encoding`; Voyage's package sends what the other call takes.
    known |= {"output_encoding", "encoding_format"}
    if unknown := body.keys() - known:
        return _error(400, f"Argument '{min(unknown)}' is not supported by our API.")
    model, inputs = body.get("model"), body.get("inputs")
    if model not in MULTIMODAL:
        return _error(400, f"Model {model} is not supported. Supported models are {sorted(MULTIMODAL)}.")
    if not isinstance(inputs, list) or not inputs or not all(one.get("content") for one in inputs):
        return _error(400, "inputs must not be empty.")
    if len(inputs) > MAX_TEXTS:
        return _error(400, f"The batch size limit is {MAX_TEXTS}. Your batch size is {len(inputs)}.")
    if body.get("input_type") not in (None, "query", "document"):
        return _error(400, "input_type must be null, 'query' or 'document'.")
    if body.get("output_dimension") not in ((None, 256, 512, 1_024, 2_048) if model.endswith(".5") else (None,)):
        return _error(400, f"output_dimension {body['output_dimension']} is not supported by {model}.")
    used = 0
    for part in (part for one in inputs for part in one["content"]):
        if part.get("type") == "text" and part.get("text"):
            used += _text_tokens(part)
            continue
        if part.get("type") != "image_base64" or not _DATA_URL.match(part.get("image_base64", "")):
            return _error(400, "Each content must be a text or an image as a data URL.")
        if _pixels(part) > MAX_PIXELS or len(_bytes(part)) > MAX_IMAGE_BYTES:
            return _error(400, "The image is too large.")
        used += _pixels(part) // PIXELS_PER_TOKEN
    if used > MULTIMODAL_TOKENS:
        return _error(400, f"The max allowed tokens per submitted batch is {MULTIMODAL_TOKENS}. Your batch has {used}.")
    return None


def _base64(values: list[float]) -> str:
    return base64.b64encode(np.asarray(values, "<f4").tobytes()).decode()


def _bytes(part: dict[str, str]) -> bytes:
    return base64.b64decode(part["image_base64"].partition(",")[2], validate=True)


def _pixels(part: dict[str, str]) -> int:
    if part["type"] == "text":
        return 0
    with Image.open(io.BytesIO(_bytes(part))) as image:
        return image.width * image.height


def _text_tokens(part: dict[str, str]) -> int:
    return tokens_of(part["text"]) if part["type"] == "text" else 0


def _meaning(part: dict[str, str]) -> str:
    """A text's words; of a picture the colour that it has most of."""
    if part["type"] == "text":
        return part["text"]
    with Image.open(io.BytesIO(_bytes(part))) as image:
        levels = ImageStat.Stat(image.convert("RGB")).mean
    return ("red", "green", "blue")[levels.index(max(levels))]


def _rerank_tokens(body: dict[str, Any]) -> int:
    return tokens_of(body["query"]) * len(body["documents"]) + sum(map(tokens_of, body["documents"]))


def _rerank_error(body: dict[str, Any]) -> Response | None:
    known = {"query", "documents", "model", "top_k", "return_documents", "truncation"}
    if unknown := body.keys() - known:
        return _error(400, f"Argument '{min(unknown)}' is not supported by our API.")
    if body.get("model") not in _RERANKERS:
        return _error(400, f"Model {body.get('model')} is not supported. Supported models are {sorted(_RERANKERS)}.")
    documents = body.get("documents")
    if not body.get("query") or not isinstance(documents, list) or not documents or not all(documents):
        return _error(400, "query and documents cannot be empty.")
    if len(documents) > MAX_TEXTS:
        return _error(400, f"The number of documents cannot exceed {MAX_TEXTS}.")
    if _rerank_tokens(body) > _RERANKERS[body["model"]]:
        return _error(400, f"The total number of tokens cannot exceed {_RERANKERS[body['model']]}.")
    return None


def _shape(_status: int, message: str) -> object:
    return {"detail": message}


def _error(status: int, message: str) -> Response:
    return JSONResponse(_shape(status, message), status)
