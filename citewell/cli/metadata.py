"""Metadata on the command line: `--meta key=value`, and a file with the metadata of many files."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeAlias, cast

from citewell.errors import InvalidInput, cut
from citewell.types import JsonValue
from citewell.types.metadata_values import from_text

MAX_FILE_BYTES = 64 * 1024 * 1024
# The field of a row that names its file: a column of a CSV file, or a key of an object in a JSON list.
_NAMES = ("file", "filename", "path")
_IDENTIFIER = "identifier"
# A file's name, and its annotations.
Row: TypeAlias = tuple[str, Mapping[str, JsonValue]]


@dataclass(frozen=True, slots=True)
class FileAnnotations:
    """The metadata and identifier of one file to add."""

    metadata: Mapping[str, JsonValue] = field(default_factory=dict[str, JsonValue])
    identifier: str | None = None

    def fields(self) -> dict[str, str]:
        """The fields of an upload's form."""
        fields = {"metadata": json.dumps(self.metadata)} if self.metadata else {}
        return fields | ({_IDENTIFIER: self.identifier} if self.identifier else {})


def annotations_of_each(
    files: Sequence[Path], meta: Sequence[str], meta_file: Path | None, identifier: str | None
) -> dict[Path, FileAnnotations]:
    """Each file's annotations: the values of `--meta`, overridden by its row in `--meta-file`.

    Raises `InvalidInput` for a pair without `=`, an identifier for several files, an unreadable metadata file, and a row that names
    none or several of the added files, or one that another row names.
    """
    if identifier is not None and len(files) > 1:
        raise InvalidInput("An identifier names one file. Give each file its own in a --meta-file.")
    common = dict(_pair(text) for text in meta)
    said = {path: FileAnnotations(common, identifier) for path in files}
    if meta_file is None:
        return said
    by_name: dict[str, list[Path]] = {}
    for path in files:
        by_name.setdefault(path.name, []).append(path)
    named: set[Path] = set()
    for name, values in _rows(meta_file):
        path = _named(by_name, name, meta_file)
        if path in named:
            raise InvalidInput(f"{meta_file.name} has several rows for {cut(name)!r}.")
        named.add(path)
        own = {key: value for key, value in values.items() if key != _IDENTIFIER}
        called = values.get(_IDENTIFIER)
        said[path] = FileAnnotations(common | own, identifier if called is None else str(called))
    return said


def _pair(text: str) -> tuple[str, JsonValue]:
    key, equals, value = text.partition("=")
    if not equals or not key.strip() or not value.strip():
        raise InvalidInput(f"--meta takes key=value, not {cut(text)!r}.")
    return key.strip(), from_text(value)


def _named(by_name: Mapping[str, Sequence[Path]], name: str, meta_file: Path) -> Path:
    """The file whose path ends with a row's name."""
    parts = Path(name).parts
    found = [path for path in by_name.get(parts[-1], ()) if path.parts[-len(parts) :] == parts] if parts else []
    if len(found) != 1:
        many = "several of the files that are added" if found else "no file that is added"
        raise InvalidInput(f"{meta_file.name} names {cut(name)!r}, which is {many}.")
    return found[0]


def _rows(path: Path) -> Iterator[Row]:
    """The rows of a CSV file with a header, or of JSON: an object by file names, or a list of objects."""
    try:
        if path.stat().st_size > MAX_FILE_BYTES:
            raise InvalidInput(f"{path.name} is larger than {MAX_FILE_BYTES:,} bytes.")
        text = path.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError as error:
        raise InvalidInput(f"{path.name} is not UTF-8. Save it as UTF-8, and try again.") from error
    except OSError as error:
        raise InvalidInput(f"{path.name} cannot be read: {error.strerror}.") from error
    return _json_rows(path, text) if path.suffix.lower() == ".json" else _csv_rows(path, text)


def _csv_rows(path: Path, text: str) -> Iterator[Row]:
    lines = csv.reader(io.StringIO(text, newline=""), strict=True)
    try:
        header = [cell.strip() for cell in next(lines, [])]
        if not header or not all(header) or len(set(header)) < len(header):
            raise InvalidInput(f"The first line of {path.name} must name its columns, each once.")
        for row in lines:
            if len(row) > len(header):
                raise InvalidInput(f"Line {lines.line_num} of {path.name} has more cells than the header.")
            cells = {key: cell for key, cell in zip(header, row, strict=False) if cell.strip()}
            if cells:
                yield (
                    _name(path, cells),
                    {key: from_text(cell) for key, cell in cells.items() if key not in _NAMES},
                )
    except csv.Error as error:
        raise InvalidInput(f"{path.name} is not CSV, from line {lines.line_num} on: {error}.") from error


def _json_rows(path: Path, text: str) -> Iterator[Row]:
    try:
        data: object = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise InvalidInput(f"{path.name} is not JSON: {error}.") from error
    if isinstance(data, Mapping):
        for name, row in cast(Mapping[str, object], data).items():
            yield name, _object(path, row)
    else:
        for row in cast(list[object], data) if isinstance(data, list) else [None]:
            values = _object(path, row)
            yield _name(path, values), {key: value for key, value in values.items() if key not in _NAMES}


def _object(path: Path, row: object) -> Mapping[str, JsonValue]:
    if not isinstance(row, Mapping):
        raise InvalidInput(f"{path.name} must be an object of objects by file name, or a list of objects with `file`.")
    return cast(Mapping[str, JsonValue], row)


def _name(path: Path, row: Mapping[str, object]) -> str:
    name = next((str(row[key]) for key in _NAMES if row.get(key)), "")
    if not name:
        raise InvalidInput(f"Each row of {path.name} names its file under `file`.")
    return name
