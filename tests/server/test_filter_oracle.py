"""Random nested filters admit the same files in the store, in lists of files and by their meaning in plain Python."""

from __future__ import annotations

import json
import operator
import random
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from citewell import AsyncCitewell
from citewell.filters.language import lowered, parse_filters
from citewell.types import Filter, VectorQuery

pytestmark = pytest.mark.full

FILES, FILTERS, SEED = 60, 120, 14
Values = Mapping[str, Any]
ORDERED: dict[str, Callable[[Any, Any], bool]] = {
    "gt": operator.gt,
    "gte": operator.ge,
    "lt": operator.lt,
    "lte": operator.le,
}


def values_of(n: int, randomly: random.Random) -> dict[str, Any]:
    """Fields of every type; texts that look alike, values on the edges of comparisons, and fields that are missing."""
    values = {
        "number": n,
        "iso": randomly.choice([100, 200.5, 400]),
        "colour": randomly.choice(["red", "green", "dark red"]),
        "camera": randomly.choice(["leica m6", "leica", "canon"]),
        "indoor": randomly.random() < 0.5,
        "taken": f"2025-{n % 12 + 1:02d}-{n % 28 + 1:02d}",
        "tags": randomly.sample(["outdoor", "night", "car", "harbour"], 2),
    }
    return {key: value for key, value in values.items() if randomly.random() < 0.85}


def random_filter(said: list[Values], randomly: random.Random, depth: int = 3) -> dict[str, Any]:
    """A condition on a value that a file has, or a group of filters."""
    if depth and randomly.random() < 0.7:
        parts = [random_filter(said, randomly, depth - 1) for _ in range(randomly.randint(1, 3))]
        kind = randomly.choice(["all", "any", "not"])
        return {kind: parts[0] if kind == "not" else parts}
    field, wanted = randomly.choice([item for values in said for item in values.items()])
    if isinstance(wanted, list):
        wanted = wanted[0]
    operators = ["eq", "ne", "in", "not_in", "exists"]
    if field == "taken" or (isinstance(wanted, int | float) and not isinstance(wanted, bool)):
        operators += list(ORDERED) * 2
    elif isinstance(wanted, str):
        operators += ["contains", "prefix"] * 2
    chosen = randomly.choice(operators)
    value: Any = {"in": [wanted], "not_in": [wanted], "exists": randomly.random() < 0.5}.get(chosen, wanted)
    if isinstance(wanted, str) and chosen in ("contains", "prefix"):
        value = wanted[: randomly.randint(1, len(wanted))].strip().upper()
    return {"field": f"metadata.{field}", "operator": chosen, "value": value}


def means(one: Mapping[str, Any], values: Values) -> bool:
    """Whether a file with these values is meant, by nothing of Citewell's."""
    for group, combine in (("all", all), ("any", any)):
        if group in one:
            return combine([means(part, values) for part in one[group]])
    if "not" in one:
        return not means(one["not"], values)
    name, wanted = one["operator"], one["value"]
    held = values.get(one["field"].removeprefix("metadata."))
    each = held if isinstance(held, list) else [] if held is None else [held]
    match name:
        case "exists":
            return (held is not None) is wanted
        case "ne" | "not_in":
            return not means({**one, "operator": "eq" if name == "ne" else "in"}, values)
        case "eq":
            return wanted in each
        case "in":
            return any(value in wanted for value in each)
        case "contains":
            return any(wanted.lower() in value for value in each)
        case "prefix":
            return any(value.startswith(wanted.lower()) for value in each)
        case _:
            return any(ORDERED[name](value, wanted) for value in each)


async def test_random_filters_admit_what_they_mean(tmp_path: Path) -> None:
    randomly = random.Random(SEED)
    said = {f"r{n}": values_of(n, randomly) for n in range(FILES)}
    async with AsyncCitewell(tmp_path / "data", ocr=False) as cw:
        await cw.add_texts(
            [{"id": key, "text": f"The red car of frame {key}.", "metadata": dict(v)} for key, v in said.items()]
        )
        names = {resource.id: resource.record_id async for resource in cw.resources()}
        services = cw._services  # pyright: ignore[reportPrivateUsage]
        store = services.indexes.migration.indexes.active.store
        query, selective = (1.0,) + (0.0,) * 383, 0
        for _ in range(FILTERS):
            one = random_filter(list(said.values()), randomly)
            conditions = parse_filters([one])
            scope = Filter(owner_id=services.local_owner, conditions=tuple(lowered(part) for part in conditions))
            hits = await store.search(VectorQuery(dense=query, filter=scope, limit=2 * FILES))
            loaded = await services.search.chunks.load(services.local_owner, [hit.id for hit in hits])
            wanted = {key for key, values in said.items() if means(one, values)}
            assert {names[stored.chunk.resource_id] for stored in loaded.values()} == wanted, json.dumps(one)
            listed = {resource.record_id async for resource in cw.resources(conditions=[one])}
            assert listed == wanted, json.dumps(one)
            selective += 0 < len(wanted) < FILES
        assert selective > FILTERS / 3
