"""Checks that sector chains of OLE compound files ([MS-CFB]) end and stay in the file: calamine does not check."""

from __future__ import annotations

import struct
from collections.abc import Sequence
from pathlib import Path

from citewell.errors import CorruptFile
from citewell.extract.core.compound import SIGNATURE

_LAST = 0xFFFFFFFA  # from here on, numbers are marks, not sectors
_HEADER = 512
_ENTRY = 128


def check_chains(path: Path) -> None:
    """Raises `CorruptFile` for a compound file whose chains loop or leave the file; other files pass."""
    data = path.read_bytes()
    if not data.startswith(SIGNATURE):
        return
    shift = struct.unpack_from("<H", data, 30)[0] if len(data) >= _HEADER else 0
    if shift not in (9, 12):
        raise CorruptFile("The OLE container is damaged.")
    size = 1 << shift
    count = len(data) // size  # sector 0 follows the header's
    fat = _numbers(data, size, _fat_sectors(data, size, count))
    _check(fat[:count], count)
    directory = _chain(data, 48, fat, count)
    mini = _numbers(data, size, _chain(data, 60, fat, count))
    _check(mini, len(mini))
    most = max(count, len(mini))
    for sector in directory:
        start = (sector + 1) * size
        for at in range(start, min(start + size, len(data) - _ENTRY + 1), _ENTRY):
            _within(struct.unpack_from("<I", data, at + 116)[0], most)


def _fat_sectors(data: bytes, size: int, count: int) -> list[int]:
    sectors = list(struct.unpack_from("<109I", data, 76))
    following, seen = struct.unpack_from("<I", data, 68)[0], set[int]()
    while following < _LAST:
        if following in seen:
            raise CorruptFile("The OLE container is damaged: a chain of sectors forms a loop.")
        _within(following, count)
        seen.add(following)
        *more, following = _numbers(data, size, [following]) or [_LAST]
        sectors += more
    for sector in sectors:
        _within(sector, count)
    return [sector for sector in sectors if sector < _LAST]


def _chain(data: bytes, offset: int, fat: Sequence[int], count: int) -> list[int]:
    """Returns the sectors from the one that the header names at `offset`."""
    sectors: list[int] = []
    sector = struct.unpack_from("<I", data, offset)[0]
    while sector < _LAST:
        _within(sector, count)
        sectors.append(sector)
        sector = fat[sector] if sector < len(fat) else _LAST
    return sectors


def _numbers(data: bytes, size: int, sectors: Sequence[int]) -> list[int]:
    numbers: list[int] = []
    for sector in sectors:
        raw = data[(sector + 1) * size : (sector + 2) * size]
        numbers += struct.unpack(f"<{len(raw) // 4}I", raw[: len(raw) // 4 * 4])
    return numbers


def _within(sector: int, count: int) -> None:
    if count <= sector < _LAST:
        raise CorruptFile("The OLE container is damaged: it points past its end.")


def _check(following: Sequence[int], count: int) -> None:
    """Raises `CorruptFile` if a chain leaves the file or meets itself."""
    done = bytearray(len(following))
    for start in range(len(following)):
        path: list[int] = []
        here = start
        while here < len(following) and not done[here]:
            done[here] = 1
            path.append(here)
            here = following[here]
        if here < len(following) and done[here] == 1:
            raise CorruptFile("The OLE container is damaged: a chain of sectors forms a loop.")
        _within(here, count)
        for sector in path:
            done[sector] = 2
