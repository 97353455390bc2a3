"""Emitting what several readers have in common, with the uploader's options kept."""

from __future__ import annotations

from citewell.extract.core.cells import Table
from citewell.extract.core.sink import Sink
from citewell.types import ElementType, JsonObject, Locator


def emit_table(sink: Sink, table: Table, place: Locator, metadata: JsonObject | None = None) -> None:
    """A table as an element of its own; as plain text when tables were not asked for."""
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
