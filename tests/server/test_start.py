"""What a server loads by itself once it listens, before anybody has asked it anything."""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from citewell.server import welcome
from citewell.settings import load_settings
from citewell.system.folder import DataFolder
from tests.accounts.people import SESSION_SECRET
from tests.server.running import RunningServer

# Libraries of the packages that the first question needs, as the system lists those that a process has mapped.
_LATE = ("onnxruntime_pybind11_state", "tokenizers", "_duckdb")


@pytest.mark.full
def test_a_server_is_ready_for_every_feature_without_being_asked(tmp_path: Path) -> None:
    """Else an upgrade of the package would have a server load parts of another version."""
    program = f"""
import asyncio, sys
from citewell.app import build
from citewell.features.routers import FEATURES
from citewell.server import prepare_questions
from citewell.settings import load_settings
app = build(load_settings(data={str(tmp_path / "data")!r}))
async def look():
    async with app.router.lifespan_context(app):
        await prepare_questions(app.state.services)
        await app.routing.prepare_all()
        wanted = [*(feature.module for feature in FEATURES), "citewell.retrieve.retriever", "citewell.agent.graph"]
        print(*(name for name in wanted if name not in sys.modules))
asyncio.run(look())"""
    outcome = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert outcome.returncode == 0, outcome.stderr
    assert outcome.stdout.split() == []


@pytest.mark.full
def test_a_server_loads_what_the_first_question_needs_without_being_asked(tmp_path: Path) -> None:
    with RunningServer(tmp_path / "data") as server:
        mapped = Path(f"/proc/{server.pid}/maps")
        end = time.monotonic() + 60
        while missing := [name for name in _LATE if name not in mapped.read_text()]:
            assert time.monotonic() < end, f"{missing} are not loaded"
            assert server.client.get("/health").is_success
            time.sleep(0.1)


@pytest.mark.parametrize(
    ("is_terminal", "settings", "is_shown"),
    [
        (True, {}, True),
        (False, {}, False),
        (True, {"accounts": True}, False),
        (True, {"auth_secret": SESSION_SECRET}, False),
    ],
)
def test_the_token_that_administers_is_shown_at_a_terminal_and_only_where_it_is_how_one_signs_in(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    is_terminal: bool,
    settings: dict[str, Any],
    is_shown: bool,
) -> None:
    folder = DataFolder(tmp_path)
    token = folder.token()
    monkeypatch.setattr(sys.stdout, "isatty", lambda: is_terminal)
    welcome("http://127.0.0.1:8000", folder, load_settings(data=tmp_path, **settings))
    said = capsys.readouterr().out
    assert "http://127.0.0.1:8000" in said
    assert (token in said) is is_shown


@pytest.mark.full
def test_no_process_of_a_server_but_itself_holds_the_socket_that_it_listens_on(tmp_path: Path) -> None:
    """A parser that held it would keep the port from the next server, and could accept connections."""
    with RunningServer(tmp_path / "data") as server:
        server.add("held.txt", b"Read by a parser, so that its template process runs.")
        port = int(server.url.rpartition(":")[2])
        sockets = [line.split() for line in Path("/proc/net/tcp").read_text().splitlines()[1:]]
        (listening,) = (f"socket:[{one[9]}]" for one in sockets if one[1].endswith(f":{port:04X}") and one[3] == "0A")
        assert [pid for pid in _family(server.pid) if listening in _open_files(pid)] == [server.pid]
        assert len(_family(server.pid)) > 1


def _family(pid: int) -> list[int]:
    """A process and those that it began, and so on."""
    children = [
        int(child) for task in Path(f"/proc/{pid}/task").iterdir() for child in (task / "children").read_text().split()
    ]
    return [pid, *(one for child in children for one in _family(child))]


def _open_files(pid: int) -> set[str]:
    return {str(one.readlink()) for one in Path(f"/proc/{pid}/fd").iterdir()}
