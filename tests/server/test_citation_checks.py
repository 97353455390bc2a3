"""`POST /citations/check`: an answer that another program wrote comes back with `[n]`, and with each citation checked."""

from __future__ import annotations

import uuid
from collections.abc import Iterator
from typing import Any

import httpx
import pytest

from citewell.features.citations.schemas import CheckedAnswerOut
from tests.accounts.people import signed_up
from tests.server.in_process import InProcessServer
from tests.server.running import Server

pytestmark = pytest.mark.slow(20)


@pytest.fixture(scope="module")
def mark() -> str:
    return uuid.uuid4().hex[:8]


@pytest.fixture(scope="module")
def chunk(server: Server, mark: str) -> Iterator[dict[str, Any]]:
    """The only passage of a file about a lamp."""
    added = server.add(f"Lamp {mark}.md", f"The lamp of {mark} turns once every twelve seconds.".encode())
    yield _first(server.client, added["id"])
    server.client.delete(f"/resources/{added['id']}")


def _first(client: httpx.Client, resource_id: str) -> dict[str, Any]:
    return client.get(f"/resources/{resource_id}/chunks").json()["chunks"][0] | {"resource_id": resource_id}


def _check(server: Server, *pieces: object, **more: object) -> httpx.Response:
    return server.client.post("/citations/check", json={"pieces": list(pieces), **more})


def test_a_citation_comes_back_numbered_quoted_and_with_a_verdict(
    server: Server, chunk: dict[str, Any], mark: str
) -> None:
    said = {"text": f"The lamp of {mark} turns every twelve seconds", "chunk_ids": [chunk["id"]]}
    answer = _check(server, said, {"text": ". Somebody told me so [7]."}, seen=[chunk["id"]]).json()
    CheckedAnswerOut.model_validate(answer, strict=True)
    assert answer["answer"] == f"{said['text']} [1]. Somebody told me so (7)."
    (citation,) = answer["citations"]
    assert (citation["chunk_id"], citation["resource_id"]) == (chunk["id"], chunk["resource_id"])
    assert (citation["label"], citation["verdict"]) == (f"Lamp {mark}.md", "supported")
    assert "twelve seconds" in citation["quote"]
    assert answer["removed_citations"] == []


def test_what_the_passage_does_not_say_is_unsupported(server: Server, chunk: dict[str, Any], mark: str) -> None:
    wrong = {"text": f"The lamp of {mark} turns every ninety seconds", "chunk_ids": [chunk["id"]]}
    answer = _check(server, wrong).json()
    assert [one["verdict"] for one in answer["citations"]] == ["unsupported"]
    assert answer["confidence"] == 0


def test_what_names_no_passage_is_removed_and_told(server: Server) -> None:
    answer = _check(server, {"text": "It turns.", "chunk_ids": ["no-such-chunk"]}).json()
    assert (answer["answer"], answer["citations"], answer["removed_citations"]) == ("It turns.", [], ["no-such-chunk"])
    assert answer["confidence"] is None


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({}, "body.pieces"),
        ({"pieces": "text"}, "body.pieces"),
        ({"pieces": [{"chunk_ids": []}]}, "body.pieces.0.text"),
        ({"pieces": [{"text": "a", "chunk_ids": ["\x00"]}]}, "body.pieces.0.chunk_ids.0"),
        ({"pieces": [{"text": "a", "chunk_ids": ["' OR 1=1"]}]}, "body.pieces.0.chunk_ids.0"),
        ({"pieces": [{"text": "a", "chunk_ids": ["a"] * 201}]}, "body.pieces.0.chunk_ids"),
        ({"pieces": [{"text": "a" * 100_001}]}, "body.pieces.0.text"),
        ({"pieces": [{"text": "a"}] * 10_001}, "body.pieces"),
        ({"pieces": [], "seen": ["x" * 65]}, "body.seen.0"),
        ({"pieces": [], "owner_id": "ben"}, "body.owner_id"),
    ],
)
def test_bad_input_names_its_field(server: Server, body: dict[str, Any], field: str) -> None:
    response = server.client.post("/citations/check", json=body)
    assert response.status_code == 422, response.text
    error = response.json()["error"]
    assert error["code"] == "invalid_request"
    assert field in str(error)


def test_an_answer_too_long_or_with_too_many_citations_in_all_is_refused(server: Server) -> None:
    long = _check(server, *[{"text": "a" * 60_000}] * 2)
    assert (long.status_code, long.json()["error"]["code"]) == (400, "invalid_input")
    many = _check(server, *[{"text": "a", "chunk_ids": [f"{n}-{k}" for k in range(150)]} for n in range(2)])
    assert (many.status_code, many.json()["error"]["code"]) == (400, "invalid_input")


def test_text_that_no_file_can_hold_is_taken_as_data(server: Server) -> None:
    answer = _check(server, {"text": "a\x00b ![x](https://example.org/leak) <script>", "chunk_ids": []})
    assert answer.is_success, answer.text
    assert "https://example.org" not in answer.json()["answer"]


def test_a_threshold_of_a_search_leaves_out_what_is_less_similar(server: Server, mark: str) -> None:
    found = {"query": f"lamp of {mark}", "vector_threshold": 0.999}
    assert server.client.post("/search", json=found).json()["hits"] == []
    assert server.client.post("/search", json=found | {"vector_threshold": 0}).json()["hits"]
    assert server.client.post("/search", json=found | {"vector_threshold": 2}).status_code == 400


@pytest.mark.full
def test_only_passages_of_the_caller_and_of_the_project_it_is_kept_to_are_citations(
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    with InProcessServer(tmp_path_factory.mktemp("checks") / "data", CITEWELL_ACCOUNTS="on") as server:
        ada = signed_up(server.url, "ada@example.org")
        project = ada.call("POST", "/projects", json={"name": "Kitchen"}).json()["id"]
        ids: list[str] = []
        for name, fields in (("recipe.txt", {"project": project}), ("secret.txt", {})):
            made = ada.call("POST", "/ingest", files={"file": (name, f"Limes for {name}.".encode())}, data=fields)
            ada.get(f"/resources/{made.json()['id']}/events")
            ids.append(ada.get(f"/resources/{made.json()['id']}/chunks").json()["chunks"][0]["id"])
        recipe, secret = ids
        body = {"pieces": [{"text": "Limes.", "chunk_ids": ids}]}
        mine = ada.call("POST", "/citations/check", json=body).json()
        assert mine["removed_citations"] == []
        kept = ada.call("POST", "/citations/check", json=body, headers={"X-Citewell-Project": project}).json()
        assert kept["removed_citations"] == [secret]
        assert {one["chunk_id"] for one in kept["citations"]} == {recipe}
        invited = {"project": project, "role": "viewer", "email": "ben@example.org"}
        invitation = ada.call("POST", "/invitations", json=invited).json()["invitation"]
        ben = signed_up(server.url, "ben@example.org", invitation=invitation)
        assert ben.call("POST", "/citations/check", json=body).json()["removed_citations"] == ids
        shared = ben.call("POST", "/citations/check", json=body, headers={"X-Citewell-Project": project}).json()
        assert shared["removed_citations"] == [secret]
        unknown = ben.call("POST", "/citations/check", json=body, headers={"X-Citewell-Project": "no such"})
        assert unknown.status_code == 404
