"""Jupyter notebooks: prose cells as Markdown, code cells and their printed output as code."""

from __future__ import annotations

import base64
import binascii
import json
from collections.abc import Mapping
from pathlib import Path
from typing import cast

from citewell.errors import CorruptFile
from citewell.extract.core.decode import decode_file
from citewell.extract.core.outline import Outline
from citewell.extract.core.pictures import Pictures
from citewell.extract.core.sink import Sink
from citewell.extract.formats.html.flow import HtmlFlow
from citewell.extract.formats.html.reader import parse_html
from citewell.extract.formats.markdown import read_markdown
from citewell.types import ElementType, JsonObject, JsonValue

MAX_NOTEBOOK_BYTES = 64 * 1024 * 1024
_MAX_OUTPUT = 20_000


def extract(path: Path, sink: Sink) -> None:
    """Reads a notebook of any version. Raises `CorruptFile` if it is not JSON with cells."""
    try:
        notebook = json.loads(decode_file(path, MAX_NOTEBOOK_BYTES).text)
    except (ValueError, RecursionError) as error:
        raise CorruptFile("The notebook is not valid JSON.") from error
    cells = _cells(_mapping(notebook))
    if cells is None:
        raise CorruptFile("The file is JSON, but not a notebook: it has no cells.")
    sink.start_unit("file", 1)
    language = _mapping(_mapping(_mapping(notebook).get("metadata")).get("kernelspec")).get("language")
    if isinstance(language, str):
        sink.metadata["language"] = language
    reader = _NotebookReader(sink, language if isinstance(language, str) else "python")
    for number, cell in enumerate(cells):
        reader.read(_mapping(cell))
        sink.progress(number, len(cells))
    reader.finish()


class _NotebookReader:
    def __init__(self, sink: Sink, language: str) -> None:
        self._sink = sink
        self._language = language
        self._outline = Outline()
        self._pictures = Pictures(sink)

    def read(self, cell: JsonObject) -> None:
        kind = cell.get("cell_type")
        source = _text(cell.get("source") if "source" in cell else cell.get("input"))
        if kind == "markdown":
            read_markdown(source, self._sink, self._outline, spans=False)
        elif source.strip():
            metadata: dict[str, JsonValue] = {"language": self._language} if kind == "code" else {}
            self._sink.emit(ElementType.CODE, source, self._outline.locator(), metadata=metadata)
        for output in _sequence(cell.get("outputs")):
            self._output(_mapping(output))

    def finish(self) -> None:
        self._pictures.finish()

    def _output(self, output: JsonObject) -> None:
        data = _mapping(output.get("data")) or output
        picture = next((data[kind] for kind in ("image/png", "image/jpeg", "png", "jpeg") if kind in data), None)
        if picture is not None:
            self._picture(_text(picture))
        html = _text(data.get("text/html"))
        if "<table" in html:
            HtmlFlow(self._sink, self._outline).read(parse_html(html))
            return
        text = _text(output.get("text")) or _text(data.get("text/plain")) or _text(output.get("evalue"))
        if len(text) > _MAX_OUTPUT:
            self._sink.skip(f"{len(text) - _MAX_OUTPUT:,} characters of a cell's output.")
        if text.strip() and picture is None:
            self._sink.emit(ElementType.CODE, text[:_MAX_OUTPUT], self._outline.locator(), metadata={"output": True})

    def _picture(self, encoded: str) -> None:
        try:
            self._pictures.emit(base64.b64decode(encoded), "output", self._outline.locator())
        except (binascii.Error, ValueError):
            self._sink.skip("A damaged picture in a cell's output.")


def _cells(notebook: JsonObject) -> list[JsonValue] | None:
    """Returns the cells of format 4, or of all worksheets of format 3; None if there are neither."""
    if isinstance(notebook.get("cells"), list):
        return list(_sequence(notebook.get("cells")))
    if isinstance(notebook.get("worksheets"), list):
        return [
            cell for sheet in _sequence(notebook.get("worksheets")) for cell in _sequence(_mapping(sheet).get("cells"))
        ]
    return None


def _mapping(value: object) -> JsonObject:
    return cast(JsonObject, value) if isinstance(value, Mapping) else {}


def _sequence(value: object) -> list[JsonValue]:
    return cast("list[JsonValue]", value) if isinstance(value, list) else []


def _text(value: JsonValue) -> str:
    """Returns a notebook text, stored as a string or a list of lines."""
    if isinstance(value, str):
        return value
    return "".join(line for line in _sequence(value) if isinstance(line, str))
