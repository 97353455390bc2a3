"""The tools as models and MCP clients see them: names, descriptions and arguments."""

from __future__ import annotations

from typing import cast

from citewell.agent.tables.query.typed import MAX_ROWS, Comparator, DatePart, Function, TextValue
from citewell.agent.turn.pictures import SHOWS
from citewell.agent.turn.user_files import SEARCH_USER_FILES as USER_FILES_SCHEMA
from citewell.agent.turn.user_files import SEARCHES
from citewell.filters.language import FIELDS, PASSAGE_FIELDS
from citewell.ports import ToolSpec
from citewell.types import ChunkType, JsonObject, Operator

MAX_TOP_K = 30

_FILTERS = (
    'All of these must hold: {"field", "operator", "value"}, or a group {"all": [...]}, {"any": [...]} or {"not": {...}}. Fields: '
    f"{', '.join(sorted(FIELDS))}, and metadata.<key>. Operators: {', '.join(operator.value for operator in Operator)}; dates as 2025-01-31."
)
_FILE_FILTERS = f"Only files that satisfy these, as in a search, but not by {', '.join(sorted(PASSAGE_FIELDS))}"
_NARROWING: JsonObject = {
    "types": {
        "type": "array",
        "items": {"type": "string", "enum": [kind.value for kind in ChunkType]},
        "description": "Only these kinds of passage",
    },
    "resource_ids": {
        "type": "array",
        "items": {"type": "string"},
        "description": "Only these files, by id or identifier",
    },
    "projects": {
        "type": "array",
        "items": {"type": "string"},
        "description": "Only files of these projects, by id or name",
    },
    "filters": {"type": "array", "items": {"type": "object"}, "description": _FILTERS},
}


def _objects(form: str) -> JsonObject:
    return {"type": "array", "items": {"type": "object"}, "description": form}


SEARCH_FILES = ToolSpec(
    "search_files",
    "Finds passages in the user's files. Returns numbered passages; cite them as [n].",
    {
        "type": "object",
        "properties": {
            "query": {"type": "string", "description": "What to look for, in the words the files would use"},
            **_NARROWING,
            "top_k": {"type": "integer", "minimum": 1, "maximum": MAX_TOP_K},
        },
        "required": ["query"],
        "additionalProperties": False,
    },
)
SEARCH_USER_FILES = ToolSpec(
    "search_user_files",
    f"{SEARCHES} Returns numbered passages; cite them as [n].",
    {
        "type": "object",
        "properties": {**cast(JsonObject, USER_FILES_SCHEMA["properties"]), **_NARROWING},
        "required": ["query"],
        "additionalProperties": False,
    },
)
ANALYZE_IMAGE = ToolSpec(
    "analyze_image",
    SHOWS,
    {
        "type": "object",
        "properties": {
            "resource_id": {
                "type": "string",
                "description": "The number of a passage that describes a picture or stands beside one, such as [3], or the id of an image file",
            }
        },
        "required": ["resource_id"],
        "additionalProperties": False,
    },
)
ANALYZE_IMAGE_BY_PATH = ToolSpec(
    "analyze_image",
    SHOWS.replace(SEARCH_USER_FILES.name, SEARCH_FILES.name),
    {
        "type": "object",
        "properties": {
            "resource_id": {
                "type": "string",
                "description": "The `picture` of a passage, such as resources/…/chunks/…, or the id of an image file",
            }
        },
        "required": ["resource_id"],
        "additionalProperties": False,
    },
)
"""For clients whose calls are turns of their own: a number would name nothing there."""
OF_THE_MODEL = frozenset({SEARCH_USER_FILES.name, ANALYZE_IMAGE.name})
LIST_RESOURCES = ToolSpec(
    "list_resources",
    "Lists the user's files in scope, in every state, with what could not be read.",
    {
        "type": "object",
        "properties": {"filters": {"type": "array", "items": {"type": "object"}, "description": _FILE_FILTERS}},
        "additionalProperties": False,
    },
)
READ_RESOURCE = ToolSpec(
    "read_resource",
    "Reads pages, slides or rows of one file.",
    {
        "type": "object",
        "properties": {
            "resource_id": {"type": "string", "description": "Its id or identifier"},
            "first": {"type": "integer", "minimum": 1, "description": "First page, slide or row"},
            "last": {"type": "integer", "minimum": 1, "description": "Last page, slide or row"},
        },
        "required": ["resource_id"],
        "additionalProperties": False,
    },
)
QUERY_TABLE = ToolSpec(
    "query_table",
    "Computes over all rows of a table (count, sum, average, highest, filters, groups); use it for every figure from data files. "
    "Returns values and the rows they come from; cite them as [n]. The user sees values by group as a chart.",
    {
        "type": "object",
        "properties": {
            "source": {"type": "string", "description": "The table, as list_resources names it"},
            "filters": {"type": "array", "items": {"type": "object"}, "description": _FILE_FILTERS},
            "columns": {
                "type": "array",
                "items": {"type": "string"},
                "description": "Columns to return, without aggregates",
            },
            "conditions": {
                "type": "array",
                "items": {
                    "type": "object",
                    "properties": {
                        "column": {"type": "string"},
                        "part": {"type": "string", "enum": [part.value for part in (*DatePart, *TextValue)]},
                        "comparison": {"type": "string", "enum": [comparison.value for comparison in Comparator]},
                        "value": {
                            "description": "A text, number or true/false; a list for in and not_in; dates as 2025-01-31"
                        },
                    },
                    "required": ["column", "comparison"],
                    "additionalProperties": False,
                },
            },
            "groups": {
                "type": "array",
                "items": {
                    "type": "object",
                    "properties": {
                        "column": {"type": "string"},
                        "part": {"type": "string", "enum": [part.value for part in (*DatePart, *TextValue)]},
                        "bin": {
                            "type": "number",
                            "description": "Width of the ranges that numbers are grouped into, for a histogram",
                        },
                    },
                    "required": ["column"],
                    "additionalProperties": False,
                },
            },
            "aggregates": {
                "type": "array",
                "items": {
                    "type": "object",
                    "properties": {
                        "function": {"type": "string", "enum": [function.value for function in Function]},
                        "column": {"type": "string"},
                        "part": {"type": "string", "enum": [part.value for part in TextValue]},
                    },
                    "required": ["function"],
                    "additionalProperties": False,
                },
            },
            "order": {
                "type": "array",
                "items": {
                    "type": "object",
                    "properties": {
                        "by": {"type": "string", "description": "A column, or an aggregate such as sum(Amount)"},
                        "descending": {"type": "boolean"},
                        "part": {"type": "string", "enum": [part.value for part in TextValue]},
                    },
                    "required": ["by"],
                    "additionalProperties": False,
                },
            },
            "limit": {"type": "integer", "minimum": 1, "maximum": MAX_ROWS},
        },
        "required": ["source"],
        "additionalProperties": False,
    },
)

SHORT_SEARCH = ToolSpec(
    SEARCH_USER_FILES.name,
    "Finds passages in the user's files. Returns numbered passages; cite them as [n].",
    {
        "type": "object",
        "properties": {
            "query": {"type": "string", "description": "What to look for, in the words of the files"},
            "resource_ids": {"type": "array", "items": {"type": "string"}, "description": "Only these files, by id"},
        },
        "required": ["query"],
    },
)
"""What a model reads of a tool is paid for with each call, so it reads the part that it uses; calls may use the whole of it."""
SHORT_LIST = ToolSpec(
    LIST_RESOURCES.name, "Lists the user's files, and their tables with columns.", {"type": "object", "properties": {}}
)
SHORT_READ = ToolSpec(
    READ_RESOURCE.name,
    "Reads pages, slides or rows of one file.",
    {
        "type": "object",
        "properties": {
            "resource_id": {"type": "string"},
            "first": {"type": "integer"},
            "last": {"type": "integer"},
        },
        "required": ["resource_id"],
    },
)
SHORT_QUERY = ToolSpec(
    QUERY_TABLE.name,
    "Computes over all rows of a table. Use it for every figure from a table. Returns rows; cite them as [n].",
    {
        "type": "object",
        "properties": {
            "source": {"type": "string", "description": "The table, as list_resources names it"},
            "columns": {"type": "array", "items": {"type": "string"}},
            "conditions": _objects(
                f"{{column, comparison: {'|'.join(one.value for one in Comparator)}, value, part?}}; dates as 2025-01-31"
            ),
            "groups": _objects(f"{{column, part?: {'|'.join(one.value for one in DatePart)}, bin?: width of ranges}}"),
            "aggregates": _objects(f"{{function: {'|'.join(one.value for one in Function)}, column?}}"),
            "order": _objects("{by: a column or sum(Amount), descending}"),
            "limit": {"type": "integer"},
        },
        "required": ["source"],
    },
)
SHORT_IMAGE = ToolSpec(
    ANALYZE_IMAGE.name,
    "Shows you a picture that a search has found.",
    {
        "type": "object",
        "properties": {
            "resource_id": {"type": "string", "description": "Number of a passage, such as [3], or file id"}
        },
        "required": ["resource_id"],
    },
)
SHORT = {spec.name: spec for spec in (SHORT_SEARCH, SHORT_LIST, SHORT_READ, SHORT_QUERY, SHORT_IMAGE)}
TOOL_NAMES = (
    SEARCH_FILES.name, SEARCH_USER_FILES.name, LIST_RESOURCES.name, READ_RESOURCE.name, QUERY_TABLE.name, ANALYZE_IMAGE.name,
)  # fmt: skip
