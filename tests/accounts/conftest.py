"""A server with accounts for all tests here; they keep apart by their people."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.accounts.people import Browser, signed_up
from tests.server.in_process import InProcessServer
from tests.server.running import Server


@pytest.fixture(scope="package")
def accounts(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """A server where everybody may sign up."""
    folder = tmp_path_factory.mktemp("accounts")
    with InProcessServer(folder / "data", CITEWELL_ACCOUNTS="on", CITEWELL_SIGN_UP="open") as running:
        yield running


@pytest.fixture(scope="package")
def administrator(accounts: Server) -> Browser:
    """The first who signed up there."""
    return signed_up(accounts.url, "first@example.org")
