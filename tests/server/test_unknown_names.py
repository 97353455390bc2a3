"""What a request names and nothing knows is a 422 that says which name was probably meant; never ignored without a word."""

from __future__ import annotations

import uuid
from typing import Any

import httpx
import pytest

from tests.contract_servers.anthropic import KEY as ANTHROPIC_KEY
from tests.contract_servers.anthropic import AnthropicServer
from tests.contract_servers.openai import KEY as OPENAI_KEY
from tests.contract_servers.openai import OpenAIServer
from tests.contract_servers.serving import serving
from tests.server.in_process import InProcessServer
from tests.server.mcp_client import connected
from tests.server.running import Server

SOMEWHERE = f"/threads/{uuid.UUID(int=0)}"


def _refused(response: httpx.Response, field: str, suggestion: str | None) -> None:
    assert response.status_code == 422, response.text
    error = response.json()["error"]
    assert set(error) == {"code", "message", "details"}
    assert error["code"] == "invalid_request"
    found = {one["field"]: one for one in error["details"]["fields"]}
    assert field in found, error
    assert found[field].get("suggestion") == suggestion
    assert f"`{suggestion}`?" in error["message"] if suggestion else "There are: `" in error["message"]


BODIES: list[tuple[str, str, dict[str, Any], str, str | None]] = [
    ("POST", "/search", {"query": "x", "topk": 3}, "body.topk", "top_k"),
    ("POST", "/search", {"query": "x", "filter": []}, "body.filter", "filters"),
    ("POST", "/search", {"qurey": "x"}, "body.qurey", "query"),
    ("POST", "/chat", {"message": "x", "threadId": "t"}, "body.threadId", "thread_id"),
    ("POST", "/chat", {"message": "x", "temperature": 1}, "body.temperature", None),
    ("POST", "/records", {"recods": []}, "body.recods", "records"),
    (
        "POST",
        "/records",
        {"records": [{"id": "a", "text": "b", "meta_data": {}}]},
        "body.records.0.meta_data",
        "metadata",
    ),
    ("POST", "/projects", {"name": "n", "chunkin": {}}, "body.chunkin", "chunking"),
    ("POST", "/projects", {"name": "n", "chunking": {"overlapp": 3}}, "body.chunking.overlapp", "overlap"),
    ("PATCH", "/projects/x", {"chunking": {"chunk_size": 3}}, "body.chunking.chunk_size", "size"),
    ("POST", "/threads", {"titel": "t"}, "body.titel", "title"),
    ("PATCH", SOMEWHERE, {"title": "t", "tilte": "t"}, "body.tilte", "title"),
    ("PUT", f"{SOMEWHERE}/messages/m/feedback", {"ratings": "up"}, "body.ratings", "rating"),
    ("POST", "/tokens", {"name": "n", "day": 3}, "body.day", "days"),
    ("POST", "/session", {"tokn": "x"}, "body.tokn", "token"),
    ("POST", "/indexes", {"provider": "builtin", "dimension": 3}, "body.dimension", "dimensions"),
    ("POST", "/indexes/x/compare", {"querys": ["x"]}, "body.querys", "queries"),
]


@pytest.mark.parametrize(("method", "path", "body", "field", "suggestion"), BODIES, ids=[b[3] + b[1] for b in BODIES])
def test_unknown_field_of_a_body(
    server: Server, method: str, path: str, body: dict[str, Any], field: str, suggestion: str | None
) -> None:
    _refused(server.client.request(method, path, json=body), field, suggestion)


def test_every_body_refuses_unknown_fields_but_those_of_chat_clients(server: Server) -> None:
    document = server.client.get("/openapi.json").json()
    lenient: set[str] = set()
    for path, operations in document["paths"].items():
        for operation in operations.values():
            for content in operation.get("requestBody", {}).get("content", {}).values():
                schema = content["schema"]
                schema = (
                    document["components"]["schemas"][schema["$ref"].split("/")[-1]] if "$ref" in schema else schema
                )
                if schema.get("additionalProperties") is not False:
                    lenient.add(path)
    assert lenient == {"/v1/chat/completions"}


@pytest.mark.parametrize("number", ["NaN", "Infinity", "-Infinity"])
def test_a_number_that_is_none_is_refused(server: Server, number: str) -> None:
    body = f'{{"query": "x", "diversity": {number}}}'
    response = server.client.post("/search", content=body, headers={"Content-Type": "application/json"})
    assert response.status_code == 400, response.text
    assert "number" in response.json()["error"]["message"]


@pytest.mark.parametrize(
    ("path", "name", "suggestion"),
    [
        ("/resources", "limt", "limit"),
        ("/resources", "Status", "status"),
        ("/resources", "page_token", None),
        (f"/resources/{uuid.UUID(int=0)}/elements", "pages", "page"),
        (f"/resources/{uuid.UUID(int=0)}/file", "versoin", "version"),
        ("/threads", "curser", "cursor"),
        (f"{SOMEWHERE}/export", "fmt", "format"),
        ("/usage", "sinse", "since"),
        ("/suggestions", "Limit", "limit"),
    ],
)
def test_unknown_query_parameter(server: Server, path: str, name: str, suggestion: str | None) -> None:
    _refused(server.client.get(path, params={name: "1"}), f"query.{name}", suggestion)


def test_unknown_query_parameter_where_there_are_none(server: Server) -> None:
    response = server.client.get("/projects", params={"limit": "5"})
    assert response.status_code == 422
    assert "query.limit: There is no `limit`. There are none." in response.json()["error"]["message"]


def test_what_others_add_to_addresses_of_theirs_is_left_alone(server: Server) -> None:
    assert server.client.get("/health", params={"probe": "1"}).status_code == 200
    assert server.client.get("/v1/models", params={"limit": "5"}).status_code == 200
    asked = {"model": "citewell", "messages": [{"role": "user", "content": "Hello"}], "temperature": 1, "user": "u"}
    assert server.client.post("/v1/chat/completions", json=asked).status_code == 200


def test_unknown_field_of_a_form_keeps_nothing(server: Server) -> None:
    before = len(server.resources())
    content = f"Form {uuid.uuid4()}".encode()
    _refused(server.upload("a.txt", content, multimodel="true"), "body.multimodel", "multimodal")
    _refused(server.client.post("/ingest", files={"fiel": ("a.txt", content)}), "body.fiel", "file")
    assert len(server.resources()) == before
    assert list((server.data / "uploads").glob("*")) == []


def test_a_large_file_under_a_wrong_name_still_hears_why(server: Server) -> None:
    _refused(server.client.post("/ingest", files={"fiel": ("a.txt", b"x" * 8_000_000)}), "body.fiel", "file")


def test_a_new_version_has_no_project_or_identifier(server: Server) -> None:
    resource = server.add("v.txt", f"Version {uuid.uuid4()}".encode())
    address = f"/resources/{resource['id']}/file"
    for name in ("project", "identifier", "strict"):
        response = server.client.put(address, files={"file": ("v.txt", b"more words")}, data={name: "true"})
        assert response.status_code == 422, response.text
        assert f"body.{name}" in response.json()["error"]["message"]


@pytest.mark.parametrize(
    "chunking", [{"size": 100, "overlap": 100}, {"overlap": 300}, {"strategy": "rows", "size": 16, "overlap": 9}]
)
def test_chunking_of_a_project_that_cannot_work(server: Server, chunking: dict[str, Any]) -> None:
    name = f"P {uuid.uuid4()}"
    response = server.client.post("/projects", json={"name": name, "chunking": chunking})
    assert response.status_code == 422, response.text
    assert "overlap" in response.json()["error"]["message"]
    assert name not in {project["name"] for project in server.client.get("/projects").json()["projects"]}
    made = server.client.post("/projects", json={"name": name}).json()
    changed = server.client.patch(f"/projects/{made['id']}", json={"chunking": chunking})
    assert changed.status_code == 422
    assert server.client.get(f"/projects/{made['id']}").json()["settings"] == {}


async def test_unknown_argument_of_a_tool(server: Server) -> None:
    wrong: list[tuple[str, dict[str, Any], str]] = [
        ("search_files", {"query": "x", "topk": 3}, "`top_k`?"),
        ("list_resources", {"limit": 3}, "`limit`"),
        ("read_resource", {"resource_id": "x", "frist": 3}, "`first`?"),
        ("query_table", {"source": "x", "condition": []}, "`conditions`?"),
        ("query_table", {"source": "x", "conditions": [{"colum": "a", "comparison": "eq", "value": 1}]}, "`column`?"),
    ]
    async with connected(server) as client:
        for tool, arguments, said in wrong:
            result = await client.call(tool, arguments)
            assert result.is_error, (tool, arguments)
            assert said in result.text


def test_unknown_parameter_of_mcp(server: Server) -> None:
    body = {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}
    _refused(server.client.post("/mcp", params={"projct": "x"}, json=body), "query.projct", "project")


@pytest.mark.full
@pytest.mark.parametrize("provider", ["openai", "anthropic"])
def test_temperature_and_length_of_answers_reach_the_model(
    provider: str, tmp_path_factory: pytest.TempPathFactory
) -> None:
    model = OpenAIServer() if provider == "openai" else AnthropicServer()
    folder = tmp_path_factory.mktemp(provider) / "data"
    with serving(model.app) as address:
        theirs = (
            {
                "OPENAI_BASE_URL": f"{address}/v1",
                "OPENAI_API_KEY": OPENAI_KEY,
                "OPENAI_MODEL": "gpt-test",
                "CITEWELL_CHAT_PROFILE": "full",
            }
            if provider == "openai"
            else {"ANTHROPIC_BASE_URL": address, "ANTHROPIC_API_KEY": ANTHROPIC_KEY, "LLM_MODEL": "claude-test"}
        )
        settings = {"LLM_PROVIDER": provider, "TEMPERATURE": "0.2", "MAX_TOKENS": "1024", **theirs}
        with InProcessServer(folder, **settings) as running:
            running.add("Harbour.md", b"# Harbour\n\nThe gate closes at half past nine.\n")
            assert running.client.post("/chat", json={"message": "When does the gate close?"}).status_code == 200
    answering = [request for request in model.requests if request.get("max_tokens") == 1024]
    assert answering
    assert {request["temperature"] for request in answering} == {0.2}


def test_unknown_field_of_a_filter(server: Server) -> None:
    body = {"query": "x", "filters": [{"field": "page", "operater": "eq", "value": 1}]}
    response = server.client.post("/search", json=body)
    assert response.status_code == 422, response.text
    error = response.json()["error"]
    assert error["code"] == "invalid_filter"
    assert "'operater'" in error["message"]
    assert "`operator`" in error["message"]
