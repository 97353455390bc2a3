"""The parser pool against readers that misbehave: every file ends with a typed reason, and nothing else is harmed."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Callable
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio

from citewell.errors import (
    CorruptFile,
    ExtractionError,
    LimitExceeded,
    ParserCrashed,
    ParserOutOfMemory,
    ParserTimeout,
    Unavailable,
    WrongPassword,
)
from citewell.extract.sandbox import ParserLimits
from citewell.ingest.parser_scratch import read_elements
from citewell.ingest.parsers import ParserPool
from citewell.types import ExtractionSummary, ExtractOptions

from . import nasty

LIMITS = ParserLimits(
    memory_bytes=256 << 20,
    reserved_bytes=512 << 20,
    stall_seconds=60,
    total_seconds=120,
    scratch_bytes=20 << 20,
)
HASTY = replace(LIMITS, stall_seconds=3, total_seconds=6)
pytestmark = pytest.mark.asyncio(loop_scope="module")
ENTRY = f"{nasty.__name__}:read"


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def pool() -> AsyncIterator[ParserPool]:
    async with ParserPool(2, limits=LIMITS, entry=ENTRY) as pool:
        yield pool


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def hasty_pool() -> AsyncIterator[ParserPool]:
    """A pool with too little patience for a machine that is busy: for files that never end."""
    async with ParserPool(2, limits=HASTY, entry=ENTRY) as pool:
        yield pool


class Files:
    """A folder with a file to read."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.source = folder / "source.bin"
        self.source.write_text("the text")
        (folder / "neighbour.txt").write_text("another owner's")
        self.scratch = folder / "scratch"

    async def parse(self, pool: ParserPool, deed: str, **more: Any) -> ExtractionSummary:
        return await pool.parse(self.source, deed, ExtractOptions(), more.pop("scratch", self.scratch), **more)


@pytest.fixture
def files(tmp_path: Path) -> Files:
    return Files(tmp_path)


async def test_a_file_is_read_and_only_what_was_declared_is_left(pool: ParserPool, files: Files) -> None:
    summary = await files.parse(pool, "declared blob")
    assert [element.text for element in read_elements(files.scratch)] == ["the text"]
    assert [blob.name for blob in summary.blobs] == ["picture"]
    assert sorted(path.name for path in files.scratch.iterdir()) == ["blob-0", "elements.jsonl"]


async def test_scratch_of_an_earlier_attempt_is_emptied(pool: ParserPool, files: Files) -> None:
    files.scratch.mkdir()
    (files.scratch / "blob-9").write_text("old")
    await files.parse(pool, "fine")
    assert [path.name for path in files.scratch.iterdir()] == ["elements.jsonl"]


@pytest.mark.parametrize(
    ("deed", "error", "says"),
    [
        ("memory", ParserOutOfMemory, "memory"),
        ("native memory", ParserOutOfMemory, "memory"),
        ("segfault", ParserCrashed, "SIGSEGV"),
        ("kill itself", ParserCrashed, "SIGKILL"),
        ("exit", ParserCrashed, "status 7"),
        ("disk", LimitExceeded, "writes more than"),
        ("large", LimitExceeded, "disk space|writes more than"),
        ("corrupt", CorruptFile, "No table of contents."),
        ("password", WrongPassword, "password does not open"),
        ("recursion", LimitExceeded, "nested too deeply"),
        ("undeclared blob", ParserCrashed, "did not write"),
        ("no report", ParserCrashed, "no report"),
        ("report not json", ParserCrashed, "cannot be read"),
        ("report a list", ParserCrashed, "cannot be read"),
        ("report incomplete", ParserCrashed, "cannot be read"),
        ("report foreign file", ParserCrashed, "did not write"),
        ("report unknown error", ExtractionError, "m"),
    ],
)
async def test_every_bad_end_has_a_typed_reason(
    pool: ParserPool, files: Files, deed: str, error: type[ExtractionError], says: str
) -> None:
    with pytest.raises(error, match=says) as caught:
        await files.parse(pool, deed)
    assert type(caught.value) is error
    assert (await files.parse(pool, "fine")).coverage.characters == len("the text")


@pytest.mark.parametrize(
    ("deed", "says"), [("loop", "no progress for 3 seconds"), ("loop with progress", "longer than 6 seconds")]
)
async def test_a_file_that_takes_too_long_is_given_up(
    hasty_pool: ParserPool, files: Files, deed: str, says: str
) -> None:
    with pytest.raises(ParserTimeout, match=says):
        await files.parse(hasty_pool, deed)


async def test_an_error_keeps_its_details(pool: ParserPool, files: Files) -> None:
    with pytest.raises(CorruptFile) as caught:
        await files.parse(pool, "corrupt")
    assert caught.value.details == {"page": 3}


async def test_a_bug_in_a_reader_is_named_but_its_message_stays_inside(pool: ParserPool, files: Files) -> None:
    with pytest.raises(ExtractionError) as caught:
        await files.parse(pool, "bug")
    assert caught.value.details == {"exception": "ZeroDivisionError"}
    assert "secret" not in caught.value.message


async def test_no_way_leads_to_the_network(pool: ParserPool, files: Files) -> None:
    summary = await files.parse(pool, "network")
    assert summary.metadata["observed"] == {
        "tcp": "PermissionError",
        "udp": "PermissionError",
        "unix": "PermissionError",
        "name": "gaierror",
    }


async def test_only_scratch_is_writable_and_no_other_file_readable(pool: ParserPool, files: Files) -> None:
    summary = await files.parse(pool, "files")
    observed = summary.metadata["observed"]
    assert isinstance(observed, dict)
    assert observed.pop("scratch") == "allowed"
    assert set(observed.values()) == {"PermissionError"}, observed
    assert files.source.read_text() == "the text"
    assert sorted(path.name for path in files.folder.iterdir()) == ["neighbour.txt", "scratch", "source.bin"]


async def test_no_process_is_started_and_none_signalled_but_threads_work(pool: ParserPool, files: Files) -> None:
    summary = await files.parse(pool, "processes")
    assert summary.metadata["observed"] == {
        "fork": "PermissionError",
        "program": "PermissionError",
        "signal": "PermissionError",
        "group": "PermissionError",
        "thread": "thread",
    }


async def test_no_secret_of_the_server_reaches_a_parser(
    pool: ParserPool, files: Files, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "secret")
    observed = (await files.parse(pool, "secrets")).metadata["observed"]
    assert isinstance(observed, list)
    assert "PATH" in observed
    assert not [name for name in observed if "KEY" in str(name) or "TOKEN" in str(name)]


async def test_what_one_file_leaves_in_memory_the_next_does_not_see(pool: ParserPool, files: Files) -> None:
    for _ in range(2):
        assert (await files.parse(pool, "remember")).metadata["observed"] == ["source.bin"]


async def test_what_native_code_prints_confuses_nobody(pool: ParserPool, files: Files) -> None:
    assert (await files.parse(pool, "garbage")).coverage.elements == 1


async def test_slow_work_that_reports_progress_is_left_alone(pool: ParserPool, files: Files) -> None:
    seen: list[tuple[int, int | None]] = []

    def note(done: int, total: int | None) -> None:
        seen.append((done, total))

    await files.parse(pool, "slow", on_progress=note)
    assert seen == sorted(seen)
    assert seen[-1][0] >= 5
    assert {total for _, total in seen} == {6}


async def test_as_many_files_are_read_at_once_as_there_are_workers(pool: ParserPool, files: Files) -> None:
    await pool.warm()
    tasks = [asyncio.create_task(files.parse(pool, "slow", scratch=files.folder / f"s{n}")) for n in range(3)]
    most = 0
    while not all(task.done() for task in tasks):
        most = max(most, len(_parsers()))
        await asyncio.sleep(0.05)
    assert most == 2
    assert [task.result().coverage.elements for task in tasks] == [1, 1, 1]


async def test_neighbours_are_unaffected_by_one_that_crashes(hasty_pool: ParserPool, files: Files) -> None:
    deeds = ["fine", "segfault", "fine", "memory", "fine", "loop", "fine"]
    results = await asyncio.gather(
        *(files.parse(hasty_pool, deed, scratch=files.folder / f"s{n}") for n, deed in enumerate(deeds)),
        return_exceptions=True,
    )
    assert [type(result) for result in results] == [
        ExtractionSummary, ParserCrashed, ExtractionSummary, ParserOutOfMemory, ExtractionSummary, ParserTimeout,
        ExtractionSummary,
    ]  # fmt: skip


async def test_a_cancelled_parse_kills_its_process(pool: ParserPool, files: Files) -> None:
    await pool.warm()
    task = asyncio.create_task(files.parse(pool, "loop"))
    await _until(lambda: _parsers() != [])
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert _parsers() == []


@pytest.mark.full
async def test_a_dead_template_is_replaced_and_its_work_done_again(pool: ParserPool, files: Files) -> None:
    await pool.warm()
    task = asyncio.create_task(files.parse(pool, "slow"))
    await _until(lambda: _parsers() != [])
    template = _templates()[0]
    os.kill(template, signal.SIGKILL)
    assert (await task).coverage.elements == 1
    assert template not in _templates()


async def test_closing_ends_every_process_and_leaves_no_zombie(files: Files) -> None:
    others = set(_templates())
    pool = ParserPool(1, limits=LIMITS, entry=ENTRY)
    await pool.warm()
    (template,) = set(_templates()) - others
    task = asyncio.create_task(files.parse(pool, "loop"))
    await _until(lambda: _children_of(template) != [])
    await pool.close()
    with pytest.raises(Unavailable):
        await task
    assert set(_templates()) == others
    await pool.close()


async def test_an_entry_that_does_not_import_says_so() -> None:
    async with ParserPool(1, limits=LIMITS, entry="no_such_module:read") as pool:
        with pytest.raises(Unavailable, match="does not start"):
            await pool.warm()


@pytest.mark.full
async def test_nothing_outlives_a_server_that_is_killed(files: Files) -> None:
    script = (
        "import asyncio, sys\nfrom pathlib import Path\n"
        "from citewell.ingest.parsers import ParserPool\nfrom citewell.types import ExtractOptions\n"
        "async def main():\n"
        f"    pool = ParserPool(1, entry={ENTRY!r})\n"
        f"    await pool.parse(Path({str(files.source)!r}), 'loop', ExtractOptions(), Path({str(files.scratch)!r}))\n"
        "asyncio.run(main())\n"
    )
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(path for path in sys.path if path)}
    with subprocess.Popen([sys.executable, "-c", script], env=environment) as server:  # noqa: ASYNC220
        await _until(lambda: any(map(_children_of, _children_of(server.pid))))
        template = _children_of(server.pid)[0]
        family = [template, *_children_of(template)]
        server.kill()
    assert len(family) == 2
    await _until(lambda: not any(map(_is_running, family)))


def _templates() -> list[int]:
    """The parsers' template processes of this process, which may have other children too."""
    own = _children_of(os.getpid())
    return [pid for pid in own if b"citewell.extract.sandbox.worker" in Path(f"/proc/{pid}/cmdline").read_bytes()]


def _children_of(process: int) -> list[int]:
    children: list[int] = []
    for task in Path(f"/proc/{process}/task").glob("*/children"):
        with suppress(OSError):
            children += map(int, task.read_text().split())
    return children


def _parsers() -> list[int]:
    return [process for template in _templates() for process in _children_of(template)]


def _is_running(process: int) -> bool:
    with suppress(OSError):
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    return False


async def _until(condition: Callable[[], bool]) -> None:
    await asyncio.to_thread(_wait_until, condition)


def _wait_until(condition: Callable[[], bool], seconds: float = 120) -> None:
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, "it did not happen"
        time.sleep(0.02)
