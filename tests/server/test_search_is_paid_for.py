"""What a search spends is in the ledger of whoever asked, whichever way it was asked; and no ledger shows what others have."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from citewell import AsyncCitewell
from citewell.app import build
from citewell.features.search.evaluation import measure
from citewell.retrieve.evaluate import Judgements
from citewell.settings import load_settings
from tests.contract_servers import voyage as contract
from tests.contract_servers.serving import serving
from tests.contract_servers.voyage import VoyageServer
from tests.server.test_routers import _client

Spent = dict[str, tuple[int, int]]
"""(tokens, units) by kind."""


@pytest.fixture
async def settings(tmp_path: Path) -> AsyncIterator[dict[str, Any]]:
    with serving(VoyageServer().app) as address:
        yield {
            "data": tmp_path / "data",
            "embedding_provider": "voyage",
            "embedding_base_url": f"{address}/v1",
            "embedding_dimensions": 256,
            "rerank_provider": "voyage",
            "rerank_base_url": f"{address}/v1",
            "voyage_api_key": contract.KEY,
        }


async def spent(services: Any, owner: str) -> Spent:
    """What an owner has paid vendors so far."""
    report = await services.usage.report(owner, 0.0, None, None, "day")
    return {row.kind: (row.input_tokens, row.units) for row in report.spent if row.provider == "voyage"}


async def test_a_search_is_in_the_ledger_whichever_way_it_is_asked(settings: dict[str, Any]) -> None:
    app = build(load_settings(**settings))
    async with app.router.lifespan_context(app), _client(app) as client:
        services = app.state.services
        owner, search = services.local_owner, services.search
        await services.resources.add_records(owner, [{"id": f"r{n}", "text": f"The fee is {n}."} for n in range(3)])
        (question, *_), index = ["What is the fee?"], search.indexes.active.record.id

        async def over_http() -> None:
            (await client.post("/search", json={"query": f"{question} 1", "rerank": True})).raise_for_status()

        async def as_a_tool() -> None:
            await services.mcp.call(
                owner, await services.mcp.scope(owner, ()), "search_files", {"query": f"{question} 2"}
            )

        async def compared() -> None:
            await services.indexes.compare(owner, index, [f"{question} 3"], 5)

        async def evaluated() -> None:
            await measure(search, owner, Judgements({"q": f"{question} 4"}, {"q": {"r1": 1}}), ["dense"])

        ways: list[Callable[[], Awaitable[None]]] = [over_http, as_a_tool, compared, evaluated]
        for way in ways:
            before = await spent(services, owner)
            await way()
            after = await spent(services, owner)
            assert after["embedding"][0] > before["embedding"][0], way
            assert after["embedding"][1] > before["embedding"][1], way
        assert (await spent(services, owner))["rerank"][1] >= 1


async def test_usage_does_not_tell_that_somebody_else_has_the_same_text(settings: dict[str, Any]) -> None:
    text = "The takeover of Quokkasoft closes on 3 March."
    async with AsyncCitewell(**settings) as opened:
        services, taken = opened._services, list[Spent]()
        for name in ("carl", "dora"):
            owner = await services.auth.repository.ensure(name)
            await services.resources.add_records(owner, [{"id": "r", "text": text}])
            taken.append(await spent(services, owner))
        assert taken[0] == taken[1]
        assert taken[0]["embedding"][0] > 0
