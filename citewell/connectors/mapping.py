"""Maps a table's columns to their roles, from a small file (TOML or JSON), flags, or the columns' names."""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, cast

from citewell.errors import ConfigurationError
from citewell.text.spelling import suggestion
from citewell.types import JsonValue

ROLES = ("frame", "attachment", "summary", "tags", "timestamp", "classification", "objects")
# Column names that imply a role if the mapping does not assign it.
_USUAL: Mapping[str, tuple[str, ...]] = {
    "summary": ("summary", "frame_summary", "description", "caption"),
    "tags": ("tags", "labels", "keywords"),
    "timestamp": ("timestamp", "taken_at", "captured_at", "date"),
    "classification": ("classification", "classification_tags", "category", "class"),
    "objects": ("objects", "detected_objects"),
}
# The default column of the frame's path.
DEFAULT_FRAME = "frame_filename"
_TOP = ("base", "table", "view", "name", "project", "frames", "fields", "other")
_MAX_FILE = 64 * 1024


@dataclass(frozen=True, slots=True, kw_only=True)
class TableMapping:
    """A table and its columns by role. other: further columns to keep; None means all."""

    base: str | None = None
    table: str | None = None
    view: str | None = None
    name: str | None = None
    project: str | None = None
    frames: str | None = None
    fields: Mapping[str, str] = field(default_factory=dict[str, str])
    other: tuple[str, ...] | None = None

    @property
    def frame_column(self) -> str | None:
        """The column with the frame's path; None if frames are attachments only."""
        return self.fields.get("frame") or (None if "attachment" in self.fields else DEFAULT_FRAME)

    @property
    def attachment_column(self) -> str | None:
        """The column with attachments."""
        return self.fields.get("attachment")

    def with_fields(self, given: Mapping[str, str]) -> TableMapping:
        """The mapping with these columns added."""
        return replace(self, fields={**self.fields, **given})

    def roles(self, columns: Mapping[str, Any]) -> tuple[dict[str, JsonValue], dict[str, JsonValue]]:
        """A record's values by role, and those of its other columns by name."""
        plain = {_plain(name): name for name in columns}
        taken = {name for name in (self.frame_column, self.attachment_column) if name}
        meant: dict[str, JsonValue] = {}
        for role, usual in _USUAL.items():
            name = self.fields.get(role) or next((plain[one] for one in usual if one in plain), None)
            if name is not None and name in columns and name not in taken:
                meant[role] = columns[name]
                taken.add(name)
        kept = columns.keys() if self.other is None else [name for name in self.other if name in columns]
        return meant, {name: columns[name] for name in kept if name not in taken}


def read_mapping(path: Path) -> TableMapping:
    """Read a mapping from a file. Raises `ConfigurationError` if it is invalid."""
    try:
        if path.stat().st_size > _MAX_FILE:
            raise ConfigurationError(f"{path} is larger than {_MAX_FILE:,} bytes. A mapping is a small file.")
        text = path.read_text("utf-8")
        data: object = json.loads(text) if path.suffix.lower() == ".json" else tomllib.loads(text)
    except (OSError, ValueError, RecursionError) as error:
        raise ConfigurationError(f"{path} cannot be read as TOML (or JSON, by its name): {error}") from error
    if not isinstance(data, dict):
        raise ConfigurationError(f"{path} must contain a table of settings.")
    return _mapping(path, cast(dict[str, Any], data))


def field_flags(given: list[str]) -> dict[str, str]:
    """Columns by role, from flags such as `--field tags=Labels`."""
    found: dict[str, str] = {}
    for one in given:
        role, equals, column = one.partition("=")
        if not equals or not column.strip():
            raise ConfigurationError(f"{one!r} is not a column mapping. Write it as WHAT=COLUMN, such as tags=Labels.")
        found[_role(role.strip(), "--field")] = column.strip()
    return found


def _mapping(path: Path, data: dict[str, Any]) -> TableMapping:
    if unknown := sorted(set(data) - set(_TOP)):
        raise ConfigurationError(f"{path} has `{unknown[0]}`. {suggestion(unknown[0], _TOP)}")
    texts = {name: data[name] for name in _TOP[:6] if name in data}
    for name, value in texts.items():
        if not isinstance(value, str) or not value.strip():
            raise ConfigurationError(f"{path}: `{name}` must be a text.")
    columns: object = data.get("fields", {})
    if not isinstance(columns, dict):
        raise ConfigurationError(f'{path}: `fields` must be a table, such as tags = "Labels".')
    fields: dict[str, str] = {}
    for role, column in cast(dict[str, object], columns).items():
        if not isinstance(column, str) or not column.strip():
            raise ConfigurationError(f"{path}: `fields.{role}` must be the name of a column.")
        fields[_role(role, f"{path}: fields")] = column
    other: object = data.get("other")
    if other is not None and not (
        isinstance(other, list) and all(isinstance(one, str) for one in cast(list[object], other))
    ):
        raise ConfigurationError(f"{path}: `other` must be a list of columns.")
    return TableMapping(**texts, fields=fields, other=None if other is None else tuple(cast(list[str], other)))


def _role(role: str, where: str) -> str:
    if role not in ROLES:
        raise ConfigurationError(f"{where}: there is no `{role}`. {suggestion(role, ROLES)}")
    return role


def _plain(name: str) -> str:
    return re.sub(r"[^\w]+", "_", name.strip().lower())
