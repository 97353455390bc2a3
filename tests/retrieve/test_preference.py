"""Questions for figures rank tables higher, and questions for reasons prose."""

from __future__ import annotations

from dataclasses import replace

import pytest

from citewell.adapters.embedder.builtin import BuiltinEmbedder
from citewell.ports import Fingerprint
from citewell.retrieve.preference import preference_of, preferred
from citewell.types import ChunkType, Hit, Scores
from tests.retrieve.stand_ins import make_chunk

FOR_TABLES = (
    "Which depot sold the most bicycles in March?",
    "What is the total of all invoices per customer?",
    "How did the number of visitors develop from 2019 to 2023?",
    "What share of gross profit came from repairs?",
)
FOR_PROSE = (
    "Why was the meeting moved to Thursday?",
    "What must I do before I may borrow the van?",
    "Under what condition can a member be excluded?",
    "How is the boiler started after a power cut?",
)


def _hits(*kinds: ChunkType) -> list[Hit]:
    return [
        Hit(chunk=replace(make_chunk(f"{n}"), type=kind), filename="a.pdf", score=1.0 - n / 20, scores=Scores())
        for n, kind in enumerate(kinds)
    ]


async def test_a_question_for_figures_prefers_tables_to_one_for_reasons() -> None:
    embedder = BuiltinEmbedder.load()
    preference = preference_of(embedder.fingerprint)
    assert preference is not None
    vectors = await embedder.embed([*FOR_TABLES, *FOR_PROSE], "query")
    shifts = [preference.shift(vector) for vector in vectors]
    assert min(shifts[: len(FOR_TABLES)]) > 0.05
    assert max(shifts[len(FOR_TABLES) :]) < min(shifts[: len(FOR_TABLES)])


def test_vectors_of_another_model_say_nothing() -> None:
    assert preference_of(Fingerprint("openai", "text-embedding-3-small", 384)) is None


@pytest.mark.parametrize(
    ("shift", "order"),
    [(0.1, ["1", "0", "2"]), (-0.1, ["0", "2", "1"]), (0.01, ["0", "1", "2"]), (0.0, ["0", "1", "2"])],
)
def test_the_kind_that_is_not_asked_for_ranks_lower(shift: float, order: list[str]) -> None:
    found = preferred(_hits(ChunkType.TEXT, ChunkType.TABLE, ChunkType.TEXT), shift)
    assert [hit.chunk.text for hit in found] == order


@pytest.mark.parametrize("kind", [ChunkType.TEXT, ChunkType.TABLE])
def test_hits_of_one_kind_keep_their_scores(kind: ChunkType) -> None:
    hits = _hits(kind, kind)
    assert preferred(hits, 0.2) == hits
    assert preferred(hits, -0.2) == hits
