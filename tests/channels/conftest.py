"""A bot's world that the tests of a file share, and people who are new to it."""

from __future__ import annotations

import itertools
from collections.abc import AsyncIterator

import pytest
import pytest_asyncio

from tests.channels.telegram_world import World, world
from tests.contract_servers.telegram import Person

_people = itertools.count(100)


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def open_world(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[World]:
    """Everybody may use its bot."""
    async with world(tmp_path_factory.mktemp("telegram") / "data", telegram_access="everyone") as opened:
        yield opened


@pytest.fixture
def ann(open_world: World) -> Person:
    """Somebody new, who has files of her own."""
    return Person(server=open_world.server, id=next(_people))


@pytest.fixture
def eve(open_world: World) -> Person:
    """Somebody else who is new."""
    return Person(server=open_world.server, id=next(_people), name="Eve")
