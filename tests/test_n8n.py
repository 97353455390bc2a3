"""The workflows in `deploy/n8n/` can be imported: nodes are complete, connections join nodes, and what they call exists."""

from __future__ import annotations

import json
import re
import uuid
from pathlib import Path
from typing import Any

import pytest

from citewell.features.access import ACCESS

FLOWS = sorted((Path(__file__).resolve().parent.parent / "deploy/n8n").glob("*.json"))


def test_there_is_a_workflow_for_each_trigger() -> None:
    assert [path.stem for path in FLOWS] == ["chunk", "fetch", "result"]


@pytest.mark.parametrize("path", FLOWS, ids=lambda path: path.stem)
def test_a_workflow_is_whole_and_calls_its_trigger(path: Path) -> None:
    flow: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    nodes = {node["name"]: node for node in flow["nodes"]}
    assert len(nodes) == len(flow["nodes"]) == len({node["id"] for node in flow["nodes"]})
    for node in flow["nodes"]:
        assert uuid.UUID(node["id"])
        assert node["type"].startswith("n8n-nodes-base.")
        assert {"parameters", "typeVersion", "position"} <= node.keys()
    reached = {
        end["node"]
        for by in flow["connections"].values()
        for ends in by["main"]
        for end in ends
        if end["type"] == "main"
    }
    assert set(flow["connections"]) <= set(nodes)
    assert reached == set(nodes) - {flow["nodes"][0]["name"]}
    call = nodes[f"Citewell: {path.stem}"]["parameters"]
    address = re.search(r"/webhooks/incoming/[\w-]+/\w+", call["url"])
    assert address is not None
    assert (call["method"], address[0].replace("REPLACE-WITH-ID", "{trigger_id}")) in ACCESS
    assert call["headerParameters"]["parameters"][0]["name"] == "Idempotency-Key"
    assert flow["active"] is False
    assert "trg_" not in path.read_text(encoding="utf-8")
