"""Office files whose bytes do not depend on the day: fixed dates, members in a fixed order; and a comparison of contents."""

from __future__ import annotations

import re
import zipfile
from datetime import datetime
from pathlib import Path

WRITTEN = datetime(2026, 1, 12, 9, 0, 0)
_MODIFIED = re.compile(rb"(<dcterms:modified[^>]*>)[^<]*(</dcterms:modified>)")


def freeze_dates(path: Path) -> None:
    """Rewrite the archive at `path` with fixed member dates and a fixed date of last change."""
    with zipfile.ZipFile(path) as archive:
        members = [(info.filename, archive.read(info)) for info in archive.infolist()]
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as archive:
        for name, data in members:
            if name == "docProps/core.xml":
                data = _MODIFIED.sub(rb"\g<1>" + WRITTEN.strftime("%Y-%m-%dT%H:%M:%SZ").encode() + rb"\g<2>", data)
            info = zipfile.ZipInfo(name, WRITTEN.timetuple()[:6])
            info.compress_type = zipfile.ZIP_DEFLATED
            info.external_attr = 0o644 << 16
            archive.writestr(info, data)


def same_content(left: Path, right: Path) -> bool:
    """Whether two files hold the same; archives are compared member by member, so that another zlib may pack them."""
    if not (left.exists() and right.exists()):
        return False
    if not zipfile.is_zipfile(left):
        return left.read_bytes() == right.read_bytes()
    with zipfile.ZipFile(left) as a, zipfile.ZipFile(right) as b:
        return a.namelist() == b.namelist() and all(a.read(name) == b.read(name) for name in a.namelist())
