"""`POST /search` with everything it can be asked: filters, passages, reranking, and what it refuses."""

from __future__ import annotations

import uuid
from typing import Any

import httpx
import pytest

from citewell.features.search.schemas import SearchOut
from tests.server.running import RunningServer

_HEADINGS = ("Berths", "Quiet", "Waste", "Water", "Power", "Guests", "Children", "Dogs")


@pytest.fixture(scope="module")
def handbook(server: RunningServer) -> dict[str, Any]:
    """A file of several chunks that belongs to this module."""
    mark = uuid.uuid4().hex[:8]
    text = "\n\n".join(
        f"# {heading}\n\n" + f"The harbour of {mark} has a rule on {heading.lower()}. " * 12 for heading in _HEADINGS
    )
    resource = server.add(f"Handbook {mark}.md", text.encode())
    assert resource["chunk_count"] >= 4
    return resource


def _search(server: RunningServer, query: str, **body: object) -> httpx.Response:
    return server.client.post("/search", json={"query": query, **body})


def test_filters_narrow_to_a_file(server: RunningServer, handbook: dict[str, Any]) -> None:
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
def test_a_hostile_filter_is_an_error(server: RunningServer, hostile: dict[str, Any]) -> None:
    response = _search(server, "rule", filters=[hostile])
    assert response.status_code == 400, response.text
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
def test_what_is_no_filter_at_all_is_an_invalid_request(server: RunningServer, hostile: dict[str, Any]) -> None:
    response = _search(server, "rule", filters=[hostile])
    assert response.status_code == 422, response.text
    assert response.json()["error"]["code"] == "invalid_request"


def test_neighbours_come_as_passages(server: RunningServer, handbook: dict[str, Any]) -> None:
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


def test_reranking_waits_to_be_asked(server: RunningServer, handbook: dict[str, Any]) -> None:
    scope = {"resource_ids": [handbook["id"]]}
    assert all("rerank" not in hit["scores"] for hit in _search(server, "dogs", **scope).json()["hits"])
    assert all("rerank" in hit["scores"] for hit in _search(server, "dogs", rerank=True, **scope).json()["hits"])


@pytest.mark.parametrize("wrong", [{"diversity": 2}, {"near_duplicate": -1}, {"variations": 2}, {"neighbours": 11}])
def test_an_option_out_of_bounds_is_an_error(server: RunningServer, wrong: dict[str, Any]) -> None:
    response = _search(server, "rule", **wrong)
    assert response.status_code == 400, response.text
    assert next(iter(wrong)) in response.json()["error"]["message"]


def test_dates_and_tags_of_a_file_can_be_filtered_by(server: RunningServer, handbook: dict[str, Any]) -> None:
    dated = [{"field": "date", "operator": "gte", "value": 19000101}]
    found = _search(server, "rule", filters=dated, resource_ids=[handbook["id"]])
    assert found.status_code == 200
    assert found.json()["hits"] == []


def test_answers_have_the_documented_form(server: RunningServer, handbook: dict[str, Any]) -> None:
    body = _search(server, "rule on power", resource_ids=[handbook["id"]], neighbours=1, debug=True).json()
    assert SearchOut.model_validate(body).model_dump(mode="json", exclude_none=True) == body


def test_searches_are_counted_by_route_and_status(server: RunningServer) -> None:
    def counted(status: int) -> float:
        label = f'method="POST",route="/search",status="{status}"'
        lines = server.client.get("/metrics").text.splitlines()
        return sum(float(line.split()[-1]) for line in lines if "_total{" in line and label in line)

    before = counted(200), counted(400)
    _search(server, "rule")
    _search(server, "")
    assert (counted(200), counted(400)) == (before[0] + 1, before[1] + 1)
