"""How often the metadata keys in scope are read again."""

from typing import Any, cast

import pytest

from citewell.storage.files.metadata import MetadataRevision
from citewell.storage.files.passages import SqlChunks
from citewell.types import MetadataKey


class Changing:
    """Metadata of so many files that changes before every look."""

    def __init__(self, files: int) -> None:
        self.files = files
        self.changes = self.read = 0

    async def revision(self, owner_id: str) -> MetadataRevision:
        self.changes += 1
        return MetadataRevision(self.changes, self.files, None)

    async def keys(self, owner_id: str, resource_ids: Any = None) -> list[MetadataKey]:
        self.read += 1
        return []

    async def keys_within(self, owner_id: str, project_ids: Any) -> list[MetadataKey]:
        return await self.keys(owner_id)

    async def recent_keys(self, owner_id: str, revision: MetadataRevision, seconds: float) -> list[MetadataKey]:
        return await self.keys(owner_id)


@pytest.mark.parametrize(("files", "times"), [(500, 10), (100_000, 1)])
async def test_changes_of_a_few_files_count_at_once_and_those_of_many_after_a_while(files: int, times: int) -> None:
    changing = Changing(files)
    chunks = SqlChunks(content=cast(Any, None), projects=cast(Any, None), metadata=cast(Any, changing))
    for _ in range(10):
        await chunks.metadata_keys("ann", None, 30.0)
    assert changing.read == times
    await chunks.metadata_keys("bob", None, 30.0)
    await chunks.metadata_keys("ann", None, 0.0)
    assert changing.read == times + 2


async def test_keys_of_projects_are_kept_apart_from_those_of_all_files() -> None:
    changing = Changing(100_000)
    chunks = SqlChunks(content=cast(Any, None), projects=cast(Any, None), metadata=cast(Any, changing))
    for _ in range(3):
        for projects in (["red"], ["blue"], ["red", "blue"], ["blue", "red"], None):
            await chunks.keys_within("ann", projects, 30.0)
    # Of projects anew after each change: how long theirs are kept must not depend on how many other files there are.
    assert changing.read == 1 + 3 * 4
