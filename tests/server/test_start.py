"""What a server loads by itself once it listens, before anybody has asked it anything."""

from __future__ import annotations

import time
from pathlib import Path

from tests.server.running import RunningServer

# Libraries of the packages that the first question needs, as the system lists those that a process has mapped.
_LATE = ("onnxruntime_pybind11_state", "tokenizers", "_duckdb")


def test_a_server_loads_what_the_first_question_needs_without_being_asked(tmp_path: Path) -> None:
    with RunningServer(tmp_path / "data") as server:
        mapped = Path(f"/proc/{server.pid}/maps")
        end = time.monotonic() + 60
        while missing := [name for name in _LATE if name not in mapped.read_text()]:
            assert time.monotonic() < end, f"{missing} are not loaded"
            assert server.client.get("/health").is_success
            time.sleep(0.1)
