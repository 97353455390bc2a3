"""The form fields of an upload. If one is refused, the uploaded bytes are discarded."""

from __future__ import annotations

from typing import Any, cast

from citewell.errors import CitewellError, InvalidInput, InvalidMetadata, named
from citewell.features.forms import Upload
from citewell.features.json_bodies import loaded
from citewell.features.resources.said import Said, end_of
from citewell.features.resources.schemas import MAX_CAPTION
from citewell.types import AskedOptions
from citewell.types.accounts import Grant
from citewell.types.resources import MAX_LIFETIME_HOURS

# The form fields for a new version, and those only for a new file; others are refused.
VERSION_FIELDS: dict[str, Any] = {
    "file": {"type": "string", "format": "binary"},
    "multimodal": {"type": "boolean", "default": False},
    "extract_tables": {"type": "boolean", "default": True},
    "extract_images": {"type": "boolean", "default": True},
    "password": {"type": "string", "description": "opens an encrypted file"},
    "chunking": {"type": "string", "description": "a JSON object with `strategy`, `size` and `overlap`, for this file"},
    "caption": {
        "type": "string",
        "description": "text that belongs to the file; embedded together with a picture or video",
    },
    "metadata": {
        "type": "string",
        "description": "a JSON object of texts, numbers, true or false, dates (ISO 8601) and lists of texts",
    },
}
UPLOAD_FIELDS: dict[str, Any] = VERSION_FIELDS | {
    "project": {"type": "string", "description": "id or name; a new name creates a project"},
    "identifier": {"type": "string", "description": "your own name for it, unique in its project"},
    "thread": {"type": "string", "description": "the conversation it belongs to"},
    "expires_in_hours": {
        "type": "number",
        "minimum": 0,
        "description": "its lifetime, after which it is deleted; 0: never; default: its project's, or the server's",
    },
    "strict": {"type": "boolean", "default": False, "description": "respond 415 to types without a reader"},
}


def _field(upload: Upload, name: str) -> str | None:
    """The text of a field without surrounding space; None if empty."""
    value = upload.fields.get(name, "").strip()
    if len(value) > 512:
        upload.file.path.unlink(missing_ok=True)
        raise InvalidInput(f"The field `{name}` is longer than 512 characters.")
    return value or None


def project_of(upload: Upload, grant: Grant) -> str | None:
    """The upload's project, if the grant allows it."""
    try:
        return grant.project(_field(upload, "project"))  # forms also send empty fields
    except CitewellError:
        upload.file.path.unlink(missing_ok=True)
        raise


def said_in(upload: Upload) -> Said:
    """The uploader's annotations: metadata, identifier, thread, lifetime."""
    return Said(
        metadata=metadata_in(upload),
        identifier=_field(upload, "identifier"),
        thread=_field(upload, "thread"),
        expires_in_hours=_hours(upload),
    )


def _hours(upload: Upload) -> float | None:
    value = _field(upload, "expires_in_hours")
    try:
        hours = None if value is None else float(value)
        end_of(hours)
    except (ValueError, InvalidInput) as error:
        upload.file.path.unlink(missing_ok=True)
        raise InvalidInput(
            f"The field `expires_in_hours` must be a number from 0 (never) to {MAX_LIFETIME_HOURS:,}."
        ) from error
    return hours


def metadata_in(upload: Upload) -> dict[str, Any] | None:
    """The uploader's metadata; None if there is none."""
    return _object(upload, "metadata", InvalidMetadata)


def _object(upload: Upload, name: str, refused: type[CitewellError]) -> dict[str, Any] | None:
    text = upload.fields.get(name, "").strip()
    if not text:
        return None
    try:
        data = loaded(text)
        if not isinstance(data, dict):
            raise ValueError
    except ValueError as error:
        upload.file.path.unlink(missing_ok=True)
        raise refused(f"The field `{name}` must be a JSON object.") from error
    return cast(dict[str, Any], data)


def options_of(upload: Upload) -> tuple[AskedOptions, bool]:
    """The uploader's options, and whether to refuse a type without a reader (`strict`)."""
    password = upload.fields.get("password")
    return (
        AskedOptions(
            multimodal=_flag(upload, "multimodal"),
            extract_tables=_flag(upload, "extract_tables"),
            extract_images=_flag(upload, "extract_images"),
            password=password if password else None,
            chunking=_object(upload, "chunking", InvalidInput),
            caption=_caption(upload),
        ),
        bool(_flag(upload, "strict")),
    )


def _caption(upload: Upload) -> str | None:
    caption = upload.fields.get("caption")
    if caption is not None and len(caption) > MAX_CAPTION:
        upload.file.path.unlink(missing_ok=True)
        raise InvalidInput(f"The field `caption` is longer than {MAX_CAPTION:,} characters.")
    return None if caption is None else caption.strip()


def _flag(upload: Upload, name: str) -> bool | None:
    value = upload.fields.get(name, "").strip().lower()
    if value in {"true", "1", "yes", "on"}:
        return True
    if value in {"false", "0", "no", "off"}:
        return False
    if value:
        upload.file.path.unlink(missing_ok=True)
        raise InvalidInput(f"The field `{name}` must be true or false, not {named(value)}.")
    return None
