"""XLSX, XLSM, XLS, XLSB and ODS: every sheet's tables as rows under the numbers that the program shows, and the text around them."""

from __future__ import annotations

from pathlib import Path

from python_calamine import (
    CalamineError,
    CalamineWorkbook,
    PasswordError,
    SheetTypeEnum,
    SheetVisibleEnum,
    load_workbook,
)

from citewell.errors import CorruptFile, PasswordRequired
from citewell.extract.sink import Sink
from citewell.extract.tabular.sheet import read_sheet
from citewell.extract.tabular.writer import DataFile


def extract(path: Path, sink: Sink) -> None:
    """Every sheet in order, hidden ones too; values as stored with formulas' results, dates as ISO dates."""
    workbook = _open(path)
    sink.metadata["sheet_names"] = list(workbook.sheet_names)
    hidden = [sheet.name for sheet in workbook.sheets_metadata if sheet.visible != SheetVisibleEnum.Visible]
    if hidden:
        sink.metadata["hidden_sheets"] = hidden
    with DataFile(sink) as data:
        for number, sheet in enumerate(workbook.sheets_metadata, start=1):
            sink.start_unit("sheet", number, sheet.name)
            sink.progress(number, len(workbook.sheets_metadata))
            if sheet.visible != SheetVisibleEnum.Visible:
                sink.warn("this sheet is hidden in the program")
            if sheet.typ != SheetTypeEnum.WorkSheet:
                sink.skip("a sheet of a chart, dialog or macro, not of cells")
                continue
            try:
                read_sheet(workbook.get_sheet_by_index(number - 1), data)
            except CalamineError as error:
                sink.skip(f"the sheet cannot be read: {error}")


def _open(path: Path) -> CalamineWorkbook:
    try:
        return load_workbook(str(path))
    except PasswordError as error:
        raise PasswordRequired from error
    except (CalamineError, OSError, ValueError) as error:
        raise CorruptFile(f"The spreadsheet cannot be read: {error}") from error
