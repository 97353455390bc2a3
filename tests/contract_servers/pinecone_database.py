"""Pinecone's indexes: the control plane, and the data plane of indexes that take vectors and of those that embed texts themselves.

Written from Pinecone's OpenAPI documents "Control Plane API" and "Data Plane API", version 2025-10 (github.com/pinecone-io/pinecone-api),
with the limits of its documentation. Each index has an address of its own below that of the server.
"""

from __future__ import annotations

import json
import re
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from tests.contract_servers.faults import Faults, Trouble, answer
from tests.contract_servers.pinecone_records import Namespace, Record, Refused, admits, check_id, check_metadata
from tests.contract_servers.vectors import tokens_of, vector

SPECIFICATION = "Pinecone Control Plane and Data Plane API 2025-10"
KEY = "pinecone-test-key"
VERSION = "2025-10"
MAX_RECORDS = 1_000
MAX_TEXTS = 96
MAX_REQUEST_BYTES = 2 * 1024 * 1024
MAX_TOP_K = 10_000
MAX_IDS = 1_000
MODELS = {"multilingual-e5-large": 1_024, "llama-text-embed-v2": 1_024}
_REGIONS = {
    "aws": ("us-east-1", "us-west-2", "eu-west-1"),
    "gcp": ("us-central1", "europe-west4"),
    "azure": ("eastus2",),
}
_NAME = re.compile(r"[a-z0-9]([a-z0-9-]{0,43}[a-z0-9])?")
_CODES = {400: "INVALID_ARGUMENT", 401: "UNAUTHENTICATED", 403: "FORBIDDEN", 404: "NOT_FOUND", 409: "ALREADY_EXISTS"}
_RPC = {400: 3, 401: 16, 403: 7, 404: 5, 429: 8, 500: 13, 503: 14}


@dataclass
class Index:
    """One index; it is ready after it was described `waits` times."""

    name: str
    dimension: int
    metric: str
    waits: int
    embed: Mapping[str, Any] | None = None
    spec: Mapping[str, Any] = field(default_factory=dict[str, Any])
    namespaces: dict[str, Namespace] = field(default_factory=dict[str, Namespace])


class PineconeDatabase:
    """An ASGI app in `app`, which is told its own address.

    Keeps what was asked in `requests`, as method, path and body; asks `trouble` before it answers.
    lag: after how many further reads of its namespace a write is seen; waits: how often an index is described until it is ready
    """

    def __init__(self, lag: int = 0, waits: int = 0, max_indexes: int = 20) -> None:
        self.address = ""
        self.lag = lag
        self.waits = waits
        self.max_indexes = max_indexes
        self.trouble: Trouble = Faults()
        self.requests: list[tuple[str, str, Any]] = []
        self.embedded: list[str] = []
        self.indexes: dict[str, Index] = {}
        control = {
            "/indexes": ("POST", self.create),
            "/indexes/create-for-model": ("POST", self.create_for_model),
        }
        data: dict[str, tuple[str, _OnIndex]] = {
            "/vectors/upsert": ("POST", self.upsert),
            "/vectors/update": ("POST", self.update),
            "/vectors/delete": ("POST", self.delete),
            "/vectors/fetch": ("GET", self.fetch),
            "/query": ("POST", self.query),
            "/describe_index_stats": ("POST", self.stats),
            "/records/namespaces/{namespace}/upsert": ("POST", self.upsert_records),
            "/records/namespaces/{namespace}/search": ("POST", self.search_records),
        }
        self.app = Starlette(
            routes=[
                *[Route(path, self._control(call), methods=[method]) for path, (method, call) in control.items()],
                Route("/indexes/{name}", self._control(self.describe), methods=["GET"]),
                *[
                    Route(f"/at/{{index}}{path}", self._data(call), methods=[method])
                    for path, (method, call) in data.items()
                ],
            ]
        )

    # The control plane.

    async def create(self, request: Request, body: Any) -> Response:
        """POST /indexes."""
        where = body.get("spec", {}).get("serverless")
        if not where or body.get("vector_type", "dense") != "dense" or not 1 <= body.get("dimension", 0) <= 20_000:
            return _error(400, "A dense serverless index has a dimension of 1 to 20000 and a spec.")
        return self._new(body, where, Index(body["name"], body["dimension"], body.get("metric", "cosine"), self.waits))

    async def create_for_model(self, request: Request, body: Any) -> Response:
        """POST /indexes/create-for-model."""
        embed = body.get("embed", {})
        if embed.get("model") not in MODELS:
            return _error(404, f"Model {embed.get('model')} not found.")
        if set(embed.get("field_map", {})) != {"text"}:
            return _error(400, "field_map must map the model's input 'text' to a field.")
        size = MODELS[embed["model"]]
        made = Index(body["name"], size, embed.get("metric", "cosine"), self.waits, embed)
        return self._new(body, {"cloud": body.get("cloud"), "region": body.get("region")}, made)

    async def describe(self, request: Request, body: Any) -> Response:
        """GET /indexes/{name}."""
        index = self.indexes.get(request.path_params["name"])
        if index is None:
            return _error(404, f"Resource {request.path_params['name']} not found")
        index.waits -= 1
        return JSONResponse(self._model(index))

    def _new(self, body: Mapping[str, Any], where: Mapping[str, Any], index: Index) -> Response:
        if not _NAME.fullmatch(index.name):
            return _error(400, "Name must consist of lower case alphanumeric characters or '-'.")
        if where.get("region") not in _REGIONS.get(str(where.get("cloud")), ()):
            return _error(404, f"Resource cloud: {where.get('cloud')} region: {where.get('region')} not found.")
        if index.name in self.indexes:
            return _error(409, "Resource already exists.")
        if len(self.indexes) >= self.max_indexes:
            return _error(403, "Increase your quota or upgrade to create more indexes.")
        index.spec = dict(where)
        self.indexes[index.name] = index
        return JSONResponse(self._model(index), 201)

    def _model(self, index: Index) -> dict[str, Any]:
        state = "Ready" if index.waits < 0 else "Initializing"
        own = {"embed": {**index.embed, "dimension": index.dimension, "vector_type": "dense"}} if index.embed else {}
        return {
            "name": index.name,
            "metric": index.metric,
            "dimension": index.dimension,
            "vector_type": "dense",
            "host": f"{self.address}/at/{index.name}",
            "status": {"ready": state == "Ready", "state": state},
            "spec": {"serverless": index.spec},
            "deletion_protection": "disabled",
            **own,
        }

    # The data plane.

    async def upsert(self, index: Index, request: Request, body: Any) -> Response:
        """POST /vectors/upsert."""
        _check(len(body.get("vectors", [])) in range(1, MAX_RECORDS + 1), f"A batch has 1 to {MAX_RECORDS} vectors.")
        if index.embed is not None:
            raise Refused("Vectors cannot be written where texts are embedded by the index.")
        new: dict[str, Record] = {}
        for one in body["vectors"]:
            values = one.get("values", [])
            _check(
                len(values) == index.dimension,
                f"Vector dimension {len(values)} does not match the dimension of the index {index.dimension}",
            )
            _check(any(values), "Dense vectors must contain at least one non-zero value.")
            new[check_id(one.get("id"))] = Record(tuple(values), check_metadata(one.get("metadata") or {}))
        return _written({"upsertedCount": len(new)}, self._namespace(index, body), lambda held: held.update(new))

    async def upsert_records(self, index: Index, request: Request, body: Any) -> Response:
        """POST /records/namespaces/{namespace}/upsert."""
        if index.embed is None:
            raise Refused("Integrated inference is not configured for this index")
        _check(1 <= len(body) <= MAX_TEXTS, f"Batch size exceeds the limit of {MAX_TEXTS}.")
        name, new = index.embed["field_map"]["text"], dict[str, Record]()
        for one in body:
            text = one.get(name)
            _check(isinstance(text, str) and bool(text.strip()), f"Field {name} must be a text that is not empty.")
            self.embedded.append(text)
            metadata = check_metadata({key: value for key, value in one.items() if key != "_id"})
            new[check_id(one.get("_id"))] = Record(tuple(vector(text, "passage", index.dimension)), metadata)
        return _written({}, self._namespace(index, request.path_params), lambda held: held.update(new), 201)

    async def update(self, index: Index, request: Request, body: Any) -> Response:
        """POST /vectors/update, of metadata by id; a record that does not exist is passed over."""
        key, changed = check_id(body.get("id")), check_metadata(body.get("setMetadata") or {})

        def change(held: dict[str, Record]) -> None:
            if key in held:
                held[key] = Record(held[key].values, {**held[key].metadata, **changed})

        return _written({}, self._namespace(index, body), change)

    async def delete(self, index: Index, request: Request, body: Any) -> Response:
        """POST /vectors/delete. By filter, what is visible; 404 for a namespace that does not exist."""
        space = index.namespaces.get(body.get("namespace", ""))
        if space is None:
            return _rpc(404, "Namespace not found")
        ids, admitted = body.get("ids"), body.get("filter")
        if body.get("deleteAll"):
            return _written({}, space, lambda held: held.clear())
        if admitted is not None:
            ids = [key for key, one in space.records.items() if admits(admitted, one.metadata)]
        else:
            _check(bool(ids) and len(ids) <= MAX_IDS, f"1 to {MAX_IDS} ids can be deleted at once.")
        gone = set(map(check_id, ids))
        return _written({}, space, lambda held: [held.pop(key, None) for key in gone])

    async def fetch(self, index: Index, request: Request, body: Any) -> Response:
        """GET /vectors/fetch."""
        ids = request.query_params.getlist("ids")
        _check(1 <= len(ids) <= MAX_IDS, f"1 to {MAX_IDS} ids can be fetched at once.")
        space = self._read(index, request.query_params.get("namespace", ""))
        held = space.read()
        found = {
            key: {"id": key, "values": held[key].values, "metadata": held[key].metadata} for key in ids if key in held
        }
        return _seen({"vectors": found, "namespace": "", "usage": {"readUnits": 1}}, space)

    async def query(self, index: Index, request: Request, body: Any) -> Response:
        """POST /query, by a vector."""
        _check(1 <= body.get("topK", 0) <= MAX_TOP_K, f"topK must be 1 to {MAX_TOP_K}.")
        asked = body.get("vector") or []
        _check(
            len(asked) == index.dimension,
            f"Query vector dimension {len(asked)} does not match the dimension of the index {index.dimension}",
        )
        space = self._read(index, body.get("namespace", ""))
        best = _nearest(space.read(), asked, body.get("filter"), body["topK"])
        matches = [{"id": key, "score": score, "values": []} for key, score, _ in best]
        return _seen({"matches": matches, "namespace": body.get("namespace", ""), "usage": {"readUnits": 1}}, space)

    async def search_records(self, index: Index, request: Request, body: Any) -> Response:
        """POST /records/namespaces/{namespace}/search, by a text."""
        if index.embed is None:
            raise Refused("Integrated inference is not configured for this index")
        asked = body["query"]
        text = asked.get("inputs", {}).get("text")
        _check(isinstance(text, str) and bool(text.strip()), "inputs.text must be a text that is not empty.")
        _check(1 <= asked.get("top_k", 0) <= MAX_TOP_K, f"top_k must be 1 to {MAX_TOP_K}.")
        self.embedded.append(text)
        space = self._read(index, request.path_params["namespace"])
        best = _nearest(space.read(), vector(text, "query", index.dimension), asked.get("filter"), asked["top_k"])
        wanted = set(body.get("fields") or [])
        hits = [
            {
                "_id": key,
                "_score": score,
                "fields": {k: v for k, v in one.metadata.items() if not wanted or k in wanted},
            }
            for key, score, one in best
        ]
        usage = {"read_units": 1, "embed_total_tokens": tokens_of(text)}
        return _seen({"result": {"hits": hits}, "usage": usage}, space)

    async def stats(self, index: Index, request: Request, body: Any) -> Response:
        """POST /describe_index_stats."""
        _check(not (body or {}).get("filter"), "Serverless indexes do not support describing index stats with a filter")
        counts = {name: {"vectorCount": len(one.records)} for name, one in index.namespaces.items()}
        total = sum(one["vectorCount"] for one in counts.values())
        return JSONResponse({"namespaces": counts, "dimension": index.dimension, "totalVectorCount": total})

    def _namespace(self, index: Index, body: Mapping[str, Any]) -> Namespace:
        return index.namespaces.setdefault(body.get("namespace") or "", Namespace(self.lag))

    def _read(self, index: Index, name: str) -> Namespace:
        """The namespace; an empty one where there is none."""
        return index.namespaces.get(name) or Namespace(self.lag)

    def _control(self, call: Callable[[Request, Any], Awaitable[Response]]) -> _Endpoint:
        async def endpoint(request: Request) -> Response:
            body = await _body(request)
            self.requests.append((request.method, request.url.path, body))
            return _headers(request, _error) or await answer(self.trouble(), _shape) or await call(request, body)

        return endpoint

    def _data(self, call: _OnIndex) -> _Endpoint:
        async def endpoint(request: Request) -> Response:
            raw = await request.body()
            body = await _body(request)
            self.requests.append((request.method, request.url.path, body))
            index = self.indexes.get(request.path_params["index"])
            if refused := _headers(request, _rpc) or await answer(self.trouble(), _rpc_shape):
                return refused
            if index is None:
                return _rpc(404, "Index not found")
            if len(raw) > MAX_REQUEST_BYTES:
                return _rpc(400, f"Request size {len(raw)} exceeds the maximum supported size of {MAX_REQUEST_BYTES}")
            try:
                return await call(index, request, body)
            except Refused as error:
                return _rpc(400, str(error))

        return endpoint


_OnIndex = Callable[[Index, Request, Any], Awaitable[Response]]
_Endpoint = Callable[[Request], Awaitable[Response]]


def _nearest(
    held: Mapping[str, Record], asked: Sequence[float], filter: Any, limit: int
) -> list[tuple[str, float, Record]]:
    admitted = {key: one for key, one in held.items() if filter is None or admits(filter, one.metadata)}
    if not admitted:
        return []
    matrix = np.asarray([one.values for one in admitted.values()], dtype=np.float32)
    query = np.asarray(asked, dtype=np.float32)
    scores = matrix @ query / np.linalg.norm(matrix, axis=1) / np.linalg.norm(query)
    order = np.argsort(-scores, kind="stable")[:limit]
    keys = list(admitted)
    return [(keys[i], float(scores[i]), admitted[keys[i]]) for i in order]


def _written(body: Any, space: Namespace, change: Callable[[dict[str, Record]], object], status: int = 200) -> Response:
    number = space.write(change)
    content = b"" if status == 201 else json.dumps(body).encode()
    return Response(content, status, {"x-pinecone-request-lsn": str(number)}, "application/json")


def _seen(body: Any, space: Namespace) -> Response:
    return JSONResponse(body, headers={"x-pinecone-max-indexed-lsn": str(space.indexed)})


async def _body(request: Request) -> Any:
    raw = await request.body()
    if request.headers.get("content-type", "").startswith("application/x-ndjson"):
        return [json.loads(line) for line in raw.decode().splitlines() if line]
    return json.loads(raw) if raw else None


def _headers(request: Request, error: Callable[[int, str], Response]) -> Response | None:
    if request.headers.get("api-key") != KEY:
        return error(401, "Invalid API key.")
    if request.headers.get("x-pinecone-api-version") != VERSION:
        return error(400, "The header X-Pinecone-Api-Version is required.")
    return None


def _check(fits: bool, message: str) -> None:
    if not fits:
        raise Refused(message)


def _shape(status: int, message: str) -> object:
    return {"status": status, "error": {"code": _CODES.get(status, "UNKNOWN"), "message": message}}


def _rpc_shape(status: int, message: str) -> object:
    return {"code": _RPC.get(status, 2), "message": message, "details": []}


def _error(status: int, message: str) -> Response:
    return JSONResponse(_shape(status, message), status)


def _rpc(status: int, message: str) -> Response:
    return JSONResponse(_rpc_shape(status, message), status)
