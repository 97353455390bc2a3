"""What doctor says of a configuration without asking anybody."""

from __future__ import annotations

from pathlib import Path

import pytest

from citewell.examination import key_in_the_open
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
