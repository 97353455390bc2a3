"""What an upload would take of models that cost is said before a byte is sent, by what the owner's own files hold."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from citewell.ingest.estimating import MIN_MEASURED
from tests.contract_servers import voyage as contract
from tests.contract_servers.serving import serving
from tests.contract_servers.voyage import VoyageServer
from tests.server.test_local_models import client

pytestmark = [pytest.mark.full, pytest.mark.slow(20)]
PRICE = 100.0


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
                "prices": {"voyage-4": (PRICE, 0.0)},
            },
        )


def planned(*sizes: int, name: str = "notes.txt") -> dict[str, list[dict[str, object]]]:
    return {"files": [{"filename": name, "size": size} for size in sizes]}


async def add(web: httpx.AsyncClient, name: str, text: str) -> None:
    added = (await web.post("/ingest", files={"file": (name, text.encode())})).json()
    await web.get(f"/resources/{added['id']}/events")


def letter(n: int) -> str:
    return "\n\n".join(f"Pump {n * k} in Oslo was repaired on day {k}, and the report was filed." for k in range(1, 40))


async def test_the_tokens_of_an_upload_lie_within_what_was_said_and_nobody_was_asked(
    voyage: tuple[VoyageServer, dict[str, object]], tmp_path: Path
) -> None:
    server, settings = voyage
    async with client(tmp_path, **settings) as web:
        told = (await web.post("/ingest/estimate", json=planned(len(letter(1))))).json()
        assert (told["measured"], len(server.requests)) == (0, 0)
        for n in range(1, MIN_MEASURED + 1):
            await add(web, f"letter {n}.txt", letter(n))
        asked, before = len(server.requests), (await web.get("/usage")).json()
        sizes = [len(letter(n)) for n in (101, 102, 103)]
        told = (await web.post("/ingest/estimate", json=planned(*sizes))).json()
        assert (told["measured"], told["files"], len(server.requests)) == (3, 3, asked)
        (part,) = told["parts"]
        assert (part["purpose"], part["provider"], part["model"]) == ("embeddings", "voyage", "voyage-4")
        assert told["dollars"]["high"] == pytest.approx(part["tokens"]["high"] * PRICE / 1e6, rel=1e-3)
        assert (told["exceeds"], told["max_spend"], told["dollars_left"]) == ("no", None, None)
        for n in (101, 102, 103):
            await add(web, f"letter {n}.txt", letter(n))
        chunks = [
            chunk
            for one in (await web.get("/resources", params={"q": "letter 10"})).json()["resources"]
            for chunk in (await web.get(f"/resources/{one['id']}/chunks")).json()["chunks"]
        ]
        taken = sum(chunk["token_count"] for chunk in chunks)
        assert 0.8 * part["tokens"]["low"] <= taken <= 1.2 * part["tokens"]["high"]
        assert len(server.requests) - asked <= part["calls"]["high"]
        assert before != (await web.get("/usage")).json()


async def test_an_upload_above_what_may_be_spent_is_said_to_exceed_it(
    voyage: tuple[VoyageServer, dict[str, object]], tmp_path: Path
) -> None:
    _, settings = voyage
    async with client(tmp_path, **settings | {"max_spend": 1.0}) as web:
        said = {
            size: (await web.post("/ingest/estimate", json=planned(size))).json() for size in (1_000, 33_000, 10**8)
        }
        assert {size: told["exceeds"] for size, told in said.items()} == {1_000: "no", 33_000: "perhaps", 10**8: "yes"}
        assert (said[1_000]["max_spend"], said[1_000]["dollars_left"]) == (1.0, 1.0)


async def test_pictures_and_summaries_are_counted_where_their_models_cost(tmp_path: Path) -> None:
    async with client(
        tmp_path,
        chat_provider="anthropic",
        vision_provider="anthropic",
        anthropic_api_key="not asked",
        prices={"claude-haiku-5-5": (1.0, 5.0)},
    ) as web:
        text, photo = planned(90_000)["files"][0], {"filename": "photo", "media_type": "image/png", "size": 50_000}
        body = {"files": [text, photo], "multimodal": True}
        told = (await web.post("/ingest/estimate", json=body)).json()
        parts = {part["purpose"]: part for part in told["parts"]}
        assert sorted(parts) == ["descriptions", "summaries"]
        assert parts["descriptions"]["calls"] == {"low": 1, "high": 1}
        assert parts["summaries"]["calls"]["low"] >= 2
        assert told["dollars"]["low"] == pytest.approx(sum(part["dollars"]["low"] for part in told["parts"]), abs=1e-5)
        plain = (await web.post("/ingest/estimate", json=planned(90_000))).json()
        assert [part["purpose"] for part in plain["parts"]] == ["summaries"]


async def test_nothing_is_said_where_nothing_costs(tmp_path: Path) -> None:
    async with client(tmp_path) as web:
        told = (await web.post("/ingest/estimate", json=planned(10**9))).json()
        assert (told["parts"], told["dollars"], told["exceeds"]) == ([], {"low": 0, "high": 0}, "no")
        for wrong in ({"files": []}, {"files": [{"filename": "a", "size": -1}]}, {"files": [{"filename": "a"}]}):
            assert (await web.post("/ingest/estimate", json=wrong)).status_code == 422
