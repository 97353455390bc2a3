"""The retriever over real parts: what it finds, for whom, in which order, and what its trace says."""

import asyncio
import json
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, cast

import pytest

from citewell import AsyncCitewell
from citewell.adapters.index.memory import MemoryIndex
from citewell.errors import EmptyQuery, InvalidFilter, InvalidInput, ProviderUnavailable, Unavailable
from citewell.filters.language import parse_filters
from citewell.ports import Capability, FloatMatrix, Reranked
from citewell.ports.points import index_point
from citewell.retrieve.diversity import over_pages, share_a_page
from citewell.retrieve.options import FusionMethod, RetrievalOptions
from citewell.retrieve.retriever import Retriever
from citewell.text.language import detect_language
from citewell.text.sparse import sparse_query
from citewell.types import (
    ChunkType,
    Condition,
    FileFacts,
    Hit,
    Locator,
    MetadataKey,
    MetadataKind,
    Operator,
    Point,
    RerankLimits,
    Scope,
    ScoredId,
    Scores,
    SearchOptions,
    SearchRequest,
    SelfQuery,
    StoredChunk,
    VectorQuery,
)
from tests.retrieve.stand_ins import LengthReranker, MemoryChunks, ScriptedChat, WordEmbedder, fill, make_chunk

_TEXTS = (
    "A first-time borrower may take a loan of at most 5,000.",
    "Onboarding begins with a form.",
    "Revenue grew in the third quarter.",
    "The office closes at noon on Fridays.",
    "Trees are planted every spring.",
)
_MEANINGS = {"money": "loan", "sums": "loan", "turnover": "revenue", "income": "revenue"}


class Library:
    """A small library of ann's, and one secret of bob's."""

    def __init__(self, model: str = "words") -> None:
        self.embedder = WordEmbedder(_MEANINGS, model)
        self.index = MemoryIndex()
        self.source = MemoryChunks()

    async def fill(self) -> "Library":
        chunks = [(make_chunk(text, page=n + 1, ordinal=n), "Handbook.pdf") for n, text in enumerate(_TEXTS)]
        chunks.append((make_chunk("A loan of 9,999 is bob's secret.", owner="bob"), "secret.txt"))
        chunks.append(
            (make_chunk("A loan needs two signatures.", filename="Loan Policy.pdf", page=3), "Loan Policy.pdf")
        )
        await fill(self.index, self.source, self.embedder, chunks)
        return self

    def retriever(self, **parts: object) -> Retriever:
        options = parts.pop("options", RetrievalOptions())
        return Retriever(self.embedder, self.index, self.source, options=options, **parts)  # type: ignore[arg-type]


@pytest.fixture
async def library() -> Library:
    return await Library().fill()


async def _texts(
    retriever: Retriever, query: str, options: SearchOptions = SearchOptions(), **request: Any
) -> list[str]:
    found = await retriever.search(SearchRequest(owner_id="ann", query=query, options=options, **request))
    return [hit.chunk.text for hit in found.hits]


async def test_finds_by_words(library: Library) -> None:
    assert (await _texts(library.retriever(), "borrowers"))[0] == _TEXTS[0]
    assert (await _texts(library.retriever(), "5000"))[0] == _TEXTS[0]


async def test_knows_which_words_an_owner_has_in_any_form(library: Library) -> None:
    retriever = library.retriever()

    async def holds(owner: str, *words: str, **within: Any) -> bool:
        return await retriever.holds_any(SearchRequest(owner_id=owner, query="", **within), words)

    assert await holds("ann", "parrots", "borrower")
    assert not await holds("ann", "parrots", "secret")
    assert await holds("bob", "secrets")
    assert not await holds("ann", "the")
    assert await holds("ann", "signatures", resource_ids=("ann/Loan Policy.pdf",))
    assert not await holds("ann", "signatures", resource_ids=("ann/Handbook.pdf",))


async def test_finds_by_meaning_where_no_word_is_shared(library: Library) -> None:
    assert (await _texts(library.retriever(), "turnover"))[0] == _TEXTS[2]


async def test_each_leg_can_be_asked_alone(library: Library) -> None:
    words = library.retriever(options=RetrievalOptions(dense_weight=0.0))
    assert await _texts(words, "turnover") == []
    meaning = library.retriever(options=RetrievalOptions(dense_weight=1.0, feedback_chunks=0))
    found = await meaning.search(SearchRequest(owner_id="ann", query="turnover"))
    assert found.hits[0].chunk.text == _TEXTS[2]
    assert all(hit.scores.lexical is None for hit in found.hits)


async def test_hits_carry_their_scores_file_and_record(library: Library) -> None:
    found = await library.retriever().search(SearchRequest(owner_id="ann", query="two signatures"))
    best = found.hits[0]
    assert best.filename == "Loan Policy.pdf"
    assert best.record_id == "record A loa"
    assert best.scores.dense is not None
    assert best.scores.lexical is not None
    assert best.scores.fused == best.score
    assert 0 < best.score <= 1
    assert [hit.score for hit in found.hits] == sorted((hit.score for hit in found.hits), reverse=True)


async def test_another_owners_chunks_are_never_found(library: Library) -> None:
    assert all(
        "secret" not in text for text in await _texts(library.retriever(), "bob's secret loan of 9,999", top_k=50)
    )


async def test_what_the_source_no_longer_has_is_left_out_and_the_list_is_filled_up(library: Library) -> None:
    first = (await library.retriever().search(SearchRequest(owner_id="ann", query="loan"))).hits[0]
    del library.source.stored[first.chunk.id]
    found = await library.retriever().search(SearchRequest(owner_id="ann", query="loan", top_k=1))
    assert len(found.hits) == 1
    assert found.hits[0].chunk.id != first.chunk.id


async def test_an_index_that_lies_about_the_owner_is_caught_when_text_is_loaded(library: Library) -> None:
    stray = make_chunk("A loan of 9,999 is bob's secret.", owner="bob")
    vector = (await library.embedder.embed([stray.text]))[0]
    payload = {"owner_id": "ann", "resource_id": "r", "type": "text"}
    await library.index.upsert([Point(id=stray.id, dense=tuple(vector.tolist()), sparse=None, payload=payload)])
    assert all("secret" not in text for text in await _texts(library.retriever(), "bob's secret loan"))


async def test_scope_and_types_narrow(library: Library) -> None:
    assert await _texts(library.retriever(), "loan", resource_ids=("ann/Loan Policy.pdf",)) == [
        "A loan needs two signatures."
    ]
    library.source.projects["p"] = ("ann/notes.txt",)
    assert "A loan needs two signatures." not in await _texts(library.retriever(), "loan", projects=("p",))
    assert await _texts(library.retriever(), "loan", resource_ids=()) == []
    assert await _texts(library.retriever(), "loan", types=(ChunkType.TABLE,)) == []


async def test_conditions_of_the_request_hold_and_are_checked(library: Library) -> None:
    page = Condition("page", Operator.EQ, 3)
    texts = await _texts(library.retriever(), "loan", conditions=(page,))
    assert sorted(texts) == ["A loan needs two signatures.", _TEXTS[2]]
    with pytest.raises(InvalidFilter):
        await _texts(library.retriever(), "loan", conditions=(Condition("owner_id", Operator.EQ, "bob"),))


async def test_a_file_named_in_the_query_narrows_it(library: Library) -> None:
    request = SearchRequest(
        owner_id="ann", query="What does Loan Policy.pdf say on page 3?", options=SearchOptions(debug=True)
    )
    found = await library.retriever().search(request)
    assert [hit.chunk.text for hit in found.hits] == ["A loan needs two signatures."]
    filters: Any = found.trace.details["filters"]
    assert [item["field"] for item in filters] == ["filename", "page"]


async def test_a_named_file_that_does_not_exist_narrows_nothing(library: Library) -> None:
    request = SearchRequest(
        owner_id="ann", query="What does missing.pdf say about a loan?", options=SearchOptions(debug=True)
    )
    found = await library.retriever().search(request)
    assert found.hits
    assert found.trace.details["filters"] == []


async def test_the_trace_names_every_step_and_details_come_on_demand(library: Library) -> None:
    quiet = await library.retriever().search(SearchRequest(owner_id="ann", query="loan"))
    assert {"scope", "embed", "dense", "analyse", "lexical", "fuse", "feedback", "load"} <= set(quiet.trace.timings_ms)
    assert all(spent >= 0 for spent in quiet.trace.timings_ms.values())
    assert quiet.trace.details == {}
    loud = await library.retriever().search(
        SearchRequest(owner_id="ann", query="loan", options=SearchOptions(debug=True))
    )
    json.dumps(loud.trace.details)
    assert {"language", "dense", "lexical", "fused", "filters"} <= set(loud.trace.details)


@pytest.mark.parametrize("query", ["", "  ", "\n\t"])
async def test_an_empty_query_is_an_error(library: Library, query: str) -> None:
    with pytest.raises(EmptyQuery):
        await library.retriever().search(SearchRequest(owner_id="ann", query=query))


@pytest.mark.parametrize("query", ["???", "the of and", "🙂", "x" * 5_000, "\x00", "' OR 1=1 --"])
async def test_odd_queries_find_something_or_nothing_but_do_not_fail(library: Library, query: str) -> None:
    found = await library.retriever().search(SearchRequest(owner_id="ann", query=query))
    assert len(found.hits) <= 10


async def test_a_reranker_orders_what_was_found_and_can_be_turned_off(library: Library) -> None:
    reranker = LengthReranker()
    always = library.retriever(reranker=reranker, options=RetrievalOptions(rerank=True))
    found = await always.search(SearchRequest(owner_id="ann", query="loan", top_k=2))
    assert [hit.chunk.text for hit in found.hits] == sorted((hit.chunk.text for hit in found.hits), key=len)
    assert found.hits[0].score == found.hits[0].scores.rerank
    assert len(reranker.seen) > 2
    plain = await always.search(
        SearchRequest(owner_id="ann", query="loan", top_k=2, options=SearchOptions(rerank=False))
    )
    assert all(hit.scores.rerank is None for hit in plain.hits)


async def test_a_search_goes_on_without_a_reranker_that_fails_and_says_so(library: Library) -> None:
    class Failing:
        model = "failing"

        async def rerank(self, query: str, documents: Sequence[str], top_k: int) -> list[Reranked]:
            raise ProviderUnavailable("It did not answer in time.")

    retriever = library.retriever(reranker=Failing(), options=RetrievalOptions(rerank=True))
    found = await retriever.search(SearchRequest(owner_id="ann", query="loan", top_k=2))
    plain = await retriever.search(
        SearchRequest(owner_id="ann", query="loan", top_k=2, options=SearchOptions(rerank=False))
    )
    assert [hit.chunk.id for hit in found.hits] == [hit.chunk.id for hit in plain.hits]
    assert "provider_unavailable: It did not answer in time." in str(found.notice)
    assert plain.notice is None


@pytest.mark.parametrize("options", [RetrievalOptions(), RetrievalOptions(dense_weight=1.0, vector_threshold=0.3)])
async def test_a_search_goes_by_words_where_its_embedder_fails_and_says_so(
    library: Library, options: RetrievalOptions
) -> None:
    library.embedder.is_away = True
    found = await library.retriever(options=options).search(SearchRequest(owner_id="ann", query="borrowers"))
    assert [hit.chunk.text for hit in found.hits] == [_TEXTS[0]]
    assert "by keyword only" in (found.notice or "")
    library.embedder.is_away = False
    found = await library.retriever(options=options).search(SearchRequest(owner_id="ann", query="borrowers"))
    assert found.notice is None


class _WithoutMeaning(MemoryIndex):
    """Finds words, and fails or hangs where it is asked for what is near a vector."""

    hangs = False

    @property
    def capabilities(self) -> frozenset[Capability]:
        return super().capabilities | {Capability.EVENTUAL}

    async def search(self, query: VectorQuery) -> list[ScoredId]:
        if query.sparse is None and self.hangs:
            await asyncio.Event().wait()
        if query.sparse is None:
            raise Unavailable("It is away.")
        return await super().search(query)

    async def vectors(self, ids: Sequence[str]) -> dict[str, FloatMatrix]:
        raise Unavailable("It is away.")


@pytest.mark.parametrize("hangs", [False, True])
@pytest.mark.parametrize(
    "options", [RetrievalOptions(), RetrievalOptions(dense_weight=1.0, vector_threshold=0.3, diversity=0.5)]
)
async def test_a_search_goes_by_words_where_the_store_fails_and_says_so(
    library: Library, options: RetrievalOptions, hangs: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("citewell.retrieve.legs._SLOWEST_SECONDS", 0.05)
    library.index.__class__ = _WithoutMeaning
    monkeypatch.setattr(_WithoutMeaning, "hangs", hangs)
    found = await library.retriever(options=options).search(SearchRequest(owner_id="ann", query="borrowers"))
    assert [hit.chunk.text for hit in found.hits] == [_TEXTS[0]]
    assert "by keyword only, because the vector store failed (unavailable: " in (found.notice or "")


async def test_a_store_that_finds_neither_meaning_nor_words_is_an_error(library: Library) -> None:
    await library.index.close()
    with pytest.raises(Unavailable):
        await library.retriever().search(SearchRequest(owner_id="ann", query="borrowers"))


async def test_without_words_in_the_index_an_embedder_that_fails_is_an_error(library: Library) -> None:
    class Wordless(MemoryIndex):
        @property
        def capabilities(self) -> frozenset[Capability]:
            return frozenset({Capability.FILTERS})

    library.index, library.embedder.is_away = Wordless(), True
    with pytest.raises(ProviderUnavailable):
        await library.retriever().search(SearchRequest(owner_id="ann", query="borrowers"))


async def test_a_reranker_waits_to_be_asked(library: Library) -> None:
    retriever = library.retriever(reranker=LengthReranker())
    plain = await retriever.search(SearchRequest(owner_id="ann", query="loan"))
    assert all(hit.scores.rerank is None for hit in plain.hits)
    asked = await retriever.search(SearchRequest(owner_id="ann", query="loan", options=SearchOptions(rerank=True)))
    assert all(hit.scores.rerank is not None for hit in asked.hits)


async def test_asking_for_what_is_not_configured_is_an_error(library: Library) -> None:
    with pytest.raises(InvalidInput, match="RERANK_PROVIDER"):
        await _texts(library.retriever(), "loan", SearchOptions(rerank=True))
    with pytest.raises(InvalidInput, match="CHAT_PROVIDER"):
        await _texts(library.retriever(), "loan", SearchOptions(variations=2))
    with pytest.raises(InvalidInput, match="self_query"):
        await _texts(library.retriever(), "loan", SearchOptions(self_query=SelfQuery.MODEL))
    by_rules = library.retriever(options=RetrievalOptions(self_query=SelfQuery.MODEL))
    assert await _texts(by_rules, "loan") == await _texts(library.retriever(), "loan")


async def test_hits_that_the_reranker_scores_below_its_threshold_are_left_out(library: Library) -> None:
    reranked = library.retriever(
        reranker=LengthReranker(), options=RetrievalOptions(rerank=True, rerank_threshold=1 / 30)
    )
    assert all(len(text) <= 30 for text in await _texts(reranked, "loan"))


async def _cosines(library: Library, query: str) -> dict[str, float]:
    """The true cosine of the query with every text of ann's."""
    asked = (await library.embedder.embed([query], "query"))[0]
    texts = [item.chunk.text for item in library.source.stored.values() if item.chunk.owner_id == "ann"]
    vectors = await library.embedder.embed(texts)
    return {text: float(vector @ asked) for text, vector in zip(texts, vectors, strict=True)}


_REPHRASING = ScriptedChat(json.dumps({"queries": ["trees planted in spring", "the office closes at noon"]}))


@pytest.mark.parametrize("threshold", [0.05, 0.3, 0.6])
@pytest.mark.parametrize(
    "other",
    [
        {},
        {"fusion": FusionMethod.RECIPROCAL_RANK},
        {"fusion": FusionMethod.DISTRIBUTION},
        {"dense_weight": 0.0},
        {"dense_weight": 1.0},
        {"candidates": 1},
        {"variations": 2},
    ],
    ids=str,
)
async def test_a_passage_stays_exactly_when_its_cosine_with_the_query_reaches_the_threshold(
    library: Library, threshold: float, other: dict[str, Any]
) -> None:
    query = "loan of an office"
    true = await _cosines(library, query)
    plain = library.retriever(options=RetrievalOptions(**other), chat=_REPHRASING)
    strict = library.retriever(options=RetrievalOptions(vector_threshold=threshold, **other), chat=_REPHRASING)
    every = await _texts(plain, query)
    assert any(true[text] < 0.05 for text in every) or other.get("dense_weight") == 0.0
    found = await strict.search(SearchRequest(owner_id="ann", query=query))
    assert [hit.chunk.text for hit in found.hits] == [text for text in every if true[text] >= threshold]
    assert all(hit.scores.dense == pytest.approx(true[hit.chunk.text], abs=1e-5) for hit in found.hits)


async def test_nonsense_finds_nothing_above_a_threshold_not_even_by_feedback_or_a_shared_word(library: Library) -> None:
    strict = library.retriever(options=RetrievalOptions(vector_threshold=0.6, candidates=1))
    assert await _texts(strict, "zyx qwv") == []
    assert await _texts(strict, "zyx qwv signatures vutsr kkqj spring") == []


async def test_a_passage_without_a_vector_has_no_cosine_and_is_kept(library: Library) -> None:
    row = make_chunk("Row 20001: borrower Abena, signatures missing.", ordinal=30)
    await library.index.upsert([index_point(row, None, FileFacts(filename="rows.csv"))])
    library.source.stored[row.id] = StoredChunk(row, "rows.csv")
    strict = library.retriever(options=RetrievalOptions(vector_threshold=0.99))
    found = await strict.search(SearchRequest(owner_id="ann", query="Abena"))
    assert [hit.chunk.id for hit in found.hits] == [row.id]
    assert found.hits[0].scores.dense is None


@pytest.mark.parametrize(
    ("options", "seen", "kept"), [({}, 6, 2), ({"rerank_candidates": 3}, 3, 2), ({"rerank_candidates": 1}, 2, 2)]
)
async def test_a_reranker_is_given_as_many_candidates_as_configured_and_at_least_as_many_as_are_kept(
    library: Library, options: dict[str, Any], seen: int, kept: int
) -> None:
    reranker = LengthReranker()
    retriever = library.retriever(reranker=reranker, options=RetrievalOptions(rerank=True, **options))
    assert len(await _texts(retriever, "loan", top_k=2)) == kept
    assert len(reranker.seen) == seen


async def test_only_the_first_of_the_reranked_are_kept(library: Library) -> None:
    options = RetrievalOptions(rerank_top_n=2, rerank_candidates=4)
    reranker = LengthReranker()
    retriever = library.retriever(reranker=reranker, options=options)
    reranked = await _texts(retriever, "loan", SearchOptions(rerank=True))
    assert len(reranker.seen) == 4
    assert reranked == sorted(reranker.seen, key=len)[:2]
    assert len(await _texts(retriever, "loan")) == 6


async def test_a_request_sets_how_many_are_reranked_how_many_are_kept_and_the_least_score(library: Library) -> None:
    reranker = LengthReranker()
    retriever = library.retriever(reranker=reranker, options=RetrievalOptions(rerank_top_n=5, rerank_candidates=6))
    limits = RerankLimits(candidates=4, top_n=3)
    assert len(await _texts(retriever, "loan", SearchOptions(rerank=True, rerank_limits=limits))) == 3
    assert len(reranker.seen) == 4
    lengths = sorted(map(len, reranker.seen))
    strict = RerankLimits(candidates=4, threshold=1 / lengths[1])
    kept = await _texts(retriever, "loan", SearchOptions(rerank=True, rerank_limits=strict))
    assert [len(text) for text in kept] == lengths[:2]


@pytest.mark.parametrize(
    ("rerank", "limits", "named"),
    [
        (True, RerankLimits(candidates=0), "rerank_candidates"),
        (True, RerankLimits(candidates=1_001), "rerank_candidates"),
        (True, RerankLimits(top_n=101), "rerank_top_n"),
        (None, RerankLimits(top_n=1), "rerank"),
        (False, RerankLimits(threshold=0.5), "rerank"),
    ],
)
async def test_limits_of_reranking_out_of_bounds_or_without_reranking_are_refused(
    library: Library, rerank: bool | None, limits: RerankLimits, named: str
) -> None:
    retriever = library.retriever(reranker=LengthReranker())
    with pytest.raises(InvalidInput, match=f"`{named}`"):
        await _texts(retriever, "loan", SearchOptions(rerank=rerank, rerank_limits=limits))


async def test_debug_shows_texts_and_the_order_before_and_after_reranking(library: Library) -> None:
    retriever = library.retriever(reranker=LengthReranker(), options=RetrievalOptions(rerank_candidates=4))
    request = SearchRequest(owner_id="ann", query="loan", top_k=3, options=SearchOptions(rerank=True, debug=True))
    found = await retriever.search(request)
    shown = cast(dict[str, Any], found.trace.details["rerank"])
    plain = (await retriever.search(SearchRequest(owner_id="ann", query="loan", top_k=4))).hits
    assert [item["chunk_id"] for item in shown["before"]] == [hit.chunk.id for hit in plain]
    assert [item["text"] for item in shown["before"]] == [hit.chunk.text for hit in plain]
    assert [item["score"] for item in shown["before"]] == [round(hit.score, 6) for hit in plain]
    assert [item["text"] for item in shown["after"]] == sorted((hit.chunk.text for hit in plain), key=len)
    assert [item["chunk_id"] for item in shown["after"]][:3] == [hit.chunk.id for hit in found.hits]
    assert all(item["rerank"] == round(1 / len(item["text"]), 6) for item in shown["after"])
    assert shown["model"] == "length"
    legs = cast(list[dict[str, Any]], found.trace.details["fused"])
    assert all(item["text"] == library.source.stored[item["id"]].chunk.text for item in legs)
    plain_trace = (await retriever.search(replace(request, options=SearchOptions()))).trace
    assert "rerank" not in plain_trace.details


async def test_near_duplicates_can_be_left_out(library: Library) -> None:
    copies = [(make_chunk("A loan needs two signatures.", filename=f"copy {n}.txt"), f"copy {n}.txt") for n in range(3)]
    await fill(library.index, library.source, library.embedder, copies)
    assert len(await _texts(library.retriever(), "two signatures", top_k=4)) == 4
    once = library.retriever(options=RetrievalOptions(near_duplicate=0.9))
    texts = await _texts(once, "two signatures", top_k=4)
    assert texts.count("A loan needs two signatures.") == 1
    assert len(texts) == 4
    asked = await _texts(library.retriever(), "two signatures", SearchOptions(near_duplicate=0.9), top_k=4)
    assert asked == texts


async def test_diversity_brings_up_what_is_unlike_the_first(library: Library) -> None:
    copies = [(make_chunk(f"A loan needs two signatures {n}.", filename=f"c{n}.txt"), f"c{n}.txt") for n in range(3)]
    await fill(library.index, library.source, library.embedder, copies)
    plain = await _texts(library.retriever(), "loan signatures", top_k=3)
    varied = await _texts(library.retriever(options=RetrievalOptions(diversity=0.7)), "loan signatures", top_k=3)
    assert sum("signatures" in text for text in plain) == 3
    assert sum("signatures" in text for text in varied) < 3
    assert await _texts(library.retriever(), "loan signatures", SearchOptions(diversity=0.7), top_k=3) == varied


async def test_one_passage_of_each_page_comes_before_further_ones_of_the_first() -> None:
    library = Library()
    texts = [
        ("A loan is repaid in months.", 1),
        ("A loan is repaid in 12 months.", 1),
        ("A loan is repaid in 24 months.", 1),
    ]
    chunks = [
        make_chunk(text, page=page, ordinal=n) for n, (text, page) in enumerate([*texts, ("A loan is repaid.", 2)])
    ]
    await fill(library.index, library.source, library.embedder, [(chunk, "Handbook.pdf") for chunk in chunks])
    request = SearchRequest(owner_id="ann", query="loan repaid in months", top_k=3)
    by_score = (await library.retriever(options=RetrievalOptions(page_decay=1.0)).search(request)).hits
    assert [hit.chunk.locator.page for hit in by_score] == [1, 1, 1]
    hits = (await library.retriever(options=RetrievalOptions(page_decay=0.2)).search(request)).hits
    assert [hit.chunk.locator.page for hit in hits] == [1, 2, 1]
    assert hits[0] == by_score[0]


def test_each_further_hit_of_a_page_counts_less() -> None:
    places = [(1.0, 1), (0.9, 1), (0.85, 2), (0.8, 1), (0.7, 3)]
    hits = [
        Hit(chunk=make_chunk(f"Text {n}", page=page), filename="a.pdf", score=score, scores=Scores(fused=score))
        for n, (score, page) in enumerate(places)
    ]
    found = over_pages(hits, 0.8)
    assert [hit.chunk.text for hit in found] == ["Text 0", "Text 2", "Text 1", "Text 4", "Text 3"]
    assert [round(hit.score, 3) for hit in found] == [1.0, 0.85, 0.72, 0.7, 0.512]
    assert [hit.scores.fused for hit in found] == [1.0, 0.85, 0.9, 0.7, 0.8]


def test_hits_without_pages_keep_their_scores() -> None:
    hits = [
        Hit(
            chunk=replace(make_chunk(f"Text {n}"), locator=Locator()),
            filename="a.txt",
            score=1.0 - n / 10,
            scores=Scores(),
        )
        for n in range(4)
    ]
    assert over_pages(hits, 0.5) == hits
    assert not share_a_page(hits)


@pytest.mark.parametrize(
    "wrong", [{"diversity": -0.1}, {"near_duplicate": 1.5}, {"variations": 11}, {"diversity": True}]
)
async def test_a_number_out_of_bounds_is_named(library: Library, wrong: Any) -> None:
    with pytest.raises(InvalidInput, match=next(iter(wrong))):
        await _texts(library.retriever(chat=ScriptedChat("{}")), "loan", SearchOptions(**wrong))


async def test_rephrasings_add_what_the_query_missed(library: Library) -> None:
    chat = ScriptedChat(json.dumps({"queries": ["trees planted in spring", "turnover", "Greenery?"]}))
    words = RetrievalOptions(dense_weight=0.0, variations=2)
    assert await _texts(library.retriever(options=words), "greenery") == []
    texts = await _texts(library.retriever(options=words, chat=chat), "greenery")
    assert texts == [_TEXTS[4]]
    assert chat.asked == ["greenery"]


@pytest.mark.parametrize("answer", [None, "not JSON", "[]", '{"queries": "x"}', '{"queries": [1, null]}'])
async def test_a_chat_model_that_fails_changes_nothing(library: Library, answer: str | None) -> None:
    retriever = library.retriever(chat=ScriptedChat(answer), options=RetrievalOptions(variations=3))
    assert await _texts(retriever, "loan") == await _texts(library.retriever(), "loan")


async def test_a_rephrasing_that_cannot_be_searched_fails_no_other(library: Library) -> None:
    class Fitful(MemoryIndex):
        async def search(self, query: VectorQuery) -> list[ScoredId]:
            if query.sparse == sparse_query("turnover", detect_language("turnover")):
                raise Unavailable("The store did not answer.")
            return await super().search(query)

    index = Fitful()
    await index.upsert(list(library.index._points.values()))
    library.index = index
    chat = ScriptedChat(json.dumps({"queries": ["turnover", "trees planted in spring"]}))
    words = RetrievalOptions(dense_weight=0.0, variations=2)
    found = await library.retriever(options=words, chat=chat).search(SearchRequest(owner_id="ann", query="greenery"))
    assert [hit.chunk.text for hit in found.hits] == [_TEXTS[4]]
    assert found.trace.details["variation_error"] == "unavailable: The store did not answer."


async def test_rephrasings_are_not_narrowed_by_filters_of_the_query(library: Library) -> None:
    chat = ScriptedChat(json.dumps({"queries": ["Trees planted every spring"]}))
    retriever = library.retriever(chat=chat, options=RetrievalOptions(variations=1))
    assert _TEXTS[4] in await _texts(retriever, "What does Loan Policy.pdf say?")


async def test_an_index_without_words_searches_by_meaning_alone() -> None:
    library = await Library().fill()

    class DenseOnly(MemoryIndex):
        @property
        def capabilities(self) -> frozenset[Capability]:
            return frozenset({Capability.FILTERS})

    dense = DenseOnly()
    await dense.upsert(
        [Point(id=p.id, dense=p.dense, sparse=None, payload=p.payload) for p in library.index._points.values()]
    )
    found = await Retriever(library.embedder, dense, library.source).search(
        SearchRequest(owner_id="ann", query="turnover")
    )
    assert found.hits[0].chunk.text == _TEXTS[2]
    assert all(hit.scores.lexical is None for hit in found.hits)


@pytest.mark.parametrize(("query", "share"), [("What is the turnover?", 0.5), ("Wie hoch ist die turnover?", 0.25)])
async def test_a_model_weighs_less_in_a_language_that_it_was_not_trained_on(query: str, share: float) -> None:
    library = await Library("all-MiniLM-L6-v2").fill()
    words = [(make_chunk("Turnover is a word.", ordinal=20), "a.txt")]
    await fill(library.index, library.source, library.embedder, words)
    found = await library.retriever(options=RetrievalOptions(feedback_chunks=0)).search(
        SearchRequest(owner_id="ann", query=query)
    )
    by_words = {hit.chunk.text: hit for hit in found.hits}["Turnover is a word."]
    dense = max(hit.scores.dense or 0.0 for hit in found.hits)
    low = min(hit.scores.dense or 0.0 for hit in found.hits)
    own = ((by_words.scores.dense or 0.0) - low) / max(dense - low, 0.4)
    assert by_words.score == pytest.approx(share * own + (1 - share), abs=1e-6)


_BY_MODEL = RetrievalOptions(self_query=SelfQuery.MODEL)


def _filters(*conditions: dict[str, object]) -> ScriptedChat:
    return ScriptedChat(json.dumps({"conditions": conditions}))


async def test_a_chat_model_can_read_filters_from_the_query(library: Library) -> None:
    chat = _filters({"field": "filename", "operator": "eq", "values": ["Loan Policy.pdf"]})
    retriever = library.retriever(chat=chat, options=_BY_MODEL)
    assert await _texts(retriever, "what about a loan in the policy?") == ["A loan needs two signatures."]
    assert chat.asked == ["what about a loan in the policy?"]


async def test_what_the_chat_model_must_not_filter_by_never_reaches_the_store(library: Library) -> None:
    chat = _filters({"field": "owner_id", "operator": "eq", "values": ["bob"]})
    found = await library.retriever(chat=chat, options=_BY_MODEL).search(
        SearchRequest(owner_id="ann", query="loan", options=SearchOptions(debug=True))
    )
    plain = await library.retriever().search(SearchRequest(owner_id="ann", query="loan"))
    assert [hit.chunk.id for hit in found.hits] == [hit.chunk.id for hit in plain.hits]
    assert "owner_id" in str(found.trace.details["self_query_error"])
    assert found.trace.details["filters"] == []


async def test_a_chat_model_that_is_away_leaves_the_rules(library: Library) -> None:
    retriever = library.retriever(chat=ScriptedChat(None), options=_BY_MODEL)
    assert await _texts(retriever, "What does Loan Policy.pdf say?") == ["A loan needs two signatures."]


async def test_reading_filters_can_be_turned_off(library: Library) -> None:
    assert (
        len(await _texts(library.retriever(), "the loan in Loan Policy.pdf", SearchOptions(self_query=SelfQuery.OFF)))
        > 1
    )


async def _inferred(
    library: Library, query: str, options: SearchOptions = SearchOptions()
) -> tuple[list[str], str | None, list[str]]:
    found = await library.retriever().search(SearchRequest(owner_id="ann", query=query, options=options))
    shown = [f"{one.label} ({'on' if one.applied else 'off'})" for one in found.inferred]
    return shown, found.notice, [hit.chunk.text for hit in found.hits]


async def test_what_was_inferred_is_told_with_the_name_that_a_file_has(library: Library) -> None:
    shown, notice, texts = await _inferred(library, "what does loan policy.pdf say on page 3?")
    assert shown == ["file: Loan Policy.pdf (on)", "page: 3 (on)"]
    assert notice is None
    assert texts == ["A loan needs two signatures."]


async def test_an_inferred_filter_can_be_taken_off(library: Library) -> None:
    query = "what does loan policy.pdf say on page 3?"
    shown, _, texts = await _inferred(library, query, SearchOptions(ignore_inferred=("filename",)))
    assert shown == ["page: 3 (on)"]
    assert len(texts) == 2
    shown, _, texts = await _inferred(library, query, SearchOptions(ignore_inferred=True))
    assert shown == []
    assert len(texts) > 2


async def test_of_several_filters_only_that_is_left_out_which_nothing_fits(library: Library) -> None:
    shown, notice, texts = await _inferred(library, "what does loan policy.pdf say on page 99?")
    assert shown == ["file: Loan Policy.pdf (on)", "page: 99 (off)"]
    assert notice == "Nothing matched the filter “page: 99”, so the search ran without it."
    assert texts == ["A loan needs two signatures."]


async def test_filters_that_nothing_fits_hide_nothing(library: Library) -> None:
    shown, notice, texts = await _inferred(library, "a loan in another file.pdf on page 99")
    assert [one.endswith("(off)") for one in shown] == [True, True]
    assert "page: 99" in str(notice)
    assert len(texts) > 2


async def test_a_trace_tells_what_was_inferred(library: Library) -> None:
    found = await library.retriever().search(
        SearchRequest(owner_id="ann", query="a loan in loan policy.pdf on page 99", options=SearchOptions(debug=True))
    )
    assert found.trace.details["filters"] == [{"field": "filename", "operator": "in", "value": ["Loan Policy.pdf"]}]
    told = cast(list[dict[str, object]], found.trace.details["inferred_filters"])
    assert [(one["id"], one["applied"]) for one in told] == [("filename", True), ("page", False)]


_MONDAY = datetime(2026, 11, 16, 1, 30, tzinfo=UTC)


async def _frames() -> Library:
    """Four frames with tags and times, and what the owner's metadata looks like."""
    library = Library()
    frames = {
        "A red car at the gate.": ("outdoor", "2026-11-12T10:00:00Z"),
        "A blue car.": ("outdoor", "2026-11-13T18:30:00Z"),
        "A red car in a garage.": ("indoor", "2026-11-12T11:00:00Z"),
        "A red car on a beach.": ("outdoor", "2026-08-01T11:00:00Z"),
    }
    for number, (text, (tag, at)) in enumerate(frames.items()):
        chunk = make_chunk(text, filename=f"{number}.jpg")
        vector = (await library.embedder.embed([text]))[0].tolist()
        facts = FileFacts(filename=f"{number}.jpg", metadata={"tags": (tag,), "timestamp": at})
        await library.index.upsert([index_point(chunk, vector, facts)])
        library.source.stored[chunk.id] = StoredChunk(chunk, f"{number}.jpg")
    library.source.keys = [
        MetadataKey(
            name="tags", kinds=frozenset({MetadataKind.TEXT}), files=4, frequent=(("outdoor", 3), ("indoor", 1))
        ),
        MetadataKey(name="timestamp", kinds=frozenset({MetadataKind.DATE}), files=4, timed=True),
    ]
    return library


async def test_keys_are_those_of_the_projects_that_the_scope_has() -> None:
    library = await _frames()
    library.source.keys_of = {("shared",): library.source.keys[:1]}
    library.source.projects = {"shared": ("ann/0.jpg",)}
    everything = SearchRequest(
        owner_id="ann", query="car", conditions=parse_filters({"field": "metadata.timestamp", "value": "2026-11-12"})
    )
    assert (await library.retriever().search(everything)).hits
    kept_to = replace(everything, scope=Scope(project_ids=("shared",)), projects=("shared",))
    with pytest.raises(InvalidFilter) as refused:
        await library.retriever().search(kept_to)
    assert refused.value.details == {"allowed": ["tags"]}


_FRAMES_READ = {
    "conditions": [
        {"field": "tag", "operator": "eq", "values": ["outdoor"], "words": "tagged 'outdoor'"},
        {"field": "metadata.timestamp", "operator": "gte", "values": ["2026-11-09"], "words": "from last week"},
        {"field": "metadata.timestamp", "operator": "lt", "values": ["2026-11-16"], "words": "from last week"},
    ],
    "semantic": "a red car",
}


@pytest.mark.parametrize("reader", [SelfQuery.RULES, SelfQuery.MODEL])
async def test_the_question_for_frames_is_answered_from_those_of_last_week(reader: SelfQuery) -> None:
    library = await _frames()
    retriever = library.retriever(now=lambda: _MONDAY, chat=ScriptedChat(json.dumps(_FRAMES_READ)))
    query = "frames tagged 'outdoor' from last week showing a red car"
    found = await retriever.search(SearchRequest(owner_id="ann", query=query, options=SearchOptions(self_query=reader)))
    assert {hit.chunk.text for hit in found.hits} == {"A red car at the gate.", "A blue car."}
    assert found.semantic == "a red car"
    assert [one.words for one in found.inferred] == ["tagged 'outdoor'", "from last week"]


async def test_days_are_those_of_the_caller() -> None:
    library = await _frames()
    retriever = library.retriever(now=lambda: _MONDAY)
    # At 01:30 UTC on Monday it is still Sunday in Chicago, so last week is the week before.
    query = "frames from last week showing a car"
    there = SearchRequest(owner_id="ann", query=query, options=SearchOptions(time_zone="America/Chicago"))
    assert [one.applied for one in (await retriever.search(there)).inferred] == [False]
    here = SearchRequest(owner_id="ann", query=query, options=SearchOptions(time_zone="Europe/Berlin"))
    assert len((await retriever.search(here)).hits) == 3
    with pytest.raises(InvalidInput, match="time zone"):
        await retriever.search(
            SearchRequest(owner_id="ann", query="a car", options=SearchOptions(time_zone="Mars/Olympus"))
        )


async def test_a_time_of_day_narrows_to_the_minute() -> None:
    library = await _frames()
    retriever = library.retriever(now=lambda: datetime(2026, 11, 13, 20, 0, tzinfo=UTC))
    for words, expected in (
        ("since 10:30 yesterday", 2),
        ("since 18:30 on 2026-11-13", 1),
        ("before 10:30 yesterday", 2),
    ):
        found = await retriever.search(SearchRequest(owner_id="ann", query=f"frames with timestamp {words}: a car"))
        assert [one.applied for one in found.inferred] == [True]
        assert len(found.hits) == expected


async def test_a_model_that_writes_no_filter_leaves_the_rules(library: Library) -> None:
    retriever = library.retriever(chat=ScriptedChat("I would filter by page."), options=_BY_MODEL)
    found = await retriever.search(SearchRequest(owner_id="ann", query="What does Loan Policy.pdf say?"))
    assert [one.id for one in found.inferred] == ["filename"]
    assert "JSON" in str(found.trace.details["self_query_error"])


@pytest.mark.full
async def test_among_hundreds_alike_the_one_whose_code_is_asked_for_comes_first(tmp_path: Path) -> None:
    invoices = [
        {"id": f"{n}", "text": f"Invoice INV-{4000 + n:06d} for consulting in spring, payable within thirty days."}
        for n in range(300)
    ]
    async with AsyncCitewell(tmp_path) as cw:
        await cw.add_texts(invoices)
        for n in (0, 111, 299):
            hits = await cw.search(f"Please find the invoice INV-{4000 + n:06d} for consulting", 3)
            assert hits[0].record_id == str(n)
