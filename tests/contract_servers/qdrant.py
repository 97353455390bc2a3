"""Qdrant's REST interface, as far as the store uses it.

Requests are checked by the models that the vendor generates from its OpenAPI document (version 1.20, github.com/qdrant/qdrant,
docs/redoc/v1.20.x/openapi.json), which refuse unknown fields, and carried out by the vendor's own local mode, so that filters, scores and
document frequencies are Qdrant's. There is no search graph, no cluster, and nothing on disk.
"""

from __future__ import annotations

import json
import warnings
from collections.abc import Awaitable, Callable
from typing import Any

from pydantic import TypeAdapter, ValidationError
from pydantic_core import to_jsonable_python
from qdrant_client import AsyncQdrantClient, models
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, Response
from starlette.routing import Route

from tests.contract_servers.faults import Faults, Trouble, answer

SPECIFICATION = "Qdrant REST API 1.20"
VERSION = "1.20.0"
KEY = "qdrant-test-key"
MAX_BODY = 32 * 1024 * 1024
Handler = Callable[[str, bytes], Awaitable[Any]]


class QdrantServer:
    """An ASGI app in `app`; keeps path and body of every request in `requests`, and asks `trouble` before it answers.

    version: what it says it is. key: what requests must carry; None takes all.
    """

    def __init__(self, version: str = VERSION, key: str | None = None) -> None:
        self.trouble: Trouble = Faults()
        self.requests: list[tuple[str, Any]] = []
        self.local = AsyncQdrantClient(":memory:")
        self.created: dict[str, models.CreateCollection] = {}
        self.indexed: dict[str, dict[str, Any]] = {}
        self._version, self._key = version, key
        routes = [
            ("GET", "", self._info),
            ("GET", "/exists", self._exists),
            ("PUT", "", self._create),
            ("DELETE", "", self._drop),
            ("PUT", "/index", self._index),
            ("PUT", "/points", self._upsert),
            ("POST", "/points", self._retrieve),
            ("POST", "/points/query", self._query),
            ("POST", "/points/count", self._count),
            ("POST", "/points/payload", self._set_payload),
            ("POST", "/points/delete", self._delete),
        ]
        self.app = Starlette(
            routes=[
                Route("/", self._root, methods=["GET"]),
                Route("/collections", self._list, methods=["GET"]),
                *[
                    Route("/collections/{name}" + end, self._served(handle), methods=[method])
                    for method, end, handle in routes
                ],
            ]
        )

    async def _root(self, request: Request) -> Response:
        refused = self._refused(request) or await answer(self.trouble(), _shape)
        return refused or JSONResponse(
            {"title": "qdrant - vector search engine", "version": self._version, "commit": None}
        )

    async def _list(self, request: Request) -> Response:
        result = {"collections": [{"name": name} for name in self.created]}
        return self._refused(request) or JSONResponse({"result": result, "status": "ok", "time": 0.001})

    def _served(self, handle: Handler) -> Callable[[Request], Awaitable[Response]]:
        async def serve(request: Request) -> Response:
            body = await request.body()
            if len(body) > MAX_BODY:
                return _error(413, f"Payload is larger than {MAX_BODY} bytes")
            self.requests.append((request.url.path, json.loads(body) if body else None))
            if refused := self._refused(request) or await answer(self.trouble(), _shape):
                return refused
            name = request.path_params["name"]
            if handle not in (self._exists, self._create) and name not in self.created:
                return _error(404, f"Not found: Collection `{name}` doesn't exist!")
            try:
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")  # of what local mode does not have, and this server never promised
                    result = await handle(name, body)
            except ValidationError as error:
                return _error(400, f"Format error in JSON body: {error.errors()[0]['msg']}")
            except ValueError as error:
                return _error(409 if "already exists" in str(error) else 400, str(error))
            return JSONResponse(
                {"result": to_jsonable_python(result, exclude_none=True), "status": "ok", "time": 0.001}
            )

        return serve

    def _refused(self, request: Request) -> Response | None:
        if self._key is None or request.headers.get("api-key") == self._key:
            return None
        return PlainTextResponse("Must provide an API key or an Authorization bearer token", 401)

    async def _exists(self, name: str, body: bytes) -> object:
        return {"exists": name in self.created}

    async def _create(self, name: str, body: bytes) -> object:
        asked = TypeAdapter(models.CreateCollection).validate_json(body)
        if name in self.created:
            raise ValueError(f"Wrong input: Collection `{name}` already exists!")
        await self.local.create_collection(
            name, asked.vectors, sparse_vectors_config=asked.sparse_vectors, metadata=asked.metadata
        )
        self.created[name], self.indexed[name] = asked, {}
        return True

    async def _drop(self, name: str, body: bytes) -> object:
        await self.local.delete_collection(name)
        del self.created[name], self.indexed[name]
        return True

    async def _info(self, name: str, body: bytes) -> object:
        info = to_jsonable_python(await self.local.get_collection(name), exclude_none=True)
        return info | {"payload_schema": self.indexed[name]}

    async def _index(self, name: str, body: bytes) -> object:
        asked = TypeAdapter(models.CreateFieldIndex).validate_json(body)
        schema = to_jsonable_python(asked.field_schema, exclude_none=True)
        assert isinstance(schema, dict)
        self.indexed[name][asked.field_name] = {"data_type": schema["type"], "params": schema, "points": 0}
        return _DONE

    async def _upsert(self, name: str, body: bytes) -> object:
        asked = TypeAdapter(models.PointsList).validate_json(body)
        return await self.local.upsert(name, asked.points)

    async def _retrieve(self, name: str, body: bytes) -> object:
        asked = TypeAdapter(models.PointRequest).validate_json(body)
        return await self.local.retrieve(
            name, asked.ids, with_payload=asked.with_payload or False, with_vectors=asked.with_vector or False
        )

    async def _query(self, name: str, body: bytes) -> object:
        asked = TypeAdapter(models.QueryRequest).validate_json(body)
        return await self.local.query_points(
            name,
            query=asked.query,
            using=asked.using,
            query_filter=asked.filter,
            search_params=asked.params,
            limit=asked.limit or 10,
            with_payload=asked.with_payload or False,
        )

    async def _count(self, name: str, body: bytes) -> object:
        asked = TypeAdapter(models.CountRequest).validate_json(body)
        return await self.local.count(name, asked.filter)

    async def _set_payload(self, name: str, body: bytes) -> object:
        asked = TypeAdapter(models.SetPayload).validate_json(body)
        if asked.filter is None:
            raise ValueError("This server sets payloads by filter only.")
        await self.local.set_payload(name, asked.payload, asked.filter, key=asked.key)
        return _DONE

    async def _delete(self, name: str, body: bytes) -> object:
        await self.local.delete(name, TypeAdapter(models.PointsSelector).validate_json(body))
        return _DONE


_DONE = {"operation_id": 1, "status": "completed"}


def _shape(status: int, message: str) -> object:
    return {"status": {"error": message}, "time": 0.0}


def _error(status: int, message: str) -> Response:
    return JSONResponse(_shape(status, message), status)
