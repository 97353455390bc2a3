"""`POST /search` with everything it can be asked: filters, passages, reranking, and what it refuses."""

from __future__ import annotations

import json
import uuid
from pathlib import Path
from typing import Any

import httpx
import pytest

from citewell.features.search.schemas import SearchOut
from tests.server.in_process import InProcessServer
from tests.server.running import Server

pytestmark = pytest.mark.slow(20)

_HEADINGS = ("Berths", "Quiet", "Waste", "Water", "Power", "Guests", "Children", "Dogs")


@pytest.fixture(scope="module")
def handbook(server: Server) -> dict[str, Any]:
    """A file of several chunks that belongs to this module."""
    mark = uuid.uuid4().hex[:8]
    text = "\n\n".join(
        f"# {heading}\n\n" + f"The harbour of {mark} has a rule on {heading.lower()}. " * 12 for heading in _HEADINGS
    )
    resource = server.add(f"Handbook {mark}.md", text.encode())
    assert resource["chunk_count"] >= 4
    return resource


def _search(server: Server, query: str, **body: object) -> httpx.Response:
    return server.client.post("/search", json={"query": query, **body})


def test_filters_narrow_to_a_file(server: Server, handbook: dict[str, Any]) -> None:
    own = {"field": "filename", "value": handbook["filename"].upper()}
    hits = _search(server, "rule on dogs", filters=[own]).json()["hits"]
    assert hits
    assert {hit["filename"] for hit in hits} == {handbook["filename"]}
    nothing = {"field": "filename", "operator": "in", "value": ["no such file.md"]}
    assert _search(server, "rule on dogs", filters=[own, nothing]).json()["hits"] == []


@pytest.mark.parametrize(
    "hostile",
    [
        {"field": "owner_id", "value": "somebody"},
        {"field": "filename' OR '1'='1", "value": "x"},
        {"field": "page", "operator": "gte", "value": "1; DROP TABLE chunks"},
        {"field": "page", "operator": "eq", "value": 1.5},
        {"field": "filename", "operator": "gte", "value": "a"},
        {"field": "filename", "operator": "eq", "value": "\x00"},
        {"field": "filename", "operator": "in", "value": []},
        {"field": "filename", "operator": "eq", "value": ["a", "b"]},
    ],
)
def test_a_hostile_filter_is_an_error(server: Server, hostile: dict[str, Any]) -> None:
    response = _search(server, "rule", filters=[hostile])
    assert response.status_code == 422, response.text
    assert response.json()["error"]["code"] == "invalid_filter"


@pytest.mark.parametrize(
    "hostile",
    [
        {"field": "page", "operator": "$where", "value": 1},
        {"field": "page", "operator": "eq", "value": {"$gt": 0}},
        {"field": {"a": 1}, "operator": "eq", "value": 1},
        {"value": 1},
    ],
)
def test_what_is_no_filter_at_all_is_an_error(server: Server, hostile: dict[str, Any]) -> None:
    response = _search(server, "rule", filters=[hostile])
    assert response.status_code == 422, response.text
    assert response.json()["error"]["code"] == "invalid_filter"


def test_neighbours_come_as_passages(server: Server, handbook: dict[str, Any]) -> None:
    scope = {"resource_ids": [handbook["id"]], "top_k": 1}
    plain = _search(server, "rule on waste", **scope).json()
    assert "passages" not in plain
    wide = _search(server, "rule on waste", neighbours=1, **scope).json()
    (passage,) = wide["passages"]
    assert wide["hits"] == plain["hits"]
    assert passage["hit_ids"] == [plain["hits"][0]["chunk_id"]]
    assert len(passage["chunk_ids"]) in (2, 3)
    assert plain["hits"][0]["text"] in passage["text"]
    assert len(passage["text"]) > len(plain["hits"][0]["text"])


def test_reranking_waits_to_be_asked(server: Server, handbook: dict[str, Any]) -> None:
    scope = {"resource_ids": [handbook["id"]]}
    assert all("rerank" not in hit["scores"] for hit in _search(server, "dogs", **scope).json()["hits"])
    assert all("rerank" in hit["scores"] for hit in _search(server, "dogs", rerank=True, **scope).json()["hits"])


def test_a_hit_keeps_its_cosine_and_what_the_reranker_gave_it(server: Server, handbook: dict[str, Any]) -> None:
    scope = {"resource_ids": [handbook["id"]], "top_k": 4}
    for hit in _search(server, "dogs", rerank=True, rerank_candidates=4, **scope).json()["hits"]:
        assert (hit.get("vector_score"), hit["rerank_score"]) == (hit["scores"].get("dense"), hit["scores"]["rerank"])
    assert all("rerank_score" not in hit for hit in _search(server, "dogs", **scope).json()["hits"])


def test_reranking_can_be_set_by_each_request(server: Server, handbook: dict[str, Any]) -> None:
    scope = {"resource_ids": [handbook["id"]]}
    found = _search(server, "dogs", rerank=True, rerank_candidates=4, rerank_top_n=2, debug=True, **scope).json()
    assert (len(found["hits"]), len(found["trace"]["details"]["rerank"]["before"])) == (2, 4)
    assert _search(server, "dogs", rerank=True, rerank_threshold=5, **scope).json()["hits"] == []
    body = {"message": "What is the rule on dogs?", "debug": True, **scope}
    answer = server.client.post("/chat", json={**body, "rerank": True, "rerank_top_n": 2}).json()
    assert len(answer["trace"]["searches"][0]["hits"]) == 2
    for url, sent in (("/search", {"query": "dogs"}), ("/chat", {"message": "dogs?"})):
        assert server.client.post(url, json={**sent, "rerank_top_n": 2}).status_code == 400
        assert server.client.post(url, json={**sent, "rerank": True, "rerank_candidates": 0}).status_code == 400


@pytest.mark.full
def test_a_search_that_does_not_say_how_many_gives_as_many_as_configured(tmp_path: Path) -> None:
    with InProcessServer(tmp_path / "data", RETRIEVAL_TOP_K="3", RERANK_CANDIDATES="7", RERANK_TOP_N="2") as server:
        rows = "\n".join(f"{n},harbour master {n} of the quay" for n in range(80))
        server.add("masters.csv", f"n,who\n{rows}\n".encode())
        assert len(_search(server, "harbour master").json()["hits"]) == 3
        assert len(_search(server, "harbour master", top_k=5).json()["hits"]) == 5
        reranked = _search(server, "harbour master", rerank=True, debug=True).json()
        shown = reranked["trace"]["details"]["rerank"]
        assert len(shown["before"]) == len(shown["after"]) == 7
        assert all(item["text"] for item in shown["before"] + shown["after"])
        assert [hit["chunk_id"] for hit in reranked["hits"]] == [item["chunk_id"] for item in shown["after"][:2]]


@pytest.mark.full
def test_an_answer_is_reranked_when_its_request_says_so(server: Server, handbook: dict[str, Any]) -> None:
    body = {"message": "What is the rule on dogs?", "resource_ids": [handbook["id"]], "debug": True}
    url = "/chat"
    plain = server.client.post(url, json=body).json()["trace"]["searches"][0]
    assert "rerank" not in plain["details"]
    assert all(hit["text"] for hit in plain["hits"])
    streamed = server.client.post(url, json={**body, "rerank": True, "stream": True}).text.splitlines()
    for answer in (server.client.post(url, json={**body, "rerank": True}).json(), json.loads(streamed[-1])["done"]):
        (found,) = answer["trace"]["searches"]
        assert len(found["details"]["rerank"]["before"]) == len(found["details"]["rerank"]["after"]) >= 4
        assert [hit["chunk_id"] for hit in found["hits"]] == [
            item["chunk_id"] for item in found["details"]["rerank"]["after"][: len(found["hits"])]
        ]
        assert all("rerank" in hit["scores"] for hit in found["hits"])


def test_reranking_without_a_reranker_is_an_error_in_answers_too(tmp_path: Path) -> None:
    with InProcessServer(tmp_path / "data", CITEWELL_RERANK_PROVIDER="none") as server:
        for url, body in (
            ("/search", {"query": "x"}),
            ("/chat", {"message": "x"}),
            ("/chat", {"message": "x", "stream": True}),
        ):
            response = server.client.post(url, json={**body, "rerank": True})
            assert response.status_code == 400
            assert "CITEWELL_RERANK_PROVIDER" in response.json()["error"]["message"]
        assert server.client.post("/chat", json={"message": "x", "rerank": False}).status_code == 200


def test_a_small_sheet_is_found_once_and_cited_by_row(server: Server) -> None:
    mark = uuid.uuid4().hex[:8]
    rows = [("Berths", 14, "Kai"), ("Showers", 2, "Kai"), ("Cranes", 95, "Yard"), ("Slipways", 31, "Yard")]
    text = "Service,Crowns,Place\n" + "".join(f"{name} {mark},{price},{place}\n" for name, price, place in rows)
    sheet = server.add(f"prices {mark}.csv", text.encode())
    scope = {"resource_ids": [sheet["id"]]}
    hits = _search(server, f"Cranes {mark}", **scope).json()["hits"]
    assert sum(f"Cranes {mark}" in hit["text"] for hit in hits) == 1
    assert [hit["type"] for hit in hits].count("table") == 1
    for row in (2, 4):
        found = _search(server, "Crowns", filters=[{"field": "row", "value": row}], **scope).json()["hits"]
        assert [hit["type"] for hit in found] == ["table"]
    for question, crowns, row in (
        (f"How many crowns are Cranes {mark}?", "95", 4),
        ("Which service has the most crowns?", "95", 4),
    ):
        answer = server.client.post("/chat", json={"message": question, **scope}).json()
        assert crowns in answer["answer"]
        assert answer["citations"][0]["locator"]["row"] == row
        assert answer["citations"][0]["label"].endswith(f"(Row {row})")


def test_nonsense_keeps_nothing_above_a_score_threshold(tmp_path: Path) -> None:
    environment = {"SCORE_THRESHOLD": "0.3", "CITEWELL_FUSION": "rrf"}
    with InProcessServer(tmp_path / "data", **environment) as server:
        text = "\n\n".join(f"# {h}\n\n" + f"The harbour has a rule on {h.lower()}. " * 12 for h in _HEADINGS)
        server.add("Handbook.md", text.encode())
        assert _search(server, "flibbertigibbet zxqv wug").json()["hits"] == []
        hits = _search(server, "rule on dogs in the harbour").json()["hits"]
        assert len(hits) >= 4
        assert all(hit["scores"]["dense"] >= 0.3 for hit in hits)


@pytest.mark.parametrize(
    "wrong",
    [{"diversity": 2}, {"near_duplicate": -1}, {"variations": 2}, {"neighbours": 11}, {"self_query": "model"}],
)
def test_an_option_out_of_bounds_is_an_error(server: Server, wrong: dict[str, Any]) -> None:
    response = _search(server, "rule", **wrong)
    assert response.status_code == 400, response.text
    assert next(iter(wrong)) in response.json()["error"]["message"]


@pytest.mark.parametrize("name", ["top_k", "neighbours", "variations", "diversity", "vector_threshold", "rerank_top_n"])
def test_true_is_no_number(server: Server, name: str) -> None:
    response = _search(server, "rule", **{name: True})
    assert response.status_code == 422, response.text
    (field,) = response.json()["error"]["details"]["fields"]
    assert field == {"field": f"body.{name}", "problem": "Value error, must be a number, not true or false"}


def test_dates_and_tags_of_a_file_can_be_filtered_by(server: Server, handbook: dict[str, Any]) -> None:
    dated = [{"field": "date", "operator": "gte", "value": 19000101}]
    found = _search(server, "rule", filters=dated, resource_ids=[handbook["id"]])
    assert found.status_code == 200
    assert found.json()["hits"] == []


def test_answers_have_the_documented_form(server: Server, handbook: dict[str, Any]) -> None:
    body = _search(server, "rule on power", resource_ids=[handbook["id"]], neighbours=1, debug=True).json()
    assert SearchOut.model_validate(body).model_dump(mode="json", exclude_none=True) == body


def test_searches_are_counted_by_route_and_status(server: Server) -> None:
    def counted(status: int) -> float:
        label = f'method="POST",route="/search",status="{status}"'
        lines = server.client.get("/metrics").text.splitlines()
        return sum(float(line.split()[-1]) for line in lines if "_total{" in line and label in line)

    before = counted(200), counted(400)
    _search(server, "rule")
    _search(server, "")
    assert (counted(200), counted(400)) == (before[0] + 1, before[1] + 1)


def test_files_are_counted_by_status_and_indexes_by_their_bytes(server: Server, handbook: dict[str, Any]) -> None:
    def figures() -> dict[str, float]:
        lines = server.client.get("/metrics").text.splitlines()
        return {name: float(value) for name, value in (line.rsplit(" ", 1) for line in lines if line[0] != "#")}

    before = figures()
    assert before[f'citewell_resources{{status="{handbook["status"]}"}}'] >= 1
    assert before['citewell_index_bytes{store="edge"}'] > 100_000
    assert before["citewell_index_points"] >= handbook["chunk_count"]
    assert before["citewell_disk_free_bytes"] > 0
    assert server.add("broken.pdf", b"%PDF-1.7 and nothing else")["status"] == "failed"
    assert figures()['citewell_resources{status="failed"}'] == before['citewell_resources{status="failed"}'] + 1


def test_what_a_query_says_of_the_files_is_a_filter_until_it_is_taken_off(
    server: Server, handbook: dict[str, Any]
) -> None:
    name = handbook["filename"]
    found = _search(server, f"what does {name} say about dogs?").json()
    assert found["inferred_filters"] == [
        {
            "id": "filename",
            "label": f"file: {name}",
            "words": found["inferred_filters"][0]["words"],
            "filter": {"field": "filename", "operator": "in", "value": [name]},
            "applied": True,
        }
    ]
    again = _search(server, "dogs", filters=[found["inferred_filters"][0]["filter"]]).json()
    assert {hit["filename"] for hit in again["hits"]} == {name}
    for off in (["filename"], True):
        assert _search(server, f"what does {name} say?", ignore_inferred=off).json()["inferred_filters"] == []
