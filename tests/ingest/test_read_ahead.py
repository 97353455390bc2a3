"""While a parser still writes, the chunks that stand fast are embedded; stage 3 cuts the very same texts."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from pathlib import Path

import pytest

from citewell.chunk.chunker import chunk_elements
from citewell.chunk.config import ChunkConfig
from citewell.extract.core.sink import Sink
from citewell.indexes.index_set import IndexSet, OpenIndex
from citewell.ingest import read_ahead
from citewell.ingest.chunking import chunk_title, config_of
from citewell.ingest.parser_scratch import read_elements
from citewell.ingest.read_ahead import ReadAhead
from citewell.ports import FloatMatrix, TextKind
from citewell.storage.database import Database
from citewell.storage.indexes import IndexRecord, IndexState
from citewell.storage.projects import ProjectRepository
from citewell.testing.embedder import HashEmbedder
from citewell.types import Category, ElementType, ExtractOptions, Locator, Resource, Status, UploadOptions

SENTENCE = "Paragraph {} of the long report tells what was lent, to whom, and what came back in the end. "


class RecordingEmbedder(HashEmbedder):
    """Remembers what it was asked for."""

    def __init__(self) -> None:
        super().__init__()
        self.texts: list[str] = []

    async def embed(self, texts: Sequence[str], kind: TextKind = "document") -> FloatMatrix:
        self.texts += texts
        return await super().embed(texts, kind)


def resource(category: Category) -> Resource:
    return Resource(
        id="r",
        owner_id="o",
        filename="report.pdf",
        identifier=None,
        file_size_bytes=1,
        mime_type="application/pdf",
        content_hash="",
        detected_category=category,
        type="pdf",
        source="upload",
        storage_backend="local",
        project_ids=(),
        version=1,
        status=Status.EXTRACTING,
        error_message=None,
        error_stage=None,
        error_code=None,
        extraction_metadata={},
        metadata={},
        thread=None,
        coverage=None,
        language=None,
        summary=None,
        chunk_count=0,
        created_at=0.0,
        extracted_at=None,
        indexed_at=None,
        extraction_duration_ms=None,
        indexing_duration_ms=None,
        parent_id=None,
        record_id=None,
        options=UploadOptions(),
    )


def ahead_with(embedder: HashEmbedder, tmp_path: Path, providers: frozenset[str]) -> ReadAhead:
    record = IndexRecord(
        id="i",
        fingerprint=str(embedder.fingerprint),
        store="edge",
        state=IndexState.ACTIVE,
        role="active",
        settings={},
        progress=0,
        total=0,
        created_at=0.0,
        activated_at=None,
    )
    indexes = IndexSet(OpenIndex(record=record, embedder=embedder, store=None))  # type: ignore[arg-type]
    projects = ProjectRepository(Database(f"sqlite+aiosqlite:///{tmp_path / 'none.db'}"))
    return ReadAhead(projects=projects, indexes=indexes, chunking=ChunkConfig(), providers=providers)


async def write_slowly(folder: Path, paragraphs: int) -> None:
    """What a parser does: elements one after another, the file's title before them."""
    with Sink(folder, ExtractOptions()) as sink:
        sink.metadata["title"] = "What was lent"
        for number in range(paragraphs):
            sink.emit(ElementType.PARAGRAPH, SENTENCE.format(number) * 4, Locator(page=1 + number // 10))
            if number % 100 == 0:
                await asyncio.sleep(0.02)


async def read_beside(ahead: ReadAhead, folder: Path, category: Category, paragraphs: int = 2_000) -> None:
    await asyncio.to_thread(folder.mkdir)
    async with ahead.beside(resource(category), folder):
        await write_slowly(folder, paragraphs)
        await asyncio.sleep(0.5)


@pytest.fixture(autouse=True)
def _no_patience(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(read_ahead, "_LONG_SECONDS", 0.0)


async def test_what_is_embedded_ahead_is_what_stage_3_embeds_first(tmp_path: Path) -> None:
    embedder = RecordingEmbedder()
    folder = tmp_path / "scratch"
    await read_beside(ahead_with(embedder, tmp_path, frozenset({"hash"})), folder, Category.RAG)
    title = chunk_title("report.pdf", "What was lent")
    config = config_of(ChunkConfig(), resource(Category.RAG), {}, embedder)
    final = [chunk.embedded_text for chunk in chunk_elements(read_elements(folder), config, embedder.tokenizer, title)]
    assert len(embedder.texts) > 100
    assert embedder.texts == final[: len(embedder.texts)]
    assert final[0].startswith("What was lent")


@pytest.mark.parametrize(
    ("providers", "category"), [(frozenset[str](), Category.RAG), (frozenset({"hash"}), Category.DATA)]
)
async def test_paid_embeddings_and_data_files_wait_for_stage_3(
    tmp_path: Path, providers: frozenset[str], category: Category
) -> None:
    embedder = RecordingEmbedder()
    await read_beside(ahead_with(embedder, tmp_path, providers), tmp_path / "scratch", category)
    assert embedder.texts == []


async def test_a_parser_that_leaves_nonsense_is_not_disturbed(tmp_path: Path) -> None:
    embedder = RecordingEmbedder()
    folder = tmp_path / "scratch"
    folder.mkdir()
    (folder / "elements.jsonl").write_bytes(b'{"id": 3}\n' * 10)
    async with ahead_with(embedder, tmp_path, frozenset({"hash"})).beside(resource(Category.RAG), folder):
        await asyncio.sleep(0.3)
    assert embedder.texts == []


async def test_a_parser_that_writes_nothing_is_not_waited_for(tmp_path: Path) -> None:
    ahead = ahead_with(RecordingEmbedder(), tmp_path, frozenset({"hash"}))
    async with asyncio.timeout(60):
        async with ahead.beside(resource(Category.RAG), tmp_path / "missing"):
            await asyncio.sleep(0.2)
