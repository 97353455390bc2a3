"""A file whose table cannot be read is left out of answers, with a notice; all other questions are answered as before."""

from __future__ import annotations

import io
from pathlib import Path

import httpx
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from citewell.app import build
from citewell.settings import load_settings
from citewell.types import Scope
from tests.agent.tables.test_every_type import ARROW, ITEMS, VARIANTS
from tests.server.test_routers import _client

pytestmark = pytest.mark.full


def _every_type() -> bytes:
    """One table with a column of each type."""
    columns = {name.lower(): column() for name, column in {**ARROW, **VARIANTS}.items()}
    file = io.BytesIO()
    pq.write_table(pa.table({"item": ITEMS, **columns}), file)
    return file.getvalue()


@pytest.mark.slow(30)
async def test_a_table_of_every_type_and_one_that_is_damaged(tmp_path: Path) -> None:
    app = build(load_settings(data=tmp_path / "data"))
    files = {
        "boathouse.txt": b"The boathouse is locked at half past nine in the evening.\n",
        "every.parquet": _every_type(),
        "prices.csv": b"name,price\nOar,9.95\nSail,120\n",
    }
    async with app.router.lifespan_context(app), _client(app) as client:
        client.timeout = httpx.Timeout(120)
        services = app.state.services
        for name, content in files.items():
            added = await client.post("/ingest", files={"file": (name, content)})
            await services.resources.wait(services.local_owner, added.json()["id"])
        tables = await services.tables.tables.list_tables(services.local_owner, Scope())
        (prices,) = [table for table in tables if table.filename == "prices.csv"]
        copy = await services.tables.tables.open_table(services.local_owner, prices)
        copy.chmod(0o600)
        copy.write_bytes(b"PAR1 no longer a table PAR1")
        for question, words in {
            "When is the boathouse locked?": "half past nine",
            "What is the int8 of Fork?": "120",
            "How many items are there in every.parquet?": "3",
            "Draw a chart of price by name": "",
        }.items():
            answer = await client.post("/chat", json={"message": question})
            assert answer.status_code == 200, answer.text
            assert words in answer.json()["answer"], question
            if "every.parquet" not in question:  # a question that names a file asks no other
                assert answer.json()["notice"].startswith("prices.csv was left out of this answer."), question
        assert (await client.get("/suggestions")).status_code == 200
        rows = await client.get(f"/resources/{prices.resource_id}/tables/{prices.id}/rows")
        assert (rows.status_code, rows.json()["error"]["code"]) == (500, "damaged_file")
