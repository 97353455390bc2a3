"""Models that fastembed fetches from a server with the hub's interface: once, with what doctor says before, afterwards, and without a connection."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.adapters.hub_files import EMBEDDER, RERANKER, hub_of_both
from tests.contract_servers.hub import HubServer
from tests.contract_servers.serving import serving

pytestmark = pytest.mark.full

NOBODY = "http://127.0.0.1:9"


@pytest.fixture(scope="module")
def hub(tmp_path_factory: pytest.TempPathFactory) -> HubServer:
    """Both usual models."""
    return hub_of_both(tmp_path_factory.mktemp("hub"))


@pytest.fixture(scope="module")
def address(hub: HubServer) -> Iterator[str]:
    with serving(hub.app) as address:
        yield address


PROBE = """
import asyncio, dataclasses, json
from citewell.doctor.probing import probe_providers
from citewell.settings import load_settings
print(json.dumps([dataclasses.asdict(one) for one in asyncio.run(probe_providers(load_settings()))]))
"""
COMMAND = ("-m", "citewell.cli")


def run(data: Path, endpoint: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    """A process of Python's, with both models of fastembed; the library reads the hub's address when it is imported."""
    kept = {key: value for key, value in os.environ.items() if not key.startswith(("CITEWELL_", "HF_"))}
    chosen = {
        "CITEWELL_DATA": str(data),
        "CITEWELL_EMBEDDING_PROVIDER": "fastembed",
        "CITEWELL_RERANK_PROVIDER": "fastembed",
        "HF_ENDPOINT": endpoint,
        "HF_HOME": str(data / "hf"),
        "HF_HUB_DISABLE_TELEMETRY": "1",
    }
    return subprocess.run(
        [sys.executable, *arguments], env=kept | chosen, cwd=data.parent, capture_output=True, text=True, timeout=120
    )


def told(done: subprocess.CompletedProcess[str]) -> dict[str, dict[str, str]]:
    return {one["part"]: one for one in json.loads(done.stdout) if one["part"] in ("embeddings", "rerank")}


@pytest.mark.slow(40)
def test_models_are_fetched_once_and_doctor_tells_the_truth(hub: HubServer, address: str, tmp_path: Path) -> None:
    data, file = tmp_path / "data", tmp_path / "loans.txt"
    file.write_text("A loan is due after four weeks.")

    before = told(run(data, address, "-c", PROBE))
    assert {one["level"] for one in before.values()} == {"note"}
    for part, model in (("embeddings", EMBEDDER), ("rerank", RERANKER)):
        assert before[part]["text"] == "fastembed: not fetched yet"
        assert f"The first start downloads {model}" in before[part]["advice"]
    assert not any("/resolve/" in path for path in hub.requests), "a question fetches nothing"

    away = told(run(data, NOBODY, "-c", PROBE))
    for part, variable in (("embeddings", "CITEWELL_FASTEMBED_PATH"), ("rerank", "CITEWELL_FASTEMBED_RERANK_PATH")):
        assert (away[part]["level"], away[part]["text"]) == ("error", "fastembed: unreachable")
        assert variable in away[part]["advice"]
        assert "'builtin' needs no download" in away[part]["advice"]

    refused = run(data, NOBODY, *COMMAND, "add", str(file))
    assert refused.returncode == 2
    assert f"{EMBEDDER} could not be downloaded from huggingface.co" in refused.stderr
    assert "'builtin' needs no download" in refused.stderr

    added = run(data, address, *COMMAND, "add", str(file))
    assert added.returncode == 0, added.stderr
    fetched = [path for path in hub.requests if path.startswith("GET") and path.endswith(".onnx")]
    assert len(fetched) == 2, "each once"

    found = run(data, NOBODY, *COMMAND, "search", "when is a loan due", "--rerank", "--json")
    assert found.returncode == 0, found.stderr
    assert json.loads(found.stdout)["hits"][0]["scores"]["rerank"] > 0.5
    after = told(run(data, NOBODY, *COMMAND, "doctor", "--json"))
    assert after["embeddings"]["text"].startswith(f"fastembed: works ({EMBEDDER}, ")
    assert after["rerank"]["text"].startswith(f"fastembed: works ({RERANKER}, ")
