"""In a chat, the best passage brings the rest of its table or list, unless the search was narrowed to where it is."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from citewell.agent.interface import TurnRequest
from citewell.agent.turn.state import TurnState
from citewell.agent.turn.tools import Toolbox, search_call
from citewell.types import ChunkPlace, ChunkType, Hit, Scores, SearchRequest, SearchResult, StoredChunk, Trace
from tests.retrieve.stand_ins import make_chunk

STEPS = (
    "To return a book:",
    "1. Find the slip.",
    "2. Put it in the box.",
    "Fines are due on Friday.",
    "Keys are at the desk.",
)


class Files:
    """A file of ann's, of which a search finds the second passage and the last two."""

    chunks = tuple(make_chunk(text, ordinal=n) for n, text in enumerate(STEPS))

    async def search(self, request: SearchRequest) -> SearchResult:
        found = [self.chunks[n] for n in (1, 3, 4)]
        hits = [
            Hit(chunk=one, filename="notes.txt", score=1.0 - n / 10, scores=Scores()) for n, one in enumerate(found)
        ]
        return SearchResult(tuple(hits), Trace(), inferred=())

    async def at(self, owner_id: str, places: Sequence[ChunkPlace]) -> Mapping[ChunkPlace, StoredChunk]:
        known = {ChunkPlace(one.resource_id, one.version, one.ordinal): one for one in self.chunks}
        return {
            place: StoredChunk(known[place], "notes.txt") for place in places if place in known and owner_id == "ann"
        }

    async def passages(
        self, owner_id: str, resource_id: str, types: Sequence[ChunkType], most: int
    ) -> list[StoredChunk]:
        return []


async def _numbered(**arguments: Any) -> list[tuple[int, str]]:
    files = Files()
    turn = TurnState(request=TurnRequest(owner_id="ann", message=""), emit=lambda _: None)
    result = await Toolbox(files, files=files).run(turn, search_call("how to return a book", **arguments))
    assert not result.failed, result.text
    return [(source.n, source.hit.chunk.text) for source in result.sources]


async def test_a_step_comes_with_its_procedure_in_order() -> None:
    assert await _numbered() == [(1, STEPS[1]), (2, STEPS[0]), (3, STEPS[2])]


async def test_a_search_within_a_page_finds_nothing_beyond_it() -> None:
    narrowed = [{"field": "page", "operator": "eq", "value": 1}]
    assert await _numbered(filters=narrowed) == [(1, STEPS[1]), (2, STEPS[3]), (3, STEPS[4])]
