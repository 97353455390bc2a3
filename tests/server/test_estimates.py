"""What building an index would take is said before anything is paid for, and nothing above the limit of spending begins."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.contract_servers import voyage as contract
from tests.contract_servers.serving import serving
from tests.contract_servers.voyage import VoyageServer
from tests.server.test_local_models import client

pytestmark = [pytest.mark.full, pytest.mark.slow(20)]
ROWS = 700
DOLLARS_PER_MILLION = 100.0


@pytest.fixture
def voyage() -> Iterator[tuple[VoyageServer, dict[str, object]]]:
    server = VoyageServer()
    with serving(server.app) as address:
        yield (
            server,
            {
                "embedding_provider": "voyage",
                "embedding_base_url": f"{address}/v1",
                "voyage_api_key": contract.KEY,
                "embedding_requests_per_minute": 600,
                "prices": {"voyage-4": (DOLLARS_PER_MILLION, 0.0), "voyage-4-lite": (DOLLARS_PER_MILLION, 0.0)},
            },
        )


async def test_an_estimate_asks_nobody_and_a_build_takes_what_it_said(
    voyage: tuple[VoyageServer, dict[str, object]], tmp_path: Path
) -> None:
    server, settings = voyage
    other = {"provider": "voyage", "model": "voyage-4-lite"}
    async with client(tmp_path, **settings) as web:
        rows = "\n".join(f"{n},pump {n * 7919},Oslo" for n in range(ROWS))
        added = (await web.post("/ingest", files={"file": ("pumps.csv", f"n,what,town\n{rows}".encode())})).json()
        await web.get(f"/resources/{added['id']}/events")
        asked, embedded = len(server.requests), len(server.embedded)
        same = (await web.post("/indexes/estimate", json={"provider": "voyage"})).json()
        assert (same["texts"], same["tokens"], same["dollars"]) == (0, 0, 0), "the cache has them all"
        told = (await web.post("/indexes/estimate", json=other)).json()
        assert len(server.requests) == asked
        assert told["fingerprint"] == "voyage/voyage-4-lite/1024"
        assert told["dollars"] == pytest.approx(told["tokens"] * DOLLARS_PER_MILLION / 1e6)
        assert told["minutes"] >= told["calls"] / 600
        assert (told["dollars_left"], told["texts"] >= ROWS) == (None, True)

        index = (await web.post("/indexes", json=other)).json()
        while (await web.get(f"/indexes/{index['id']}")).json()["state"] == "building":
            pass
        paid = [body for body in server.requests[asked:] if body["model"] == "voyage-4-lite"]
        assert len(server.embedded) - embedded == told["texts"]
        # A build reads 512 chunks at a time, and so does the estimate.
        assert len(paid) == told["calls"]
        assert (await web.post("/indexes/estimate", json=other)).json()["texts"] == 0


async def test_a_build_above_what_may_be_spent_does_not_begin(
    voyage: tuple[VoyageServer, dict[str, object]], tmp_path: Path
) -> None:
    server, settings = voyage
    dear = {"voyage-4": (0.001, 0.0), "voyage-4-lite": (1e6, 0.0)}
    async with client(tmp_path, **settings | {"prices": dear, "max_spend": 5.0}) as web:
        rows = "\n".join(f"{n},pump {n * 7919},Oslo" for n in range(40))
        added = (await web.post("/ingest", files={"file": ("pumps.csv", f"n,what,town\n{rows}".encode())})).json()
        await web.get(f"/resources/{added['id']}/events")
        asked = len(server.requests)
        refused = await web.post("/indexes", json={"provider": "voyage", "model": "voyage-4-lite"})
        assert refused.json()["error"]["code"] == "spending_limit"
        assert "5.00" in refused.json()["error"]["message"]
        assert len(server.requests) == asked
        assert len((await web.get("/indexes")).json()["indexes"]) == 1
        told = (await web.post("/indexes/estimate", json={"provider": "voyage", "model": "voyage-4-lite"})).json()
        assert told["dollars"] > 5 >= told["dollars_left"] > 4.9


async def test_a_model_that_cannot_be_used_has_no_estimate(tmp_path: Path) -> None:
    async with client(tmp_path) as web:
        refused = await web.post("/indexes/estimate", json={"provider": "voyage"})
        assert (refused.status_code, "VOYAGE_API_KEY" in refused.json()["error"]["message"]) == (400, True)
        told = (await web.post("/indexes/estimate", json={"provider": "builtin"})).json()
        assert (told["texts"], told["dollars"]) == (0, 0.0)
