"""The workflows in `deploy/n8n/` can be imported: nodes are complete, connections join nodes, and what they call exists."""

from __future__ import annotations

import json
import re
import uuid
from pathlib import Path
from typing import Any

import pytest

from tests.check_n8n import problems
from tests.server.declared import ACCESS

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
    assert "$env" not in path.read_text(encoding="utf-8")  # n8n 2 keeps its environment from expressions


_DESCRIBED = [
    {
        "name": "call",
        "version": [1, 2],
        "properties": [
            {"name": "url", "type": "string", "required": True},
            {"name": "method", "type": "options", "default": "GET", "options": [{"value": "GET"}, {"value": "POST"}]},
            {"name": "body", "type": "json", "displayOptions": {"show": {"method": ["POST"]}}},
            {"name": "mode", "type": "string", "displayOptions": {"show": {"@version": [{"_cnd": {"gte": 2}}]}}},
            {
                "name": "headers",
                "type": "fixedCollection",
                "options": [{"name": "parameters", "values": [{"name": "name", "type": "string"}]}],
            },
        ],
    }
]


@pytest.mark.parametrize(
    ("version", "parameters", "found"),
    [
        (1, {"url": "x", "method": "POST", "body": "{}"}, []),
        (1, {"url": "x", "headers": {"parameters": [{"name": "a"}]}}, []),
        (2, {"url": "x", "mode": "y"}, []),
        (3, {"url": "x"}, ["A: there is no call of version 3"]),
        (1, {"url": "x", "body": "{}"}, ["A: body is no parameter here"]),
        (1, {"url": "x", "mode": "y"}, ["A: mode is no parameter here"]),
        (1, {"method": "PUT"}, ["A: method cannot be 'PUT'", "A: url is required"]),
        (
            1,
            {"url": "x", "headers": {"parameters": [{"key": "a"}]}},
            ["A: headers.parameters.key is no parameter here"],
        ),
        (1, {"url": "x", "headers": {"values": []}}, ["A: headers.values is no group here"]),
    ],
)
def test_the_check_against_n8ns_descriptions_finds_what_n8n_would_not_know(
    version: int, parameters: dict[str, Any], found: list[str]
) -> None:
    node = {"name": "A", "type": "n8n-nodes-base.call", "typeVersion": version, "parameters": parameters}
    assert problems({"nodes": [node]}, _DESCRIBED) == found
