"""Emits elements common to several readers, respecting the uploader's options."""

from __future__ import annotations

from citewell.extract.core.cells import Table
from citewell.extract.core.sink import Sink
from citewell.types import ElementType, JsonObject, Locator


def emit_table(sink: Sink, table: Table, place: Locator, metadata: JsonObject | None = None) -> None:
    """Emits a table as its own element, or as plain text if tables were not requested."""
    if not sink.options.extract_tables:
        lines = (" | ".join(" ".join(cell.split()) for cell in row if cell) for row in table.grid)
        sink.emit(ElementType.PARAGRAPH, "\n".join(line for line in lines if line), place, metadata=metadata)
        return
    sink.emit(
        ElementType.TABLE,
        table.markdown,
        place,
        html=table.html,
        grid=table.grid,
        header_rows=table.header_rows,
        metadata=metadata,
    )
