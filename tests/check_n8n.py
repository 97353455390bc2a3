"""Checks the workflows in `deploy/n8n/` against n8n's own descriptions of its nodes.

    npm pack n8n-nodes-base && python -m tests.check_n8n n8n-nodes-base-2.41.2.tgz

A node's version must be there, each parameter shown by the others that are set, and each choice one that n8n offers.
"""

from __future__ import annotations

import json
import sys
import tarfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

FLOWS = sorted((Path(__file__).resolve().parent.parent / "deploy/n8n").glob("*.json"))
_DESCRIPTIONS = "package/dist/types/nodes.json"
_PACKAGE = "n8n-nodes-base."


def problems(flow: Mapping[str, Any], described: Sequence[Mapping[str, Any]]) -> list[str]:
    """What n8n would not know of a workflow's nodes; empty where it knows all."""
    return [f"{node['name']}: {one}" for node in flow["nodes"] for one in _of_node(node, described)]


def _of_node(node: Mapping[str, Any], described: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    kind, version = node["type"].removeprefix(_PACKAGE), node["typeVersion"]
    fitting = [one for one in described if one["name"] == kind and version in _several(one["version"])]
    if not fitting:
        yield f"there is no {kind} of version {version}"
        return
    (description,) = fitting
    yield from _of_values(node["parameters"], description["properties"], {"@version": version}, "")


def _of_values(
    given: Mapping[str, Any], properties: Sequence[Mapping[str, Any]], known: Mapping[str, Any], path: str
) -> Iterator[str]:
    """Problems of parameters beside each other. known: what their display may depend on besides each other."""
    values = {**known}
    for one in properties:  # a default counts where it is shown; what is set counts always
        if one["name"] not in given and _is_shown(one, {**values, **given}):
            values.setdefault(one["name"], one.get("default"))
    values |= given
    for name, value in given.items():
        shown = [one for one in properties if one["name"] == name and _is_shown(one, values)]
        if not shown:
            yield f"{path}{name} is no parameter here"
        else:
            yield from _of_value(value, shown[0], values, f"{path}{name}")
    for one in properties:
        if one.get("required") and _is_shown(one, values) and values.get(one["name"]) in (None, ""):
            yield f"{path}{one['name']} is required"


def _of_value(value: Any, described: Mapping[str, Any], values: Mapping[str, Any], path: str) -> Iterator[str]:
    options: Sequence[Mapping[str, Any]] = described.get("options", ())
    match described["type"]:
        case "options" if value not in [one["value"] for one in options]:
            yield f"{path} cannot be {value!r}"
        case "boolean" if value not in (True, False):
            yield f"{path} is no boolean"
        case "resourceLocator" if value.get("mode") not in [one["name"] for one in described["modes"]]:
            yield f"{path} has no mode {value.get('mode')!r}"
        case "collection":
            yield from _of_values(value, options, values, f"{path}.")
        case "fixedCollection":
            for name, entries in value.items():
                groups = [one["values"] for one in options if one["name"] == name]
                if not groups:
                    yield f"{path}.{name} is no group here"
                for entry in _several(entries) if groups else ():
                    yield from _of_values(entry, groups[0], {"@version": values["@version"]}, f"{path}.{name}.")
        case _:
            pass


def _is_shown(described: Mapping[str, Any], values: Mapping[str, Any]) -> bool:
    options = described.get("displayOptions", {})
    held = {
        name: _holds(values.get(name.removeprefix("/")), wanted) for name, wanted in options.get("show", {}).items()
    }
    hidden = [_holds(values.get(name.removeprefix("/")), wanted) for name, wanted in options.get("hide", {}).items()]
    return all(held.values()) and not any(hidden)


def _holds(value: Any, wanted: Sequence[Any]) -> bool:
    """Whether a value is one of those named, or fulfils one of the conditions."""
    return any(_fulfils(value, one["_cnd"]) if isinstance(one, dict) else value == one for one in wanted)


def _fulfils(value: Any, condition: Mapping[str, Any]) -> bool:
    ((kind, bound),) = condition.items()
    if value is None:
        return kind == "exists" and not bound
    compared = {
        "eq": lambda: value == bound,
        "not": lambda: value != bound,
        "gte": lambda: value >= bound,
        "lte": lambda: value <= bound,
        "gt": lambda: value > bound,
        "lt": lambda: value < bound,
        "exists": lambda: bool(bound),
    }
    return compared[kind]()


def _several(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]


def main(package: str) -> int:
    """Print what is wrong; the number of workflows with problems."""
    with tarfile.open(package) as archive:
        member = archive.extractfile(_DESCRIPTIONS)
        if member is None:
            raise SystemExit(f"{package} has no {_DESCRIPTIONS}: it is no package of n8n-nodes-base.")
        described = json.load(member)
    wrong = 0
    for path in FLOWS:
        found = problems(json.loads(path.read_text(encoding="utf-8")), described)
        sys.stdout.write(f"{path.name}: {'; '.join(found) or 'every node and parameter is known'}\n")
        wrong += bool(found)
    return wrong


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1]))
