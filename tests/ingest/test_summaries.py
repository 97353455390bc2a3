"""What files are said to be about: quoted with places, computed, or written by a model; and what happens when the model fails."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from pathlib import Path

import pytest

from citewell.adapters import registry
from citewell.composition import Services, open_services
from citewell.errors import ProviderRejected, ProviderUnavailable
from citewell.ingest.summaries.written import DATA_PROMPT, SECTION_PROMPT, WHOLE_PROMPT
from citewell.ports import Capability, ChatDelta, ChatMessage, Embedder, TokenUsage, ToolSpec
from citewell.settings import ChatSettings, EmbeddingSettings, load_settings
from citewell.testing.embedder import HashEmbedder
from citewell.types import Chunk, ChunkType, JsonObject, Resource, SearchRequest, Status
from tests.extract.pdf.drawing import Draw, lines, pdf

pytestmark = pytest.mark.slow(10)
WELLS = "The waterworks pump clean water from four wells to every house in the valley."
REPAIRS = "Repairs of pumps and wells cost the waterworks nine thousand crowns each year."
TEXT = f"Waterworks\n\n{WELLS}\n\nA red bicycle was sold.\n\n{REPAIRS}\n"


class Writer:
    """A chat model that answers with what it was asked to do; fails as often as it is told to."""

    model = "writer-1"
    capabilities: frozenset[Capability] = frozenset()

    def __init__(self) -> None:
        self.asked: list[str] = []
        self.sent: list[str] = []
        self.failures: list[Exception] = []

    async def stream(
        self,
        messages: Sequence[ChatMessage],
        *,
        tools: Sequence[ToolSpec] = (),
        response_schema: JsonObject | None = None,
        max_tokens: int | None = None,
        temperature: float = 0.0,
    ) -> AsyncIterator[ChatDelta]:
        self.asked.append(messages[0].content)
        self.sent.append(messages[1].content)
        if self.failures:
            raise self.failures.pop(0)
        kind = {SECTION_PROMPT: "A part", WHOLE_PROMPT: "The whole", DATA_PROMPT: "The data"}[messages[0].content]
        yield ChatDelta(text=f"{kind} is about water. It names {len(self.asked)} things.")
        yield ChatDelta(usage=TokenUsage(10, 5))


@pytest.fixture
def writer(monkeypatch: pytest.MonkeyPatch) -> Writer:
    seen = Writer()

    def chat(settings: ChatSettings) -> Writer | None:
        return seen if settings.provider == "openai" else None

    def embedder(settings: EmbeddingSettings) -> Embedder:
        return HashEmbedder("default", 64)

    monkeypatch.setenv("OPENAI_API_KEY", "of the writer")
    monkeypatch.setattr(registry, "build_chat_model", chat)
    monkeypatch.setattr(registry, "build_embedder", embedder)
    return seen


async def added(services: Services, data: bytes, name: str) -> Resource:
    async def pieces() -> AsyncIterator[bytes]:
        yield data

    file = await services.resources.capture.spool(pieces())
    resource, _ = await services.resources.upload(services.local_owner, file, name)
    return await settled(services, resource)


async def settled(services: Services, resource: Resource) -> Resource:
    async with asyncio.timeout(60):
        return await services.resources.wait(services.local_owner, resource.id)


async def summaries(services: Services, resource: Resource) -> list[Chunk]:
    found, _ = await services.contents.content.chunks_page(resource.id, 1000)
    return [chunk for chunk in found if chunk.type is ChunkType.SUMMARY]


def note_embedded(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The texts that are embedded from now on."""
    embedded: list[str] = []
    embed = HashEmbedder.embed

    async def counted(self: HashEmbedder, texts: Sequence[str], kind: str = "document") -> object:
        embedded.extend(texts)
        return await embed(self, texts)

    monkeypatch.setattr(HashEmbedder, "embed", counted)
    return embedded


@pytest.mark.full
async def test_without_a_model_a_summary_quotes_the_file_and_cites_its_pages(tmp_path: Path, writer: Writer) -> None:
    def page(text: str) -> Draw:
        return lambda canvas: lines(canvas, 60, 60, [text])

    pages = [page(WELLS), page(REPAIRS)]
    async with open_services(load_settings(data=tmp_path, ocr=False)) as services:
        resource = await added(services, pdf(*pages), "waterworks.pdf")
        assert resource.summary == f"{WELLS} {REPAIRS}"
        (summary,) = await summaries(services, resource)
        assert summary.text == resource.summary
        assert summary.locator.pages == (1, 2)
        assert {box.page for box in summary.locator.boxes} == {1, 2}
        chunks, _ = await services.contents.content.chunks_page(resource.id, 100)
        by_ordinal = {chunk.ordinal: chunk.text for chunk in chunks}
        quotes = summary.metadata["quotes"]
        assert isinstance(quotes, list)
        assert [by_ordinal[o][s:e] for o, s, e in quotes] == [WELLS, REPAIRS]  # type: ignore[misc]
        assert writer.asked == []


@pytest.mark.full
async def test_a_quoted_summary_does_not_repeat_passages_in_a_search(tmp_path: Path, writer: Writer) -> None:
    async with open_services(load_settings(data=tmp_path)) as services:
        resource = await added(services, TEXT.encode(), "waterworks.txt")
        assert len(await summaries(services, resource)) == 1
        usual = SearchRequest(owner_id=services.local_owner, query="wells of the valley", top_k=10)
        asked = SearchRequest(owner_id=services.local_owner, query="wells", top_k=10, types=(ChunkType.SUMMARY,))
        assert {hit.chunk.type for hit in (await services.search.search(usual)).hits} == {ChunkType.TEXT}
        assert {hit.chunk.type for hit in (await services.search.search(asked)).hits} == {ChunkType.SUMMARY}


@pytest.mark.full
async def test_a_summary_that_quotes_one_passage_is_not_embedded_again(
    tmp_path: Path, writer: Writer, monkeypatch: pytest.MonkeyPatch
) -> None:
    embedded = note_embedded(monkeypatch)
    async with open_services(load_settings(data=tmp_path)) as services:
        note = await added(services, TEXT.encode(), "waterworks.txt")
        assert [(len(embedded), note.chunk_count)] == [(1, 2)]
        embedded.clear()
        paragraphs = [f"Well {n} gives clean water to every house of street {n}. " * 8 for n in range(20)]
        long = await added(services, "\n\n".join(paragraphs).encode(), "wells.txt")
        assert {len(summary.metadata["quotes"]) > 1 for summary in await summaries(services, long)} == {True}  # type: ignore[arg-type]
        assert len(embedded) == long.chunk_count


@pytest.mark.full
async def test_a_model_summarises_sections_and_then_the_whole(tmp_path: Path, writer: Writer) -> None:
    paragraphs = [f"Well {n} gives water to the houses of street {n}. " * 8 for n in range(60)]
    async with open_services(load_settings(data=tmp_path, chat_provider="openai", chat_model="writer-1")) as services:
        resource = await added(services, "\n\n".join(paragraphs).encode(), "wells.txt")
        assert resource.status is Status.INDEXED
        sections = [prompt for prompt in writer.asked if prompt == SECTION_PROMPT]
        assert len(sections) > 1
        assert writer.asked == [*sections, WHOLE_PROMPT]
        assert resource.summary is not None
        assert resource.summary.startswith("The whole is about water.")
        kinds = [chunk.metadata["summary_of"] for chunk in await summaries(services, resource)]
        assert kinds == ["file", *["section"] * len(sections)]


@pytest.mark.full
async def test_a_long_document_costs_no_more_than_the_setting_allows(tmp_path: Path, writer: Writer) -> None:
    paragraphs = [f"Well {n} gives water to the houses of street {n}. " * 20 for n in range(200)]
    settings = load_settings(data=tmp_path, chat_provider="openai", chat_model="writer-1", summary_tokens=4_000)
    async with open_services(settings) as services:
        await added(services, "\n\n".join(paragraphs).encode(), "wells.txt")
        assert 4_000 < sum(map(len, writer.sent)) < 4 * 4_000
        assert "Well 0 " in writer.sent[0]
        assert "Well 18" in writer.sent[0], "the passages are spread to the end of the file"


@pytest.mark.full
async def test_data_is_described_by_the_model_from_its_statistics(tmp_path: Path, writer: Writer) -> None:
    async with open_services(load_settings(data=tmp_path, chat_provider="openai", chat_model="writer-1")) as services:
        resource = await added(services, b"name,size\noak,3\nelm,4\n", "trees.csv")
        assert resource.status is Status.ANALYZED
        assert resource.summary == "The data is about water. It names 1 things."
        assert '"max": 4' in writer.sent[0]


@pytest.mark.full
async def test_only_the_description_is_missing_and_only_it_is_repeated(
    tmp_path: Path, writer: Writer, monkeypatch: pytest.MonkeyPatch
) -> None:
    writer.failures = [ProviderRejected("The account has no credit.")]
    async with open_services(load_settings(data=tmp_path, chat_provider="openai", chat_model="writer-1")) as services:
        resource = await added(services, TEXT.encode(), "waterworks.txt")
        assert (resource.status, resource.error_stage) == (Status.PARTIAL, "description")
        assert (resource.error_code, resource.error_message) == ("provider_rejected", "The account has no credit.")
        assert resource.summary is not None
        assert WELLS in resource.summary, "quoted, as without a model"
        request = SearchRequest(owner_id=services.local_owner, query="wells", top_k=10)
        assert (await services.search.search(request)).hits
        chunks, _ = await services.contents.content.chunks_page(resource.id, 100)
        content = [chunk.id for chunk in chunks if chunk.type is not ChunkType.SUMMARY]
        embedded = note_embedded(monkeypatch)
        await services.resources.reindex(services.local_owner, resource.id)
        again = await settled(services, resource)
        assert (again.status, again.error_stage, again.error_message) == (Status.INDEXED, None, None)
        assert again.summary == "The whole is about water. It names 2 things."
        assert embedded == [f"waterworks\n{again.summary}"]
        chunks, _ = await services.contents.content.chunks_page(resource.id, 100)
        assert [chunk.id for chunk in chunks if chunk.type is not ChunkType.SUMMARY] == content
        assert len(chunks) == again.chunk_count == len(content) + 1


@pytest.mark.full
async def test_a_provider_that_is_away_for_a_moment_is_asked_again(tmp_path: Path, writer: Writer) -> None:
    writer.failures = [ProviderUnavailable("Nobody answers.")]
    async with open_services(load_settings(data=tmp_path, chat_provider="openai", chat_model="writer-1")) as services:
        resource = await added(services, TEXT.encode(), "waterworks.txt")
        assert (resource.status, len(writer.asked)) == (Status.INDEXED, 2)
        assert len(await summaries(services, resource)) == 1


@pytest.mark.full
async def test_no_tokens_mean_no_model(tmp_path: Path, writer: Writer) -> None:
    settings = load_settings(data=tmp_path, chat_provider="openai", chat_model="writer-1", summary_tokens=0)
    async with open_services(settings) as services:
        resource = await added(services, TEXT.encode(), "waterworks.txt")
        assert resource.summary is not None
        assert writer.asked == []


@pytest.mark.full
async def test_a_file_without_prose_is_told_by_its_headings(tmp_path: Path, writer: Writer) -> None:
    async with open_services(load_settings(data=tmp_path)) as services:
        resource = await added(services, b"# Pumps\n\n| a | b |\n| --- | --- |\n| 1 | 2 |\n\n# Wells\n\n1\n", "t.md")
        assert resource.summary == "Sections: Pumps; Wells."
