"""The filter language means the same in every store: random nested filters against an oracle that knows files, not payloads."""

from __future__ import annotations

import random
import uuid
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from operator import ge, gt, le, lt
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from citewell.adapters.index.memory import MemoryIndex
from citewell.adapters.index.qdrant_edge import QdrantEdgeIndex
from citewell.errors import InvalidFilter
from citewell.filters.language import (
    MAX_CONDITIONS,
    MAX_DEPTH,
    as_filters,
    build_filter,
    lowered,
    parse_filters,
    to_json,
    validate_keys,
)
from citewell.ports import VectorIndex
from citewell.ports.points import index_point
from citewell.types import (
    AllOf,
    AnyOf,
    Chunk,
    ChunkType,
    Condition,
    Expression,
    FileFacts,
    Filter,
    JsonValue,
    Locator,
    MetadataKey,
    MetadataKind,
    MetadataValue,
    Negation,
    Operator,
    SearchRequest,
    VectorQuery,
)

ORDERS: Mapping[str, Callable[[float, float], bool]] = {"gt": gt, "gte": ge, "lt": lt, "lte": le}
COLOURS = ["Red", "red car", "green", "Übergröße", "a.b[c]"]
DAYS = ["2024-02-28", "2024-02-29", "2024-03-01"]


def _file(n: int, randomly: random.Random) -> FileFacts:
    values: dict[str, MetadataValue] = {
        "colour": randomly.choice(COLOURS),
        "iso": randomly.choice([100, 200.5, 400]),
        "used": randomly.random() < 0.5,
        "taken": randomly.choice([*DAYS, "2024-02-29T12:00:00Z"]),
        "tags": tuple(randomly.sample(["outdoor", "Indoor", "night"], 2)),
        "any": randomly.choice(["7", 7, True, "2024-02-29"]),
    }
    kept = {key: value for key, value in values.items() if randomly.random() < 0.7}
    return FileFacts(
        filename=f"File {n}.{randomly.choice(['pdf', 'JPG'])}",
        language=randomly.choice(["en", "de", None]),
        type="pdf",
        category=randomly.choice(["rag", "image"]),
        identifier=f"ID-{n}" if n % 3 else None,
        projects=("p1", "Loans") if n % 2 else ("p2",),
        uploaded_at=datetime(2024, 2, 28 + n % 2, 6 * (n % 4), tzinfo=UTC).timestamp(),
        metadata=kept,
    )


def _said(field: str, file: FileFacts, page: int) -> list[MetadataValue]:
    """What a field has, as people would say it."""
    if field.startswith("metadata."):
        value = file.metadata.get(field.removeprefix("metadata."))
        return [] if value is None else list(value) if isinstance(value, tuple) else [value]
    values: dict[str, list[MetadataValue]] = {
        "page": [page],
        "filename": [file.filename],
        "extension": [file.filename.rpartition(".")[2]],
        "language": [file.language] if file.language else [],
        "category": [file.category, *(["document"] if file.category == "rag" else []), "pdf"],
        "identifier": [file.identifier] if file.identifier else [],
        "project": list(file.projects),
        "uploaded_at": [datetime.fromtimestamp(file.uploaded_at or 0, UTC).isoformat()],
        "tag": [*_said("metadata.tags", file, page)],
    }
    return values[field]


def _moment(value: MetadataValue) -> tuple[datetime, datetime] | None:
    """From when to when a date lasts."""
    if not isinstance(value, str) or value[:4] != "2024":
        return None
    start = datetime.fromisoformat(value)
    start = start.replace(tzinfo=UTC) if start.tzinfo is None else start
    return start, datetime.fromtimestamp(start.timestamp() + (86_400 if len(value) == 10 else 0), UTC)


def _compares(operator: str, held: MetadataValue, wanted: MetadataValue, in_list: bool) -> bool:
    span, time = _moment(wanted), None if in_list else _moment(held)
    if operator in {"contains", "prefix"}:
        if isinstance(held, bool | int | float) or time is not None:
            return False
        text, part = str(held).casefold(), str(wanted).casefold()
        return part in text if operator == "contains" else text.startswith(part)
    if span is not None or time is not None:
        if span is None or time is None:
            return False
        start, end = span
        at = time[0]
        last = at < end if end > start else at <= end
        return {
            "eq": at >= start and last,
            "gt": not (at < start or last),
            "gte": at >= start,
            "lt": at < start,
            "lte": last,
        }[operator]
    if isinstance(held, bool) or isinstance(wanted, bool) or isinstance(held, str) or isinstance(wanted, str):
        same = type(held) is type(wanted)
        return operator == "eq" and same and str(held).casefold() == str(wanted).casefold()
    numbers = (float(str(held)), float(str(wanted)))
    return numbers[0] == numbers[1] if operator == "eq" else ORDERS[operator](*numbers)


def means(expression: Expression, file: FileFacts, page: int) -> bool:
    """Whether a passage on a page of a file is meant."""
    match expression:
        case AllOf(parts):
            return all(means(part, file, page) for part in parts)
        case AnyOf(parts):
            return any(means(part, file, page) for part in parts)
        case Negation(part):
            return not means(part, file, page)
        case Condition(field, operator, value):
            held = _said(field, file, page)
            if operator is Operator.EXISTS:
                return bool(held) is value
            if operator in (Operator.NE, Operator.NOT_IN):
                positive = Operator.EQ if operator is Operator.NE else Operator.IN
                return not means(Condition(field, positive, value), file, page)
            wanted = value if isinstance(value, tuple) else (value,)
            name = "eq" if operator is Operator.IN else operator.value
            in_list = field == "tag" or isinstance(file.metadata.get(field.removeprefix("metadata.")), tuple)
            return any(_compares(name, one, want, in_list) for one in held for want in wanted)


def _condition(randomly: random.Random) -> Condition:
    texts: list[MetadataValue] = [
        *COLOURS,
        "outdoor",
        "INDOOR",
        "7",
        "File 3.pdf",
        "pdf",
        "de",
        "document",
        "id-4",
        "Loans",
        "id",
    ]
    numbers: list[MetadataValue] = [7, 100, 200.5, 401]
    dates: list[MetadataValue] = [*DAYS, "2024-02-29T12:00:00+01:00", "2024-02-28T06:00:00Z"]
    equal = ["eq", "ne", "in", "not_in", "exists"]
    kinds: list[tuple[list[str], list[MetadataValue], list[str]]] = [
        (
            ["filename", "extension", "language", "category", "identifier", "project", "tag"],
            texts,
            [*equal, "contains", "prefix"],
        ),
        (["page"], [1, 2, 3, 4], [*equal, *ORDERS]),
        (["uploaded_at"], dates, [*equal, *ORDERS]),
        (["metadata.colour", "metadata.tags", "metadata.any"], texts, [*equal, "contains", "prefix"]),
        (["metadata.iso", "metadata.any"], numbers, [*equal, *ORDERS]),
        (["metadata.taken", "metadata.any"], dates, [*equal, *ORDERS]),
        (["metadata.used", "metadata.any"], [True, False], equal),
    ]
    fields, values, operators = randomly.choice(kinds)
    operator = Operator(randomly.choice(operators))
    if operator is Operator.EXISTS:
        return Condition(randomly.choice(fields), operator, randomly.random() < 0.5)
    many = operator in (Operator.IN, Operator.NOT_IN)
    chosen = tuple(one for one in randomly.choices(values, k=3) if not isinstance(one, tuple))
    return Condition(randomly.choice(fields), operator, chosen if many else chosen[0])


def _expression(randomly: random.Random, depth: int) -> Expression:
    if depth == 0 or randomly.random() < 0.3:
        return _condition(randomly)
    parts = tuple(_expression(randomly, depth - 1) for _ in range(randomly.randint(1, 3)))
    return randomly.choice([AllOf(parts), AnyOf(parts), Negation(parts[0])])


async def _filled(index: VectorIndex, files: list[FileFacts], owner: str = "ann") -> None:
    chunks = [
        Chunk(
            id=str(uuid.uuid5(uuid.NAMESPACE_OID, f"{owner}/{n}")),
            owner_id=owner,
            resource_id=f"r{n}",
            version=1,
            ordinal=0,
            type=ChunkType.TEXT,
            text="words",
            locator=Locator(page=n % 4 + 1),
        )
        for n in range(len(files))
    ]
    await index.upsert([index_point(chunk, (1.0, 0.0), file) for chunk, file in zip(chunks, files, strict=True)])


@pytest.mark.full
@pytest.mark.parametrize("embedded", [True, False])
async def test_random_filters_admit_what_they_mean(tmp_path: Path, embedded: bool) -> None:
    randomly = random.Random(14)
    files = [_file(n, randomly) for n in range(120)]
    index: VectorIndex = await QdrantEdgeIndex.open(tmp_path, 2) if embedded else MemoryIndex()
    await _filled(index, files)
    await _filled(index, files, owner="bob")
    admitted = 0
    for _ in range(300):
        (expression,) = parse_filters([to_json(_expression(randomly, 3))])
        scope = Filter(owner_id="ann", conditions=(lowered(expression),))
        found = await index.search(VectorQuery(dense=(1.0, 0.0), filter=scope, limit=500))
        expected = {
            str(uuid.uuid5(uuid.NAMESPACE_OID, f"ann/{n}"))
            for n, file in enumerate(files)
            if means(expression, file, n % 4 + 1)
        }
        assert {one.id for one in found} == expected, to_json(expression)
        admitted += 0 < len(expected) < len(files)
    assert admitted > 150
    await index.close()


@pytest.mark.parametrize(
    "field", ["metadata.owner_id", "metadata.owner_id.x", 'metadata."}]', "metadata.*", "metadata.\u0000"]
)
@pytest.mark.parametrize("operator", ["eq", "ne", "not_in", "exists"])
async def test_no_key_or_value_reaches_another_owners_points(tmp_path: Path, field: str, operator: str) -> None:
    index = await QdrantEdgeIndex.open(tmp_path, 2)
    mine = FileFacts(filename="mine", metadata={"owner_id": "bob", 'x"}]': "bob"})
    await _filled(index, [mine])
    await _filled(index, [FileFacts(filename="theirs", metadata={"owner_id": "ann"})], owner="bob")
    value: JsonValue = True if operator == "exists" else ["bob"] if operator == "not_in" else "bob"
    condition: JsonValue = {"field": field, "operator": operator, "value": value}
    for data in (condition, {"not": condition}, {"any": [condition, {"not": condition}]}):
        request = SearchRequest(owner_id="ann", query="q", conditions=parse_filters(data))
        found = await index.search(
            VectorQuery(dense=(1.0, 0.0), filter=build_filter(request, Filter(owner_id="ann")), limit=10)
        )
        assert {one.id for one in found} <= {str(uuid.uuid5(uuid.NAMESPACE_OID, "ann/0"))}
    await index.close()


@pytest.mark.parametrize(
    ("data", "says"),
    [
        ({"field": "camera"}, "A search cannot be filtered by 'camera'."),
        ({"field": "page", "operator": "like", "value": 1}, "There is no operator 'like'."),
        (
            {"field": "page", "operator": "prefix", "value": 1},
            "The field 'page' does not support the operator 'prefix'.",
        ),
        ({"field": "date", "operator": "gte", "value": "spring"}, "The field 'date' takes a date such as"),
        ({"field": "page", "operator": "exists", "value": 1}, "`exists` on 'page' takes true or false."),
        (
            {"field": "metadata.a", "operator": "gt", "value": "x"},
            "'gt' on 'metadata.a' does not take a value of type text.",
        ),
        (
            {"field": "metadata.a", "operator": "prefix", "value": 3},
            "'prefix' on 'metadata.a' does not take a value of type number.",
        ),
        ({"field": "page", "value": 1, "boost": 2}, "A filter has no 'boost'."),
        ({"all": [], "any": []}, "A filter has no 'all'."),
        ({"all": []}, "`all` takes a list of 1 to 256 filters."),
        ({"not": [1]}, "A filter must be an object"),
        ("page = 1", "Filters must be a list of conditions and groups"),
        ([{"field": "page", "value": {"$gt": 1}}], "The `value` of 'page' must be"),
        ([{"field": "page", "value": 1}] * (MAX_CONDITIONS + 1), "At most 64 conditions can be combined."),
    ],
)
def test_what_is_not_allowed_says_what_is(data: JsonValue, says: str) -> None:
    with pytest.raises(InvalidFilter) as caught:
        parse_filters(data)
    assert caught.value.message.startswith(says)


@pytest.mark.parametrize(
    ("data", "allowed"),
    [
        ({"field": "page", "value": "3"}, ["whole number"]),
        ({"field": "page", "value": 3.5}, ["whole number"]),
        ({"field": "filename", "value": 3}, ["text"]),
        ({"field": "filename", "operator": "in", "value": ["a", 3]}, ["text"]),
        ({"field": "date", "value": "nope"}, ["date"]),
        ({"field": "uploaded_at", "value": True}, ["date"]),
        ({"field": "metadata.iso", "operator": "exists", "value": 1}, ["boolean"]),
        ({"field": "filename", "value": ["a"]}, ["single value"]),
        ({"field": "filename", "operator": "in", "value": "a"}, ["list"]),
        ({"field": "page", "value": None}, ["text", "number", "boolean", "list"]),
    ],
)
def test_a_value_of_another_type_says_which_is_allowed(data: JsonValue, allowed: list[str]) -> None:
    with pytest.raises(InvalidFilter) as caught:
        parse_filters([data])
    assert caught.value.details == {"allowed": allowed}


def test_groups_are_nested_to_a_bounded_depth() -> None:
    data: JsonValue = {"field": "page", "value": 1}
    for _ in range(MAX_DEPTH):
        data = {"not": data}
    (eight,) = parse_filters(data)
    assert parse_filters([data]) == as_filters([eight]) == (eight,)
    for beyond in ({"all": [data]}, [{"all": [data]}], {"not": data}):
        with pytest.raises(InvalidFilter, match="nested at most 8 deep"):
            parse_filters(beyond)
    with pytest.raises(InvalidFilter, match="nested at most 8 deep"):
        as_filters([Negation(eight)])
    deep: Expression = Condition("page", Operator.EQ, 1)
    for _ in range(100_000):
        deep = Negation(deep)
    with pytest.raises(InvalidFilter, match="nested at most 8 deep"):
        as_filters([deep])


def test_a_key_or_a_type_that_no_file_has_is_an_error_that_names_those_there_are() -> None:
    known = [
        MetadataKey(name="camera", kinds=frozenset({MetadataKind.TEXT}), files=3),
        MetadataKey(name="iso", kinds=frozenset({MetadataKind.NUMBER}), files=3),
    ]
    validate_keys(parse_filters([{"field": "metadata.camera", "value": "Leica"}]), known)
    validate_keys(parse_filters([{"field": "metadata.lens", "operator": "exists", "value": False}]), known)
    with pytest.raises(InvalidFilter) as caught:
        validate_keys(parse_filters([{"not": {"field": "metadata.kamera", "value": "Leica"}}]), known)
    assert caught.value.message == "No file has the metadata key 'kamera'. Did you mean camera?"
    assert caught.value.details == {"allowed": ["camera", "iso"]}
    with pytest.raises(InvalidFilter) as caught:
        validate_keys(parse_filters([{"field": "metadata.iso", "value": "100"}]), known)
    assert caught.value.message == "'metadata.iso' holds values of type number, not text."


def test_days_were_whole_numbers_and_still_may_be() -> None:
    by_number = lowered(*parse_filters([{"field": "date", "operator": "gte", "value": 20240301}]))
    assert by_number == lowered(*parse_filters([{"field": "date", "operator": "gte", "value": "2024-03-01"}]))


@given(
    st.recursive(
        st.none() | st.booleans() | st.floats() | st.text(),
        lambda inner: (
            st.lists(inner)
            | st.dictionaries(st.sampled_from(["all", "any", "not", "field", "operator", "value", "x"]), inner)
        ),
    )
)
def test_any_json_is_filters_or_an_error(data: JsonValue) -> None:
    try:
        found = parse_filters(data)
    except InvalidFilter:
        return
    assert parse_filters([to_json(one) for one in found]) == found
