"""Facets and filtered lists over HTTP and in Python."""

from __future__ import annotations

import json
import uuid
from pathlib import Path
from typing import Any

import pytest

from citewell import AsyncCitewell, InvalidFilter
from tests.server.running import Server


@pytest.fixture(scope="module")
def project(server: Server) -> str:
    """A project of three described files."""
    name = f"frames {uuid.uuid4().hex[:8]}"
    for number, camera in enumerate(("Leica", "leica", "Canon")):
        text = f"The red car {uuid.uuid4().hex} stands in the harbour.".encode()
        said = json.dumps({"camera": camera, "iso": 100 * (number + 1), "taken": f"2025-0{number + 1}-15"})
        server.add(f"f{number}.txt", text, project=name, metadata=said)
    return name


def _facets(server: Server, **query: Any) -> dict[str, Any]:
    answer = server.client.get("/resources/facets", params=query).json()
    return {"files": answer["files"]} | {facet["field"]: facet for facet in answer["facets"]}


def test_facets_of_a_project_have_values_with_counts(server: Server, project: str) -> None:
    found = _facets(server, project=project)
    assert found["files"] == 3
    camera = found["metadata.camera"]
    assert [one["files"] for one in camera["values"]] == [2, 1]
    assert (camera["type"], camera["files"], camera["distinct"]) == ("text", 3, 2)
    assert (found["metadata.iso"]["min"], found["metadata.iso"]["max"]) == (100, 300)
    assert found["metadata.taken"]["values"][0] == {"value": "2025-03", "files": 1}
    assert found["project"]["values"] == [{"value": project, "files": 3}]
    years = _facets(server, project=project, dates="year", values=1)
    assert years["metadata.taken"]["values"] == [{"value": "2025", "files": 3}]


def test_a_filter_narrows_the_list_and_its_facets(server: Server, project: str) -> None:
    said = json.dumps(
        {
            "all": [
                {"field": "metadata.camera", "value": "LEICA"},
                {"field": "metadata.iso", "operator": "gt", "value": 100},
            ]
        }
    )
    for fields in ("all", "summary"):
        page = server.client.get("/resources", params={"project": project, "filters": said, "fields": fields}).json()
        assert [one["filename"] for one in page["resources"]] == ["f1.txt"]
    assert _facets(server, project=project, filters=said)["files"] == 1


@pytest.mark.parametrize(
    ("filters", "says"),
    [
        ("[", "must be JSON"),
        ('[{"field": "page", "value": 1}]', "passage field"),
        ('[{"field": "colour", "value": "red"}]', "cannot be filtered"),
        ('[{"field": "metadata.lens", "value": "x"}]', "No file has the metadata key"),
        ('[{"field": "metadata.iso", "value": "fast"}]', "holds values of type number"),
    ],
)
def test_a_filter_that_is_not_allowed_is_refused(server: Server, project: str, filters: str, says: str) -> None:
    for address in ("/resources", "/resources/facets"):
        answer = server.client.get(address, params={"filters": filters})
        assert (answer.status_code, answer.json()["error"]["code"]) == (422, "invalid_filter")
        assert says in answer.json()["error"]["message"]


def test_the_number_of_values_is_bounded_and_the_name_of_the_address_is_no_identifier(server: Server) -> None:
    assert server.client.get("/resources/facets", params={"values": 201}).status_code == 400
    answer = server.upload("a.txt", b"A text.", identifier="facets")
    assert (answer.status_code, answer.json()["error"]["details"]) == (422, {"key": "identifier"})


async def test_python_has_the_same_facets_and_lists(tmp_path: Path) -> None:
    async with AsyncCitewell(tmp_path / "data") as cw:
        await cw.add_texts(
            [{"id": f"r{n}", "text": f"Note {n}.", "metadata": {"stars": n, "kept": n > 1}} for n in range(3)]
        )
        found = await cw.facets(conditions=[{"field": "metadata.stars", "operator": "gte", "value": 1}])
        facets = {facet.field: facet for facet in found.fields}
        assert (found.files, facets["metadata.stars"].least) == (2, 1)
        assert {one.value: one.files for one in facets["metadata.kept"].values} == {True: 1, False: 1}
        listed = [one.record_id async for one in cw.resources({"field": "metadata.kept", "value": True})]
        assert listed == ["r2"]
        with pytest.raises(InvalidFilter):
            await cw.facets(conditions=[{"field": "metadata.none", "value": 1}])


def test_a_question_draws_on_the_files_that_its_filters_admit(server: Server, project: str) -> None:
    said = [{"field": "metadata.camera", "operator": "eq", "value": "canon"}]
    asked = {"message": "Where does the red car stand?", "project": project, "filters": said}
    answer = server.client.post("/chat", json=asked).json()
    assert {one["filename"] for one in answer["citations"]} == {"f2.txt"}
    thread = server.client.get(f"/threads/{answer['thread_id']}").json()
    assert thread["messages"][0]["details"]["scope"]["filters"] == said
    assert "resource_ids" not in thread["messages"][0]["details"]["scope"]
    again = server.client.post("/chat", json=asked | {"thread_id": answer["thread_id"]}).json()
    assert {one["filename"] for one in again["citations"]} == {"f2.txt"}
    tagged = [one["id"] for one in server.client.get("/resources", params={"project": project}).json()["resources"]]
    for ids in ([], [one for one in tagged if one != answer["citations"][0]["resource_id"]]):
        none = server.client.post("/chat", json=asked | {"resource_ids": ids}).json()
        assert (none["answered"], none["citations"]) == (False, [])


@pytest.mark.parametrize("filters", [[{"field": "page", "value": 1}], [{"field": "metadata.lens", "value": "x"}], "x"])
def test_a_question_with_a_filter_that_is_not_allowed_is_refused(server: Server, filters: object) -> None:
    answer = server.client.post("/chat", json={"message": "Where does the car stand?", "filters": filters})
    assert (answer.status_code, answer.json()["error"]["code"]) == (422, "invalid_filter")
