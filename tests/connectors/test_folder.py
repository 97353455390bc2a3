"""`citewell sync folder`: a second source, as small as one can be."""

from __future__ import annotations

import json
import os
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path

import httpx
import pytest

from citewell.cli import syncing
from citewell.client import call, connect
from citewell.connectors.engine import Synchroniser, SyncReport, SyncRequest
from citewell.connectors.folder import FolderSource
from citewell.connectors.mapping import field_flags, read_mapping
from citewell.errors import ConfigurationError
from citewell.settings import load_settings


@pytest.mark.full
async def test_files_come_change_move_and_go(tmp_path: Path) -> None:
    folder = tmp_path / "papers"
    (folder / "old").mkdir(parents=True)
    (folder / "a.txt").write_text("The rent is 900 euros a month.")
    (folder / "old/b.txt").write_text("The lease ends in 2031.")
    (folder / ".hidden.txt").write_text("Not mine to read.")
    (tmp_path / "outside.txt").write_text("Outside.")
    (folder / "link.txt").symlink_to(tmp_path / "outside.txt")

    async with connect(load_settings(data=tmp_path / "data")) as client:

        async def sync() -> SyncReport:
            return await Synchroniser(client, FolderSource(folder), SyncRequest(name="papers")).run()

        assert (await sync()).added == 2
        (folder / "a.txt").write_text("The rent is 950 euros a month.")
        os.utime(folder / "a.txt", (1_800_000_000, 1_800_000_000))
        (folder / "old/b.txt").rename(folder / "c.txt")
        report = await sync()
        assert (report.added, report.changed, report.deleted) == (1, 1, 1)
        assert (await sync()).unchanged == 2
        found = await call(client, "POST", "/search", json={"query": "rent in euros"})
        listed = (await call(client, "GET", "/resources"))["resources"]
    assert "950" in found["hits"][0]["text"]
    assert sorted(one["metadata"]["source_path"] for one in listed) == ["a.txt", "c.txt"]


@pytest.mark.full
async def test_a_folder_is_watched_through_failures_and_quietly(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The server goes away before the third run; it is back for the fourth, which finds a new file."""
    folder, looks, announced = tmp_path / "papers", 0, list[bool]()
    folder.mkdir()
    (folder / "a.txt").write_text("The rent is 900 euros a month.")
    settings = load_settings(data=tmp_path / "data")

    async def sent(request: httpx.Request) -> None:
        if request.url.path.endswith("/runs"):
            announced.append(json.loads(request.content)["announce"])
        if looks == 2:
            raise httpx.ConnectError("refused")

    async def look_again(_: float) -> None:
        nonlocal looks
        looks += 1
        if looks == 3:
            (folder / "b.txt").write_text("The lease ends in 2031.")
        if looks == 5:
            raise _Stopped

    async with connect(settings) as client:
        client.event_hooks["request"].append(sent)

        @asynccontextmanager
        async def connected(_: object) -> AsyncGenerator[httpx.AsyncClient]:
            yield client

        monkeypatch.setattr(syncing, "connect", connected)
        with pytest.raises(_Stopped):
            await syncing._run(settings, FolderSource(folder), SyncRequest(name="papers"), 2.0, True, look_again)
    said = capsys.readouterr()
    assert announced == [True, False, True, False]
    assert said.out.count('"added": 1') == 2
    assert said.out.count('"added"') == 2
    assert "is not responding" in said.err


class _Stopped(Exception):
    """Somebody stops watching."""


async def test_a_folder_that_is_gone_deletes_nothing(tmp_path: Path) -> None:
    folder = tmp_path / "papers"
    folder.mkdir()
    source = FolderSource(folder)
    folder.rmdir()
    with pytest.raises(ConfigurationError, match="Nothing was deleted"):
        await source.present()


def test_a_mapping_says_what_is_wrong_with_it(tmp_path: Path) -> None:
    path = tmp_path / "frames.toml"
    path.write_text('base = "appX"\nother = ["Camera"]\n[fields]\nframe = "File"\ntags = "Labels"\n')
    mapping = read_mapping(path)
    assert (mapping.base, mapping.frame_column, mapping.other) == ("appX", "File", ("Camera",))
    meant, other = mapping.roles(
        {"File": "a.png", "Labels": ["x"], "Description": "Seen.", "Camera": "M6", "Notes": "n"}
    )
    assert meant == {"tags": ["x"], "summary": "Seen."}
    assert other == {"Camera": "M6"}
    for text, said in (
        ("bas = 1", "`bas`"),
        ("base = 1", "`base` must be"),
        ("[fields]\ntag = 'x'", "`tag`"),
        ("[", "cannot be read"),
    ):
        path.write_text(text)
        with pytest.raises(ConfigurationError, match=said):
            read_mapping(path)
    with pytest.raises(ConfigurationError, match="WHAT=COLUMN"):
        field_flags(["tags"])
