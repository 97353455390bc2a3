"""Two owners with one of everything each: what the tests of isolation try to reach from the other side."""

from __future__ import annotations

import uuid
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import sqlalchemy as sa

from citewell.storage.accounts.owners import OwnerRepository
from citewell.storage.conversations.threads import ThreadRepository
from citewell.storage.database import Database
from citewell.storage.files.content import insert_chunks, insert_elements, replace_blobs
from citewell.storage.files.new_resources import NewResource
from citewell.storage.files.projects import ProjectRepository
from citewell.storage.files.resources import ResourceRepository
from citewell.storage.spending.usage import UsageRepository
from citewell.storage.tables import resources
from citewell.types import (
    Chunk,
    ChunkType,
    Citation,
    Element,
    ElementType,
    Locator,
    Message,
    OriginalPicture,
    Piece,
    Provenance,
    Status,
    StoredBlob,
    Thread,
    UploadOptions,
    Usage,
    Verdict,
)


def new_resource(owner_id: str, content: str, **values: Any) -> NewResource:
    """An upload whose bytes are known by `content`."""
    new = NewResource(
        id=str(uuid.uuid4()),
        owner_id=owner_id,
        filename=f"{content}.txt",
        identifier=None,
        file_size_bytes=100,
        mime_type="text/plain",
        content_hash=uuid.uuid5(uuid.NAMESPACE_OID, content).hex,
        detected_category="rag",
        type="txt",
        source="upload",
        storage_backend="local",
        blob_key=f"key of {content}",
        options=UploadOptions(),
    )
    return replace(new, **values)


def new_chunk(
    owner_id: str, resource_id: str, ordinal: int = 0, version: int = 1, text: str = "Fees are due."
) -> Chunk:
    """A chunk with something in every field."""
    return Chunk(
        id=str(uuid.uuid4()),
        owner_id=owner_id,
        resource_id=resource_id,
        version=version,
        ordinal=ordinal,
        type=ChunkType.TEXT,
        text=text,
        context="Policy > Fees",
        locator=Locator(page=ordinal + 1, headings=("Fees",)),
        pieces=(Piece("e0", 0, 5), Piece("e1", 2, 9)),
        token_count=7,
        metadata={"tag": "ä", "rows": [1, 2]},
    )


def new_element(ordinal: int, text: str = "Fees", **locator: Any) -> Element:
    """A paragraph, on page `ordinal + 1` unless it is told where."""
    place = Locator(**(locator or {"page": ordinal + 1}))
    return Element(id=f"e{ordinal}", type=ElementType.PARAGRAPH, text=text, locator=place)


def new_blob(name: str = "table-0.parquet", kind: str = "parquet", **metadata: Any) -> StoredBlob:
    """An extracted blob, by default a table's copy."""
    return StoredBlob(
        name=name,
        key=f"blob {name}",
        mime_type="application/x",
        kind=kind,
        size=3,
        metadata=metadata or {"table_id": "t0"},
    )


def new_citation(chunk: Chunk) -> Citation:
    """A citation of a chunk."""
    return Citation(
        n=1,
        chunk_id=chunk.id,
        resource_id=chunk.resource_id,
        version=chunk.version,
        filename="a.txt",
        locator=chunk.locator,
        label="a.txt (p. 1)",
        quote="Fees",
        verdict=Verdict.SUPPORTED,
        score=0.75,
        provenance=Provenance(record_id="r1", identifier="fees", metadata={"year": 2025, "tags": ("a", "b")}),
        picture=OriginalPicture(chunk.resource_id, "image-1.png"),
    )


async def store_elements(database: Database, resource_id: str, elements: Sequence[Element], version: int = 1) -> None:
    """Store elements as extraction does."""
    import json

    lines = [(ordinal, element, json.dumps(element.to_json())) for ordinal, element in enumerate(elements)]
    async with database.write() as connection:
        await connection.run_sync(insert_elements, resource_id, version, lines)


@dataclass(frozen=True, slots=True)
class Estate:
    """What an owner has: a project with an indexed resource of two chunks, a thread with a cited answer, a token, some usage."""

    owner: str
    token: str
    token_id: str
    project: str
    resource: str
    chunks: tuple[Chunk, ...]
    thread: Thread
    question: Message
    answer: Message


async def add_estate(database: Database, name: str) -> Estate:
    """Make an owner with one of everything; names and contents are the same for all, ids differ."""
    owners, projects, threads = OwnerRepository(database), ProjectRepository(database), ThreadRepository(database)
    owner = await owners.ensure(name)
    info, token = await owners.create_token(owner, "laptop")
    project = await projects.create(owner, "Loans", {"of": name})
    resource, _ = await ResourceRepository(database).create(new_resource(owner, "policy"), project.id)
    chunks = tuple(new_chunk(owner, resource.id, ordinal) for ordinal in range(2))
    await store_elements(database, resource.id, [new_element(0, f"Fees of {name}"), new_element(1)])
    table = {
        "id": "t0",
        "name": "data",
        "copy": "table-0.parquet",
        "row_count": 3,
        "columns": [{"name": "n", "dtype": "integer"}],
    }
    async with database.write() as connection:
        await connection.run_sync(insert_chunks, chunks)
        await connection.run_sync(replace_blobs, resource.id, 1, [new_blob()])
        values = {"status": Status.INDEXED, "extracted_at": 1.0, "extraction_metadata": {"tables": [table]}}
        await connection.execute(sa.update(resources).where(resources.c.id == resource.id).values(**values))
    thread = await threads.create(owner, "About fees", {"project": project.id})
    question = await threads.append(owner, thread.id, "user", "What are the fees?")
    answer = await threads.append(
        owner, thread.id, "assistant", "Due [1].", [new_citation(chunks[0])], {"feedback": {"rating": "up"}}
    )
    spent = Usage(kind="chat", provider="p", model="m", input_tokens=5)
    await UsageRepository(database).add(owner, [spent], thread.id, at=9.0)
    return Estate(owner, token, info.id, project.id, resource.id, chunks, thread, question, answer)
