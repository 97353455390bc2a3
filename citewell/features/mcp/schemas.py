"""Tools and their results as MCP has them."""

from __future__ import annotations

from typing import Any

from mcp import types

from citewell.agent.citations.bracketed import space_markers
from citewell.agent.citations.provenance import passage_title
from citewell.agent.interface import Source
from citewell.agent.turn.state import ToolResult
from citewell.errors import CitewellError
from citewell.features.schemas import said_json
from citewell.ports import ToolSpec

_TITLES = {
    "search_files": "Search files",
    "list_resources": "List files",
    "read_resource": "Read a file",
    "query_table": "Compute over a table",
}


def tool(spec: ToolSpec) -> types.Tool:
    """A tool as clients list it."""
    return types.Tool(
        name=spec.name,
        title=_TITLES.get(spec.name),
        description=spec.description,
        input_schema=dict(spec.parameters),
        annotations=types.ToolAnnotations(read_only_hint=True, open_world_hint=False),
    )


def tool_result(result: ToolResult) -> types.CallToolResult:
    """The text for the model with the passages under it, and the same as data."""
    text = "\n\n".join([result.text, *(_passage(source) for source in result.sources)])
    return types.CallToolResult(
        content=[types.TextContent(type="text", text=text)],
        structured_content={"text": result.text, "passages": [_data(source) for source in result.sources]},
        is_error=result.failed,
    )


def _passage(source: Source) -> str:
    hit = source.hit
    return f"[{source.n}] {passage_title(hit)}\n{space_markers(hit.chunk.text)}"


def _data(source: Source) -> dict[str, Any]:
    hit = source.hit
    return {
        "n": source.n,
        "label": hit.chunk.locator.label(hit.filename),
        "filename": hit.filename,
        "resource_id": hit.chunk.resource_id,
        "chunk_id": hit.chunk.id,
        "type": hit.chunk.type.value,
        "text": hit.chunk.text,
        "locator": hit.chunk.locator.to_json(),
        "score": round(hit.score, 6),
    } | said_json(hit)


def tool_error(error: CitewellError) -> types.CallToolResult:
    """What is wrong with a call, for the model to read."""
    return types.CallToolResult(content=[types.TextContent(type="text", text=error.message)], is_error=True)
