"""Which chunker a file gets: the server's, its project's, or rows for data; the one that needs an embedder gets it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from pathlib import Path

import pytest

from citewell.adapters import registry
from citewell.adapters.embedder.wrappers import WindowedEmbedder
from citewell.chunk.config import ChunkConfig, Strategy
from citewell.composition import Services, open_services
from citewell.errors import InvalidInput, NotFound
from citewell.ingest.chunking import fitted, with_settings
from citewell.ports import Embedder, FloatMatrix, TextKind
from citewell.settings import EmbeddingSettings, load_settings
from citewell.testing.embedder import HashEmbedder
from citewell.types import SUMMARY_OF, AskedOptions, Chunk, JsonObject, SearchRequest

pytestmark = pytest.mark.full

TEXT = "\n\n".join(
    " ".join(f"The {thing} of house {n} was {state} in the winter." for n in range(12))
    for thing, state in [("roof", "mended"), ("well", "dug deeper"), ("orchard", "pruned")]
)


@pytest.fixture(autouse=True)
def hash_embedder(monkeypatch: pytest.MonkeyPatch) -> None:
    def build(settings: EmbeddingSettings) -> Embedder:
        return HashEmbedder("default", 64)

    monkeypatch.setattr(registry, "build_embedder", build)


async def uploaded(
    services: Services, text: str, name: str, project: str, options: AskedOptions | None = None
) -> list[Chunk]:
    async def pieces() -> AsyncIterator[bytes]:
        yield text.encode()

    file = await services.resources.capture.spool(pieces())
    resource, _ = await services.resources.upload(services.local_owner, file, name, project=project, options=options)
    async with asyncio.timeout(60):
        await services.resources.wait(services.local_owner, resource.id)
    chunks, _ = await services.contents.content.chunks_page(resource.id, 100)
    return [chunk for chunk in chunks if SUMMARY_OF not in chunk.metadata]


async def test_a_project_s_chunker_takes_the_place_of_the_server_s(tmp_path: Path) -> None:
    async with open_services(load_settings(data=tmp_path)) as services:
        owner = services.local_owner
        chunking = {"strategy": "characters", "size": 100, "overlap": 10}
        project = await services.projects.create(owner, "Small", chunking)
        small = await uploaded(services, TEXT, "a.txt", "Small")
        usual = await uploaded(services, TEXT + "\n", "b.txt", "Usual")
        rows = await uploaded(services, "name,size\noak,3\nelm,4\n", "c.csv", "Small")
        assert max(len(chunk.text) for chunk in small) <= 100
        assert max(len(chunk.text) for chunk in usual) > 100
        assert "| oak | 3 |\n| elm | 4 |" in rows[-1].text, "a small table is one chunk, whatever the strategy"
        await services.projects.change(owner, project.id, {"chunking": None})
        await services.resources.reindex(owner, small[0].resource_id)
        await services.resources.wait(owner, small[0].resource_id)
        again, _ = await services.contents.content.chunks_page(small[0].resource_id, 100)
        assert [chunk.text for chunk in again if SUMMARY_OF not in chunk.metadata] == [chunk.text for chunk in usual]
        with pytest.raises(NotFound):
            await services.projects.change("another", project.id, {"chunking": chunking})


async def test_a_file_that_is_sent_again_is_cut_as_it_is_asked_for_now(tmp_path: Path) -> None:
    async with open_services(load_settings(data=tmp_path)) as services:
        usual = await uploaded(services, TEXT, "a.txt", "My files")
        asked = AskedOptions(chunking={"strategy": "characters", "size": 100, "overlap": 10})
        small = await uploaded(services, TEXT, "a.txt", "My files", asked)
        assert small[0].resource_id == usual[0].resource_id
        assert len(small) > len(usual)
        assert max(len(chunk.text) for chunk in small) <= 100
        assert await uploaded(services, TEXT, "a.txt", "My files") == small, "what is not named stays"
        back = await uploaded(services, TEXT, "a.txt", "My files", AskedOptions(chunking={}))
        assert [chunk.text for chunk in back] == [chunk.text for chunk in usual]
        with pytest.raises(InvalidInput):
            await uploaded(services, TEXT, "a.txt", "My files", AskedOptions(chunking={"strategy": "poems"}))
        assert not list((tmp_path / "uploads").iterdir()), "a refused upload leaves nothing"


async def test_indexing_everything_again_embeds_only_what_is_new(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    embedder = HashEmbedder("default", 64)
    texts: list[str] = []
    embed = embedder.embed

    async def counted(given: Sequence[str], kind: TextKind = "document") -> FloatMatrix:
        texts.extend(given)
        return await embed(given, kind)

    monkeypatch.setattr(embedder, "embed", counted)

    def build(settings: EmbeddingSettings) -> Embedder:
        return embedder

    monkeypatch.setattr(registry, "build_embedder", build)
    async with open_services(load_settings(data=tmp_path)) as services:
        owner = services.local_owner
        before = await uploaded(services, TEXT, "a.txt", "My files")
        assert texts
        texts.clear()
        run = await services.reindexing.begin(owner, read_again=True)
        await services.workers.drain()
        assert (run.total, (await services.reindexing.repository.run(owner, run.id)).waiting) == (1, 0)
        assert texts == []
        assert await uploaded(services, TEXT, "a.txt", "My files") == before
        with pytest.raises(NotFound):
            await services.reindexing.begin(owner, "No such project")


@pytest.mark.parametrize("strategy", ["tokens", "sections"])
async def test_passages_longer_than_the_embedder_reads_are_kept_whole(tmp_path: Path, strategy: str) -> None:
    text = "\n\n".join(f"{TEXT} Winter {number}." for number in range(8))
    async with open_services(load_settings(data=tmp_path)) as services:
        usual = await uploaded(services, text, "a.txt", "My files")
        assert max(chunk.token_count for chunk in usual) <= 256
        asked = AskedOptions(chunking={"strategy": strategy, "size": 1000, "overlap": 100})
        long = await uploaded(services, text, "a.txt", "My files", asked)
        assert 700 < max(chunk.token_count for chunk in long) <= 2000
        assert len(long) < len(usual) / 2
        last = (await services.search.search(SearchRequest(owner_id=services.local_owner, query="Winter 7"))).hits
        assert last[0].chunk.text.endswith("Winter 7.")


def test_only_sizes_that_are_asked_for_exceed_what_the_embedder_reads() -> None:
    embedder = WindowedEmbedder(HashEmbedder(max_tokens=256))
    assert fitted(ChunkConfig(), embedder).max_tokens == 256
    assert fitted(ChunkConfig(size=100), embedder).max_tokens == 256
    assert fitted(ChunkConfig(strategy=Strategy.CHARACTERS), embedder).max_tokens == 256
    assert fitted(ChunkConfig(strategy=Strategy.CHARACTERS, size=4000), embedder).max_tokens == 8000
    assert fitted(ChunkConfig(strategy=Strategy.TOKENS), embedder).max_tokens == 2000
    assert fitted(ChunkConfig(strategy=Strategy.TOKENS), HashEmbedder(max_tokens=256)).max_tokens == 256


async def test_the_semantic_chunker_is_given_the_embedder(tmp_path: Path) -> None:
    async with open_services(load_settings(data=tmp_path, chunk_strategy="semantic", chunk_size=100)) as services:
        chunks = await uploaded(services, TEXT, "a.txt", "My files")
        assert len(chunks) > 3
        await services.resources.add_records(services.local_owner, [{"id": "r", "text": TEXT}])


@pytest.mark.parametrize(
    "chunking",
    [{"strategy": "poems"}, {"size": "large"}, {"size": 4}, {"size": 100, "overlap": 90}, {"colour": 1}, "tokens"],
)
def test_a_chunking_that_cannot_work_is_refused(chunking: JsonObject) -> None:
    with pytest.raises(InvalidInput):
        with_settings(ChunkConfig(), {"chunking": chunking})


def test_a_strategy_brings_its_own_sizes() -> None:
    config = with_settings(ChunkConfig(size=333), {"chunking": {"strategy": "tokens"}})
    assert (config.strategy, config.effective_size, config.effective_overlap) == (Strategy.TOKENS, 1000, 100)
    assert with_settings(ChunkConfig(size=333), {"chunking": {"overlap": 20}}).effective_size == 333


def test_of_an_embedder_that_reads_much_only_a_passage_is_used() -> None:
    config = ChunkConfig()
    assert fitted(config, HashEmbedder(max_tokens=256)).max_tokens == 256
    assert fitted(config, HashEmbedder(max_tokens=32_000)).max_tokens == max(512, 2 * config.effective_size)
    assert fitted(ChunkConfig(size=2_000), HashEmbedder(max_tokens=32_000)).max_tokens == 4_000
