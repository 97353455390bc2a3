"""`citewell sync airtable`, from records to a cited answer: the real pyairtable against Airtable's contract, and Citewell as its users run it."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Generator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import pytest

from citewell.client import call, connect
from citewell.connectors.airtable import AirtableAccess, AirtableSource
from citewell.connectors.engine import Synchroniser, SyncReport, SyncRequest
from citewell.connectors.frames import FrameFolder
from citewell.connectors.mapping import TableMapping
from citewell.connectors.pace import Pace
from citewell.settings import Settings, load_settings
from tests.connectors.made import picture, video
from tests.contract_servers.airtable import AirtableServer
from tests.contract_servers.serving import serving

NAME = "frames"


@dataclass
class Bench:
    """An Airtable, a folder of frames, and a data folder."""

    server: AirtableServer
    address: str
    frames: Path
    settings: Settings
    mapping: TableMapping = TableMapping()

    def source(self) -> AirtableSource:
        access = AirtableAccess(
            token=self.server.token, base=self.server.base, table=self.server.table, url=self.address, backoff=0.0
        )
        return AirtableSource(
            access, self.mapping, FrameFolder(self.frames), pace=Pace(10_000), now=lambda: self.server.now
        )

    @asynccontextmanager
    async def open(self) -> AsyncGenerator[httpx.AsyncClient]:
        async with connect(self.settings) as client:
            yield client

    async def sync(self, client: httpx.AsyncClient, **wishes: Any) -> SyncReport:
        return await Synchroniser(client, self.source(), SyncRequest(name=NAME, **wishes)).run()

    def add(self, number: int, colour: str = "red", **fields: Any) -> str:
        """A record with its picture."""
        record = f"rec{number:014d}"
        path = f"shots/{number:03d}.png"
        picture(self.frames / path, colour, mark=number)
        self.server.put(record, {"frame_filename": path, "summary": f"A {colour} car number {number}.", **fields})
        return record


@pytest.fixture
def bench(tmp_path: Path) -> Generator[Bench]:
    server = AirtableServer()
    frames = tmp_path / "frames"
    frames.mkdir()
    with serving(server.app()) as address:
        yield Bench(server, address, frames, load_settings(data=tmp_path / "data", ocr=False))


async def files(client: httpx.AsyncClient) -> list[dict[str, Any]]:
    return (await call(client, "GET", "/resources", params={"limit": 1_000}))["resources"]


async def test_a_record_is_found_by_its_words_with_its_frame_and_its_id(bench: Bench) -> None:
    record = bench.add(1, "red", tags=["Outdoor", "#car"], timestamp="2026-10-28T09:30:00+02:00", Camera="Leica")
    bench.add(2, "blue", tags="indoor, boat", timestamp="2026-10-01")
    async with bench.open() as client:
        report = await bench.sync(client)
        assert (report.added, report.problems, report.notes) == (2, [], [])
        found = await call(client, "POST", "/search", json={"query": "red car outdoor"})
    hit = found["hits"][0]
    assert hit["identifier"] == record
    assert hit["metadata"] == {
        "frame_summary": "A red car number 1.",
        "tags": ["outdoor", "car"],
        "timestamp": "2026-10-28T07:30:00Z",
        "source_airtable_id": record,
        "source_frame_path": "shots/001.png",
        "camera": "Leica",
    }
    assert hit["image"]["path"] == f"/resources/{hit['resource_id']}/file"
    assert hit["text"].startswith("Frame Summary: A red car number 1.\n")


@pytest.mark.full
async def test_the_second_run_does_nothing_and_the_third_only_what_changed(bench: Bench) -> None:
    for number in range(6):
        bench.add(number)
    async with bench.open() as client:
        await bench.sync(client)
        before = {one["id"]: one["version"] for one in await files(client)}
        second = await bench.sync(client)
        assert (second.added, second.changed, second.unchanged, second.deleted) == (0, 0, 6, 0)
        bench.add(3, "blue")  # another picture and another text
        bench.server.put("rec00000000000004", {"frame_filename": "shots/004.png", "summary": "Two green buses."})
        del bench.server.records["rec00000000000005"]
        third = await bench.sync(client)
        assert (third.added, third.changed, third.unchanged, third.deleted) == (0, 2, 3, 1)
        after = {one["identifier"]: one for one in await files(client)}
        found = await call(client, "POST", "/search", json={"query": "green buses"})
    assert len(after) == 5
    assert {one["id"] for one in after.values()} < before.keys()
    assert after["rec00000000000003"]["version"] == 2
    assert after["rec00000000000004"]["version"] == 1
    assert found["hits"][0]["identifier"] == "rec00000000000004"


@pytest.mark.full
async def test_a_video_has_a_frame_at_each_scene_with_its_second(bench: Bench) -> None:
    video(bench.frames / "clips/drive.mp4", [("red", 4), ("blue", 3), ("green", 14)])
    bench.server.put(
        "rec00000000000001", {"frame_filename": "clips/drive.mp4", "summary": "A drive past a lake.", "tags": ["road"]}
    )
    async with bench.open() as client:
        report = await bench.sync(client)
        assert report.problems == []
        (resource,) = await files(client)
        elements = (await call(client, "GET", f"/resources/{resource['id']}/elements"))["elements"]
        found = await call(client, "POST", "/search", json={"query": "drive past a lake"})
        blob = await client.get(found["hits"][0]["image"]["path"])
    assert [element["locator"]["second"] for element in elements] == [0.0, 4.0, 7.0, 17.0]
    assert (resource["detected_category"], resource["status"]) == ("video", "indexed")
    assert found["hits"][0]["text"].startswith("Frame Summary: A drive past a lake.")
    assert (blob.status_code, blob.headers["content-type"]) == (200, "image/jpeg")
