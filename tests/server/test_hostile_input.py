"""Hostile values in every place of every route and tool: no answer is a server error, and none tells of the engines inside."""

from __future__ import annotations

import json
import random
import re
import socket
import uuid
from collections.abc import Iterator, Mapping
from typing import Any

import httpx
import pytest

from citewell.storage.cursors import encode_cursor
from tests.server.running import RunningServer

pytestmark = pytest.mark.full

SEED = 11
PER_PLACE = 6
MAX_ERROR_LENGTH = 4_000
_BOUNDARY = "b0undary"
_INSIDE = re.compile(
    r"duckdb|sqlite|sqlalchemy|qdrant|asyncpg|pydantic|orjson|traceback|\bline \d+, in\b|site-packages|/work/|/tmp/|/usr/|"
    r"read_parquet|PySafeSlice|set_int_max_str_digits|(?:Overflow|Value|Type|Recursion|UnicodeEncode)Error",
    re.IGNORECASE,
)
_OURS, _OPENAI = {"code", "message", "details"}, {"message", "type", "param", "code"}
# As they stand in JSON text, so that they may be what no serialiser writes.
VALUES = [
    "null", "true", "0", "-1", "1e999", "-1e999", "NaN", "Infinity", "1" + "0" * 60, "-" + "9" * 25, "9223372036854775808", "1" * 5_000,
    "0.1", '""', '" "', '"\\u0000"', '"a\\u0000b"', '"\\ud800"', '"\\udfff x \\ud83d"', '"' + "1" * 32_000 + '"', '"' + "x" * 200_000 + '"',
    '"../../etc/passwd"', '"\'; DROP TABLE owners; --"', '"%s{0}${7*7}"', '"\\u202e"', "[]", "{}", '[[]]', '["\\ud800"]', '{"\\ud800": 1}',
    "[" * 200 + "]" * 200, "[" * 10_000 + "]" * 10_000, '{"a":' * 500 + "1" + "}" * 500, "[1e999]", "[null]", "[" + "1," * 300 + "1]",
    "2026-01-31", '"99999-99-99"',
]  # fmt: skip
TEXTS = [
    *(encode_cursor(*key) for key in [(10**60,), (-(10**30), "x"), (1.0, "\ud800"), (1.0, "\x00")]),
    "", " ", "\x00", "a\x00b", "-1", "0", "1" * 25, "9" * 5_000, "1e999", "NaN", "null", "..", "../..", "%", "%ff", "a/b", "é😀", "'\";--", "x" * 5_000,
    "\u202e", "[]", "{}", str(uuid.UUID(int=0)),
]  # fmt: skip
HEADERS = {
    "range": [f"bytes={'9' * 5_000}-", "bytes=-" + "1" * 5_000, "bytes=٣-٤", "bytes=5-1", "bytes=-", "x" * 5_000],
    "content-type": ["application/json; charset=x", "multipart/form-data", f"multipart/form-data; boundary={'b' * 300}", "\xff", "a/b"],
    "authorization": ["Bearer", "Bearer \xff\xfe", "Bearer " + "x" * 10_000, "Bearer a.b.c", "Bearer eyJhbGciOiJub25lIn0.e30."],
    "cookie": ["citewell_session=\xff", "=; =", "x" * 5_000],
    "if-none-match": ["\xff", '"' * 500],
    "accept": ["\xff/*"],
    "host": ["\xff", "a" * 1_000],
}  # fmt: skip


@pytest.fixture(scope="module")
def target(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningServer]:
    """A server of its own with something of every kind in it, as requests delete what they find."""
    with RunningServer(tmp_path_factory.mktemp("hostile") / "data") as running:
        running.add("Loans.csv", b"Branch,Amount,Date\n" + b"Accra,5,2024-01-31\nKumasi,7,2024-02-29\n" * 20)
        running.add("Policy.txt", b"The loan limit is 5,000 a year. It is not for everybody.")
        yield running


class Fuzzer:
    """Requests with values of the lists above in one place each, chosen by a seed of the operation."""

    def __init__(self, server: RunningServer, document: Mapping[str, Any]) -> None:
        self.server = server
        self.document = document
        self.resource = next(r for r in server.resources() if r["filename"] == "Loans.csv")
        self.thread = server.client.post("/chat", json={"message": "What is the loan limit?"}).json()["thread_id"]

    def requests(self, method: str, path: str, operation: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
        chance = random.Random(f"{SEED} {method} {path}")
        parameters = [self._resolved(p) for p in operation.get("parameters", [])]
        url = self._url(path)
        for parameter in parameters:
            for text in chance.sample(TEXTS, PER_PLACE):
                if parameter["in"] == "path":
                    yield {"url": self._url(path, parameter["name"], text), "body": self._body(operation)}
                elif parameter["in"] == "query":
                    yield {"url": url, "params": {parameter["name"]: text}, "body": self._body(operation)}
        for name, values in HEADERS.items():
            yield {"url": url, "headers": {name: chance.choice(values)}, "body": self._body(operation)}
        schema = self._schema(operation)
        for name in schema.get("properties", {}):
            for value in chance.sample(VALUES, PER_PLACE * 2):
                yield {"url": url, "body": self._body(operation, {name: value})}
        if method != "delete":
            for name in ("x" * 5_000, "\x00", "\ud800"):
                yield {
                    "url": url,
                    "params": {name.replace("\ud800", "é"): "1"},
                    "body": self._body(operation, {name: "1"}),
                }
        if schema:
            for value in chance.sample(VALUES, PER_PLACE):
                yield {"url": url, "body": value}

    def _url(self, path: str, name: str = "", text: str = "") -> str:
        known = {"resource_id": self.resource["id"], "thread_id": self.thread, "table_id": "t0", "model": "citewell"}
        for place in re.findall(r"{([^}:]+)(?::path)?}", path):
            value = text if place == name else known.get(place, str(uuid.UUID(int=1)))
            path = re.sub(rf"{{{place}(?::path)?}}", lambda _, v=value: _quoted(v), path)
        return path

    def _body(self, operation: Mapping[str, Any], wrong: Mapping[str, str] | None = None) -> str | None:
        schema = self._schema(operation)
        if not schema:
            return None
        required = {name: self._example(schema["properties"][name]) for name in schema.get("required", [])}
        fields = {name: json.dumps(value) for name, value in required.items()} | dict(wrong or {})
        return "{" + ", ".join(f"{json.dumps(name)}: {value}" for name, value in fields.items()) + "}"

    def _schema(self, operation: Mapping[str, Any]) -> dict[str, Any]:
        content = operation.get("requestBody", {}).get("content", {})
        return self._resolved(content["application/json"]["schema"]) if "application/json" in content else {}

    def _resolved(self, schema: Mapping[str, Any]) -> dict[str, Any]:
        found: Any = dict(schema)
        while "$ref" in found:
            found = self.document
            for part in schema["$ref"].removeprefix("#/").split("/"):
                found = found[part]
            schema = found
        return dict(found)

    def _example(self, schema: Mapping[str, Any]) -> Any:
        schema = self._resolved(schema)
        if options := schema.get("anyOf"):
            return self._example(options[0])
        if choices := schema.get("enum"):
            return choices[0]
        match schema.get("type"):
            case "object":
                return {name: self._example(schema["properties"][name]) for name in schema.get("required", [])}
            case "array":
                return [self._example(schema["items"])]
            case "integer" | "number":
                return schema.get("minimum", 1)
            case "boolean":
                return False
            case _:
                return schema.get("const", "What is the loan limit?")


def test_no_hostile_value_in_any_route_makes_a_server_error(target: RunningServer) -> None:
    document = target.client.get("/openapi.json").json()
    fuzzer = Fuzzer(target, document)
    operations = [
        (method, path, operation) for path, item in document["paths"].items() for method, operation in item.items()
    ]
    # What is deleted is asked for last.
    operations.sort(key=lambda found: (found[0] == "delete", found[1]))
    sent, problems = 0, list[str]()
    for method, path, operation in operations:
        for request in fuzzer.requests(method, path, operation):
            sent += 1
            problems += _problems(target, method, path, request)
    assert sent > 1_000
    assert not problems, f"{len(problems)} of {sent}:\n" + "\n".join(problems[:40])
    _is_well(target)


def _problems(server: RunningServer, method: str, path: str, request: Mapping[str, Any]) -> list[str]:
    """What is wrong with the answer to a request."""
    headers = {"content-type": "application/json", **request.get("headers", {})}
    encoded = [(name.encode(), value.encode("utf-8" if "٣" in value else "latin-1")) for name, value in headers.items()]
    body = request["body"]
    try:
        response = server.client.request(
            method, request["url"], params=request.get("params"), headers=encoded, content=body, timeout=30
        )
    except httpx.HTTPError as error:
        return [f"{method} {path} {_short(request)}: {error!r}"]
    text = response.text
    where = f"{method} {path} {_short(request)} → {response.status_code} {text[:300]}"
    if response.status_code >= 500 and not (response.status_code == 503 and path in ("/ready", "/indexes")):
        return [where]
    if response.status_code < 400:
        return []
    if not response.headers.get("content-type", "").startswith("application/json"):
        return (
            []
            if not text or path == "/mcp" or (response.status_code == 400 and "Invalid HTTP" in text)
            else [f"not JSON: {where}"]
        )
    shapes = (_OURS, _OPENAI) if path.startswith("/v1/") else (_OURS,)
    if method != "head" and set(json.loads(text).get("error", ())) not in shapes:
        return [f"another shape: {where}"]
    if len(text) > MAX_ERROR_LENGTH:
        return [f"{len(text)} characters: {where}"]
    return [f"internals: {where}"] if _INSIDE.search(_without_what_is_public(text)) else []


def _without_what_is_public(text: str) -> str:
    """An answer without what was asked for, and the names of vector stores, among which a request chooses."""
    return text.replace("etc/passwd", "").replace("'edge', 'qdrant', 'pgvector'", "")


def _short(request: Mapping[str, Any]) -> str:
    return repr({key: str(value)[:120] for key, value in request.items()})


def _quoted(text: str) -> str:
    from urllib.parse import quote

    return quote(text, safe="") or "%20"


def _is_well(server: RunningServer) -> None:
    assert server.client.get("/health").status_code == 200
    assert "Traceback" not in server.log()
    assert "ERROR" not in server.log()


@pytest.mark.parametrize(
    "disposition",
    [
        b'form-data; name="file"; filename="' + b"\xff\xfe" * 50 + b'.txt"', b'form-data; name="file"; filename*=UTF-8\'\'%ff%00.txt',
        b'form-data; name="file"; filename="' + b"a" * 5_000 + b'.csv"', b'form-data; name="file"; filename=""', b"form-data", b"",
        b'form-data; name="file"; filename="' + "a\u0301\u0323".encode() * 500 + b'"', b'form-data; name="file"; filename="a\x00.csv"',
    ],
)  # fmt: skip
@pytest.mark.parametrize(
    "fields", [{}, {b"project": b"\xff"}, {b"project": b"\x00"}, {b"\xff": b"x"}, {b"identifier": b"\xed\xa0\x80"}]
)
def test_no_hostile_form_makes_a_server_error(
    target: RunningServer, disposition: bytes, fields: dict[bytes, bytes]
) -> None:
    lines = [b'form-data; name="' + name + b'"\r\n\r\n' + value for name, value in fields.items()]
    parts = [*lines, disposition + b"\r\n\r\n" + uuid.uuid4().hex.encode()]
    body = b"".join(f"--{_BOUNDARY}\r\nContent-Disposition: ".encode() + part + b"\r\n" for part in parts)
    response = target.client.post(
        "/ingest",
        content=body + f"--{_BOUNDARY}--\r\n".encode(),
        headers={"content-type": f"multipart/form-data; boundary={_BOUNDARY}"},
    )
    assert response.status_code < 500, response.text
    _is_well(target)


def test_no_hostile_argument_of_a_tool_makes_an_error_of_the_server(target: RunningServer) -> None:
    tools = _mcp(target, "tools/list", "{}").json()["result"]["tools"]
    resource = target.add("Branches.csv", b"Branch,Amount,Date\n" + b"Accra,5,2024-01-31\nTema,7,2024-02-29\n" * 20)[
        "id"
    ]
    key = f"{resource}/t0"
    chance = random.Random(SEED)
    problems: list[str] = []
    for tool in tools:
        good = {"query": '"limit"', "source": json.dumps(key), "resource_id": json.dumps(resource)}
        places = tool["inputSchema"].get("properties", {})
        needed = {name: good[name] for name in tool["inputSchema"].get("required", [])}
        for name in places:
            for value in VALUES:
                problems += _tool_problems(target, tool["name"], needed | {name: value})
        problems += [p for value in VALUES for p in _tool_problems(target, tool["name"], value)]
    for value in VALUES:
        column = chance.choice(['"Amount"', '"Branch"', '"Date"', value])
        for comparison in ("eq", "lt", "in", "contains", "starts_with", "nothing"):
            shown = f"[{value}]" if comparison == "in" else value
            condition = f'[{{"column": {column}, "comparison": "{comparison}", "value": {shown}}}]'
            problems += _tool_problems(target, "query_table", {"source": json.dumps(key), "conditions": condition})
        for function in ("sum", "median", "count_distinct"):
            wanted = f'[{{"function": "{function}", "column": {column}}}]'
            problems += _tool_problems(target, "query_table", {"source": json.dumps(key), "aggregates": wanted})
        order = f'[{{"by": {value}}}]'
        problems += _tool_problems(target, "query_table", {"source": json.dumps(key), "order": order})
    assert not problems, f"{len(problems)}:\n" + "\n".join(problems[:40])
    _is_well(target)


def _tool_problems(server: RunningServer, name: str, arguments: Mapping[str, str] | str) -> list[str]:
    if isinstance(arguments, str):
        sent = arguments
    else:
        sent = "{" + ", ".join(f"{json.dumps(key)}: {value}" for key, value in arguments.items()) + "}"
    response = _mcp(server, "tools/call", f'{{"name": "{name}", "arguments": {sent}}}')
    where = f"{name} {str(arguments)[:200]} → {response.status_code} {response.text[:300]}"
    if response.status_code >= 500:
        return [where]
    if response.status_code == 200:
        answer = response.json()
        if answer.get("error", {}).get("code") == -32603:
            return [f"internal: {where}"]
    return [f"internals: {where}"] if _INSIDE.search(response.text.replace("etc/passwd", "")) else []


def _mcp(server: RunningServer, method: str, params: str) -> httpx.Response:
    return server.client.post(
        "/mcp",
        content=f'{{"jsonrpc": "2.0", "id": 1, "method": "{method}", "params": {params}}}',
        headers={"content-type": "application/json", "accept": "application/json, text/event-stream"},
    )


def test_bytes_that_are_no_http_leave_the_server_well(target: RunningServer) -> None:
    host, port = target.url.removeprefix("http://").split(":")
    for sent in (
        b"\x00" * 1_000,
        b"GET \xff HTTP/1.1\r\n\r\n",
        b"POST /search HTTP/1.1\r\nContent-Length: -1\r\n\r\n",
        b"x" * 100_000,
    ):
        with socket.create_connection((host, int(port)), timeout=60) as connection:
            connection.sendall(sent)
    _is_well(target)
