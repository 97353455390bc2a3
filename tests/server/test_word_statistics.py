"""How rare a word is counts among an owner's own passages, so that a score tells nothing of what others have."""

from __future__ import annotations

from pathlib import Path

from citewell.composition import Services, open_services
from citewell.settings import load_settings
from citewell.types import SearchRequest

_MINE = [{"id": f"m{n}", "text": text} for n, text in enumerate(["The quokka sleeps.", "Rain fell.", "Wind rose."])]
_THEIRS = [{"id": f"t{n}", "text": f"Quokka number {n} sleeps in the rain."} for n in range(60)]


async def _scores(services: Services, owner: str) -> list[tuple[str | None, float | None, float | None]]:
    found = await services.search.search(SearchRequest(owner_id=owner, query="Where does the quokka sleep?"))
    return [(hit.record_id, hit.scores.dense, hit.scores.lexical) for hit in found.hits]


async def test_files_of_others_do_not_change_an_owners_scores(tmp_path: Path) -> None:
    async with open_services(load_settings(data=tmp_path)) as services:
        mine, other = services.local_owner, await services.auth.repository.ensure("somebody else")
        await services.resources.add_records(mine, _MINE, None)
        before = await _scores(services, mine)
        assert before[0][0] == "m0"
        assert before[0][2] is not None
        await services.resources.add_records(other, _THEIRS, None)
        assert await _scores(services, mine) == before
    async with open_services(load_settings(data=tmp_path)) as services:
        assert await _scores(services, mine) == before
