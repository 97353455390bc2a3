"""XLSX, XLSM, XLS, XLSB and ODS: each sheet's tables as rows with visible row numbers, and the notes around them."""

from __future__ import annotations

import zipfile
from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

from python_calamine import (
    CalamineError,
    CalamineSheet,
    CalamineWorkbook,
    PasswordError,
    SheetMetadata,
    SheetTypeEnum,
    SheetVisibleEnum,
    load_workbook,
)

from citewell.errors import CorruptFile, LimitExceeded, PasswordRequired
from citewell.extract.core.safezip import SafeZip
from citewell.extract.core.sink import Sink
from citewell.extract.formats.tabular.compound_chains import check_chains
from citewell.extract.formats.tabular.ods_check import check_ods, write_typed
from citewell.extract.formats.tabular.ods_formats import is_ods, ods_formats
from citewell.extract.formats.tabular.sheet import read_sheet
from citewell.extract.formats.tabular.sheet_rows import SheetRows
from citewell.extract.formats.tabular.sheet_scan import SheetScan, running_lines
from citewell.extract.formats.tabular.shown_formats import ShownFormats
from citewell.extract.formats.tabular.workbook_parts import WorkbookParts
from citewell.extract.formats.tabular.writer import DataFile
from citewell.extract.formats.tabular.xls_formats import xls_formats
from citewell.extract.formats.tabular.xlsb_formats import xlsb_formats
from citewell.extract.formats.tabular.xlsb_repair import repaired
from citewell.types import ElementType, Locator

_MAX_CELLS = 30_000_000
_UNPACKED_FLOOR = 64 * 1024 * 1024


def extract(path: Path, sink: Sink) -> None:
    """Reads every sheet in order, hidden ones too. Formulas give their results, dates ISO dates, columns of percentages
    or of one currency their sign; other values are as stored.
    """
    untyped = _refuse_bomb(path, sink)
    with _workbook(path, untyped, sink) as workbook, _parts(path, sink) as parts, DataFile(sink) as data:
        sink.metadata["sheet_names"] = list(workbook.sheet_names)
        hidden = [sheet.name for sheet in workbook.sheets_metadata if sheet.visible != SheetVisibleEnum.Visible]
        shown = {} if parts else _shown(path, sink)
        if hidden:
            sink.metadata["hidden_sheets"] = hidden
        for number, sheet in enumerate(workbook.sheets_metadata, start=1):
            sink.start_unit("sheet", number, sheet.name)
            sink.progress(number, len(workbook.sheets_metadata))
            if sheet.visible != SheetVisibleEnum.Visible:
                sink.warn("this sheet is hidden in the program")
            _read_sheet(workbook, number - 1, sheet, parts or shown.get(sheet.name, ShownFormats()), data)
        if parts:
            parts.finish()


def _read_sheet(
    workbook: CalamineWorkbook, index: int, sheet: SheetMetadata, beside: WorkbookParts | ShownFormats, data: DataFile
) -> None:
    parts = beside if isinstance(beside, WorkbookParts) else None
    hints = beside.scan(sheet.name) if isinstance(beside, WorkbookParts) else SheetScan(shown=beside)
    if hints.uncalculated:
        data.sink.warn(_never_calculated(hints.uncalculated))
    if sheet.typ != SheetTypeEnum.WorkSheet:
        data.sink.skip("a chart, dialog or macro sheet")
    elif hints.cells > _MAX_CELLS:
        data.sink.skip(
            f"the sheet spans {hints.last_row + 1:,} rows and {hints.last_column + 1:,} columns, which is too large"
        )
    else:
        try:
            cells = _loaded(workbook, index)
        except CorruptFile as error:
            data.sink.skip(error.message)
        else:
            named = parts.tables(sheet.name) if parts else []
            read_sheet(SheetRows(cells, hints), named, data)
    for is_header, code in hints.running:
        for text in running_lines(code, sheet.name):
            kind = ElementType.HEADER if is_header else ElementType.FOOTER
            data.sink.emit(kind, text, Locator(sheet=sheet.name))
    if parts:
        parts.emit_rest(sheet.name)


def _never_calculated(formulas: int) -> str:
    if formulas == 1:
        return "One formula was never calculated; its cell is empty"
    return f"{formulas} formulas were never calculated; their cells are empty"


@contextmanager
def _workbook(path: Path, untyped: Sequence[int], sink: Sink) -> Generator[CalamineWorkbook]:
    copy, typed = sink.folder / "repaired.xlsb", sink.folder / "typed.ods"
    try:
        if untyped:
            write_typed(path, untyped, typed, sink.options)
            path = typed
        try:
            workbook = _opened(path)
        except CorruptFile:
            if not zipfile.is_zipfile(path) or not repaired(path, copy, sink.options):
                raise
            workbook = _opened(copy)
        with workbook:
            yield workbook
    finally:
        copy.unlink(missing_ok=True)
        typed.unlink(missing_ok=True)


@contextmanager
def _parts(path: Path, sink: Sink) -> Generator[WorkbookParts | None]:
    """Yields an XLSX file's parts besides cells; None for other formats."""
    try:
        parts = WorkbookParts(path, sink)
    except CorruptFile:
        yield None
        return
    with parts:
        parts.read_properties()
        yield parts


def _shown(path: Path, sink: Sink) -> Mapping[str, ShownFormats]:
    """Returns the number formats of sheets by name, for formats other than XLSX; empty if they cannot be read."""
    try:
        if not zipfile.is_zipfile(path):
            return xls_formats(path)
        with SafeZip(path, sink.options) as container:
            return ods_formats(container) if is_ods(container) else xlsb_formats(path, sink.options)
    except (CorruptFile, LimitExceeded):
        return {}


def _opened(path: Path) -> CalamineWorkbook:
    check_chains(path)
    try:
        return load_workbook(str(path))
    except PasswordError as error:
        raise PasswordRequired from error
    except BaseException as error:
        raise _translated(error, "The spreadsheet") from error


def _loaded(workbook: CalamineWorkbook, index: int) -> CalamineSheet:
    try:
        return workbook.get_sheet_by_index(index)
    except BaseException as error:
        raise _translated(error, "The sheet") from error


def _translated(error: BaseException, subject: str) -> BaseException:
    """Translates the reader's errors; its Rust panics derive from `BaseException` and have no importable class."""
    if isinstance(error, CalamineError | OSError | ValueError) or type(error).__name__ == "PanicException":
        return CorruptFile(f"{subject} is damaged and cannot be read: {error}")
    return error


def _refuse_bomb(path: Path, sink: Sink) -> Sequence[int]:
    """Rejects a container that claims to unpack to far more than spreadsheets do, before the reader unpacks it.

    Returns what `check_ods` does.
    """
    if not zipfile.is_zipfile(path):
        return ()
    with SafeZip(path, sink.options) as container:
        claimed = sum(info.file_size for info in container.infos)
        if claimed > max(_UNPACKED_FLOOR, path.stat().st_size * sink.options.max_archive_ratio):
            raise LimitExceeded(f"The spreadsheet declares {claimed:,} unpacked bytes, which exceeds the limit.")
        return check_ods(container, _MAX_CELLS)
