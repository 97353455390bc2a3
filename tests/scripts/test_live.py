"""`make test-live` says what it needs, and runs the suites against whatever address the provider's settings name."""

from __future__ import annotations

import os
import runpy
import subprocess
import sys
from pathlib import Path

import pytest

from tests.contract_servers import voyage as contract
from tests.contract_servers.serving import serving
from tests.contract_servers.voyage import VoyageServer

pytestmark = pytest.mark.full

ROOT = Path(__file__).parent.parent.parent
SCRIPT = runpy.run_path(str(ROOT / "scripts/live/run.py"))
KEYS: dict[str, str] = SCRIPT["KEYS"]


def problem(provider: str, environment: dict[str, str]) -> str | None:
    return SCRIPT["problem"](provider, environment)


def test_without_a_provider_the_known_ones_are_named() -> None:
    for name in ("", "vojage"):
        assert all(known in (problem(name, {}) or "") for known in KEYS)


@pytest.mark.parametrize("name", KEYS)
def test_without_a_key_its_variable_is_named(name: str) -> None:
    assert KEYS[name] in (problem(name, {KEYS[name]: " "}) or "")
    assert problem(name, {KEYS[name]: "sk-…"}) is None


def _live(**variables: str) -> subprocess.CompletedProcess[str]:
    kept = {name: value for name, value in os.environ.items() if name in ("PATH", "HOME", "LANG")}
    return subprocess.run(
        [sys.executable, "scripts/live/run.py", "voyage"],
        cwd=ROOT,
        env={**kept, "PYTHONPATH": str(ROOT), **variables},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


@pytest.mark.slow(15)
def test_the_suites_run_against_the_service_and_fail_where_the_key_is_refused() -> None:
    with serving(VoyageServer().app) as address:
        at = {"EMBEDDING_BASE_URL": f"{address}/v1", "RERANK_BASE_URL": f"{address}/v1"}
        done = _live(VOYAGE_API_KEY=contract.KEY, **at)
        assert done.returncode == 0, done.stdout
        refused = _live(VOYAGE_API_KEY="wrong", **at)
    assert (refused.returncode, "wrong key" in refused.stdout) == (1, True)
