"""Files filtered and counted in SQL: on both databases as the reference for vector stores says, value by value."""

from __future__ import annotations

import random
from collections import Counter
from typing import Any

import pytest
import sqlalchemy as sa

from citewell.errors import InvalidFilter
from citewell.filters.language import lowered, parse_filters
from citewell.filters.predicates import holds
from citewell.ports.points import file_payload, keyword
from citewell.storage.accounts.owners import OwnerRepository
from citewell.storage.database import Database
from citewell.storage.files.facets import FacetRepository
from citewell.storage.files.metadata import MetadataRepository
from citewell.storage.files.projects import ProjectRepository, link
from citewell.storage.files.resources import ResourceRepository
from citewell.storage.tables import resources
from citewell.types import Expression, Facet, FileFacts, JsonValue, MetadataKind, MetadataValue, ResourceFilter
from tests.storage.estates import new_resource
from tests.storage.rows import add_resource

_TEXTS = ("Leica M6", "leica m6", "Straße", "STRASSE", "ΣΊΣΥΦΟΣ", "100%_a", "2025-02-30", "Ünï", "a/b;c")
_DAYS = ("2025-01-31", "2025-02-01", "2024-02-29", "2025-02-01T00:00:00Z", "2025-02-01T09:30:00.250000Z", "1969-07-20")
_NAMES = ("Frame.JPG", "notes.tar.GZ", "README", ".env", "Gebühr.PDF", "a.b.", "100%_a.txt")


class Shelf:
    """The files of one owner, and what filters should make of them."""

    def __init__(self, database: Database, owner: str) -> None:
        self.database, self.owner = database, owner
        self.resources, self.facets = ResourceRepository(database), FacetRepository(database)
        self.facts: dict[str, FileFacts] = {}

    async def fill(self, count: int, seed: int) -> None:
        chance = random.Random(seed)
        projects = ProjectRepository(self.database)
        ids = [await projects.resolve(self.owner, name, create=True) for name in ("Default", "Fotos Ä")]
        for number in range(count):
            new = new_resource(
                self.owner,
                f"{self.owner} {number}",
                filename=chance.choice(_NAMES),
                detected_category=chance.choice(["rag", "image", "data"]),
                type=chance.choice(["pdf", "jpeg", "csv"]),
                metadata=_metadata(chance),
                thread=chance.choice([None, "T1", "t2"]),
            )
            made, _ = await self.resources.create(new, chance.choice(ids))
            async with self.database.write() as connection:
                values = {"language": chance.choice([None, "en", "de"]), "extraction_metadata": _stated(chance)}
                await connection.execute(
                    sa.update(resources)
                    .where(resources.c.id == made.id)
                    .values(**values, created_at=1.7e9 + number * 6e5)
                )
        found = [resource.id for resource in (await self.resources.page(self.owner, ResourceFilter(), 1000, None))[0]]
        self.facts = await MetadataRepository(self.database).facts(self.owner, found)

    async def listed(self, *filters: Expression) -> set[str]:
        page, _ = await self.resources.page(self.owner, ResourceFilter(conditions=filters), 1000, None)
        return {resource.id for resource in page}

    def expected(self, filter: Expression) -> set[str]:
        low = lowered(filter)
        return {name for name, facts in self.facts.items() if holds(low, file_payload(facts))}


@pytest.fixture
async def shelf(database: Database) -> Shelf:
    found = Shelf(database, await OwnerRepository(database).ensure("ada"))
    await found.fill(60, seed=7)
    return found


def _metadata(chance: random.Random) -> dict[str, MetadataValue]:
    values: dict[str, MetadataValue] = {
        "camera": chance.choice(_TEXTS),
        "iso": chance.choice([100, 400, 1.5, -3, 2**40]),
        "kept": chance.choice([True, False]),
        "taken": chance.choice(_DAYS),
        "tags": chance.choice([("Outdoor", "Night"), ("outdoor",), ("2025-02-01", "ẞ")]),
        "mixed": chance.choice(["400", 400, True, "2025-02-01", ("400", "x")]),
        "date": chance.choice(_DAYS),
        "keywords": chance.choice(["a; B ,c", "Night"]),
    }
    return {key: value for key, value in values.items() if chance.random() < 0.6}


def _stated(chance: random.Random) -> dict[str, JsonValue]:
    values: dict[str, JsonValue] = {
        "date": chance.choice(["20240229120000", "2025-02-01 was a Saturday", "soon", 20250101, None]),
        "created": chance.choice(["2025-01-31", "2024-02-30"]),
        "keywords": chance.choice(["Night; harbour", ["x", 3, "Night"], {"a": 1}]),
    }
    return {key: value for key, value in values.items() if chance.random() < 0.6}


_TEXT_FIELDS = (
    "filename",
    "extension",
    "type",
    "category",
    "language",
    "tag",
    "thread",
    "project",
    "metadata.camera",
    "metadata.mixed",
    "metadata.tags",
)
_DATE_FIELDS = ("date", "uploaded_at", "metadata.taken", "metadata.mixed", "metadata.date")


def _condition(chance: random.Random) -> dict[str, Any]:
    kind = chance.randrange(4)
    if kind == 0:
        field = chance.choice(_TEXT_FIELDS)
        pool = [*_TEXTS[:6], *_NAMES, "jpg", "pdf", "document", "image", "en", "night", "outdoor", "t1", "fotos ä", "x"]
        pool += ["400"] if field.startswith("metadata") else []
        if chance.random() < 0.4:
            return {"field": field, "operator": chance.choice(["in", "not_in"]), "value": chance.sample(pool, 3)}
        value = chance.choice(pool)
        operator = chance.choice(["eq", "ne", "contains", "prefix"])
        return {
            "field": field,
            "operator": operator,
            "value": value[:3] if operator in ("contains", "prefix") else value,
        }
    if kind == 1:
        operator = chance.choice(["eq", "ne", "gt", "gte", "lt", "lte"])
        return {"field": chance.choice(_DATE_FIELDS), "operator": operator, "value": chance.choice(_DAYS)}
    if kind == 2:
        operator = chance.choice(["eq", "ne", "gt", "gte", "lt", "lte"])
        field = chance.choice(["metadata.iso", "metadata.mixed"])
        return {"field": field, "operator": operator, "value": chance.choice([100, 400, 1.5, -3, 2**40])}
    field = chance.choice([*_TEXT_FIELDS, *_DATE_FIELDS, "metadata.iso", "metadata.kept", "metadata.none"])
    return {"field": field, "operator": "exists", "value": chance.random() < 0.5}


def _filter(chance: random.Random, depth: int = 0) -> dict[str, Any]:
    if depth == 3 or chance.random() < 0.4:
        return _condition(chance)
    group = chance.choice(["all", "any", "not"])
    if group == "not":
        return {"not": _filter(chance, depth + 1)}
    return {group: [_filter(chance, depth + 1) for _ in range(chance.randint(1, 3))]}


@pytest.mark.full
async def test_nested_filters_list_the_files_that_the_reference_admits(shelf: Shelf) -> None:
    chance, sizes = random.Random(3), Counter[bool]()
    for _ in range(200):
        said = _filter(chance)
        (expression,) = parse_filters(said)
        expected = shelf.expected(expression)
        assert await shelf.listed(expression) == expected, said
        sizes[0 < len(expected) < len(shelf.facts)] += 1
    assert sizes[True] > 80, "too few of the filters tell files apart"


async def test_a_filter_on_a_field_of_passages_says_what_files_are_filtered_by(shelf: Shelf) -> None:
    with pytest.raises(InvalidFilter) as caught:
        await shelf.listed(*parse_filters([{"field": "page", "value": 3}]))
    assert "tag" in caught.value.details["allowed"]  # type: ignore[operator]
    assert "page" not in caught.value.details["allowed"]  # type: ignore[operator]


@pytest.mark.full
async def test_facets_count_the_files_with_each_value(shelf: Shelf) -> None:
    found = await shelf.facets.facets(shelf.owner, ResourceFilter(), 50)
    assert found.files == len(shelf.facts)
    payloads = [file_payload(facts) for facts in shelf.facts.values()]
    for name in ("extension", "language", "tag", "thread"):
        counted = Counter(value for payload in payloads for value in _listed(payload[name]))
        assert {keyword(str(one.value)): one.files for one in _facet(found.fields, name).values} == counted
    categories = Counter(facts.category for facts in shelf.facts.values())
    assert {one.value: one.files for one in _facet(found.fields, "category").values} == categories
    cameras = Counter(keyword(str(f.metadata["camera"])) for f in shelf.facts.values() if "camera" in f.metadata)
    days = cameras.pop("2025-02-30", 0)
    facet = _facet(found.fields, "metadata.camera")
    assert {keyword(str(one.value)): one.files for one in facet.values if one.value != "2025-02-30"} == cameras
    assert (facet.files, facet.distinct) == (cameras.total() + days, len(cameras) + (days > 0))
    assert [one.files for one in facet.values] == sorted((one.files for one in facet.values), reverse=True)


async def test_facets_of_numbers_and_dates_say_where_they_begin_and_end(shelf: Shelf) -> None:
    found = await shelf.facets.facets(shelf.owner, ResourceFilter(), 50)
    iso = _facet(found.fields, "metadata.iso")
    values = [f.metadata["iso"] for f in shelf.facts.values() if "iso" in f.metadata]
    assert (iso.kind, iso.least, iso.greatest) == (MetadataKind.NUMBER, min(values), max(values))  # type: ignore[type-var]
    assert {one.value: one.files for one in iso.values} == Counter(values)
    taken = _facet(found.fields, "metadata.taken")
    months = Counter(str(f.metadata["taken"])[:7] for f in shelf.facts.values() if "taken" in f.metadata)
    assert {one.value: one.files for one in taken.values} == months
    assert [one.value for one in taken.values] == sorted(months, reverse=True)
    assert taken.least == "1969-07-20"
    years = await shelf.facets.facets(shelf.owner, ResourceFilter(), 50, by_year=True)
    assert {one.value for one in _facet(years.fields, "metadata.taken").values} == {month[:4] for month in months}
    dates = [file_payload(facts)["date"] for facts in shelf.facts.values()]
    assert _facet(found.fields, "date").files == sum(date is not None for date in dates)


async def test_a_key_with_values_of_several_types_has_a_facet_for_each(shelf: Shelf) -> None:
    found = await shelf.facets.facets(shelf.owner, ResourceFilter(), 50)
    mixed = {facet.kind: facet for facet in found.fields if facet.field == "metadata.mixed"}
    assert set(mixed) == set(MetadataKind)
    assert [one.value for one in mixed[MetadataKind.BOOLEAN].values] == [True]
    assert [one.value for one in mixed[MetadataKind.NUMBER].values] == [400]


async def test_facets_are_of_the_files_that_the_filter_admits_and_bounded(shelf: Shelf) -> None:
    conditions = parse_filters([{"field": "metadata.camera", "value": "strasse"}])
    found = await shelf.facets.facets(shelf.owner, ResourceFilter(conditions=conditions), 1)
    assert found.files == len(await shelf.listed(*conditions)) > 0
    camera = _facet(found.fields, "metadata.camera")
    assert (camera.files, camera.distinct, len(camera.values)) == (found.files, 1, 1)
    assert all(len(facet.values) <= 1 for facet in found.fields)
    assert any(facet.distinct > 1 for facet in found.fields)


def _facet(fields: tuple[Facet, ...], name: str) -> Facet:
    (found,) = [facet for facet in fields if facet.field == name]
    return found


def _listed(value: JsonValue) -> list[JsonValue]:
    return list(value) if isinstance(value, list) else [] if value is None else [value]


async def test_facets_are_counted_again_only_after_a_change(
    shelf: Shelf, database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    read: list[object] = []
    rows = Database.rows

    async def counted(self: Database, query: Any, *args: Any) -> Any:
        read.append(query)
        return await rows(self, query, *args)

    monkeypatch.setattr(Database, "rows", counted)
    first = await shelf.facets.facets(shelf.owner, ResourceFilter(), 10)
    read.clear()
    assert await shelf.facets.facets(shelf.owner, ResourceFilter(), 10) == first
    assert bool(read) is not database.is_sqlite  # another process may have changed what Postgres holds
    assert (await shelf.facets.facets("bob", ResourceFilter(), 10)).files == 0
    project = await ProjectRepository(database).resolve(shelf.owner, None)
    await shelf.resources.create(new_resource(shelf.owner, "one more"), project)
    assert (await shelf.facets.facets(shelf.owner, ResourceFilter(), 10)).files == first.files + 1


async def test_facets_of_what_is_true_are_not_those_of_one(shelf: Shelf) -> None:
    for value in (True, 1, 1.0, "1"):
        asked = parse_filters([{"field": "metadata.kept", "operator": "eq", "value": value}])
        kept = await shelf.facets.facets(shelf.owner, ResourceFilter(conditions=asked), 10)
        assert kept == await FacetRepository(shelf.database).facets(shelf.owner, ResourceFilter(conditions=asked), 10)
        assert bool(kept.files) is (value is True)


async def test_facets_name_only_the_projects_that_the_caller_is_kept_to(database: Database) -> None:
    owner, resource = await add_resource(database, "ada")
    projects = ProjectRepository(database)
    shown, hidden = [(await projects.create(owner, name)).id for name in ("Kitchen", "Volta merger")]
    async with database.write() as connection:
        for project in (shown, hidden):
            await connection.run_sync(link, resource, project)
    facets, inside = FacetRepository(database), ResourceFilter(project_ids=(shown,))
    for kept_to, count in ((None, 3), ([shown], 1), (None, 3)):  # the file is in the default project, too
        found = await facets.facets(owner, inside, 10, kept_to=kept_to)
        told = _facet(found.fields, "project")
        assert (told.distinct, len(told.values)) == (count, count)
    (only,) = _facet((await facets.facets(owner, inside, 10, kept_to=[shown])).fields, "project").values
    assert (only.value, only.files) == ("Kitchen", 1)
