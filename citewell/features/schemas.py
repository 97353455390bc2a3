"""Schemas shared by features: requests, errors, citations, places in files, coverage, tables and elements."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from typing import Annotated, Any, Literal, NotRequired, get_args, overload

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

from citewell.features.picture_schemas import PictureOut
from citewell.filters.language import FIELDS
from citewell.types import Citation, ElementType, Hit, Metadata, Operator, RerankLimits, SearchOptions

MAX_PROJECTS = 100
"""The most projects in one request."""


class Schema(BaseModel):
    """A schema of the API, built on first use: building all of them takes a twentieth of the server's start.

    `model_validate` copies a value's attributes by the fields' names, or by their `validation_alias`.
    """

    model_config = ConfigDict(defer_build=True, from_attributes=True, validate_by_name=True)


class RequestBody(Schema):
    """The content of a request. Unknown fields, NaN, infinite numbers, and booleans in place of numbers are errors."""

    # Built at once: FastAPI sets attributes on body fields about which pydantic warns, and suppresses that only while it creates routes.
    model_config = ConfigDict(extra="forbid", allow_inf_nan=False, defer_build=False)

    @field_validator("*", mode="before")
    @classmethod
    def _no_boolean_for_a_number(cls, value: Any, info: ValidationInfo) -> Any:
        """Refuse booleans, which Python and pydantic would accept as 0 and 1."""
        if isinstance(value, bool) and _takes_only_numbers(cls.model_fields[info.field_name or ""].annotation):
            raise ValueError("must be a number, not true or false")
        return value


def _takes_only_numbers(annotation: Any) -> bool:
    """Whether a field accepts numbers but no booleans, also within lists and unions."""
    kinds = {kind for kind in _kinds(annotation) if isinstance(kind, type)}
    return bool(kinds & {int, float}) and bool not in kinds


def _kinds(annotation: Any) -> Iterator[Any]:
    yield annotation
    for part in get_args(annotation):
        yield from _kinds(part)


def sample(body: dict[str, Any]) -> ConfigDict:
    """A model's configuration with an example for the OpenAPI document, from which automation services map fields and fill in forms."""
    return ConfigDict(json_schema_extra={"examples": [body]})


class ErrorBody(Schema):
    """An error: a stable code, a message that says what to do, and details."""

    code: str
    message: str
    details: dict[str, Any] = {}


class ErrorResponse(Schema):
    """The shape of every error."""

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
    """Marks a `dict[str, Any]` that the API's description documents with the keys of `shapes` (any of them).

    Citewell creates these values: they are not validated again, and keep exactly their keys.
    """

    shapes: tuple[type, ...]

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> Any:
        return handler(source)

    def __get_pydantic_json_schema__(self, core: Any, handler: GetJsonSchemaHandler) -> JsonSchemaValue:
        # Only parts of a schema get names, so each shape is made the item of a list.
        found = [handler({"type": "list", "items_schema": _named(shape)})["items"] for shape in self.shapes]
        return found[0] if len(found) == 1 else {"anyOf": found}


def _named(shape: type) -> Any:
    """A shape, and its reference in the description."""
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
    """A place in one version of a file, with only the keys that apply. Pages, rows and slides count from 1, characters from 0.

    `rows` lists the rows between `row` and `row_end` that are meant, if not all. `row` and `column` (a name) give one cell; `cell_boxes` are its rectangles inside `boxes`, if known.
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
    """What was read from one page, sheet, slide or chapter. Shares and confidences from 0 to 1."""

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
    """What was read from a file, part by part. Totals are sums over the parts; `warnings` concern the whole file."""

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
    """The coverage in lists of files (`fields=summary`)."""

    unit: str
    unit_count: int


@with_config(ConfigDict(extra="allow"))
class ColumnOut(TypedDict):
    """A column of a data file, with the statistics that apply to its type."""

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
    """A table of a data file; `copy` names the blob with its exact copy. Rows count from 1, as in spreadsheet programs."""

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
    """Metadata stated in a file; other keys depend on its type."""

    tables: list[TableOut]


class ElementOut(TypedDict):
    """One piece of a file in reading order; optional keys depend on its type.

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
    """The part of an element that a chunk contains, as offsets in the element's text."""

    element_id: str
    start: int
    end: int


@with_config(ConfigDict(extra="allow"))
class StageDetailsOut(TypedDict, total=False):
    """Details of a state change."""

    reason: str
    attempt: int


@with_config(ConfigDict(extra="ignore"))
class ScopeOut(TypedDict, total=False):
    """What a question may draw on: one or more projects, certain files, or the files that match filters; empty for everything."""

    project: str
    projects: list[str]
    resource_ids: list[str]
    filters: list[Any]


MetadataValueOut = str | bool | int | float | list[str]
# Validated where limits are known, with messages that name the key.
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

    all: list[dict[str, Any]] = Field(default=[], description="all of these match")
    any: list[dict[str, Any]] = Field(default=[], description="any of these matches")
    not_: dict[str, Any] = Field(default={}, alias="not", description="this does not match")


@dataclass(frozen=True, slots=True)
class ReadByUs:
    """A value accepted as is, because `citewell.filters.language` validates it; documented as `shape`."""

    shape: Any

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> Any:
        return handler(source)

    def __get_pydantic_json_schema__(self, core: Any, handler: GetJsonSchemaHandler) -> JsonSchemaValue:
        return handler(TypeAdapter(self.shape).core_schema)


FilterJson = Annotated[Any, ReadByUs(FilterIn | FilterGroupIn)]
FiltersIn = Annotated[Any, ReadByUs(list[FilterIn | FilterGroupIn])]


class SearchOptionsIn(RequestBody):
    """Options of a search. List it before the base with the question, so that its fields are described after that one's."""

    rerank: bool | None = Field(default=None, description="rerank the passages")
    rerank_candidates: int | None = Field(default=None, description="1 to 1,000: how many passages the reranker sees")
    rerank_top_n: int | None = Field(default=None, description="1 to 100: how many passages it keeps")
    rerank_threshold: float | None = Field(default=None, allow_inf_nan=False, description="the lowest score to keep")
    ignore_inferred: Annotated[list[Annotated[str, Field(max_length=300)]], Field(max_length=64)] | bool | None = Field(
        default=None, description="ids of filters not to infer from the words; true to infer none"
    )
    time_zone: Annotated[str, Field(max_length=64)] | None = Field(
        default=None, description="the caller's time zone (IANA), such as Europe/Berlin, for words such as `yesterday`"
    )
    indexes: list[str] | None = Field(
        default=None, description="1 to 8 ids of indexes to search instead of the active one; merged by rank"
    )
    debug: bool = False

    def options(self) -> SearchOptions:
        """The value that is passed down."""
        ignored = self.ignore_inferred
        return SearchOptions(
            rerank=self.rerank,
            rerank_limits=RerankLimits(
                candidates=self.rerank_candidates, top_n=self.rerank_top_n, threshold=self.rerank_threshold
            ),
            ignore_inferred=tuple(ignored) if isinstance(ignored, list) else bool(ignored),
            time_zone=self.time_zone,
            indexes=None if self.indexes is None else tuple(self.indexes),
            debug=self.debug,
        )


class InferredFilterOut(Schema):
    """A filter inferred from the words of a question. Put its `id` into `ignore_inferred` to remove it."""

    id: str = Field(description="its field, such as date or metadata.camera; unique in an answer")
    label: str = Field(description="for people, such as `date: 2026-11-16 to 2026-11-22`")
    words: str = Field(description="the words that state it, such as `from last week`")
    filter: FilterJson
    applied: bool = Field(description="false if nothing matched it and the search continued without it")


class ImageOut(TypedDict):
    """The picture that a passage describes: an extracted file of the resource (`blob`), or the resource itself; `path` serves its bytes."""

    resource_id: str
    blob: str | None
    path: str


def said_json(found: Hit) -> dict[str, Any]:
    """A passage's origin besides the file name: record id, identifier, metadata and image, each only if present."""
    said: dict[str, Any] = dict(found.provenance.to_json())
    return said if found.picture is None else said | {"image": dict(found.picture.to_json())}


def metadata_json(metadata: Metadata) -> dict[str, Any]:
    """Metadata as JSON."""
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
    """A checked pointer from `[n]` to its source."""

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
    available: bool = Field(default=True, description="whether the file still exists; if not, the quote is empty")
    record_id: str | None = Field(default=None, description="for a text that was added as a record")
    identifier: str | None = Field(default=None, description="the file's")
    metadata: dict[str, MetadataValueOut] | None = Field(default=None, description="the file's")
    image: ImageOut | None = Field(default=None, description="the picture that the passage describes, if any")

    @staticmethod
    def of(citation: Citation, *, available: bool = True) -> CitationOut:
        """The public form of a citation: `Citation.to_json`, as in webhooks and exports, and whether its file still exists."""
        return CitationOut.model_validate({**citation.to_json(), "available": available})


class RememberedOut(Schema):
    """Words quoted from one of your earlier conversations, apart from citations of files."""

    kind: Literal["chat"]
    thread_id: str
    message_id: str
    label: str = Field(description="such as `chat of 12 November`")
    quote: str
    said_by: Literal["you", "citewell"]
    about: str = Field(description="the message that began the exchange")
    said_at: Timestamp


class AnsweredBeforeOut(Schema):
    """The earlier answer that is given again."""

    question: str
    thread_id: str
    message_id: str
    answered_at: Timestamp


class PlaceOut(Schema):
    """A passage's place, without its words."""

    chunk_id: str
    resource_id: str
    filename: str
    label: str
    locator: LocatorJson
