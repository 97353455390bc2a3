"""`server.json`, by which MCP's registry knows this package, says the same as the package."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


def test_the_registry_entry_agrees_with_the_package_and_the_readme() -> None:
    entry = json.loads((ROOT / "server.json").read_text(encoding="utf-8"))
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    (package,) = entry["packages"]
    assert {entry["version"], package["version"]} == {project["version"]}
    assert package["identifier"] == project["name"]
    # The registry's two limits, and the mark by which it knows that a package on PyPI agrees.
    assert len(entry["description"]) <= 100
    assert f"mcp-name: {entry['name']}" in (ROOT / "README.md").read_text(encoding="utf-8")
    assert package["packageArguments"][0]["value"] == "mcp"
