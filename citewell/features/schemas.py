"""Shapes that several features share: requests, errors, citations, places in files, coverage, tables and elements."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from typing import Annotated, Any, NotRequired, get_args, overload

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    GetCoreSchemaHandler,
    GetJsonSchemaHandler,
    TypeAdapter,
    ValidationInfo,
    WithJsonSchema,
    field_validator,
    with_config,
)
from pydantic.json_schema import JsonSchemaValue
from typing_extensions import TypedDict

from citewell.filters.language import FIELDS
from citewell.types import Citation, ElementType, Hit, Metadata, Operator

MAX_PROJECTS = 100
"""Projects that one request may name."""


class Schema(BaseModel):
    """A shape of the API. `model_validate` copies it from a value, whose attributes have the fields' names unless `validation_alias` says otherwise.

    It is built when it is first used: building all of them takes a twentieth of the server's start.
    """

    model_config = ConfigDict(defer_build=True, from_attributes=True, validate_by_name=True)


class RequestBody(Schema):
    """What a request may carry: an unknown field is an error, and so are NaN, infinite numbers, and true or false for a number."""

    # Made at once: FastAPI gives the field of a body attributes that pydantic warns about, and keeps silent only while routes are made.
    model_config = ConfigDict(extra="forbid", allow_inf_nan=False, defer_build=False)

    @field_validator("*", mode="before")
    @classmethod
    def _no_boolean_for_a_number(cls, value: Any, info: ValidationInfo) -> Any:
        """Python counts true as 1, and so would pydantic."""
        if isinstance(value, bool) and _takes_only_numbers(cls.model_fields[info.field_name or ""].annotation):
            raise ValueError("a number is needed, not true or false")
        return value


def _takes_only_numbers(annotation: Any) -> bool:
    """Whether a field takes numbers and no boolean; within lists and unions too, as these are looked into."""
    kinds = {kind for kind in _kinds(annotation) if isinstance(kind, type)}
    return bool(kinds & {int, float}) and bool not in kinds


def _kinds(annotation: Any) -> Iterator[Any]:
    yield annotation
    for part in get_args(annotation):
        yield from _kinds(part)


def sample(body: dict[str, Any]) -> ConfigDict:
    """A model's configuration with a sample in the OpenAPI document: automation services map its fields, and fill forms in with it."""
    return ConfigDict(json_schema_extra={"examples": [body]})


class ErrorBody(Schema):
    """What went wrong: a stable code, a sentence that says what to do, and details."""

    code: str
    message: str
    details: dict[str, Any] = {}


class ErrorResponse(Schema):
    """Every error has this shape."""

    error: ErrorBody


@overload
def utc(seconds: float) -> datetime: ...
@overload
def utc(seconds: float | None) -> datetime | None: ...
def utc(seconds: float | None) -> datetime | None:
    """Seconds since 1970 as a UTC time."""
    return None if seconds is None else datetime.fromtimestamp(seconds, UTC)


def _timestamp(value: float | datetime) -> datetime:
    return value if isinstance(value, datetime) else utc(value)


# Pydantic reads seconds too, but rounds some of them to another microsecond.
Timestamp = Annotated[datetime, BeforeValidator(_timestamp)]


def rounded(digits: int) -> AfterValidator:
    """Rounds a number to so many decimal places."""
    return AfterValidator(partial(round, ndigits=digits))


@dataclass(frozen=True, slots=True)
class DescribedBy:
    """Marks a `dict[str, Any]` whose keys the API's description lists as those of `shapes` (any of them).

    Citewell made the values: they are not validated again, and keep exactly the keys that they have.
    """

    shapes: tuple[type, ...]

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> Any:
        return handler(source)

    def __get_pydantic_json_schema__(self, core: Any, handler: GetJsonSchemaHandler) -> JsonSchemaValue:
        # Only parts of a schema are given names: as the item of a list each shape is one.
        found = [handler({"type": "list", "items_schema": _named(shape)})["items"] for shape in self.shapes]
        return found[0] if len(found) == 1 else {"anyOf": found}


def _named(shape: type) -> Any:
    """The shape with the reference under which the description lists it."""
    reference = f"{shape.__module__}.{shape.__qualname__}:{id(shape)}"
    return {**TypeAdapter(shape).core_schema, "ref": reference}


class BoxOut(TypedDict):
    """A rectangle on a page, in PDF points from the page's top left; pages count from 1."""

    page: int
    x0: float
    y0: float
    x1: float
    y1: float


class LocatorOut(TypedDict, total=False):
    """A place in one version of a file; only the keys that apply. Pages, rows and slides count from 1, characters from 0.

    `rows` are those from `row` to `row_end` that are meant, where they are not all. `row` and `column` (its name) are one cell; `cell_boxes` are its rectangles, inside `boxes`, where they are known.
    """

    page: int
    pages: list[int]
    page_label: str
    boxes: list[BoxOut]
    sheet: str
    row: int
    row_end: int
    rows: list[int]
    column: str
    cell_boxes: list[BoxOut]
    cell: str
    slide: int
    second: float
    char_start: int
    char_end: int
    headings: list[str]


class UnitCoverageOut(TypedDict):
    """What was read of one page, sheet, slide or chapter. Shares and confidences from 0 to 1."""

    unit: str
    number: int
    name: str | None
    characters: int
    words: int
    tables: int
    images: int
    rows: int
    ocr_share: float
    ocr_confidence: float | None
    skipped: list[str]
    warnings: list[str]


class CoverageOut(TypedDict):
    """What was read of a file, part by part. Totals are sums over the parts; `warnings` are about the file as a whole."""

    units: list[UnitCoverageOut]
    warnings: list[str]
    skipped: list[str]
    elements: int
    characters: int
    words: int
    tables: int
    images: int
    rows: int
    empty_units: int


class CoverageBriefOut(TypedDict):
    """What a list of files tells of the coverage (`fields=summary`)."""

    unit: str
    unit_count: int


@with_config(ConfigDict(extra="allow"))
class ColumnOut(TypedDict):
    """A column of a data file with its statistics, as far as they apply to its type."""

    name: str
    dtype: str
    nulls: NotRequired[int]
    distinct: NotRequired[int]
    distinct_about: NotRequired[int]
    min: NotRequired[float | str | None]
    max: NotRequired[float | str | None]
    mean: NotRequired[float | None]
    sum: NotRequired[float | None]
    stddev: NotRequired[float | None]
    unit: NotRequired[str]
    samples: NotRequired[list[Any]]


@with_config(ConfigDict(extra="allow"))
class TableOut(TypedDict):
    """A table of a data file; `copy` names the blob that holds it exactly. Rows count from 1, as a spreadsheet program shows them."""

    id: str
    name: str
    columns: list[ColumnOut]
    row_count: int
    sheet: NotRequired[str | None]
    first_row: NotRequired[int | None]
    last_row: NotRequired[int | None]
    copy: NotRequired[str | None]


@with_config(ConfigDict(extra="allow"))
class ExtractionMetadataOut(TypedDict, total=False):
    """What a file says about itself; which other keys there are depends on its type."""

    tables: list[TableOut]


class ElementOut(TypedDict):
    """One piece of a file in reading order; which of the optional keys there are depends on its type.

    `cells` are the filled cells of a table on a page: row and column in `grid` (from 0), page, and the sides x0, y0, x1, y1 in points.
    """

    id: str
    type: ElementType
    text: str
    locator: LocatorOut
    span_starts: NotRequired[list[int]]
    level: NotRequired[int]
    html: NotRequired[str]
    grid: NotRequired[list[list[str]]]
    header_rows: NotRequired[int]
    cells: NotRequired[list[list[float]]]
    values: NotRequired[dict[str, Any]]
    blob: NotRequired[str]
    confidence: NotRequired[float]
    metadata: NotRequired[dict[str, Any]]


class PieceOut(TypedDict):
    """The part of an element that a chunk was made of, as offsets in the element's text."""

    element_id: str
    start: int
    end: int


@with_config(ConfigDict(extra="allow"))
class PictureValueOut(TypedDict):
    """A point of a picture: its place (`x`, to `x_end` in a histogram), its height, and the rows behind it (`cite`: as `[n]`)."""

    x: float | str
    y: float
    x_end: NotRequired[float]
    series: NotRequired[str]
    rows: str
    row: NotRequired[int]
    row_end: NotRequired[int]
    cite: NotRequired[int]
    named: NotRequired[bool]


class PictureDataOut(TypedDict):
    """The inline data of a picture."""

    values: list[PictureValueOut]


class PictureSourceOut(TypedDict):
    """The table that a picture was computed from; `open` where it is to be shown at once, `total` all its points, drawn or not."""

    resource_id: str
    version: int
    filename: str
    sheet: str | None
    column: str | None
    open: bool
    total: int


class PictureUseOut(TypedDict):
    """What Vega-Lite leaves alone."""

    citewell: PictureSourceOut


@with_config(ConfigDict(extra="allow"))
class PictureOut(TypedDict):
    """A Vega-Lite 5 specification; `mark` and `encoding` are as its schema has them."""

    title: str
    description: str
    data: PictureDataOut
    mark: dict[str, Any]
    encoding: dict[str, Any]
    usermeta: PictureUseOut


@with_config(ConfigDict(extra="allow"))
class StageDetailsOut(TypedDict, total=False):
    """What is known of a change of state."""

    reason: str
    attempt: int


@with_config(ConfigDict(extra="ignore"))
class ScopeOut(TypedDict, total=False):
    """What a question may draw on: a project or several, certain files, or the files that satisfy filters; empty for everything."""

    project: str
    projects: list[str]
    resource_ids: list[str]
    filters: list[Any]


MetadataValueOut = str | bool | int | float | list[str]
# Checked where limits are known, with messages that name the key.
JsonIn = Annotated[
    Any,
    WithJsonSchema(
        {
            "anyOf": [{"type": kind} for kind in ("string", "number", "boolean")]
            + [{"type": "array", "items": {"type": "string"}}]
        }
    ),
]


class FilterIn(RequestBody):
    """One comparison; docs/filters.md lists fields and operators. `all`, `any` and `not` make groups of filters."""

    field: str = Field(description=f"{', '.join(sorted(FIELDS))}, or metadata.<key>")
    operator: Operator = Operator.EQ
    value: str | int | float | bool | list[str | int | float | bool] = Field(
        default=True,
        description="a list with `in` and `not_in`; true or false with `exists`; dates as 2025-01-31 or ISO 8601",
    )


class FilterGroupIn(RequestBody):
    """A group of filters: exactly one of the three."""

    all: list[dict[str, Any]] = Field(default=[], description="every one of these holds")
    any: list[dict[str, Any]] = Field(default=[], description="one of these holds")
    not_: dict[str, Any] = Field(default={}, alias="not", description="this does not hold")


@dataclass(frozen=True, slots=True)
class ReadByUs:
    """A value that is taken as it comes, as `citewell.filters.language` reads it and says what is allowed; described as `shape`."""

    shape: Any

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> Any:
        return handler(source)

    def __get_pydantic_json_schema__(self, core: Any, handler: GetJsonSchemaHandler) -> JsonSchemaValue:
        return handler(TypeAdapter(self.shape).core_schema)


FilterJson = Annotated[Any, ReadByUs(FilterIn | FilterGroupIn)]
FiltersIn = Annotated[Any, ReadByUs(list[FilterIn | FilterGroupIn])]
IgnoreInferredIn = Annotated[
    Annotated[list[Annotated[str, Field(max_length=300)]], Field(max_length=64)] | bool | None,
    Field(description="filters not to infer from the words, by id; true for none at all"),
]
TimeZoneIn = Annotated[
    Annotated[str, Field(max_length=64)] | None,
    Field(
        description="where the caller is, such as Europe/Berlin (IANA): when `yesterday` was; as configured where it is left out",
    ),
]


IndexesIn = Annotated[
    list[str] | None,
    Field(description="1 to 8 ids of indexes to ask in place of the one that answers; merged by rank"),
]


def ignored(inferred: list[str] | bool | None) -> tuple[str, ...] | bool:
    """`ignore_inferred` as searches take it."""
    return tuple(inferred) if isinstance(inferred, list) else bool(inferred)


class InferredFilterOut(Schema):
    """A filter that was read from the words of a question. Its `id` in `ignore_inferred` takes it off."""

    id: str = Field(description="the field that it is about, such as date or metadata.camera; unique in an answer")
    label: str = Field(description="for people, such as `date: 2026-11-16 to 2026-11-22`")
    words: str = Field(description="those of the question that state it, such as `from last week`")
    filter: FilterJson
    applied: bool = Field(description="false where nothing was found within it, and the search went on without it")


class ImageOut(TypedDict):
    """The picture that a passage describes: an extracted file of the resource (`blob`), or the resource's own file; `path` serves its bytes."""

    resource_id: str
    blob: str | None
    path: str


def said_json(found: Hit) -> dict[str, Any]:
    """What a passage tells of its file besides its name: only what there is of record id, identifier, metadata and image."""
    said: dict[str, Any] = dict(found.provenance.to_json())
    return said if found.picture is None else said | {"image": dict(found.picture.to_json())}


def metadata_json(metadata: Metadata) -> dict[str, Any]:
    """Metadata as JSON has it."""
    return {key: list(value) if isinstance(value, tuple) else value for key, value in metadata.items()}


LocatorJson = Annotated[dict[str, Any], DescribedBy((LocatorOut,))]
CoverageJson = Annotated[dict[str, Any], DescribedBy((CoverageOut, CoverageBriefOut))]
MetadataJson = Annotated[dict[str, Any], DescribedBy((ExtractionMetadataOut,))]
ElementJson = Annotated[dict[str, Any], DescribedBy((ElementOut,))]
PictureJson = Annotated[dict[str, Any], DescribedBy((PictureOut,))]
PieceJson = Annotated[dict[str, Any], DescribedBy((PieceOut,))]
StageDetailsJson = Annotated[dict[str, Any], DescribedBy((StageDetailsOut,))]
ScopeJson = Annotated[dict[str, Any], DescribedBy((ScopeOut,))]


class CitationOut(Schema):
    """A checked pointer from `[n]` to the spot it rests on."""

    n: int
    chunk_id: str
    resource_id: str
    version: int
    filename: str
    locator: LocatorJson
    label: str
    quote: str
    verdict: str = Field(description="supported, weak or unsupported")
    score: float
    available: bool = Field(default=True, description="whether the file is still there; else the quote is empty")
    record_id: str | None = Field(default=None, description="of a text that was added as a record")
    identifier: str | None = Field(default=None, description="the file's")
    metadata: dict[str, MetadataValueOut] | None = Field(default=None, description="the file's")
    image: ImageOut | None = Field(default=None, description="what the passage describes, where that is a picture")

    @staticmethod
    def of(citation: Citation, *, available: bool = True) -> CitationOut:
        """The public form of a citation: `Citation.to_json`, as webhooks and exports have it, and whether its file is still there."""
        return CitationOut.model_validate({**citation.to_json(), "available": available})


class PlaceOut(Schema):
    """Where a passage is, without its words."""

    chunk_id: str
    resource_id: str
    filename: str
    label: str
    locator: LocatorJson
