"""Streaming uploads: form fields are collected, and the file part goes to the spool piece by piece, never whole into memory."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Collection, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError
from python_multipart.exceptions import FormParserError
from python_multipart.multipart import MultipartParser, parse_options_header
from starlette.requests import ClientDisconnect, Request

from citewell.errors import IncompleteUpload, InvalidInput, TooLarge, named
from citewell.features.bodies import allow_body, announced_bytes
from citewell.features.json_bodies import loaded
from citewell.features.requests import invalid_request, unknown_field
from citewell.ingest.capture import Spool, Spooled

M = TypeVar("M", bound=BaseModel)
_MAX_FIELD_BYTES = 64 * 1024
_MAX_PARTS = 100
_NUL = "This field contains a null character. Remove it."
# Bytes of everything except the file: fields, part headers, and text before the first part and after the last.
_MAX_AROUND = 8 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class Upload:
    """A received form: the file, its submitted name, and the other fields."""

    file: Spooled
    filename: str
    fields: dict[str, str]


def form_of(fields: dict[str, Any], required: Sequence[str] = ("file",)) -> dict[str, Any]:
    """A form for the OpenAPI document."""
    schema = {"type": "object", "required": list(required), "properties": fields, "additionalProperties": False}
    return {"requestBody": {"required": True, "content": {"multipart/form-data": {"schema": schema}}}}


def form_object(upload: Upload, name: str, shape: type[M]) -> M:
    """The JSON object in a form's field, which may be missing if nothing in it is required. Raises `InvalidInput` and `InvalidRequest`."""
    try:
        data = loaded(upload.fields.get(name) or "{}")
    except ValueError as error:
        raise InvalidInput(f"The field `{name}` must be a JSON object.") from error
    try:
        return shape.model_validate(data)
    except ValidationError as error:
        problems = [
            {"field": ".".join(["body", name, *map(str, one["loc"])]), "problem": one["msg"]}
            for one in error.errors(include_url=False, include_input=False)
        ]
        raise invalid_request(problems) from error


async def receive_upload(
    request: Request,
    open_spool: Callable[[int], AbstractAsyncContextManager[Spool]],
    max_bytes: int,
    known: Collection[str],
) -> Upload:
    """Read a `multipart/form-data` body of up to `max_bytes`, with one part `file` and only known fields.

    open_spool: opens the spool for a file of at least this many bytes, as the request declares

    Raises `InvalidRequest` for an unknown field or a null character in one, `InvalidInput` for any other body, `EmptyFile`, `TooLarge`,
    `IncompleteUpload` if it breaks off, and whatever `open_spool` raises; nothing is stored then.
    """
    kind, options = parse_options_header(request.headers.get("content-type", ""))
    boundary = options.get(b"boundary")
    if kind != b"multipart/form-data" or not boundary:
        raise InvalidInput("Send the file as multipart/form-data, in a part called `file`.")
    allow_body(request, max_bytes + _MAX_AROUND)
    async with open_spool(max(0, announced_bytes(request.scope) - _MAX_AROUND)) as spool:
        form = _Form(spool, known)
        try:
            parser = MultipartParser(boundary, form.callbacks())  # pyright: ignore[reportArgumentType]
            await _feed(request.stream(), parser, spool)
        except ClientDisconnect as error:
            raise IncompleteUpload from error
        except FormParserError as error:
            raise InvalidInput(f"The form cannot be read: {error}") from error
        if not form.ended:
            raise IncompleteUpload
        if form.filename is None:
            raise InvalidInput("The form has no part `file` with a file name. Add one.")
        return Upload(spool.finish(), form.filename, form.fields)


async def _feed(stream: AsyncIterator[bytes], parser: MultipartParser, spool: Spool) -> None:
    """Parse the stream in a thread, because hashing, writing, or a body full of near-boundaries must not block the event loop."""
    received = 0
    async for data in stream:
        received += len(data)
        await asyncio.to_thread(parser.write, data)
        if received - spool.size > _MAX_AROUND:
            raise TooLarge(f"The form has more than {_MAX_AROUND:,} bytes besides the file.")


@dataclass(slots=True)
class _Form:
    """The parser's callbacks, and what they have collected."""

    spool: Spool
    known: Collection[str]
    fields: dict[str, str] = field(default_factory=dict[str, str])
    filename: str | None = None
    ended: bool = False
    _parts: int = 0
    _header_name: bytes = b""
    _header_value: bytes = b""
    _disposition: bytes = b""
    _name: str = ""
    _is_file: bool = False
    _value: bytearray = field(default_factory=bytearray)

    def callbacks(self) -> dict[str, object]:
        return {
            "on_part_begin": self._part_begin,
            "on_header_field": self._on_header_field,
            "on_header_value": self._on_header_value,
            "on_header_end": self._header_end,
            "on_headers_finished": self._headers_finished,
            "on_part_data": self._part_data,
            "on_part_end": self._part_end,
            "on_end": self._end,
        }

    def _part_begin(self) -> None:
        self._parts += 1
        if self._parts > _MAX_PARTS:
            raise InvalidInput(f"The form has more than {_MAX_PARTS} parts.")
        self._disposition, self._value, self._is_file, self._name = b"", bytearray(), False, ""
        self._header_name = self._header_value = b""

    def _on_header_field(self, data: bytes, start: int, end: int) -> None:
        self._header_name += data[start:end]

    def _on_header_value(self, data: bytes, start: int, end: int) -> None:
        self._header_value += data[start:end]

    def _header_end(self) -> None:
        if self._header_name.lower() == b"content-disposition":
            self._disposition = self._header_value
        self._header_name = self._header_value = b""

    def _headers_finished(self) -> None:
        _, options = parse_options_header(self._disposition)
        self._name = _text(options.get(b"name", b""))
        if self._name not in self.known:
            raise invalid_request([unknown_field(f"body.{self._name}", self._name, self.known)])
        self._is_file = self._name == "file" and b"filename" in options
        if self._is_file:
            if self.filename is not None:
                raise InvalidInput("Send one file per request.")
            self.filename = _unescape(_text(options[b"filename"]))

    def _part_data(self, data: bytes, start: int, end: int) -> None:
        if self._is_file:
            self.spool.write(data[start:end])
        else:
            self._value += data[start:end]
            if len(self._value) > _MAX_FIELD_BYTES:
                raise InvalidInput(f"The field {named(self._name)} is too long.")

    def _part_end(self) -> None:
        if not self._is_file:
            if b"\x00" in self._value:
                raise invalid_request([{"field": f"body.{self._name}", "problem": _NUL}])
            self.fields[self._name] = self._value.decode("utf-8", "replace")

    def _end(self) -> None:
        self.ended = True


def _unescape(name: str) -> str:
    """Browsers encode quotes and line breaks in file names as these three escapes (WHATWG HTML, multipart/form-data)."""
    return name.replace("%22", '"').replace("%0D", "\r").replace("%0A", "\n")


def _text(value: bytes) -> str:
    """A submitted name: UTF-8 if valid, else Latin-1, which accepts every byte."""
    try:
        return value.decode("utf-8")
    except UnicodeDecodeError:
        return value.decode("latin-1")
