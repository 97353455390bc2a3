"""A file whose table cannot be read is left out of answers, with a notice; all other questions are answered as before."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import httpx
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from citewell.app import build
from citewell.settings import load_settings
from citewell.types import Scope
from tests.agent.tables.test_every_type import ARROW, ITEMS, VARIANTS
from tests.server.test_routers import _client

_PROSE, _DATA = "When is the boathouse locked?", "What is the int8 of Fork?"


def _every_type() -> bytes:
    """One table with a column of each type."""
    columns = {name.lower(): column() for name, column in {**ARROW, **VARIANTS}.items()}
    file = io.BytesIO()
    pq.write_table(pa.table({"item": ITEMS, **columns}), file)
    return file.getvalue()


async def _asked(client: httpx.AsyncClient, question: str) -> dict[str, Any]:
    answer = await client.post("/chat", json={"message": question})
    assert answer.status_code == 200, answer.text
    return answer.json()


@pytest.mark.slow(30)
async def test_a_table_of_every_type_and_one_that_is_damaged(tmp_path: Path) -> None:
    app = build(load_settings(data=tmp_path / "data"))
    files = {
        "boathouse.txt": b"The boathouse is locked at half past nine in the evening.\n",
        "every.parquet": _every_type(),
    }
    async with app.router.lifespan_context(app), _client(app) as client:
        client.timeout = httpx.Timeout(120)
        services = app.state.services
        for name, content in files.items():
            added = await client.post("/ingest", files={"file": (name, content)})
            await services.resources.wait(services.local_owner, added.json()["id"])
        assert "half past nine" in (await _asked(client, _PROSE))["answer"]
        found = await _asked(client, _DATA)
        assert ("120" in found["answer"], found.get("notice")) == (True, None)
        assert (await client.get("/suggestions")).status_code == 200
        (table,) = await services.tables.tables.list_tables(services.local_owner, Scope())
        copy = await services.tables.tables.open_table(services.local_owner, table)
        copy.chmod(0o600)
        copy.write_bytes(b"PAR1 no longer a table PAR1")
        services.chat.turns.answering.hand_over(services.chat.turns.answering.assistant)
        for question in (_DATA, _PROSE, "Draw a chart of int8 by item"):
            await _asked(client, f"{question} Please.")
        rows = await client.get(f"/resources/{table.resource_id}/tables/{table.id}/rows")
        assert (rows.status_code, rows.json()["error"]["code"]) == (500, "damaged_file")
