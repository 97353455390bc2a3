"""What takes long to import is imported by the first that needs it, not by every process."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from citewell.app import build
from citewell.features.routers import FEATURES
from citewell.settings import load_settings

_ROOT = Path(__file__).resolve().parent.parent
_HEAVY = ("langgraph", "langchain_core", "langsmith", "mcp")
_SAY = f"import sys; print(*(name for name in {_HEAVY!r} if name in sys.modules))"
_BUILD = (
    "from citewell.app import build; from citewell.settings import load_settings; build(load_settings(data={folder!r}))"
)


@pytest.mark.full
@pytest.mark.parametrize("work", ["import citewell", "import citewell.cli", "import citewell.app", _BUILD])
def test_neither_the_command_line_nor_an_app_that_was_built_has_loaded_what_only_some_requests_need(
    work: str, tmp_path: Path
) -> None:
    program = f"{work.format(folder=str(tmp_path))}\n{_SAY}"
    outcome = subprocess.run([sys.executable, "-c", program], cwd=_ROOT, capture_output=True, text=True, check=False)
    assert outcome.returncode == 0, outcome.stderr
    assert outcome.stdout.split() == []


def test_the_command_line_loads_nothing_that_only_a_server_needs() -> None:
    """It mostly speaks to a server that runs already, and should not take longer to load than to be answered."""
    heavy = (
        "sqlalchemy",
        "alembic",
        "numpy",
        "onnxruntime",
        "fastapi",
        "cryptography",
        "httpx",
        "pydantic",
        "asyncio",
        "rich.console",
        "citewell.settings",
        "citewell.composition",
        "citewell.types",
        *_HEAVY,
    )
    program = f"import sys, citewell.cli\nprint(*(name for name in {heavy!r} if name in sys.modules))"
    outcome = subprocess.run([sys.executable, "-c", program], cwd=_ROOT, capture_output=True, text=True, check=False)
    assert outcome.returncode == 0, outcome.stderr
    assert outcome.stdout.split() == []


@pytest.mark.full
def test_a_server_that_was_built_has_loaded_nothing_that_only_a_few_configurations_or_requests_need(
    tmp_path: Path,
) -> None:
    """Together a fifth of its start."""
    rare = (
        "httpx",
        "jwt",
        "cryptography",
        "authlib",
        "joserfc",
        "markdown_it",
        "magika",
        "alembic",
        "duckdb",
        "aiogram",
        "onnxruntime",
        "tokenizers",
        "citewell.agent.graph",
    )
    program = (
        f"{_BUILD.format(folder=str(tmp_path))}\nimport sys; print(*(name for name in {rare!r} if name in sys.modules))"
    )
    outcome = subprocess.run([sys.executable, "-c", program], cwd=_ROOT, capture_output=True, text=True, check=False)
    assert outcome.returncode == 0, outcome.stderr
    assert outcome.stdout.split() == []


@pytest.mark.full
def test_a_server_that_is_open_has_loaded_nothing_that_only_requests_need(tmp_path: Path) -> None:
    """It loads them once it listens."""
    late = (
        "onnxruntime",
        "tokenizers",
        "duckdb",
        "rich.console",
        "pydantic.v1",
        "citewell.agent.graph",
        "citewell.agent.citations.check",
        "citewell.agent.tables.run.engine",
        "citewell.features.suggestions.facts",
        "citewell.retrieve.evaluate",
        "citewell.retrieve.retriever",
        *{feature.module for feature in FEATURES if feature.addresses},
        *_HEAVY,
    )
    program = f"""
import asyncio, sys
from citewell.app import build
from citewell.settings import load_settings
app = build(load_settings(data={str(tmp_path)!r}))
async def look():
    async with app.router.lifespan_context(app):
        print(*(name for name in {late!r} if name in sys.modules))
asyncio.run(look())"""
    outcome = subprocess.run([sys.executable, "-c", program], cwd=_ROOT, capture_output=True, text=True, check=False)
    assert outcome.returncode == 0, outcome.stderr
    assert outcome.stdout.split() == []


@pytest.mark.full
def test_a_default_server_never_loads_the_channels_and_vendors_that_are_not_configured(tmp_path: Path) -> None:
    """Not even once it has loaded what questions and all addresses need."""
    unconfigured = (
        "citewell.channels",
        "citewell.connectors",
        "citewell.integrations",
        "citewell.adapters.mail",
        "citewell.features.auth.jose",
        "citewell.features.auth.jwts",
        "citewell.features.identities.openid",
        "aiogram",
        "aiohttp",
        "anthropic",
        "argon2",
        "asyncpg",
        "authlib",
        "joserfc",
        "jwt",
        "langchain_anthropic",
        "langchain_openai",
        "obstore",
        "openai",
        "pinecone",
        "pyairtable",
        "qdrant_client",
        "redis",
    )
    program = f"""
import asyncio, sys
from citewell.app import build
from citewell.server import prepare_questions
from citewell.settings import load_settings
app = build(load_settings(data={str(tmp_path)!r}))
async def look():
    async with app.router.lifespan_context(app):
        await prepare_questions(app.state.services)
        await app.routing.prepare_all()
        assert "citewell.agent.graph" in sys.modules and "citewell.features.telegram.endpoints" in sys.modules
        print(*(name for name in {unconfigured!r} if name in sys.modules))
asyncio.run(look())"""
    outcome = subprocess.run([sys.executable, "-c", program], cwd=_ROOT, capture_output=True, text=True, check=False)
    assert outcome.returncode == 0, outcome.stderr
    assert outcome.stdout.split() == []


@pytest.mark.full
def test_what_describes_an_api_is_made_when_it_is_described(tmp_path: Path) -> None:
    """The models of a server that was started by the command, and the description that they give."""
    program = f"""
import json
from citewell.system.deferred_models import defer_model_build
with defer_model_build():
    import citewell.server
from fastapi.openapi.models import OpenAPI
from citewell.app import build
from citewell.settings import load_settings
app = build(load_settings(data={str(tmp_path)!r}))
before = OpenAPI.__pydantic_complete__
print(json.dumps([before, app.openapi(), OpenAPI.__pydantic_complete__]))"""
    outcome = subprocess.run([sys.executable, "-c", program], cwd=_ROOT, capture_output=True, text=True, check=False)
    assert outcome.returncode == 0, outcome.stderr
    before, described, after = json.loads(outcome.stdout)
    assert (before, after) == (False, True)
    assert described == build(load_settings(data=tmp_path)).openapi()


def test_the_command_computes_in_one_thread_unless_it_was_told_how_many() -> None:
    program = "import os, sys; sys.argv[1:] = ['serve', '--help']; import citewell.cli\ntry: citewell.cli.main()\nfinally: print(os.environ['OPENBLAS_NUM_THREADS'])"
    for given, expected in (({}, "1"), ({"OPENBLAS_NUM_THREADS": "3"}, "3")):
        environment = {name: value for name, value in os.environ.items() if name != "OPENBLAS_NUM_THREADS"} | given
        outcome = subprocess.run(
            [sys.executable, "-c", program], cwd=_ROOT, env=environment, capture_output=True, text=True, check=False
        )
        assert outcome.returncode == 0, outcome.stderr
        assert outcome.stdout.split()[-1] == expected


@pytest.mark.full
def test_a_turn_loads_the_graph_engine() -> None:
    """Else the test above would pass though the engine went by another name."""
    program = f"""
import asyncio
from citewell.agent.graph import Assistant
from citewell.agent.interface import TurnRequest
from tests.agent.fakes import WordEmbedder, WordSearcher
asyncio.run(Assistant(WordSearcher([]), WordEmbedder()).answer(TurnRequest(owner_id="ada", message="What is due?")))
{_SAY}"""
    outcome = subprocess.run([sys.executable, "-c", program], cwd=_ROOT, capture_output=True, text=True, check=False)
    assert outcome.returncode == 0, outcome.stderr
    assert outcome.stdout.split() == ["langgraph", "langchain_core", "langsmith"]
