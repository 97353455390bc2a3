"""Which server a command talks to: one that serves the folder, one that is about to, or one inside the command's own process."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import AsyncExitStack
from pathlib import Path

import httpx
import pytest

from citewell import client as module
from citewell.client import connect
from citewell.errors import DataFolderBusy
from citewell.settings import Settings, load_settings
from citewell.system.folder import DataFolder

_URL = "http://127.0.0.1:9"


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    return load_settings(data=tmp_path)


@pytest.fixture
def server(settings: Settings) -> Iterator[DataFolder]:
    """A process that holds the folder and serves no HTTP yet."""
    folder = DataFolder(settings.data)
    folder.hold()
    yield folder
    folder.release()


async def _reached(settings: Settings) -> str:
    async with connect(settings) as client:
        return str(client.base_url)


async def test_a_command_waits_for_a_server_that_is_starting(settings: Settings, server: DataFolder) -> None:
    reached = asyncio.create_task(_reached(settings))
    await asyncio.sleep(0.25)
    assert not reached.done()
    server.announce(_URL)
    assert await reached == _URL


async def test_a_server_that_starts_after_the_look_at_the_folder_is_used(
    settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = DataFolder(settings.data)

    async def too_late(_: Settings, stack: AsyncExitStack) -> httpx.AsyncBaseTransport:
        other.hold()
        stack.callback(other.release)
        other.announce(_URL)
        raise DataFolderBusy

    monkeypatch.setattr(module, "_serve_here", too_late)
    assert await _reached(settings) == _URL


async def test_a_process_that_keeps_the_folder_without_serving_is_named(
    settings: Settings, server: DataFolder, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "_START_SECONDS", 0.2)
    with pytest.raises(DataFolderBusy, match=r"Process \d+ is using"):
        await _reached(settings)
    assert server.holder() is not None


async def test_what_fails_inside_reaches_the_caller_as_it_is(settings: Settings, server: DataFolder) -> None:
    server.announce(_URL)
    with pytest.raises(LookupError):
        async with connect(settings):
            raise LookupError
