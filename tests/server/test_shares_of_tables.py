"""An owner's limit on table queries is one limit, however the queries come in."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from citewell.agent.tables.run.copies import CopyReader
from citewell.app import build
from citewell.settings import load_settings
from tests.server.test_routers import _client

CSV = b"name,price\nOar,9.95\nSail,120\n"


@pytest.mark.full
@pytest.mark.slow(10)
async def test_questions_and_pages_of_a_table_share_one_reader(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    readers: list[CopyReader] = []
    run = CopyReader.run

    async def noted(self: CopyReader, owner_id: str, path: Path, sql: str, parameters: Sequence[Any]) -> Any:
        readers.append(self)
        return await run(self, owner_id, path, sql, parameters)

    monkeypatch.setattr(CopyReader, "run", noted)
    app = build(load_settings(data=tmp_path / "data"))
    async with app.router.lifespan_context(app), _client(app) as client:
        client.timeout = 120
        services = app.state.services
        added = await client.post("/ingest", files={"file": ("prices.csv", CSV)})
        resource = await services.resources.wait(services.local_owner, added.json()["id"])
        answer = await client.post("/chat", json={"message": "What is the total price in prices.csv?"})
        assert "129.95" in answer.json()["answer"]
        asked = len(readers)
        rows = await client.get(f"/resources/{resource.id}/tables/t0/rows")
        assert rows.status_code == 200, rows.text
        assert 0 < asked < len(readers)
    assert len(set(readers)) == 1
