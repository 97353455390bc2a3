"""What the API's description says of places, coverage, tables and elements is what it sends: the browser's types are made from it."""

from __future__ import annotations

import uuid
from pathlib import Path
from typing import Any

import pytest
from pydantic import TypeAdapter

from citewell.features import schemas as shapes
from citewell.features.threads.schemas import MessageDetailsOut
from tests.server.running import Server


def _fits(value: Any, shape: Any, *, free: bool = False) -> None:
    """The value has the shape's types, and no keys that are not described (unless it may have others)."""
    kept = TypeAdapter(shape).validate_python(value, strict=not free)
    assert kept.keys() == value.keys()


@pytest.fixture(scope="module")
def policy(server: Server, samples: Path) -> str:
    return server.add(f"policy {uuid.uuid4().hex}.pdf", (samples / "Loan Policy.pdf").read_bytes())["id"]


@pytest.fixture(scope="module")
def shops(server: Server) -> str:
    table = "city,shops,note\n" + "".join(f"town {n},{n},\n" for n in range(30))
    return server.add(f"shops {uuid.uuid4().hex}.csv", table.encode())["id"]


def test_a_file_s_coverage_and_tables_are_as_described(server: Server, policy: str, shops: str) -> None:
    for resource_id in (policy, shops):
        resource = server.client.get(f"/resources/{resource_id}").json()
        _fits(resource["coverage"], shapes.CoverageOut)
        for unit in resource["coverage"]["units"]:
            _fits(unit, shapes.UnitCoverageOut)
        _fits(resource["extraction_metadata"], shapes.ExtractionMetadataOut, free=True)
    assert [column["dtype"] for column in resource["extraction_metadata"]["tables"][0]["columns"]]


def test_elements_chunks_and_hits_are_as_described(server: Server, policy: str, shops: str) -> None:
    for resource_id in (policy, shops):
        elements = server.client.get(f"/resources/{resource_id}/elements").json()["elements"]
        chunks = server.client.get(f"/resources/{resource_id}/chunks").json()["chunks"]
        found = {"query": "town loan", "resource_ids": [resource_id]}
        hits = server.client.post("/search", json=found).json()["hits"]
        assert all([elements, chunks, hits])
        for element in elements:
            _fits(element | {"type": shapes.ElementType(element["type"])}, shapes.ElementOut)
        for piece in (piece for chunk in chunks for piece in chunk["pieces"]):
            _fits(piece, shapes.PieceOut)
        for place in (found["locator"] for found in [*elements, *chunks, *hits]):
            _fits(place, shapes.LocatorOut)
            for box in place.get("boxes", []):
                _fits(box, shapes.BoxOut)


def test_what_a_thread_knows_of_its_messages_is_as_described(server: Server, policy: str) -> None:
    asked = {"message": "What is the maximum loan size?", "resource_ids": [policy]}
    thread = server.client.post("/chat", json=asked).json()["thread_id"]
    messages = server.client.get(f"/threads/{thread}").json()["messages"]
    assert messages[-1]["citations"]
    for message in messages:
        _fits(message["details"], MessageDetailsOut, free=True)
        assert message["details"].keys() <= MessageDetailsOut.__annotations__.keys() | {"summary"}
        _fits(message["details"]["scope"], shapes.ScopeOut)


def test_the_description_names_every_shape(server: Server) -> None:
    known = server.client.get("/openapi.json").json()["components"]["schemas"]
    assert known["CitationOut"]["properties"]["locator"]["$ref"].endswith("/LocatorOut")
    assert {"LocatorOut", "CoverageOut", "TableOut", "ColumnOut", "ElementOut", "MessageDetailsOut"} <= known.keys()
    assert "required" not in known["LocatorOut"]
