"""The transcripts in docs are what the doors do now: each is run again and compared."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.transcripts.doors import DOORS, PAGES

pytestmark = [pytest.mark.full, pytest.mark.slow(40)]


def test_every_door_has_a_page_and_every_page_a_door() -> None:
    assert {path.stem for path in PAGES.glob("*.md")} == set(DOORS)


@pytest.mark.parametrize("door", DOORS)
async def test_a_transcript_is_what_the_door_does(door: str, tmp_path: Path) -> None:
    made = (await DOORS[door](tmp_path)).markdown()
    assert made == (PAGES / f"{door}.md").read_text(encoding="utf-8"), "python -m tests.transcripts writes it again"
