"""Lists that are asked for again and again: small whatever the files contain, and the same files in the same order."""

from __future__ import annotations

import uuid
from pathlib import Path
from typing import Any

import pytest

from tests.server.running import Server


@pytest.fixture(scope="module")
def files(server: Server, samples: Path) -> list[dict[str, Any]]:
    """A PDF of several pages, a table, and a text without units."""
    table = "city,shops\n" + "".join(f"town {n},{n}\n" for n in range(300))
    return [
        server.add(f"policy {uuid.uuid4().hex}.pdf", (samples / "Loan Policy.pdf").read_bytes()),
        server.add(f"shops {uuid.uuid4().hex}.csv", table.encode()),
        server.add(f"note {uuid.uuid4().hex}.txt", uuid.uuid4().hex.encode()),
    ]


def _listed(server: Server, **query: Any) -> dict[str, dict[str, Any]]:
    answer = server.client.get("/resources", params={"limit": 1000, **query})
    assert answer.status_code == 200, answer.text
    return {resource["id"]: resource for resource in answer.json()["resources"]}


@pytest.mark.full
def test_a_summary_says_the_same_but_for_what_grows(server: Server, files: list[dict[str, Any]]) -> None:
    ids = [file["id"] for file in files]
    whole, brief = _listed(server, id=ids), _listed(server, id=ids, fields="summary")
    assert list(whole) == list(brief)
    for resource_id, resource in whole.items():
        left_out = {"extraction_metadata": {}, "summary": None, "coverage": brief[resource_id]["coverage"]}
        assert brief[resource_id] == resource | left_out


def test_a_summary_counts_pages(server: Server, files: list[dict[str, Any]]) -> None:
    policy = server.client.get(f"/resources/{files[0]['id']}").json()
    brief = _listed(server, id=files[0]["id"], fields="summary")[files[0]["id"]]
    assert brief["coverage"] == {"unit": "page", "unit_count": len(policy["coverage"]["units"])}


def test_summaries_come_page_by_page(server: Server, files: list[dict[str, Any]]) -> None:
    params: dict[str, Any] = {"fields": "summary", "limit": 2, "id": [file["id"] for file in files]}
    first = server.client.get("/resources", params=params).json()
    second = server.client.get("/resources", params=params | {"cursor": first["next_cursor"]}).json()
    assert [r["id"] for r in first["resources"] + second["resources"]] == [file["id"] for file in reversed(files)]
    assert second["next_cursor"] is None


def test_only_the_files_asked_for_are_listed(server: Server, files: list[dict[str, Any]]) -> None:
    assert list(_listed(server, id=files[1]["id"])) == [files[1]["id"]]
    assert _listed(server, id=str(uuid.uuid4())) == {}
    too_many = server.client.get("/resources", params={"id": [str(n) for n in range(201)]})
    assert too_many.status_code == 422
