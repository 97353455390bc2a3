"""What doctor says of a configuration without asking anybody."""

from __future__ import annotations

from pathlib import Path

import pytest

from citewell.doctor.examination import faults_of_python, key_in_the_open, without_chat_model
from citewell.settings import load_settings


@pytest.mark.parametrize(
    ("address", "key", "is_noted"),
    [
        ("http://qdrant.example:6333", "k", True),
        ("https://qdrant.example:6333", "k", False),
        ("http://127.0.0.1:6333", "k", False),
        ("http://qdrant.example:6333", None, False),
    ],
)
def test_a_key_of_qdrant_over_plain_http_is_noted(
    tmp_path: Path, address: str, key: str | None, is_noted: bool
) -> None:
    settings = load_settings(data=tmp_path, vector_store="qdrant", qdrant_url=address, qdrant_api_key=key)
    found = key_in_the_open(settings)
    assert [(one.level, "https" in one.advice) for one in found] == ([("note", True)] if is_noted else [])


@pytest.mark.parametrize(
    ("version", "sound"),
    [((3, 11, 7), "3.11.14"), ((3, 11, 14), None), ((3, 12, 3), "3.12.12"), ((3, 13, 8), None), ((3, 14, 0), None)],
)
def test_a_python_with_known_faults_is_noted(version: tuple[int, int, int], sound: str | None) -> None:
    assert [sound is not None and sound in text for text in faults_of_python(version)] == (
        [] if sound is None else [True]
    )


def test_what_searches_are_to_have_of_a_chat_model_is_noted_where_there_is_none(tmp_path: Path) -> None:
    wanted = {"data": tmp_path, "self_query": "model", "query_variations": 2}
    assert [one.text for one in without_chat_model(load_settings(**wanted))] == [
        "`self_query` (CITEWELL_SELF_QUERY) is 'model', and no chat model is configured: rules read the filters of a query",
        "`query_variations` (CITEWELL_QUERY_VARIATIONS) is 2, and no chat model is configured: no variations of a query are searched",
    ]
    assert without_chat_model(load_settings(data=tmp_path)) == []
    assert without_chat_model(load_settings(**wanted, chat_provider="openai", openai_api_key="k")) == []
