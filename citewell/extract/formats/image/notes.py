"""Image metadata: selected EXIF fields and comments, as plain untrusted text."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from datetime import datetime
from typing import SupportsFloat, cast

from PIL import ExifTags, Image

from citewell.extract.core.damage import LIBRARY_DAMAGE
from citewell.types import JsonValue

_FIELDS = (
    "Make",
    "Model",
    "Software",
    "DateTime",
    "DateTimeOriginal",
    "Artist",
    "Copyright",
    "ImageDescription",
    "XPTitle",
    "XPComment",
    "XPKeywords",
    "UserComment",
    "LensModel",
)
_COMMENTS = ("comment", "Comment", "Description", "Title", "Author")
_MAX_LENGTH = 1_000
_MOMENT = re.compile(r"(\d{4})[:-](\d{2})[:-](\d{2})[ T](\d{2}):(\d{2}):(\d{2})", re.ASCII)
_OFFSET = re.compile(r"[+-][01]\d:[0-5]\d", re.ASCII)


def notes(image: Image.Image) -> dict[str, JsonValue]:
    """Returns `exif` and `comments` (name → text), `camera`, `date` (when it was taken, ISO 8601), `dpi` and `location`
    (decimal degrees), each only if the picture has it.
    """
    found: dict[str, JsonValue] = {}
    exif = _exif(image)
    fields = {name: text for name in _FIELDS if (text := _plain(exif.get(name)))}
    if fields:
        found["exif"] = fields
    comments = {name: text for name in _COMMENTS if (text := _plain(image.info.get(name)))}
    if comments:
        found["comments"] = comments
    if camera := " ".join(fields[name] for name in ("Make", "Model") if name in fields):
        found["camera"] = camera
    if taken := _taken(exif):
        found["date"] = taken
    if location := _location(exif):
        found["location"] = location
    if dpi := _dpi(image.info.get("dpi")):
        found["dpi"] = dpi
    return found


def _exif(image: Image.Image) -> dict[str, object]:
    """Returns base and camera fields by name; none if the block is damaged."""
    try:
        exif = image.getexif()
        blocks = (dict(exif), exif.get_ifd(ExifTags.IFD.Exif))
        named: dict[str, object] = {
            ExifTags.TAGS.get(tag, ""): value for block in blocks for tag, value in block.items()
        }
        named["GPS"] = {
            ExifTags.GPSTAGS.get(tag, ""): value for tag, value in exif.get_ifd(ExifTags.IFD.GPSInfo).items()
        }
    except LIBRARY_DAMAGE:
        return {}
    return named


def _plain(value: object) -> str:
    """Returns text without control characters; decodes Windows UTF-16 and the eight-byte character code."""
    if isinstance(value, bytes):
        if value[:8] in (b"ASCII\0\0\0", b"UNICODE\0"):
            value = value[8:].decode("utf-16" if value.startswith(b"UNICODE") else "ascii", "replace")
        else:
            value = value.decode("utf-16-le" if b"\0" in value else "utf-8", "replace")
    if not isinstance(value, str):
        return ""
    return "".join(c if c.isprintable() else " " for c in value).strip()[:_MAX_LENGTH]


def _taken(exif: Mapping[str, object]) -> str | None:
    """Returns when the picture was taken: with its UTC offset if recorded, else in the camera's local time."""
    for name in ("DateTimeOriginal", "DateTimeDigitized"):
        match = _MOMENT.match(_plain(exif.get(name)))
        if match is None:
            continue
        year, month, day, hour, minute, second = map(int, match.groups())
        try:
            moment = datetime(year, month, day, hour, minute, second)
        except ValueError:  # written as zeros by cameras whose clock was never set
            continue
        offset = _plain(exif.get(name.replace("DateTime", "OffsetTime")))
        return moment.isoformat() + (offset if _OFFSET.fullmatch(offset) else "")
    return None


def _location(exif: Mapping[str, object]) -> dict[str, JsonValue] | None:
    gps = cast("Mapping[str, object]", exif.get("GPS") or {})
    latitude = _degrees(gps.get("GPSLatitude"), gps.get("GPSLatitudeRef") == "S")
    longitude = _degrees(gps.get("GPSLongitude"), gps.get("GPSLongitudeRef") == "W")
    if latitude is None or longitude is None or abs(latitude) > 90 or abs(longitude) > 180:
        return None
    return {"latitude": latitude, "longitude": longitude}


def _degrees(parts: object, negative: bool) -> float | None:
    if not isinstance(parts, tuple) or len(cast("tuple[object, ...]", parts)) != 3:
        return None
    try:
        degrees, minutes, seconds = (float(part) for part in cast("tuple[float, float, float]", parts))
    except (TypeError, ValueError, ZeroDivisionError):
        return None
    total = degrees + minutes / 60 + seconds / 3600
    return round(-total if negative else total, 6) if math.isfinite(total) else None


def _dpi(value: object) -> list[JsonValue] | None:
    if not isinstance(value, tuple) or len(cast("tuple[object, ...]", value)) != 2:
        return None
    numbers = [float(part) for part in cast("tuple[object, ...]", value) if isinstance(part, SupportsFloat)]
    return [round(number, 1) for number in numbers] if len(numbers) == 2 and all(map(math.isfinite, numbers)) else None
