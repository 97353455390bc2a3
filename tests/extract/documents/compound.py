"""Writes OLE compound files ([MS-CFB], version 3) for the tests of Office 97 and Outlook formats."""

from __future__ import annotations

import struct
from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import pairwise

SECTOR, MINI, CUTOFF = 512, 64, 4096
END, FREE, FAT, NONE = 0xFFFFFFFE, 0xFFFFFFFF, 0xFFFFFFFD, 0xFFFFFFFF
Tree = Mapping[str, "bytes | Tree"]


@dataclass
class _Entry:
    name: str
    kind: int
    data: bytes = b""
    right: int = NONE
    child: int = NONE
    start: int = END


@dataclass
class _Builder:
    entries: list[_Entry] = field(default_factory=list)
    sectors: list[bytes] = field(default_factory=list)
    table: list[int] = field(default_factory=list)
    mini: bytearray = field(default_factory=bytearray)
    mini_table: list[int] = field(default_factory=list)

    def add_tree(self, tree: Tree) -> int:
        """Entries of one storage, chained to the right; returns the first."""
        indices = []
        for name, content in sorted(tree.items(), key=lambda item: (len(item[0]), item[0].upper())):
            index = len(self.entries)
            indices.append(index)
            if isinstance(content, bytes):
                self.entries.append(_Entry(name, 2, content))
            else:
                self.entries.append(_Entry(name, 1))
                self.entries[index].child = self.add_tree(content)
        for before, after in pairwise(indices):
            self.entries[before].right = after
        return indices[0] if indices else NONE

    def add_sectors(self, data: bytes) -> int:
        if not data:
            return END
        first = len(self.sectors)
        count = -(-len(data) // SECTOR)
        for number in range(count):
            self.sectors.append(data[number * SECTOR : (number + 1) * SECTOR].ljust(SECTOR, b"\0"))
            self.table.append(first + number + 1 if number + 1 < count else END)
        return first

    def add_mini(self, data: bytes) -> int:
        if not data:
            return END
        first = len(self.mini_table)
        count = -(-len(data) // MINI)
        self.mini += data.ljust(count * MINI, b"\0")
        self.mini_table += [*range(first + 1, first + count), END]
        return first


def compound_file(tree: Tree) -> bytes:
    """A compound file with these streams (bytes) and storages (mappings)."""
    builder = _Builder()
    builder.entries.append(_Entry("Root Entry", 5))
    builder.entries[0].child = builder.add_tree(tree)
    for entry in builder.entries[1:]:
        if entry.kind == 2:
            entry.start = builder.add_mini(entry.data) if len(entry.data) < CUTOFF else builder.add_sectors(entry.data)
    builder.entries[0].data = bytes(builder.mini)
    builder.entries[0].start = builder.add_sectors(bytes(builder.mini))
    mini_table = b"".join(struct.pack("<I", number) for number in builder.mini_table)
    mini_table_start = builder.add_sectors(mini_table.ljust(-(-len(mini_table) // SECTOR) * SECTOR, b"\xff"))
    directory_start = builder.add_sectors(b"".join(_directory_entry(entry) for entry in builder.entries))
    fat_sectors = 1
    while fat_sectors * (SECTOR // 4) < len(builder.table) + fat_sectors:
        fat_sectors += 1
    fat_start = len(builder.sectors)
    table = [*builder.table, *([FAT] * fat_sectors)]
    fat = b"".join(struct.pack("<I", number) for number in table).ljust(fat_sectors * SECTOR, b"\xff")
    header = struct.pack(
        "<8s16sHHHHH6sIIIIIIIIII",
        b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", b"", 0x3E, 3, 0xFFFE, 9, 6, b"", 0, fat_sectors, directory_start, 0, CUTOFF,
        mini_table_start, len(mini_table + b"\0" * (SECTOR - 1)) // SECTOR, END, 0, fat_start,
    )  # fmt: skip
    locations = b"".join(struct.pack("<I", fat_start + number) for number in range(1, fat_sectors))
    return (header + locations).ljust(SECTOR, b"\xff") + b"".join(builder.sectors) + fat


def _directory_entry(entry: _Entry) -> bytes:
    name = entry.name.encode("utf-16-le")
    return struct.pack(
        "<64sHBBIII16sIQQIQ",
        name, len(name) + 2, entry.kind, 1, NONE, entry.right, entry.child, b"", 0, 0, 0, entry.start, len(entry.data),
    )  # fmt: skip
