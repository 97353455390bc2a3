"""Merging by rank: the lists of several indexes, and of two during a gradual build."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Mapping, Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from citewell.errors import Unavailable
from citewell.ports import FloatMatrix
from citewell.retrieve import several
from citewell.retrieve.fusion import in_places_of
from citewell.retrieve.legs import Found
from citewell.retrieve.several import MovingLegs, SearchedIndex, SeveralLegs
from citewell.types import Filter, ScoredId, SearchResult, Trace

IDS = [f"c{n}" for n in range(12)]
ANYTHING = Filter(owner_id="ada")
ranked = st.lists(st.sampled_from(IDS), unique=True).map(
    lambda ids: [ScoredId(key, 1.0 - 0.05 * rank) for rank, key in enumerate(ids)]
)


class FakeLegs:
    """Finds what it was given, or fails."""

    compares = True

    def __init__(
        self,
        ids: Sequence[str] = (),
        error: Exception | None = None,
        *,
        named: Iterable[str] = (),
        similar: Mapping[str, float] | None = None,
    ) -> None:
        self.ids = ids
        self.error = error
        self.named = frozenset(named)
        self.similar = similar or {}

    async def find(self, query: str, scope: Filter, limit: int, trace: Trace) -> Found:
        if self.error is not None:
            raise self.error
        fused = tuple(ScoredId(key, 1.0 / rank) for rank, key in enumerate(self.ids, 1))
        return Found("en", None, fused, (), fused, self.named, self.similar)

    async def cosines(self, query: str, vector: FloatMatrix | None, ids: Sequence[str]) -> dict[str, float]:
        return {key: 0.5 for key in ids if key in self.ids}

    async def vectors(self, ids: Sequence[str]) -> dict[str, FloatMatrix]:
        return {}

    async def holds_any(self, words: Sequence[str], scope: Filter) -> bool:
        return bool(self.ids)


class HangingLegs(FakeLegs):
    """Never answers."""

    async def find(self, query: str, scope: Filter, limit: int, trace: Trace) -> Found:
        await asyncio.Event().wait()
        raise AssertionError


def _source(name: str, ids: Sequence[str] = (), error: Exception | None = None) -> SearchedIndex:
    return SearchedIndex(name, FakeLegs(ids, error))


@given(ranked, ranked)
def test_with_nothing_moved_the_old_order_stands_and_with_everything_moved_the_new_one(
    before: list[ScoredId], after: list[ScoredId]
) -> None:
    assert in_places_of(before, after, set()) == before
    moved = in_places_of(before, after, set(IDS))
    assert [one.id for one in moved][: len(after)] == [one.id for one in after]


@given(ranked, ranked, st.sets(st.sampled_from(IDS)))
def test_files_that_have_not_moved_keep_their_places_and_no_moved_one_is_lost_or_twice(
    before: list[ScoredId], after: list[ScoredId], moved: set[str]
) -> None:
    merged = in_places_of(before, after, moved)
    ids = [one.id for one in merged]
    assert len(ids) == len(set(ids))
    assert [key for key in ids if key not in moved] == [one.id for one in before if one.id not in moved]
    assert {one.id for one in after if one.id in moved} <= set(ids)
    assert [one.score for one in merged] == sorted((one.score for one in merged), reverse=True)
    ranked_after = [one.id for one in after if one.id in moved]
    assert [key for key in ids if key in ranked_after] == ranked_after


async def test_several_indexes_are_joined_by_rank_and_the_trace_says_what_each_found() -> None:
    trace = Trace()
    legs = SeveralLegs([_source("a", ["c1", "c2", "c3"]), _source("b", ["c2", "c9"])])
    found = await legs.find("query", ANYTHING, 10, trace)
    assert [one.id for one in found.fused] == ["c2", "c1", "c9", "c3"]
    indexes = trace.details["indexes"]
    assert isinstance(indexes, list)
    assert [(one["index"], one["found"]) for one in indexes if isinstance(one, dict)] == [("a", 3), ("b", 2)]
    assert await legs.cosines("query", None, ["c1", "c9", "c10"]) == {"c1": 0.5, "c9": 0.5}


async def test_chunks_that_a_code_names_and_their_similarity_stay_known_when_indexes_are_joined() -> None:
    first = FakeLegs(["c1"], named={"c1"}, similar={"c1": 0.7})
    second = FakeLegs(["c1", "c2"], named={"c2"}, similar={"c1": 0.3, "c2": 0.4})
    found = await SeveralLegs([SearchedIndex("a", first), SearchedIndex("b", second)]).find("q", ANYTHING, 9, Trace())
    assert found.named == {"c1", "c2"}
    assert found.similar == {"c1": 0.7, "c2": 0.4}


async def test_an_index_that_is_down_is_left_out_and_named() -> None:
    trace = Trace()
    legs = SeveralLegs([_source("a", error=Unavailable("It is away.")), _source("b", ["c2"])])
    found = await legs.find("query", ANYTHING, 10, trace)
    assert [one.id for one in found.fused] == ["c2"]
    assert trace.details["skipped_indexes"] == ["a"]
    assert "index a" in (SearchResult((), trace).notice or "")
    with pytest.raises(Unavailable, match="away"):
        await SeveralLegs([_source("a", error=Unavailable("It is away."))]).find("query", ANYTHING, 10, Trace())


async def test_an_index_that_hangs_is_not_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(several, "SLOWEST_SECONDS", 0.05)
    trace = Trace()
    found = await SeveralLegs([SearchedIndex("slow", HangingLegs()), _source("b", ["c2"])]).find(
        "q", ANYTHING, 9, trace
    )
    assert [one.id for one in found.fused] == ["c2"]
    assert trace.details["skipped_indexes"] == ["slow"]


async def test_while_files_move_either_index_may_be_down() -> None:
    async def unmoved(ids: Sequence[str]) -> set[str]:
        return {key for key in ids if key in ("c1", "c4")}

    both = MovingLegs(_source("old", ["c1", "c2", "c3", "c4"]), _source("new", ["c3", "c2", "c4"]), unmoved)
    found = await both.find("query", ANYTHING, 10, Trace())
    assert [one.id for one in found.fused] == ["c1", "c3", "c2", "c4"]
    gone = Unavailable("It is away.")
    trace = Trace()
    old = await MovingLegs(_source("old", ["c1"]), _source("new", error=gone), unmoved).find("q", ANYTHING, 9, trace)
    assert [one.id for one in old.fused] == ["c1"]
    assert SearchResult((), trace).notice is None  # the old one has everything
    new = await MovingLegs(_source("old", error=gone), _source("new", ["c2"]), unmoved).find("q", ANYTHING, 9, trace)
    assert [one.id for one in new.fused] == ["c2"]
    assert "index old" in (SearchResult((), trace).notice or "")
