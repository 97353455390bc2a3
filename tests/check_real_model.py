"""A real model of 135 million parameters, in llama.cpp's own server: it streams, stops, times out and talks nonsense, and answers stay right.

Runs where `TEST_LLAMA_PYTHON` names a Python with the package `xllamacpp`, and `TEST_LLAMA_MODEL` a GGUF file, as CONTRIBUTING.md says.
"""

from __future__ import annotations

import json
import os
import socket
import subprocess
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.server.test_local_models import POLICY, QUESTION, client

PYTHON, GGUF = os.environ.get("TEST_LLAMA_PYTHON", ""), os.environ.get("TEST_LLAMA_MODEL", "")
pytestmark = [
    pytest.mark.full,
    pytest.mark.slow(300),
]
SERVE = """
import sys, time, xllamacpp
p = xllamacpp.CommonParams()
p.model.path, p.hostnames, p.port, p.n_ctx, p.n_parallel = sys.argv[1], ["127.0.0.1"], int(sys.argv[2]), 2048, 1
p.cpuparams.n_threads = p.cpuparams_batch.n_threads = 1
p.use_jinja, p.warmup = True, False
server = xllamacpp.Server(p)
while True:
    time.sleep(60)
"""


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    server = subprocess.Popen([PYTHON, "-c", SERVE, GGUF, str(port)], stderr=subprocess.DEVNULL)
    try:
        end = time.monotonic() + 120
        while time.monotonic() < end:
            try:
                urllib.request.urlopen(f"http://127.0.0.1:{port}/health", timeout=5).read()
                break
            except (urllib.error.URLError, OSError):
                time.sleep(0.5)
        yield f"http://127.0.0.1:{port}/v1"
    finally:
        server.kill()
        server.wait()


@pytest.mark.parametrize("profile", ["auto", "small", "full"])
@pytest.mark.parametrize("seconds", [2, 120], ids=["times out", "has time"])
async def test_the_answer_is_right_and_cited_whatever_the_model_says(
    address: str, tmp_path: Path, profile: str, seconds: int
) -> None:
    settings = {"chat_provider": "openai", "chat_base_url": address, "chat_model": "smollm2"}
    async with client(tmp_path, **settings, chat_profile=profile, answer_seconds=seconds) as web:
        added = (await web.post("/ingest", files={"file": ("policy.txt", POLICY)})).json()
        await web.get(f"/resources/{added['id']}/events")
        response = await web.post("/chat", json={"message": QUESTION, "stream": True}, timeout=400)
        lines = [json.loads(line) for line in response.text.splitlines()]
        text = ""
        for line in lines:
            text = "" if line.get("restart") else text + line.get("stream", "")
        done = lines[-1]["done"]
        assert text == done["answer"]
        assert "5,000" in done["answer"]
        assert [one["verdict"] for one in done["citations"]] == ["supported"]
