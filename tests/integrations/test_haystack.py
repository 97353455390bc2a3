"""Haystack's component over a real data folder."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import haystack
import pytest

from citewell import Citewell
from citewell.errors import InvalidFilter

RECORDS = [
    {"id": "hours", "title": "Hours", "text": "The harbour office opens at eight.", "metadata": {"place": "office", "year": 2024}},
    {"id": "birds", "title": "Birds", "text": "Forty-two seagulls nest on the pier.", "metadata": {"place": "pier", "year": 2025}},
    {"id": "crane", "title": "Crane", "text": "The crane was painted blue.", "metadata": {"place": "pier", "year": 2021}},
]  # fmt: skip
QUESTION = "What about the harbour office, the seagulls and the crane?"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("conformance")
    with Citewell(path) as cw:
        cw.add_texts(RECORDS)
    return path


@pytest.fixture(scope="module")
def opened(folder: Path) -> Iterator[Citewell]:
    with Citewell(folder) as cw:
        yield cw


def _retriever(data: Any, **parameters: Any) -> Any:
    from citewell.integrations.haystack import CitewellRetriever

    return CitewellRetriever(data, **parameters)


async def test_haystacks_component_returns_documents_with_their_source(opened: Citewell) -> None:
    component = _retriever(opened, top_k=2)
    found = component.run("How many seagulls are there?")["documents"]
    assert found[0].content == "Forty-two seagulls nest on the pier."
    assert found[0].meta["record_id"] == "birds"
    assert len(found) <= 2
    assert [one.id for one in (await component.run_async("How many seagulls are there?"))["documents"]] == [
        one.id for one in found
    ]


def test_it_runs_in_a_pipeline_and_survives_being_written_down(folder: Path, opened: Citewell) -> None:
    opened.close()
    pipeline = haystack.Pipeline()
    pipeline.add_component("retriever", _retriever(str(folder), top_k=1))
    again = haystack.Pipeline.loads(pipeline.dumps(), allowed_modules=["citewell.integrations.haystack"])
    try:
        (found,) = again.run({"retriever": {"query": "When does the office open?"}})["retriever"]["documents"]
        assert found.meta["record_id"] == "hours"
    finally:
        retriever: Any = again.get_component("retriever")
        retriever.close()


@pytest.mark.parametrize(
    ("filters", "expected"),
    [
        ({"field": "meta.metadata.place", "operator": "==", "value": "pier"}, {"birds", "crane"}),
        ({"field": "meta.metadata.year", "operator": ">=", "value": 2024}, {"birds", "hours"}),
        (
            {
                "operator": "AND",
                "conditions": [
                    {"field": "meta.metadata.place", "operator": "==", "value": "pier"},
                    {"field": "meta.metadata.year", "operator": "<", "value": 2024},
                ],
            },
            {"crane"},
        ),
        (
            {"operator": "NOT", "conditions": [{"field": "meta.metadata.place", "operator": "==", "value": "pier"}]},
            {"hours"},
        ),
        ({"field": "meta.metadata.place", "operator": "in", "value": ["office"]}, {"hours"}),
    ],
)
def test_haystacks_filters_narrow_the_search(folder: Path, filters: dict[str, Any], expected: set[str]) -> None:
    component = _retriever(str(folder))
    try:
        found = component.run(QUESTION, filters=filters)["documents"]
        assert {one.meta["record_id"] for one in found} == expected
        with pytest.raises(InvalidFilter):
            component.run(QUESTION, filters={"field": "meta.filename", "operator": "~", "value": "x"})
    finally:
        component.close()


def test_a_component_of_an_open_folder_is_not_written_down(folder: Path) -> None:
    with Citewell(folder) as cw, pytest.raises(ValueError, match="Give the data folder's path"):
        _retriever(cw).to_dict()
