"""Facets of 100,000 files with six keys of metadata each: counts that triggers keep, against counting the files when they are asked for.

usage: .venv/bin/python benchmarks/facets.py [--files 100000] [--changes 2000]

Two SQLite databases with the same files, one of them without the triggers. Figures are seconds of processor time, so that a busy machine changes little.

request:  `GET /resources/facets` without filters; `grouped` is how filtered lists are counted, `grouped_raw` the least that any `GROUP BY` of
          the metadata can take: values are not folded or read as dates, and neither tags nor the other fields are counted
add:      milliseconds for each file when files are inserted 500 at a time
change:   milliseconds for each change of a file's metadata, each waited for
"""

from __future__ import annotations

import argparse
import asyncio
import json
import random
import tempfile
import time
import uuid
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import sqlalchemy as sa

from citewell.storage.accounts.owners import OwnerRepository
from citewell.storage.database import Database
from citewell.storage.files import facets as facets_module
from citewell.storage.files.facets import FacetRepository
from citewell.storage.files.metadata import FileChange, MetadataRepository
from citewell.storage.files.new_resources import NewResource, insert_children
from citewell.storage.files.projects import ProjectRepository
from citewell.storage.spending.quotas import FileRoom
from citewell.types import MetadataValue, ResourceFilter, UploadOptions

BATCH, ASKED, VALUES = 500, 3, 20
TAGS = tuple(f"tag {n}" for n in range(30))
TRIGGERS = sa.text("SELECT name FROM sqlite_master WHERE type = 'trigger' AND name LIKE 'count_%'")
GROUPED_RAW = sa.text(
    "SELECT said.key, said.type, said.value, count(*) FROM resources, json_each(resources.metadata) AS said"
    " WHERE resources.owner_id = :owner GROUP BY 1, 2, 3"
)


def metadata(chance: random.Random) -> dict[str, MetadataValue]:
    """Six keys: texts with few and with many values, a date, a number, a boolean and a list."""
    return {
        "camera": f"Camera {chance.randrange(50)}",
        "place": f"Place {chance.randrange(2_000)}",
        "taken": f"20{chance.randrange(15, 26)}-{chance.randrange(1, 13):02d}-{chance.randrange(1, 29):02d}",
        "score": chance.randrange(1_000) / 10,
        "reviewed": chance.random() < 0.5,
        "tags": tuple(chance.sample(TAGS, 2)),
    }


def new_file(owner: str, number: int, chance: random.Random) -> NewResource:
    """A photograph with metadata."""
    return NewResource(
        id=str(uuid.UUID(int=number + 1)),
        owner_id=owner,
        filename=f"photograph {number}.jpg",
        identifier=None,
        file_size_bytes=1_000,
        mime_type="image/jpeg",
        content_hash=f"{number:064x}",
        detected_category="image",
        type="jpg",
        source="upload",
        storage_backend="local",
        blob_key=f"key {number}",
        options=UploadOptions(),
        metadata=metadata(chance),
    )


class Library:
    """One owner's files in a database of their own."""

    def __init__(self, database: Database, owner: str, project: str) -> None:
        self.database, self.owner, self.project = database, owner, project

    @classmethod
    async def open(cls, path: Path, *, triggers: bool) -> Library:
        database = Database(f"sqlite+aiosqlite:///{path}")
        await database.migrate()
        if not triggers:
            async with database.write() as connection:
                for name in (await connection.scalars(TRIGGERS)).all():
                    await connection.execute(sa.text(f"DROP TRIGGER {name}"))
        owner = await OwnerRepository(database).ensure("ada")
        return cls(database, owner, await ProjectRepository(database).resolve(owner, "Default", create=True))

    async def fill(self, files: int) -> float:
        """Add so many files; milliseconds for each."""
        chance, begun = random.Random(3), time.process_time()
        for first in range(0, files, BATCH):
            new = [new_file(self.owner, n, chance) for n in range(first, min(files, first + BATCH))]
            async with self.database.write() as connection:
                await connection.run_sync(insert_children, new, self.project, FileRoom())
        return (time.process_time() - begun) / files * 1_000

    async def change(self, changes: int, files: int) -> float:
        """Give so many files other metadata; milliseconds for each."""
        chance, repository = random.Random(4), MetadataRepository(self.database)
        begun = time.process_time()
        for _ in range(changes):
            said, one = metadata(chance), str(uuid.UUID(int=chance.randrange(files) + 1))
            await repository.change(self.owner, one, FileChange(metadata=lambda _, said=said: said))
        return (time.process_time() - begun) / changes * 1_000

    async def ask(self) -> None:
        """A request, of a repository that has no answer yet."""
        await FacetRepository(self.database).facets(self.owner, ResourceFilter(), VALUES)

    async def ask_raw(self) -> None:
        """The least that a `GROUP BY` takes."""
        async with self.database.read() as connection:
            (await connection.execute(GROUPED_RAW, {"owner": self.owner})).all()


async def least(ask: Callable[[], Awaitable[None]]) -> float:
    """Seconds, the least of a few times."""
    seconds: list[float] = []
    for _ in range(ASKED):
        begun = time.process_time()
        await ask()
        seconds.append(time.process_time() - begun)
    return min(seconds)


async def measure(folder: Path, files: int, changes: int) -> dict[str, Any]:
    """All figures."""
    kept = await Library.open(folder / "kept.db", triggers=True)
    plain = await Library.open(folder / "plain.db", triggers=False)
    add = {"triggers": await kept.fill(files), "grouped": await plain.fill(files)}
    change = {"triggers": await kept.change(changes, files), "grouped": await plain.change(changes, files)}
    request = {"triggers": await least(kept.ask), "grouped_raw": await least(plain.ask_raw)}
    facets_module._counted_of = lambda _: None  # pyright: ignore[reportPrivateUsage] - as if there were a filter
    request["grouped"] = await least(plain.ask)
    await kept.database.close()
    await plain.database.close()
    return {"files": files, "request_seconds": request, "add_milliseconds": add, "change_milliseconds": change}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--files", type=int, default=100_000)
    parser.add_argument("--changes", type=int, default=2_000)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        print(json.dumps(asyncio.run(measure(Path(folder), options.files, options.changes)), indent=2))


if __name__ == "__main__":
    main()
