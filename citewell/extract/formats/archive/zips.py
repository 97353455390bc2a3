"""Members of ZIP files."""

from __future__ import annotations

import stat
import zipfile
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path

from citewell.errors import PasswordRequired
from citewell.extract.core.decode import detect_encoding
from citewell.extract.core.safezip import SafeZip
from citewell.extract.formats.archive.members import Member, nothing
from citewell.types import ExtractOptions

_ENCRYPTED = 0x1
_STRONGLY_ENCRYPTED = 99
_UTF8_NAME = 0x800
_READABLE = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA)


def zip_members(path: Path, options: ExtractOptions) -> Iterator[Member]:
    """Yields every entry of the directory; `PasswordRequired` if all files are encrypted and no password was given."""
    with SafeZip(path, options) as archive:
        files = [info for info in archive.infos if not info.filename.endswith("/")]
        locked = [info for info in files if info.flag_bits & _ENCRYPTED]
        if locked and len(locked) == len(files) and not options.password:
            raise PasswordRequired
        names = _names(archive.infos)
        for info, name in zip(archive.infos, names, strict=True):
            reason = _left_out(info, options)
            yield Member(name, reason, nothing if reason else partial(archive.extract_to, info))


def _left_out(info: zipfile.ZipInfo, options: ExtractOptions) -> str | None:
    kind = stat.S_IFMT(info.external_attr >> 16)
    if info.filename.endswith("/") or kind == stat.S_IFDIR:
        return "a folder"
    if kind == stat.S_IFLNK:
        return "a link"
    if kind not in (0, stat.S_IFREG):
        return "a device"
    if info.flag_bits & _ENCRYPTED and not options.password:
        return "encrypted"
    if info.compress_type == _STRONGLY_ENCRYPTED:
        return "encrypted with AES, which is not supported"
    if info.compress_type not in _READABLE:
        return f"compressed with an unsupported method ({info.compress_type})"
    return None


def _names(infos: Sequence[zipfile.ZipInfo]) -> list[str]:
    """Returns names in their original encoding: archives without the UTF-8 flag often use the creator's code page."""
    raw = [_raw_name(info) for info in infos]
    unmarked = b"\n".join(name for name in raw if name is not None)
    encoding = "ascii" if unmarked.isascii() else detect_encoding(unmarked)
    return [
        info.filename if name is None else name.decode(encoding, "replace")
        for info, name in zip(infos, raw, strict=True)
    ]


def _raw_name(info: zipfile.ZipInfo) -> bytes | None:
    """Returns the bytes of a name without the UTF-8 flag."""
    if info.flag_bits & _UTF8_NAME:
        return None
    try:
        return info.orig_filename.encode("cp437")
    except UnicodeEncodeError:
        return None
