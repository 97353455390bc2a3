"""What a server loads by itself once it listens, before anybody has asked it anything."""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path

from tests.server.running import RunningServer

# Libraries of the packages that the first question needs, as the system lists those that a process has mapped.
_LATE = ("onnxruntime_pybind11_state", "tokenizers", "_duckdb")


def test_a_server_is_ready_for_every_feature_without_being_asked(tmp_path: Path) -> None:
    """Else an upgrade of the package would have a server load parts of another version."""
    program = f"""
import asyncio, sys
from citewell.app import build
from citewell.routers import ROUTERS
from citewell.server import prepare_questions
from citewell.settings import load_settings
app = build(load_settings(data={str(tmp_path / "data")!r}))
async def look():
    async with app.router.lifespan_context(app):
        await prepare_questions(app.state.services)
        await app.routing.prepare_all()
        wanted = [*(f"citewell.features.{{late.module}}" for late in ROUTERS), "citewell.retrieve.retriever", "citewell.agent.graph"]
        print(*(name for name in wanted if name not in sys.modules))
asyncio.run(look())"""
    outcome = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert outcome.returncode == 0, outcome.stderr
    assert outcome.stdout.split() == []


def test_a_server_loads_what_the_first_question_needs_without_being_asked(tmp_path: Path) -> None:
    with RunningServer(tmp_path / "data") as server:
        mapped = Path(f"/proc/{server.pid}/maps")
        end = time.monotonic() + 60
        while missing := [name for name in _LATE if name not in mapped.read_text()]:
            assert time.monotonic() < end, f"{missing} are not loaded"
            assert server.client.get("/health").is_success
            time.sleep(0.1)
