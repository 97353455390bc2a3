"""A small number of the kills of `scripts/kill_storage.py`: nothing acknowledged is lost, doubled or left; and the check would see it."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from types import ModuleType

import pytest

from tests.scripts.loading import load_script

pytestmark = [pytest.mark.full, pytest.mark.slow(30)]


@pytest.fixture(scope="module")
def kills() -> ModuleType:
    """The script as a module."""
    return load_script("kill_storage")


def test_killed_uploads_deletions_and_sweeps_lose_and_leave_nothing(kills: ModuleType, tmp_path: Path) -> None:
    result = kills.run(tmp_path, 25, seed=11)
    assert result["counts"]["added"] > 0
    assert result["counts"]["deleted"] > 0


@pytest.mark.parametrize(
    ("note", "wanted"),
    [
        ({"what": "added", "id": "gone", "text": "a"}, "lost"),
        ({"what": "deleted", "id": "{id}"}, "acknowledged as deleted"),
    ],
)
def test_the_check_sees_what_differs(kills: ModuleType, tmp_path: Path, note: dict[str, str], wanted: str) -> None:
    data, diary = tmp_path / "data", tmp_path / "diary"

    async def add() -> str:
        async with kills.opened(data, diary, 1) as place:
            return (await kills._add(place)).id

    resource_id = asyncio.run(add())
    asyncio.run(kills.check(data, diary))
    with diary.open("a", encoding="utf-8") as file:
        file.write(json.dumps({key: value.format(id=resource_id) for key, value in note.items()}) + "\n")
    with pytest.raises(AssertionError, match=wanted):
        asyncio.run(kills.check(data, diary))


def test_the_check_sees_bytes_that_no_row_names(kills: ModuleType, tmp_path: Path) -> None:
    data, diary = tmp_path / "data", tmp_path / "diary"

    async def add() -> None:
        async with kills.opened(data, diary, 1) as place:
            await kills._add(place)

    asyncio.run(add())
    stray = data / "blobs" / "owner" / "resource" / "1" / "original-0"
    stray.parent.mkdir(parents=True)
    stray.write_text("stray")
    with pytest.raises(AssertionError, match="nobody explains"):
        asyncio.run(kills.check(data, diary))
