"""No packet leaves a parser: files that refer to a server fetch nothing from it, and parsers live in a network of their own."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest
import pytest_asyncio

from citewell.ingest.parser_scratch import read_elements
from citewell.ingest.parsers import ParserPool
from citewell.types import ExtractOptions
from tests.ingest.referring import REFERRING

pytestmark = pytest.mark.asyncio(loop_scope="module")


@dataclass
class Listener:
    """A server on this machine that counts who calls."""

    url: str = ""
    calls: list[bytes] = field(default_factory=list[bytes])

    async def answer(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.calls.append(await reader.read(100))
        writer.close()


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def listener() -> AsyncIterator[Listener]:
    listener = Listener()
    async with await asyncio.start_server(listener.answer, "127.0.0.1", 0) as server:
        port = server.sockets[0].getsockname()[1]
        listener.url = f"http://127.0.0.1:{port}/secret"
        yield listener


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def pool() -> AsyncIterator[ParserPool]:
    async with ParserPool(2) as pool:
        await pool.warm()
        yield pool


@pytest.mark.parametrize("name", REFERRING)
async def test_what_a_file_refers_to_is_not_fetched(
    pool: ParserPool, listener: Listener, tmp_path: Path, name: str
) -> None:
    source = tmp_path / name
    source.write_bytes(REFERRING[name](listener.url))
    summary = await pool.parse(source, name, ExtractOptions(), tmp_path / "scratch")
    assert summary.detected.extractor is not None
    assert any("T" in element.text for element in read_elements(tmp_path / "scratch"))
    assert listener.calls == []


async def test_the_listener_would_have_noticed(listener: Listener) -> None:
    port = int(listener.url.split(":")[2].split("/")[0])
    _, writer = await asyncio.open_connection("127.0.0.1", port)
    writer.write(b"hello")
    writer.write_eof()
    async with asyncio.timeout(60):
        while not listener.calls:  # noqa: ASYNC110 - the other side of the connection appends
            await asyncio.sleep(0.01)
    assert listener.calls.pop() == b"hello"
    writer.close()


async def test_parsers_have_a_network_without_a_way_out_where_the_system_grants_one(pool: ParserPool) -> None:
    allowed = await asyncio.to_thread(_namespaces_are_granted)
    own = [pid for pid in _children() if _network_of(str(pid)) != _network_of("self")]
    assert bool(own) == allowed
    assert all(set(_packets_sent(pid).values()) <= {0} for pid in own)


def _network_of(process: str) -> str:
    return str(Path(f"/proc/{process}/ns/net").readlink())


def _packets_sent(pid: int) -> dict[str, int]:
    """By interface of the network that the process lives in."""
    lines = Path(f"/proc/{pid}/net/dev").read_text().splitlines()[2:]
    return {line.split(":")[0].strip(): int(line.split(":")[1].split()[9]) for line in lines}


def _children() -> list[int]:
    """Process ids of the templates that this process has started."""
    tasks = Path("/proc/self/task").iterdir()
    return [int(pid) for task in tasks for pid in (task / "children").read_text().split() if _is_template(int(pid))]


def _is_template(pid: int) -> bool:
    return b"citewell.extract.sandbox.worker" in Path(f"/proc/{pid}/cmdline").read_bytes()


def _namespaces_are_granted() -> bool:
    code = "from citewell.extract.sandbox.namespaces import leave_network; print(leave_network())"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return done.stdout.strip() == "True"
