"""What of a shard's files is in memory before a search asks for it page by page, which takes many times as long."""

from __future__ import annotations

import ctypes
import logging
import os
import re
import sys
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

log = logging.getLogger(__name__)

_PIECE = 1 << 20
# No more than Linux reads ahead at once, also where it was asked to.
_MAPPED_PIECE = 1 << 22
# `MADV_POPULATE_READ` of Linux 5.14: Python's `mmap` has no name for it, and knows none of the engine's mappings.
_POPULATE_READ = 22
# What every search reads in places all over the file: vectors, the links of a graph, and the words' lists.
_READ_BY_SEARCHES = ("matrix.dat", "links_compressed.bin", "inverted_index.dat")
# Of the memory that programs can still have, the part that pages of an index may take.
_MAX_SHARE = 0.5
_MAPPING = re.compile(r"([0-9a-f]+)-([0-9a-f]+) \S+ \S+ \S+ \d+ +(/.*)\n")


def read_ahead(path: Path) -> None:
    """Read the quantised vectors of a shard, which the engine copies out of a mapped file when it opens.

    1,000,000 chunks in three segments: opened in 5.3 s without, 1.3 s with.
    """
    with suppress(OSError):  # what is wrong with the files, the engine says
        for codes in path.glob("segments/*/vector_storage-dense/quantized.data"):
            with codes.open("rb", buffering=0) as file:
                piece = bytearray(_PIECE)
                while file.readinto(piece):
                    pass


def map_pages(path: Path) -> int:
    """Have this process map what searches read of a shard that it has open, as far as there is room; returns how many bytes.

    A page that is first touched by a search costs it 5 µs even where the file is in memory, and a search by meaning touches about as
    many as it returns chunks: 1,000,000 chunks, 1.5 ms a leg of 100 for the first thousand searches, 0.6 ms once all is mapped. The
    pages stay the kernel's to take back. 0 on systems other than Linux.
    """
    mapped = 0
    if not sys.platform.startswith("linux"):
        return mapped
    try:
        library = ctypes.CDLL(None, use_errno=True)
        for file, address, size in list(_mappings(path)):
            if size > _MAX_SHARE * _available_bytes():
                log.info("%d MB of %s stay on disk until a search asks for them", size >> 20, file)
                continue
            _map(library, file, address, size)
            mapped += size
    except (OSError, AttributeError) as error:  # an older kernel, or a library without `madvise`
        log.debug("the index in %s is mapped page by page: %s", path, error)
    return mapped


def _map(library: ctypes.CDLL, file: Path, address: int, size: int) -> None:
    """Map a file's pages. The calls let go of the interpreter lock, and fail should the engine have unmapped the file meanwhile."""
    with file.open("rb", buffering=0) as opened:
        for offset in range(0, size, _MAPPED_PIECE):
            length = min(_MAPPED_PIECE, size - offset)
            # The engine says that it reads in random order, and then Linux reads page by page from the disk.
            os.posix_fadvise(opened.fileno(), offset, length, os.POSIX_FADV_WILLNEED)
            if library.madvise(ctypes.c_void_p(address + offset), ctypes.c_size_t(length), _POPULATE_READ):
                raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))


def _mappings(path: Path) -> Iterator[tuple[Path, int, int]]:
    """The files that searches read, and where this process has mapped how many bytes of each. Those that the engine maps a second
    time, to read them from one end to the other, are left out."""
    folder, found = f"{path.resolve()}{os.sep}", None
    with Path("/proc/self/smaps").open(encoding="utf-8", errors="surrogateescape") as lines:
        for line in lines:
            if mapping := _MAPPING.fullmatch(line):
                start, end, name = int(mapping[1], 16), int(mapping[2], 16), mapping[3]
                is_read = name.startswith(folder) and name.endswith(_READ_BY_SEARCHES)
                found = (Path(name), start, end - start) if is_read else None
            elif found is not None and line.startswith("VmFlags:"):
                if "sr" not in line.split():
                    yield found
                found = None


def _available_bytes() -> int:
    for line in Path("/proc/meminfo").read_text(encoding="ascii").splitlines():
        if line.startswith("MemAvailable:"):
            return int(line.split()[1]) << 10
    return 0
