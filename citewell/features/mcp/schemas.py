"""Tools, documents and their results in MCP's format."""

from __future__ import annotations

import base64
import json
import re
from typing import Any

from mcp import types

from citewell.agent.citations.bracketed import space_markers
from citewell.agent.citations.provenance import passage_title
from citewell.agent.interface import Source
from citewell.agent.turn.pictures import source_path
from citewell.agent.turn.state import ToolResult
from citewell.errors import CitewellError
from citewell.features.addresses import passage_address
from citewell.features.mcp.service import PREFIX, Document
from citewell.features.schemas import said_json
from citewell.ports import ImageInput, ToolSpec
from citewell.types import Resource

_TITLES = {
    "search_files": "Search files",
    "list_resources": "List files",
    "read_resource": "Read a file",
    "query_table": "Compute over a table",
    "analyze_image": "Look at a picture",
}
_TEXT: dict[str, Any] = {"type": "string"}
_READS = types.ToolAnnotations(read_only_hint=True, idempotent_hint=True, open_world_hint=False)
_PASSAGE: dict[str, Any] = {
    "type": "object",
    "description": "A passage to cite",
    "properties": {
        "n": {"type": "integer", "description": "Its number in the text of this result"},
        "label": {"type": "string", "description": "What to cite it by, such as Loan Policy.pdf (p. 3)"},
        "url": {"type": "string", "description": "Opens the file at the passage"},
        "filename": _TEXT,
        "resource_id": _TEXT,
        "chunk_id": _TEXT,
        "type": _TEXT,
        "text": _TEXT,
        "locator": {"type": "object", "description": "Page and rectangles, sheet and row, slide, second or characters"},
        "score": {"type": "number"},
        "picture": {"type": "string", "description": "What analyze_image takes"},
    },
    "required": ["n", "label", "url", "filename", "resource_id", "chunk_id", "type", "text", "locator", "score"],
}
_OUTPUT: dict[str, Any] = {
    "type": "object",
    "properties": {"text": _TEXT, "passages": {"type": "array", "items": _PASSAGE}},
    "required": ["text", "passages"],
}
# The two tools that deep-research clients look for: https://platform.openai.com/docs/mcp
SEARCH = types.Tool(
    name="search",
    title="Search",
    description="Searches the user's files. Returns passages, best first; pass an `id` to `fetch` to read one with what surrounds it.",
    input_schema={
        "type": "object",
        "properties": {
            "query": {"type": "string", "description": "What to look for, in the words the files would use"}
        },
        "required": ["query"],
        "additionalProperties": False,
    },
    output_schema={
        "type": "object",
        "properties": {
            "results": {
                "type": "array",
                "items": {
                    "type": "object",
                    "properties": {"id": _TEXT, "title": _TEXT, "url": _TEXT},
                    "required": ["id", "title", "url"],
                },
            }
        },
        "required": ["results"],
    },
    annotations=_READS,
)
FETCH = types.Tool(
    name="fetch",
    title="Fetch",
    description="Reads a passage that `search` found, with what surrounds it, or the beginning of a file. Cite it by its `url`.",
    input_schema={
        "type": "object",
        "properties": {"id": {"type": "string", "description": "The `id` of a result of `search`, or of a file"}},
        "required": ["id"],
        "additionalProperties": False,
    },
    output_schema={
        "type": "object",
        "properties": {
            "id": _TEXT,
            "title": _TEXT,
            "text": _TEXT,
            "url": _TEXT,
            "metadata": {"type": "object", "additionalProperties": _TEXT},
        },
        "required": ["id", "title", "text", "url"],
    },
    annotations=_READS,
)


def tool(spec: ToolSpec) -> types.Tool:
    """An agent's tool in a client's list, under its prefixed name."""
    return types.Tool(
        name=PREFIX + spec.name,
        title=_TITLES.get(spec.name),
        description=_prefixed(spec.description),
        input_schema=json.loads(_prefixed(json.dumps(dict(spec.parameters)))),
        output_schema=_OUTPUT,
        annotations=_READS,
    )


def _prefixed(text: str) -> str:
    """The text with the names of tools as clients know them."""
    return re.sub(rf"\b({'|'.join(_TITLES)})\b", rf"{PREFIX}\1", text)


def tool_result(result: ToolResult, base: str) -> types.CallToolResult:
    """The text for the model followed by the passages, the pictures, and text and passages as structured data.

    The structured data has no pictures: clients that pass it to their model would pass them as text. base: begins links
    """
    text = "\n\n".join([result.text, *(_passage(source, base) for source in result.sources)])
    return types.CallToolResult(
        content=[types.TextContent(type="text", text=text), *(_image(picture) for picture in result.images)],
        structured_content={"text": result.text, "passages": [_data(source, base) for source in result.sources]},
        is_error=result.failed,
    )


def search_result(result: ToolResult, base: str) -> types.CallToolResult:
    """What `search` returns: `{"results": [{"id", "title", "url"}]}`, as JSON text and as structured data."""
    if result.failed:
        return types.CallToolResult(content=[types.TextContent(type="text", text=result.text)], is_error=True)
    hits = [source.hit for source in result.sources]
    results = [
        {
            "id": source_path(hit),
            "title": hit.chunk.locator.label(hit.filename),
            "url": passage_address(base, hit.chunk.resource_id, hit.chunk.id),
        }
        for hit in hits
    ]
    return _json_result({"results": results})


def fetch_result(found: Document, base: str) -> types.CallToolResult:
    """What `fetch` returns: `{"id", "title", "text", "url", "metadata"}`, as JSON text and as structured data."""
    file, passage = found.file, found.passage
    metadata = {"filename": file.filename, "resource_id": file.id, "complete": str(found.is_whole).lower()}
    if passage is not None:
        metadata |= {"chunk_id": passage.id, "place": passage.locator.place(), "passage": passage.text}
    return _json_result(
        {
            "id": found.id,
            "title": file.filename if passage is None else passage.locator.label(file.filename),
            "text": found.text,
            "url": passage_address(base, file.id, passage and passage.id),
            "metadata": metadata,
        }
    )


def _json_result(data: dict[str, Any]) -> types.CallToolResult:
    text = json.dumps(data, ensure_ascii=False)
    return types.CallToolResult(content=[types.TextContent(type="text", text=text)], structured_content=data)


def file_resource(file: Resource) -> types.Resource:
    """A file in a client's list of resources."""
    return types.Resource(
        name=file.filename,
        uri=f"citewell://resources/{file.id}",
        description=file.summary or None,
        mime_type="text/plain",
        annotations=types.Annotations(audience=["user", "assistant"]),
    )


def _passage(source: Source, base: str) -> str:
    hit = source.hit
    pictured = f"\nPicture: {source_path(hit)}" if hit.picture is not None else ""
    link = passage_address(base, hit.chunk.resource_id, hit.chunk.id)
    return f"[{source.n}] {passage_title(hit)}\nLink: {link}{pictured}\n{space_markers(hit.chunk.text)}"


def _image(picture: ImageInput) -> types.ImageContent:
    return types.ImageContent(type="image", data=base64.b64encode(picture.data).decode(), mime_type=picture.mime_type)


def _data(source: Source, base: str) -> dict[str, Any]:
    hit = source.hit
    pictured = {"picture": source_path(hit)} if hit.picture is not None else {}
    return {
        "n": source.n,
        "label": hit.chunk.locator.label(hit.filename),
        "url": passage_address(base, hit.chunk.resource_id, hit.chunk.id),
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
