"""What a namespace of a Pinecone index holds: metadata rules, the filter language, and writes that become visible later.

Written from Pinecone's OpenAPI document "Data Plane API", version 2025-10 (github.com/pinecone-io/pinecone-api), and the limits and rules
of its documentation ("Operation limits", "Metadata filter expressions"). Where these leave open what `$ne` and `$nin` say of a record that
lacks the field, they do not admit it here.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

MAX_METADATA_BYTES = 40_960
MAX_VALUES = 10_000
MAX_ID = 512
_ORDERS: dict[str, Callable[[float, float], bool]] = {
    "$gt": lambda one, other: one > other,
    "$gte": lambda one, other: one >= other,
    "$lt": lambda one, other: one < other,
    "$lte": lambda one, other: one <= other,
}


class Refused(Exception):
    """A request that Pinecone answers with 400 and this message."""


@dataclass(frozen=True)
class Record:
    """One record: its vector and its metadata."""

    values: tuple[float, ...]
    metadata: Mapping[str, Any]


Change = Callable[[dict[str, Record]], object]


@dataclass
class Namespace:
    """Records by id, as reads see them; each write is seen from the `lag`-th read after it."""

    lag: int
    records: dict[str, Record] = field(default_factory=dict[str, Record])
    written: int = 0
    indexed: int = 0
    _reads: int = 0
    _log: list[tuple[int, Change]] = field(default_factory=list[tuple[int, Change]])

    def write(self, change: Change) -> int:
        """Log a write; returns its sequence number."""
        self.written += 1
        self._log.append((self._reads + self.lag, change))
        if not self.lag:
            self._catch_up()
        return self.written

    def read(self) -> dict[str, Record]:
        """The records that this read sees."""
        self._reads += 1
        self._catch_up()
        return self.records

    def _catch_up(self) -> None:
        while self._log and self._log[0][0] <= self._reads:
            self._log.pop(0)[1](self.records)
            self.indexed += 1


def check_id(key: Any) -> str:
    """The id, if it is one."""
    if not isinstance(key, str) or not 1 <= len(key) <= MAX_ID or not key.isascii():
        raise Refused(f"Vector ID must be ASCII, of 1 to {MAX_ID} characters.")
    return key


def check_metadata(metadata: Mapping[str, Any]) -> Mapping[str, Any]:
    """The metadata, if it obeys the rules."""
    for name, value in metadata.items():
        if name.startswith("$"):
            raise Refused(f"Metadata keys must not start with a $: {name}.")
        is_list_of_texts = isinstance(value, list) and all(isinstance(one, str) for one in value)
        if not isinstance(value, str | int | float | bool) and not is_list_of_texts:
            raise Refused(
                f"Metadata value must be a string, number, boolean or list of strings, got '{json.dumps(value)[:60]}' for field '{name}'"
            )
    size = len(json.dumps(metadata, ensure_ascii=False, separators=(",", ":")).encode())
    if size > MAX_METADATA_BYTES:
        raise Refused(
            f"Metadata size is {size} bytes, which exceeds the limit of {MAX_METADATA_BYTES} bytes per vector"
        )
    return metadata


def admits(filter: Any, metadata: Mapping[str, Any]) -> bool:
    """Whether a filter admits a record with this metadata; `Refused` for what is no filter."""
    if not isinstance(filter, dict) or not filter:
        raise Refused("A filter must be an object that is not empty.")
    return all(_part(name, wanted, metadata) for name, wanted in filter.items())


def _part(name: str, wanted: Any, metadata: Mapping[str, Any]) -> bool:
    if name in ("$and", "$or"):
        if not isinstance(wanted, list) or not wanted:
            raise Refused(f"{name} takes a list of filters that is not empty.")
        held = [admits(one, metadata) for one in wanted]
        return all(held) if name == "$and" else any(held)
    if name.startswith("$"):
        raise Refused(f"{name} is not a valid operator.")
    operators = wanted if isinstance(wanted, dict) else {"$eq": wanted}
    held = [_holds(operator, value, metadata.get(name)) for operator, value in operators.items()]
    return all(held)


def _holds(operator: str, wanted: Any, stored: Any) -> bool:
    held = stored if isinstance(stored, list) else [] if stored is None else [stored]
    match operator:
        case "$exists":
            _check(isinstance(wanted, bool), "$exists takes true or false.")
            return bool(stored is not None) == wanted
        case "$eq" | "$ne":
            _check(isinstance(wanted, str | int | float), f"{operator} takes a string, number or boolean.")
            return stored is not None and any(_same(one, wanted) for one in held) == (operator == "$eq")
        case "$in" | "$nin":
            _check(isinstance(wanted, list) and len(wanted) > 0, f"{operator} takes a list that is not empty.")
            _check(len(wanted) <= MAX_VALUES, f"{operator} takes at most {MAX_VALUES} values.")
            _check(all(isinstance(one, str | int | float) for one in wanted), f"{operator} takes strings and numbers.")
            found = bool(
                {(isinstance(one, str), one) for one in held} & {(isinstance(one, str), one) for one in wanted}
            )
            return stored is not None and found == (operator == "$in")
        case _ if operator in _ORDERS:
            _check(isinstance(wanted, int | float) and not isinstance(wanted, bool), f"{operator} takes a number.")
            return isinstance(stored, int | float) and _ORDERS[operator](stored, wanted)
        case _:
            raise Refused(f"{operator} is not a valid operator.")


def _same(one: Any, other: Any) -> bool:
    return isinstance(one, str) == isinstance(other, str) and bool(one == other)


def _check(fits: bool, message: str) -> None:
    if not fits:
        raise Refused(message)
