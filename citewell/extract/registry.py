"""The entry point to extraction: decrypts, detects the type, runs the reader, and summarizes. Readers load lazily."""

from __future__ import annotations

import json
from importlib import import_module
from pathlib import Path
from typing import Protocol, cast

from citewell.extract.core.decrypt import decrypted
from citewell.extract.core.names import own_title
from citewell.extract.core.sink import Sink
from citewell.extract.detect import detect
from citewell.extract.views import draw_page
from citewell.types import DetectedType, ExtractionSummary, JsonObject, JsonValue

READERS: dict[str, str] = {
    "archive": "citewell.extract.formats.archive.reader",
    "code": "citewell.extract.formats.code",
    "delimited": "citewell.extract.formats.tabular.delimited",
    "docx": "citewell.extract.formats.docx",
    "epub": "citewell.extract.formats.epub",
    "html": "citewell.extract.formats.html.reader",
    "image": "citewell.extract.formats.image.reader",
    "json": "citewell.extract.formats.tabular.json_data",
    "mail": "citewell.extract.formats.mail.reader",
    "markdown": "citewell.extract.formats.markdown",
    "msg": "citewell.extract.formats.mail.msg",
    "notebook": "citewell.extract.formats.notebook",
    "opendocument": "citewell.extract.formats.opendocument.reader",
    "parquet": "citewell.extract.formats.tabular.parquet",
    "pdf": "citewell.extract.formats.pdf",
    "plain": "citewell.extract.formats.plain",
    "powerpoint97": "citewell.extract.formats.powerpoint97",
    "pptx": "citewell.extract.formats.pptx",
    "rtf": "citewell.extract.formats.rtf",
    "spreadsheet": "citewell.extract.formats.tabular.spreadsheet",
    "spreadsheet_xml": "citewell.extract.formats.tabular.spreadsheet_xml",
    "svg": "citewell.extract.formats.svg",
    "transcript": "citewell.extract.formats.transcript",
    "video": "citewell.extract.formats.video.reader",
    "word97": "citewell.extract.formats.word97",
    "xml": "citewell.extract.formats.xml",
}


class Reader(Protocol):
    """A module that reads one family of formats."""

    def extract(self, path: Path, sink: Sink) -> None:
        """Emits everything in the file to `sink`. Raises an `ExtractionError` if nothing can be read."""
        ...


def extract_file(path: Path, filename: str, sink: Sink) -> ExtractionSummary:
    """Reads the file at `path`, uploaded as `filename`: elements go to the sink, the summary is returned.

    With `view_page`, only renders a picture of that page; with `likeness_only`, only reads what finds copies of a picture. A type without a
    reader yields no elements and leaves `detected.extractor` None; one whose reader may not run (`readers`) yields no elements. Raises an
    `ExtractionError` with the reason if the file cannot be read.
    """
    source = decrypted(path, sink.options, sink.folder)
    try:
        detected = detect(source, filename)
        if sink.options.view_page:
            draw_page(detected, source, sink)
        elif detected.extractor is not None and _may_run(detected.extractor, sink):
            load_reader(detected.extractor).extract(source, sink)
            if sink.next_id() == "e0" and not sink.children:
                sink.warn("No readable content was found in this file.")
    finally:
        if source is not path:
            source.unlink(missing_ok=True)
    return summary(detected, sink)


def _may_run(reader: str, sink: Sink) -> bool:
    options = sink.options
    return (not options.readers or reader in options.readers) and (reader == "image" or not options.likeness_only)


def load_reader(name: str) -> Reader:
    """Imports the reader module registered under `name`; `KeyError` for an unknown name."""
    return cast(Reader, import_module(READERS[name]))


def summary(detected: DetectedType, sink: Sink) -> ExtractionSummary:
    """Returns the detected type and the sink's contents as one JSON-serializable value."""
    return ExtractionSummary(
        detected=detected,
        coverage=sink.coverage(),
        metadata=_json_object({**_without_empty_title(sink.metadata), **_counts(detected, sink)}),
        language=sink.language,
        blobs=tuple(sink.blobs),
        children=tuple(sink.children),
    )


def _without_empty_title(metadata: dict[str, object]) -> dict[str, object]:
    """Returns the metadata without a title that says nothing, so that the file's name counts as one."""
    named = "title" not in metadata or own_title(metadata["title"]) is not None
    return metadata if named else {key: value for key, value in metadata.items() if key != "title"}


def _counts(detected: DetectedType, sink: Sink) -> dict[str, object]:
    """Returns the totals for a type that has a reader; for data files, tables are counted from their statistics."""
    if detected.extractor is None:
        return {}
    counts: dict[str, object] = {**sink.counts()}
    tables = sink.metadata.get("tables")
    return counts | ({"table_count": len(cast("list[object]", tables))} if isinstance(tables, list) else {})


def _json_object(metadata: dict[str, object]) -> JsonObject:
    """Returns metadata as JSON; dates and other values without a JSON type become text."""
    text = json.dumps(metadata, default=str, ensure_ascii=False).replace("\\u0000", "")
    return cast(dict[str, JsonValue], json.loads(text.encode("utf-8", "replace")))
