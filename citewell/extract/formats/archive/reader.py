"""ZIP, TAR, GZIP, BZIP2 and XZ: members become separate files, within limits; names are never used as paths."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field
from pathlib import Path

from citewell.errors import CorruptFile
from citewell.extract.core.sink import Sink
from citewell.extract.formats.archive.members import Member, display_name, is_system_file, points_outside
from citewell.extract.formats.archive.streams import stream_members
from citewell.extract.formats.archive.zips import zip_members
from citewell.types import ElementType, Locator

_ZIP_MAGIC = (b"PK\x03\x04", b"PK\x05\x06", b"PK\x07\x08", b"PK00PK")
_SCRATCH = "member"


def extract(path: Path, sink: Sink) -> None:
    """Emits a list of the archive's members, and each file as a child; skipped members are listed with the reason.

    Raises `LimitExceeded` beyond the limits on members, bytes and ratio, `PasswordRequired` if everything is encrypted.
    """
    sink.start_unit("file", 1)
    if sink.options.depth >= sink.options.max_depth:
        sink.skip(f"not unpacked: an archive within {sink.options.depth} others")
        return
    with path.open("rb") as file:
        zipped = file.read(8).startswith(_ZIP_MAGIC)
    sink.metadata["format"] = "zip" if zipped else "stream"
    members = zip_members(path, sink.options) if zipped else stream_members(path, sink.options)
    count = outside = unpacked = 0
    damage: CorruptFile | None = None
    seen = _Seen()
    try:
        for count, member in enumerate(members, start=1):
            sink.progress(count)
            outside += points_outside(member.name)
            try:
                unpacked += _adopt(member, count, sink, seen)
            except CorruptFile as error:
                damage = error
                sink.skip(f"{display_name(member.name, count)}: {error.message}")
    except CorruptFile as error:
        damage = error
        sink.warn(f"{error.message} {len(sink.children)} files before the damage were unpacked.")
    if damage and not sink.children:
        raise damage
    if outside:
        sink.warn(f"{outside} names point outside the archive; they are shown without their path and never followed")
    sink.metadata |= {"members": count, "files": len(sink.children), "unpacked_bytes": unpacked}


@dataclass(slots=True)
class _Seen:
    """The files so far: their number, and the name of the first file with each content, by SHA-256."""

    files: int = 0
    names: dict[bytes, str] = field(default_factory=dict[bytes, str])


def _adopt(member: Member, number: int, sink: Sink, seen: _Seen) -> int:
    """Unpacks one member into a child, unless an earlier one has the same bytes; returns its size."""
    name = display_name(member.name, number)
    reason = member.left_out or ("a system file" if is_system_file(member.name) else None)
    if reason == "a folder":
        return 0
    if reason:
        sink.skip(f"{name}: {reason}")
        return 0
    scratch = sink.folder / _SCRATCH
    try:
        size = member.write(scratch)
        if not size:
            sink.skip(f"{name}: empty")
            return 0
        seen.files += 1
        sink.check_children(seen.files)
        digest = _digest(scratch)
        if digest in seen.names:
            sink.skip(f"{name}: the same as {seen.names[digest]}")
        else:
            seen.names[digest] = name
            scratch.replace(sink.add_child(name, inside=name))
    finally:
        scratch.unlink(missing_ok=True)
    sink.emit(ElementType.LIST_ITEM, f"{name} ({size:,} bytes)", Locator(), level=1)
    return size


def _digest(path: Path) -> bytes:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").digest()
