"""A Redis of the tests' own."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.redis_server import redis_server


@pytest.fixture(scope="session")
def redis_url() -> Iterator[str]:
    """The address of a Redis with the query engine."""
    with redis_server() as url:
        yield url
