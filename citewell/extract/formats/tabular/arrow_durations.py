"""Which columns of a Parquet file are lengths of time: Parquet has no such type, so writers say it in an Arrow schema beside it.

The schema is a flatbuffer (Arrow format, `Message.fbs` and `Schema.fbs`).
"""

from __future__ import annotations

import base64
import binascii
import struct
from collections.abc import Iterator

_MESSAGE_HEADER, _SCHEMA_FIELDS = 2, 1
_NAME, _TYPE_KIND, _TYPE, _CHILDREN = 0, 2, 3, 5
_DURATION = 18
_PER_SECOND = {0: 1, 1: 1_000, 2: 1_000_000, 3: 1_000_000_000}
_MILLISECONDS = 1
"""The unit of a duration that names none."""
_CONTINUATION = b"\xff\xff\xff\xff"
_MAX_FIELDS = 10_000


def durations(schema: bytes) -> dict[str, int]:
    """Returns the units per second of columns that are durations, by path (`run.took`); empty for a damaged schema.

    schema: the value of `ARROW:schema` in the file's metadata
    """
    try:
        data = base64.b64decode(schema, validate=True)
        start = 8 if data.startswith(_CONTINUATION) else 4
        message = start + _unsigned(data, start)
        header = _table(data, message, _MESSAGE_HEADER)
        return dict(_in_fields(data, header, _SCHEMA_FIELDS, "", [0])) if header is not None else {}
    except (binascii.Error, struct.error, IndexError, UnicodeDecodeError, RecursionError):
        return {}


def _in_fields(data: bytes, table: int, slot: int, path: str, seen: list[int]) -> Iterator[tuple[str, int]]:
    vector = _table(data, table, slot)
    for number in range(_unsigned(data, vector) if vector is not None else 0):
        seen[0] += 1
        if vector is None or seen[0] > _MAX_FIELDS:
            return
        at = vector + 4 + 4 * number
        field = at + _unsigned(data, at)
        name = path + _text(data, _table(data, field, _NAME))
        kind, described = _slot(data, field, _TYPE_KIND), _table(data, field, _TYPE)
        if kind is not None and data[kind] == _DURATION and described is not None:
            unit = _slot(data, described, 0)
            yield name, _PER_SECOND.get(_MILLISECONDS if unit is None else data[unit], 1_000)
        yield from _in_fields(data, field, _CHILDREN, f"{name}.", seen)


def _slot(data: bytes, table: int, number: int) -> int | None:
    """Returns where a table's field is; None if it has its default."""
    layout = table - struct.unpack_from("<i", data, table)[0]
    if layout < 0 or 4 + 2 * number >= struct.unpack_from("<H", data, layout)[0]:
        return None
    offset = struct.unpack_from("<H", data, layout + 4 + 2 * number)[0]
    return table + offset if offset else None


def _table(data: bytes, table: int, number: int) -> int | None:
    """Returns where the table, vector or text that a field points to is."""
    at = _slot(data, table, number)
    return None if at is None else at + _unsigned(data, at)


def _text(data: bytes, at: int | None) -> str:
    return "" if at is None else data[at + 4 : at + 4 + _unsigned(data, at)].decode()


def _unsigned(data: bytes, at: int) -> int:
    return int(struct.unpack_from("<I", data, at)[0])
