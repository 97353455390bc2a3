"""Passages: neighbours become one text without repetition, and nothing that was found is lost."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from citewell.retrieve.context import best_at_the_ends, merge_neighbours, passages_around, with_the_rest
from citewell.types import ChunkPlace, ChunkType, Hit, Piece, Scores, StoredChunk
from tests.retrieve.stand_ins import make_chunk


def _hit(ordinal: int, score: float = 0.5, filename: str = "a.txt", text: str | None = None) -> Hit:
    chunk = make_chunk(text if text is not None else f"Sentence {ordinal}.", filename=filename, ordinal=ordinal)
    return Hit(chunk=chunk, filename=filename, score=score, scores=Scores(fused=score))


class Source:
    """A file of ten chunks that is ann's."""

    async def at(self, owner_id: str, places: Sequence[ChunkPlace]) -> Mapping[ChunkPlace, StoredChunk]:
        return {
            place: StoredChunk(
                make_chunk(f"Sentence {place.ordinal}.", ordinal=place.ordinal, filename="a.txt"), "a.txt"
            )
            for place in places
            if owner_id == "ann" and place.resource_id == "ann/a.txt" and place.ordinal < 10
        }


def test_hits_that_follow_each_other_become_one_passage() -> None:
    passages = merge_neighbours([_hit(4, 0.3), _hit(7, 0.9), _hit(3, 0.6), _hit(8, 0.2, filename="b.txt")])
    assert [passage.text for passage in passages] == ["Sentence 7.", "Sentence 3.\nSentence 4.", "Sentence 8."]
    assert [hit.score for hit in passages[1].hits] == [0.6, 0.3]
    assert [passage.score for passage in passages] == [0.9, 0.6, 0.2]


def test_chunks_of_different_versions_are_not_neighbours() -> None:
    old = _hit(1)
    new = _hit(2)
    new = replace(new, chunk=replace(new.chunk, version=2))
    assert len(merge_neighbours([old, new])) == 2


def test_what_chunks_repeat_of_each_other_stands_once() -> None:
    first = _hit(0, text="The limit is five thousand. It holds for first-time borrowers.")
    second = _hit(1, text="It holds for first-time borrowers. Others may take more.")
    joined = merge_neighbours([first, second])[0].text
    assert joined == "The limit is five thousand. It holds for first-time borrowers. Others may take more."


async def test_text_around_a_hit_is_added_up_to_the_ends_of_the_file() -> None:
    passages = await passages_around("ann", [_hit(0, 0.4), _hit(5, 0.9)], Source(), before=1, after=2)
    assert [[chunk.ordinal for chunk in passage.chunks] for passage in passages] == [[4, 5, 6, 7], [0, 1, 2]]
    assert [[hit.chunk.ordinal for hit in passage.hits] for passage in passages] == [[5], [0]]


async def test_contexts_that_touch_are_merged() -> None:
    passages = await passages_around("ann", [_hit(3, 0.4), _hit(6, 0.9)], Source(), before=1, after=1)
    assert [[chunk.ordinal for chunk in passage.chunks] for passage in passages] == [[2, 3, 4, 5, 6, 7]]


async def test_neighbours_of_another_owner_are_not_shown() -> None:
    passages = await passages_around("bob", [_hit(3)], Source())
    assert [[chunk.ordinal for chunk in passage.chunks] for passage in passages] == [[3]]


@given(st.sets(st.integers(0, 30), max_size=15))
def test_every_hit_stands_in_exactly_one_passage(ordinals: set[int]) -> None:
    hits = [_hit(ordinal, score=1 / (ordinal + 1)) for ordinal in ordinals]
    passages = merge_neighbours(hits)
    assert sorted(hit.chunk.ordinal for passage in passages for hit in passage.hits) == sorted(ordinals)
    for passage in passages:
        numbers = [chunk.ordinal for chunk in passage.chunks]
        assert numbers == list(range(numbers[0], numbers[-1] + 1))


def test_the_best_stand_at_the_ends() -> None:
    assert best_at_the_ends([1, 2, 3, 4, 5]) == [1, 3, 5, 4, 2]
    assert best_at_the_ends([1]) == [1]
    assert best_at_the_ends([]) == []


@given(st.lists(st.integers()))
def test_reordering_loses_nothing(items: list[int]) -> None:
    assert sorted(best_at_the_ends(items)) == sorted(items)


class File:
    """The chunks of ann's file, in order: texts, or rows of tables by the element that they are of."""

    def __init__(self, *chunks: str | tuple[str, str]) -> None:
        self.chunks = [
            make_chunk(one, ordinal=n)
            if isinstance(one, str)
            else replace(make_chunk(one[1], ordinal=n), type=ChunkType.TABLE, pieces=(Piece(one[0], 0, 9),))
            for n, one in enumerate(chunks)
        ]

    def hit(self, ordinal: int) -> Hit:
        return Hit(chunk=self.chunks[ordinal], filename="notes.txt", score=1.0 - ordinal / 100, scores=Scores())

    async def at(self, owner_id: str, places: Sequence[ChunkPlace]) -> Mapping[ChunkPlace, StoredChunk]:
        known = {ChunkPlace(one.resource_id, one.version, one.ordinal): one for one in self.chunks}
        return {place: StoredChunk(known[place], "notes.txt") for place in places if place in known}


STEPS = ["Returns begin at the desk. Do this:", "1. Ask for the form.", "2. Fill it in.\n3. Sign it.", "Other matters."]
TABLES = [
    ("a", "| Line | 2022 |\n| Sales | 5 |"),
    ("a", "| Line | 2022 |\n| Costs | 3 |"),
    ("b", "| Day | Hour |\n| Monday | 9 |"),
]


@pytest.mark.parametrize(
    ("chunks", "best", "ordinals"),
    [
        pytest.param(STEPS, 1, [1, 0, 2], id="a procedure, with what announces it"),
        pytest.param(STEPS, 0, [0, 1, 2], id="what a text announces"),
        pytest.param(STEPS, 3, [3, 0, 1], id="prose"),
        pytest.param(TABLES, 1, [1, 0, 2], id="a table cut in two"),
        pytest.param([TABLES[0], ("c", TABLES[1][1]), TABLES[2]], 0, [0, 1, 2], id="a table that continues as another"),
        pytest.param(
            ["- one", "- two", "- three", "- four", "- five", "- six"], 2, [2, 1, 3], id="no more than there were"
        ),
    ],
)
async def test_the_best_hit_brings_the_rest_of_its_table_or_list(
    chunks: list[str | tuple[str, str]], best: int, ordinals: list[int]
) -> None:
    file = File(*chunks)
    others = [file.hit(n) for n in range(len(chunks)) if n != best][:2]
    found = await with_the_rest("ann", [file.hit(best), *others], file, most=2)
    assert [hit.chunk.ordinal for hit in found] == ordinals


async def test_the_rest_of_a_table_makes_the_last_hits_leave_and_no_others() -> None:
    file = File(*TABLES, "One.", "Two.", "Three.")
    hits = [file.hit(n) for n in (0, 3, 4, 5)]
    found = await with_the_rest("ann", hits, file)
    assert [hit.chunk.ordinal for hit in found] == [0, 1, 3, 4]
    assert await with_the_rest("ann", [], file) == []
