"""Points in the binary format of Postgres' COPY, which avoids converting numbers to text.

See "COPY, Binary Format" in Postgres' documentation; the `vector` format is that of its `recv` function in pgvector.
"""

from __future__ import annotations

import io
import struct
import uuid
from collections.abc import Iterable, Sequence

import numpy as np
import orjson

from citewell.ports.points import OWNER, RESOURCE, TYPE
from citewell.text.sparse import stable_number
from citewell.types import Point

POINT_COLUMNS = ("id", "owner_id", "resource_id", "type", "dense", "terms")
PAYLOAD_COLUMNS = ("id", "owner_id", "payload")
_HEADER = b"PGCOPY\n\xff\r\n\0" + struct.pack(">ii", 0, 0)
_END = struct.pack(">h", -1)
_NULL = struct.pack(">i", -1)
_BIGINT_OID = 20
_JSONB_VERSION = b"\x01"
_ITEM = np.dtype([("length", ">i4"), ("value", ">i8")])


def term_of(owner: str, index: int | None = None) -> int:
    """The number that names an owner's term, or (without `index`) all of the owner's points with words."""
    return stable_number(f"{owner}\0{'' if index is None else index}")


def terms_of(point: Point) -> list[int]:
    """The names of a point's terms (`term_of`)."""
    if point.sparse is None or not point.sparse.indices:
        return []
    owner = str(point.payload[OWNER])
    return [term_of(owner), *{term_of(owner, index) for index in point.sparse.indices}]


def point_rows(points: Sequence[Point], terms: Sequence[Sequence[int]]) -> io.BytesIO:
    """Rows of `POINT_COLUMNS`, each with the names of its terms."""
    return _copied(
        (
            _id(point),
            _text(point.payload[OWNER]),
            _text(point.payload[RESOURCE]),
            _text(point.payload[TYPE]),
            _dense(point),
            _bigints(names),
        )
        for point, names in zip(points, terms, strict=True)
    )


def payload_rows(points: Sequence[Point]) -> io.BytesIO:
    """Rows of `PAYLOAD_COLUMNS`."""
    return _copied(
        (_id(point), _text(point.payload[OWNER]), _value(_JSONB_VERSION + orjson.dumps(point.payload)))
        for point in points
    )


def _copied(rows: Iterable[Sequence[bytes]]) -> io.BytesIO:
    body = (struct.pack(">h", len(values)) + b"".join(values) for values in rows)
    return io.BytesIO(b"".join((_HEADER, *body, _END)))


def _value(data: bytes) -> bytes:
    return struct.pack(">i", len(data)) + data


def _id(point: Point) -> bytes:
    return _value(uuid.UUID(point.id).bytes)


def _text(value: object) -> bytes:
    return _value(str(value).encode())


def _dense(point: Point) -> bytes:
    if point.dense is None:
        return _NULL
    return _value(struct.pack(">hh", len(point.dense), 0) + np.asarray(point.dense, dtype=">f4").tobytes())


def _bigints(values: Sequence[int]) -> bytes:
    if not values:
        return _value(struct.pack(">iii", 0, 0, _BIGINT_OID))
    items = np.empty(len(values), dtype=_ITEM)
    items["length"], items["value"] = 8, values
    return _value(struct.pack(">iiiii", 1, 0, _BIGINT_OID, len(values), 1) + items.tobytes())
