"""A search whose index makes both passes in one step finds what it finds in three, and goes on without what fails."""

import pickle
from collections.abc import AsyncIterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from citewell.adapters.index.qdrant_edge import QdrantEdgeIndex, _found_twice
from citewell.errors import ProviderError, Unavailable
from citewell.ports import Capability, Fingerprint, FloatMatrix
from citewell.ports.second_pass import TwoPassIndex
from citewell.retrieve.joining import Joining
from citewell.retrieve.legs import Found, Legs
from citewell.retrieve.options import FusionMethod, RetrievalOptions
from citewell.testing.vector_index import ANN, BOB, DIMENSIONS, make_point
from citewell.text.sparse import sparse_document
from citewell.types import Filter, Point, ScoredId, Trace, VectorQuery

pytestmark = pytest.mark.full

WORDS = ("alpha loan", "beta loan", "gamma rent", "delta rent", "epsilon loan", "zeta lease", "eta lease", "theta loan")


class Embedder:
    """Queries have a vector by their first word; `error` is raised instead."""

    fingerprint = Fingerprint("fake", "words", DIMENSIONS)
    max_tokens = 100
    tokenizer: Any = None
    error: Exception | None = None

    async def embed(self, texts: Sequence[str], kind: str = "document") -> FloatMatrix:
        if self.error:
            raise self.error
        return np.array([_vector(len(text.split()[0])) for text in texts], dtype=np.float32)


class InThreeSteps:
    """The same index, as one that cannot do both passes at once."""

    def __init__(self, index: QdrantEdgeIndex) -> None:
        self._index = index

    @property
    def capabilities(self) -> frozenset[Capability]:
        return self._index.capabilities

    async def search(self, query: VectorQuery) -> list[ScoredId]:
        return await self._index.search(query)


class Waiting:
    """These have no vectors yet."""

    def __init__(self, ids: set[str]) -> None:
        self.ids = ids

    async def among(self, ids: Sequence[str]) -> set[str]:
        return self.ids.intersection(ids)

    async def prefer(self, ids: Sequence[str]) -> None:
        return None


def _vector(n: int) -> tuple[float, ...]:
    return make_point(n).dense or ()


def _points() -> list[Point]:
    made = [make_point(n) for n in range(40)]
    return [replace(one, sparse=sparse_document(WORDS[n % len(WORDS)], language="en")) for n, one in enumerate(made)]


@pytest.fixture(params=["in this process", "in one of its own"])
async def index(tmp_path: Path, request: pytest.FixtureRequest) -> AsyncIterator[QdrantEdgeIndex]:
    own = 0 if request.param == "in one of its own" else 1_000
    await (await QdrantEdgeIndex.open(tmp_path, DIMENSIONS)).close()
    opened = await QdrantEdgeIndex.open(tmp_path, DIMENSIONS, own_process_from=own)
    await opened.upsert(_points())
    yield opened
    await opened.close()


async def _find(legs: Legs, query: str, scope: Filter = ANN, limit: int = 10) -> tuple[Found, Trace]:
    trace = Trace()
    return await legs.find(query, scope, limit, trace), trace


@pytest.mark.parametrize("method", list(FusionMethod))
@pytest.mark.parametrize("query", ["loan for a rent", "lease", "unheard", "alpha 12 loan"])
async def test_the_same_is_found(index: QdrantEdgeIndex, method: FusionMethod, query: str) -> None:
    options = RetrievalOptions(fusion=method)
    once, trace = await _find(Legs(Embedder(), index, options), query)
    thrice, apart = await _find(Legs(Embedder(), InThreeSteps(index), options), query)  # type: ignore[arg-type]
    assert once.dense == thrice.dense
    assert once.lexical == thrice.lexical
    assert [one.id for one in once.fused] == [one.id for one in thrice.fused]
    assert [one.score for one in once.fused] == pytest.approx([one.score for one in thrice.fused])
    assert np.array_equal(once.vector, thrice.vector)  # type: ignore[arg-type]
    assert "feedback" in apart.timings_ms
    assert "feedback" not in trace.timings_ms


async def test_chunks_without_vectors_are_judged_by_their_words(index: QdrantEdgeIndex) -> None:
    waiting = Waiting({one.id for one in _points()[::8]})
    once, _ = await _find(Legs(Embedder(), index, RetrievalOptions(), waiting), "alpha loan")
    thrice, _ = await _find(Legs(Embedder(), InThreeSteps(index), RetrievalOptions(), waiting), "alpha loan")  # type: ignore[arg-type]
    assert once.fused == thrice.fused
    without, _ = await _find(Legs(Embedder(), index, RetrievalOptions()), "alpha loan")
    assert once.fused != without.fused


async def test_without_feedback_there_is_one_pass(index: QdrantEdgeIndex) -> None:
    found, trace = await _find(Legs(Embedder(), index, RetrievalOptions(feedback_chunks=0)), "loan")
    assert found.fused
    assert "fuse" in trace.timings_ms


async def test_another_owner_and_an_empty_scope_find_nothing(index: QdrantEdgeIndex) -> None:
    for scope in (BOB, replace(ANN, resource_ids=())):
        found, _ = await _find(Legs(Embedder(), index, RetrievalOptions()), "loan", scope)
        assert (found.dense, found.lexical, found.fused) == ((), (), ())


async def test_without_the_query_s_vector_words_are_searched(index: QdrantEdgeIndex) -> None:
    embedder = Embedder()
    embedder.error = ProviderError("The model is away.")
    found, trace = await _find(Legs(embedder, index, RetrievalOptions()), "loan")
    assert found.vector is None
    assert not found.dense
    assert {one.id for one in found.fused} == {one.id for one in found.lexical} != set()
    assert "The model is away." in str(trace.details)


async def test_where_the_index_fails_words_are_what_is_left(
    index: QdrantEdgeIndex, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def fail(query: VectorQuery, pulling: Joining) -> None:
        raise Unavailable("The index is away.")

    monkeypatch.setattr(index, "search_twice", fail)
    found, trace = await _find(Legs(Embedder(), index, RetrievalOptions()), "loan")
    assert found.vector is not None
    assert {one.id for one in found.fused} == {one.id for one in found.lexical} != set()
    assert "The index is away." in str(trace.details)


async def test_of_several_searches_only_the_one_that_fails_does(index: QdrantEdgeIndex) -> None:
    assert isinstance(index, TwoPassIndex)
    joining = Joining(FusionMethod.HYBRID, 0.5, 0.0, 3, 0.3, (), frozenset())
    good = VectorQuery(dense=_vector(1), filter=ANN, limit=5)
    bad = VectorQuery(dense=(1.0,), filter=ANN, limit=5)
    steps = list(index._answer_all(_found_twice, [((good, True), joining), ((bad, True), joining)]))
    (first, found), (second, error) = steps[0]
    assert (first, second) == (0, 1)
    assert not isinstance(found, BaseException)
    assert len(found[0]) == len(found[1]) == 5
    assert isinstance(error, Exception)


@pytest.mark.parametrize("lexical", [[], [ScoredId("b", 2.0), ScoredId("a", 1.0)]], ids=["no words", "words"])
def test_how_lists_are_joined_can_be_sent(lexical: list[ScoredId]) -> None:
    joining = Joining(FusionMethod.HYBRID, 0.4, 0.1, 3, 0.3, lexical, {"b"}, {"c"})
    sent = pickle.loads(pickle.dumps(joining))
    dense = [ScoredId("a", 0.9), ScoredId("c", 0.2)]
    assert sent.fuse(dense) == joining.fuse(dense)
    assert sent.pulls(dense) == joining.pulls(dense)
    assert type(sent.fuse(dense)[0]) is ScoredId


@pytest.mark.parametrize("method", FusionMethod)
def test_words_count_less_where_a_passage_is_in_another_language_than_the_question(method: FusionMethod) -> None:
    dense = [ScoredId("across", 0.9), ScoredId("same", 0.8), ScoredId("last", 0.1)]
    lexical = [ScoredId("same", 4.0), ScoredId("last", 2.0), ScoredId("across", 1.0)]
    plain = dict(Joining(method, 0.5, 0.0, 0, 0.0, lexical, frozenset()).fuse(dense))
    told = dict(Joining(method, 0.5, 0.0, 0, 0.0, lexical, frozenset(), {"across"}).fuse(dense))
    assert told["across"] > plain["across"]
    assert (told["same"], told["last"]) == (plain["same"], plain["last"])
    alone = Joining(method, 1.0, 0.0, 0, 0.0, (), frozenset(), {"across"}).fuse(dense)
    assert alone == Joining(method, 1.0, 0.0, 0, 0.0, (), frozenset()).fuse(dense)
