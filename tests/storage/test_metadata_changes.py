"""Changes of metadata that come together are one piece of work, each accepted or refused for itself; what is counted follows them."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Mapping
from typing import Any

import pytest
import sqlalchemy as sa

from citewell.errors import CitewellError, Conflict, InvalidMetadata, NotFound
from citewell.storage.database import Database
from citewell.storage.files.metadata import FileChange, MetadataRepository
from citewell.storage.files.projects import ProjectRepository
from citewell.storage.files.resources import ResourceRepository
from citewell.storage.tables import resources
from citewell.storage.work.payload_changes import PayloadChangeRepository
from citewell.types import Scope
from citewell.types.metadata_values import MetadataLimits, checked_identifier, merged
from tests.storage.estates import Estate, add_estate, new_resource

VALUES: tuple[Any, ...] = ("red", "green", "2025-06-01", "2025-06-01T09:30:00Z", 4, 2.5, True, ("red", "blue"), None)


@pytest.fixture
async def ada(database: Database) -> Estate:
    return await add_estate(database, "ada")


async def _files(database: Database, ada: Estate, count: int) -> list[str]:
    made = [
        await ResourceRepository(database).create(new_resource(ada.owner, f"file {n}"), ada.project)
        for n in range(count)
    ]
    return [resource.id for resource, _ in made]


def _said(values: Mapping[str, Any]) -> FileChange:
    return FileChange(metadata=lambda known: merged(known, values, MetadataLimits()))


async def test_changes_that_come_together_are_all_made_and_noted(database: Database, ada: Estate) -> None:
    metadata, files = MetadataRepository(database), await _files(database, ada, 30)
    stamps = await asyncio.gather(
        *(metadata.change(ada.owner, one, _said({"n": n})) for n, one in enumerate(files)),
        *(metadata.change(ada.owner, one, _said({"colour": "red"})) for one in files),
    )
    assert None not in stamps
    for n, one in enumerate(files):
        assert dict((await ResourceRepository(database).get(ada.owner, one)).metadata) == {"n": n, "colour": "red"}
    assert await PayloadChangeRepository(database).waiting() == 30
    assert await metadata.change(ada.owner, files[0], FileChange()) is None


async def test_an_identifier_is_found_however_its_letters_are_composed(database: Database, ada: Estate) -> None:
    metadata, (first, second) = MetadataRepository(database), await _files(database, ada, 2)
    await metadata.change(ada.owner, first, FileChange(identifier=checked_identifier("re\u0301sume\u0301")))
    for spelling in ("r\u00e9sum\u00e9", "re\u0301sume\u0301", " R\u00c9SUM\u00c9 "):
        assert await metadata.resolve(ada.owner, [spelling]) == (first,)
        with pytest.raises(Conflict):
            await metadata.change(ada.owner, second, FileChange(identifier=checked_identifier(spelling)))
    # As an earlier version kept it.
    await metadata.change(ada.owner, second, FileChange(identifier="cafe\u0301"))
    assert await metadata.resolve(ada.owner, ["caf\u00e9"]) == (second,)


async def test_a_refused_change_leaves_those_beside_it(database: Database, ada: Estate) -> None:
    ben, metadata = await add_estate(database, "ben"), MetadataRepository(database)
    first, second, third = await _files(database, ada, 3)
    asked = [
        metadata.change(ada.owner, first, FileChange(identifier="frame")),
        metadata.change(ada.owner, second, FileChange(identifier="FRAME")),
        metadata.change(ben.owner, third, _said({"n": 1})),
        metadata.change(ada.owner, third, _said({"deep": {"n": 1}})),
        metadata.change(ada.owner, third, _said({"n": 2})),
    ]
    taken = await asyncio.gather(*asked, return_exceptions=True)
    refused = [type(one) for one in taken if isinstance(one, CitewellError)]
    assert sorted(kind.__name__ for kind in refused) == ["Conflict", "InvalidMetadata", "NotFound"]
    assert {Conflict, InvalidMetadata, NotFound} == set(refused)
    assert dict((await ResourceRepository(database).get(ada.owner, third)).metadata) == {"n": 2}


async def test_somebody_who_leaves_takes_only_their_own_change_along(database: Database, ada: Estate) -> None:
    metadata, files = MetadataRepository(database), await _files(database, ada, 6)
    tasks = [asyncio.create_task(metadata.change(ada.owner, one, _said({"n": 1}))) for one in files]
    await asyncio.sleep(0)
    tasks[3].cancel()
    done = await asyncio.gather(*tasks, return_exceptions=True)
    assert [isinstance(one, str) for one in done] == [True, True, True, False, True, True]


@pytest.mark.parametrize("seed", range(3))
async def test_counted_keys_follow_changes_as_if_they_were_read_again(
    database: Database, ada: Estate, seed: int
) -> None:
    randomly, metadata = random.Random(seed), MetadataRepository(database)
    files = await _files(database, ada, 8)
    for _ in range(12):
        changes = [
            (randomly.choice(files), {randomly.choice("abc"): randomly.choice(VALUES) for _ in range(2)})
            for _ in range(4)
        ]
        await asyncio.gather(*(metadata.change(ada.owner, one, _said(values)) for one, values in changes))
        kept = await metadata.recent_keys(ada.owner, await metadata.revision(ada.owner), 3_600.0)
        read = await MetadataRepository(database).keys(ada.owner)
        assert [(k.name, k.kinds, k.files, k.timed) for k in kept] == [
            (k.name, k.kinds, k.files, k.timed) for k in read
        ]
        assert [sorted(k.frequent) for k in kept] == [sorted(k.frequent) for k in read]


async def test_searches_at_the_same_moment_wait_for_one_count(
    database: Database, ada: Estate, monkeypatch: pytest.MonkeyPatch
) -> None:
    metadata, files = MetadataRepository(database), await _files(database, ada, 3)
    await asyncio.gather(*(metadata.change(ada.owner, one, _said({"lens": "50 mm"})) for one in files))
    revision, read, rows = await metadata.revision(ada.owner), 0, database.rows

    async def counted(*arguments: Any) -> Any:
        nonlocal read
        read += 1
        return await rows(*arguments)

    monkeypatch.setattr(database, "rows", counted)
    found = await asyncio.gather(*(metadata.recent_keys(ada.owner, revision, 0.0) for _ in range(20)))
    assert read == 1
    assert {(key.name, key.files, key.frequent) for keys in found for key in keys} == {("lens", 3, (("50 mm", 3),))}
    await metadata.change(ada.owner, files[0], _said({"lens": "35 mm"}))
    (after,) = await metadata.recent_keys(ada.owner, await metadata.revision(ada.owner), 0.0)
    assert (read, after.frequent) == (3, (("50 mm", 2), ("35 mm", 1)))


async def test_keys_are_read_anew_once_what_was_counted_is_too_old(database: Database, ada: Estate) -> None:
    metadata, (one,) = MetadataRepository(database), await _files(database, ada, 1)
    assert await metadata.recent_keys(ada.owner, await metadata.revision(ada.owner), 3_600.0) == []
    async with database.write() as connection:  # as a new version of a record does it
        await connection.execute(sa.update(resources).where(resources.c.id == one).values(metadata={"lens": "50 mm"}))
    (found,) = await metadata.recent_keys(ada.owner, await metadata.revision(ada.owner), 0.0)
    assert found.name == "lens"


async def test_files_are_counted_again_once_something_was_written(
    database: Database, ada: Estate, monkeypatch: pytest.MonkeyPatch
) -> None:
    metadata, rows, read = MetadataRepository(database), database.rows, 0

    async def counted(*asked: Any) -> Any:
        nonlocal read
        read += 1
        return await rows(*asked)

    monkeypatch.setattr(database, "rows", counted)
    seen = [(await metadata.revision(ada.owner)).files for _ in range(3)]
    assert (len(set(seen)), read) == (1, 1 if database.is_sqlite else 3)
    first, _ = await _files(database, ada, 2)
    assert (await metadata.revision(ada.owner)).files == seen[0] + 2
    await ResourceRepository(database).delete(ada.owner, first)
    assert (await metadata.revision(ada.owner)).files == seen[0] + 1


async def test_files_named_beside_projects_are_those_that_are_in_them(database: Database, ada: Estate) -> None:
    projects = ProjectRepository(database)
    inside, outside = await _files(database, ada, 2)
    other = (await projects.create(ada.owner, "Other", {})).id
    await ResourceRepository(database).create(new_resource(ada.owner, "elsewhere"), other)
    named = (outside, inside)
    assert await projects.named_within(ada.owner, Scope(resource_ids=named)) == named
    assert await projects.named_within(ada.owner, Scope(project_ids=(ada.project,), resource_ids=named)) == named
    assert await projects.named_within(ada.owner, Scope(project_ids=("Other",), resource_ids=named)) == ()
    assert await projects.named_within(ada.owner, Scope(project_ids=("Other",))) is None
    with pytest.raises(NotFound):
        await projects.named_within(ada.owner, Scope(project_ids=("Nowhere",), resource_ids=named))
