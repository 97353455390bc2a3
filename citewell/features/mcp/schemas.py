"""Tools and their results in MCP's format."""

from __future__ import annotations

import base64
from typing import Any

from mcp import types

from citewell.agent.citations.bracketed import space_markers
from citewell.agent.citations.provenance import passage_title
from citewell.agent.interface import Source
from citewell.agent.turn.pictures import source_path
from citewell.agent.turn.state import ToolResult
from citewell.errors import CitewellError
from citewell.features.schemas import said_json
from citewell.ports import ImageInput, ToolSpec

_TITLES = {
    "search_files": "Search files",
    "list_resources": "List files",
    "read_resource": "Read a file",
    "query_table": "Compute over a table",
    "analyze_image": "Look at a picture",
}


def tool(spec: ToolSpec) -> types.Tool:
    """A tool in a client's list."""
    return types.Tool(
        name=spec.name,
        title=_TITLES.get(spec.name),
        description=spec.description,
        input_schema=dict(spec.parameters),
        annotations=types.ToolAnnotations(read_only_hint=True, open_world_hint=False),
    )


def tool_result(result: ToolResult) -> types.CallToolResult:
    """The text for the model followed by the passages, the pictures, and text and passages as structured data.

    The structured data has no pictures: clients that pass it to their model would pass them as text.
    """
    text = "\n\n".join([result.text, *(_passage(source) for source in result.sources)])
    return types.CallToolResult(
        content=[types.TextContent(type="text", text=text), *(_image(picture) for picture in result.images)],
        structured_content={"text": result.text, "passages": [_data(source) for source in result.sources]},
        is_error=result.failed,
    )


def _passage(source: Source) -> str:
    hit = source.hit
    pictured = f"\nPicture: {source_path(hit)}" if hit.picture is not None else ""
    return f"[{source.n}] {passage_title(hit)}{pictured}\n{space_markers(hit.chunk.text)}"


def _image(picture: ImageInput) -> types.ImageContent:
    return types.ImageContent(type="image", data=base64.b64encode(picture.data).decode(), mime_type=picture.mime_type)


def _data(source: Source) -> dict[str, Any]:
    hit = source.hit
    pictured = {"picture": source_path(hit)} if hit.picture is not None else {}
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
    } | {**said_json(hit), **pictured}


def tool_error(error: CitewellError) -> types.CallToolResult:
    """A call's error, for the model to read."""
    return types.CallToolResult(content=[types.TextContent(type="text", text=error.message)], is_error=True)
