"""What goes wrong with a table, a frame or the way to them: nothing is lost, nothing comes twice, and nothing outside the folder is read."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import httpx
import pytest
from starlette.responses import Response

from citewell.client import call
from citewell.connectors.airtable import AirtableSource
from citewell.connectors.engine import Synchroniser, SyncRequest
from citewell.connectors.interface import SourceEntry
from citewell.connectors.mapping import TableMapping
from citewell.errors import (
    ConfigurationError,
    Conflict,
    ProviderAuthError,
    ProviderRejected,
    ProviderUnavailable,
    SourceProblem,
)
from tests.connectors.made import picture
from tests.connectors.test_airtable_sync import NAME, Bench, bench, files

pytestmark = pytest.mark.full

__all__ = ["bench"]
SECRET = b"the owner's own secret"


async def read(source: AirtableSource, since: str | None = None) -> list[SourceEntry]:
    await source.present()
    return [entry async for entry in source.read(since, ())]


@pytest.mark.parametrize(
    "reference",
    ["../secret.png", "shots/../../secret.png", "/etc/passwd", "..\\secret.png", "C:\\secret.png", "link/secret.png", "direct.png",
     "~/secret.png", "shots", "a\x00b.png", "nothing.png", "x" * 5_000],
)  # fmt: skip
async def test_no_record_reaches_out_of_the_folder(bench: Bench, reference: str) -> None:
    (bench.frames.parent / "secret.png").write_bytes(SECRET)
    (bench.frames / "shots").mkdir()
    (bench.frames / "link").symlink_to(bench.frames.parent)
    (bench.frames / "direct.png").symlink_to(bench.frames.parent / "secret.png")
    bench.server.put("rec00000000000001", {"frame_filename": reference})
    (entry,) = await read(bench.source())
    assert entry.problem is not None
    assert entry.problem.code == "frame_missing"
    assert entry.place is None


async def test_records_that_cannot_be_brought_are_reported_and_stop_no_other(bench: Bench) -> None:
    good = bench.add(1, timestamp="soon", tags=[1, "Car"], Rating=5)
    bench.server.put("rec00000000000002", {"frame_filename": "gone.png", "summary": "Not there."})
    bench.server.put("rec00000000000003", {"frame_filename": "", "summary": "Names none."})
    (bench.frames / "broken.png").write_bytes(b"\x89PNG\r\n\x1a\n" + b"no picture" * 20)
    bench.server.put("rec00000000000004", {"frame_filename": "broken.png", "summary": "Broken."})
    async with bench.open() as client:
        report = await bench.sync(client)
        assert {(one["key"][-1], one["code"]) for one in report.problems} == {
            ("2", "frame_missing"),
            ("3", "frame_missing"),
            ("4", "broken"),
        }
        assert {(one["key"], one["note"].split("`")[1]) for one in report.notes} == {
            (good, "timestamp"),
            (good, "tags"),
        }
        (one,) = [one for one in await files(client) if one["identifier"] == good]
        assert one["metadata"]["tags"] == ["car"]
        assert one["metadata"]["rating"] == 5
        picture(bench.frames / "gone.png", "blue")  # the frame arrives; the record does not change
        again = await bench.sync(client)
        assert (again.added, again.changed) == (1, 0)
        assert [one["key"][-1] for one in again.problems] == ["3"]


async def test_interrupted_anywhere_it_is_run_again_and_everything_is_there_once(bench: Bench) -> None:
    names = {bench.add(number) for number in range(4)}
    async with bench.open() as client:
        for broken_off in range(1, 9):
            await _until(client, bench, broken_off)
        report = await bench.sync(client)
        assert report.problems == []
        found = await files(client)
        items = (await call(client, "GET", f"/sources/{NAME}/items"))["items"]
    assert {one["identifier"] for one in found} == names
    assert len(found) == 4
    assert all(one["version"] == 1 for one in found)
    assert {item["resource_id"] for item in items} == {one["id"] for one in found}


class _Off(Exception):
    """The connector's process ends here."""


async def _until(client: httpx.AsyncClient, bench: Bench, requests: int) -> None:
    """A run that ends with its n-th request to Citewell: after it was answered, for an odd n, else before it is sent."""
    count = 0

    async def before(_: httpx.Request) -> None:
        nonlocal count
        count += 1
        if count == requests and requests % 2 == 0:
            raise _Off

    async def after(_: httpx.Response) -> None:
        if count == requests:
            raise _Off

    client.event_hooks = {"request": [before], "response": [after]}
    try:
        await Synchroniser(client, bench.source(), SyncRequest(name=NAME)).run()
    except _Off:
        pass
    finally:
        client.event_hooks = {}


class _Busy(httpx.AsyncBaseTransport):
    """Citewell, which has too many requests each second time; the upload has arrived by then."""

    def __init__(self, inner: httpx.AsyncBaseTransport) -> None:
        self.inner, self.count = inner, 0

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        self.count += 1
        if self.count % 2:
            return await self.inner.handle_async_request(request)
        await request.aread()
        error: dict[str, Any] = {"code": "rate_limited", "message": "Too many requests.", "details": {"retry_after": 7}}
        return httpx.Response(429, json={"error": error}, headers={"retry-after": "7"})


async def test_a_server_of_citewell_that_has_too_many_requests_is_waited_for(bench: Bench) -> None:
    names = {bench.add(number) for number in range(4)}
    pauses: list[float] = []

    async def paused(seconds: float) -> None:
        pauses.append(seconds)

    async with bench.open() as client:
        busy = client._transport = _Busy(client._transport)
        report = await Synchroniser(client, bench.source(), SyncRequest(name=NAME), sleep=paused).run()
        client._transport = busy.inner
        found = await files(client)
    assert (report.added, report.problems) == (4, [])
    assert {one["identifier"] for one in found} == names
    assert set(pauses) == {7}


async def test_refusals_and_errors_of_the_server_are_waited_out(bench: Bench) -> None:
    for number in range(3):
        bench.add(number)
    busy: dict[str, Any] = {"errors": [{"error": "RATE_LIMIT_REACHED"}]}
    bench.server.faults = [
        Response(json.dumps(busy), 429, {"retry-after": "0"}),
        Response("error", 500),
        Response("unavailable", 503),
    ]
    assert len(await read(bench.source())) == 3
    assert bench.server.faults == []


async def test_the_limit_of_requests_is_kept_and_waited_for(bench: Bench) -> None:
    for number in range(12):
        bench.server.put(f"rec{number:014d}", {"frame_filename": "x"})
    bench.server.per_second, bench.server.penalty, bench.server.retry_after = 3, 1.0, "1"
    source = bench.source()
    for _ in range(3):
        await read(source)
    assert bench.server.refused > 0  # five a second were too many here, and none of it was lost


async def test_lists_go_on_by_offset_and_begin_again_when_airtable_forgets(bench: Bench) -> None:
    for number in range(230):
        bench.server.put(f"rec{number:014d}", {"frame_filename": f"{number}.png"})
    source = bench.source()
    assert len(await source.present()) == 230
    bench.server.forgets = True
    assert {entry.key for entry in await read(source)} == set(bench.server.records)


async def test_only_what_changed_since_the_last_run_is_asked_for(bench: Bench) -> None:
    for number in range(5):
        bench.add(number)
    source = bench.source()
    await source.present()
    since = source.cursor()
    bench.server.put("rec00000000000009", {"frame_filename": "new.png"})
    for _ in range(10):
        bench.server.put("rec00000000000008", {"frame_filename": "late.png"})
    changed = {entry.key for entry in await read(bench.source(), since)}
    assert {"rec00000000000008", "rec00000000000009"} <= changed
    assert "rec00000000000000" in changed  # within the overlap
    await source.present()
    assert {entry.key for entry in await read(bench.source(), source.cursor())} == {"rec00000000000008"}


@pytest.mark.parametrize("faults", [["half"], ["500", "half"], ["expired"]], ids=str)
async def test_an_attachment_is_downloaded_whole_or_again(bench: Bench, faults: list[str], tmp_path: Path) -> None:
    bench.mapping = TableMapping(fields={"attachment": "Picture"})
    data = picture(tmp_path / "a.png", "green").read_bytes()
    bench.server.put("rec00000000000001", {"Picture": [bench.server.attach("a.png", data)]})
    bench.server.download_faults = faults
    source = bench.source()
    (entry,) = await read(source)
    with await source.fetch(entry, tmp_path) as file:
        assert file.read() == data
    assert bench.server.download_faults == []


@pytest.mark.parametrize(
    "address",
    ["http://127.0.0.1:{port}/v5.airtableusercontent.com/x", "https://127.0.0.1:{port}/x", "https://169.254.169.254/latest/meta-data/",
     "https://[::ffff:10.0.0.1]/x", "http://8.8.8.8/x", "file:///etc/passwd", "https://user@8.8.8.8/x", "https://2130706433/x"],
)  # fmt: skip
async def test_an_attachments_address_does_not_lead_inside_the_network(
    bench: Bench, address: str, tmp_path: Path
) -> None:
    calls: list[bytes] = []

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        calls.append(await reader.read(1))
        writer.close()

    inner = await asyncio.start_server(serve, "127.0.0.1", 0)
    bench.mapping = TableMapping(fields={"attachment": "Picture"})
    bench.server.put("rec00000000000001", {"Picture": [bench.server.attach("a.png", b"x")]})
    source = bench.source()
    (entry,) = await read(source)
    bench.server.attachments_at = address.format(port=inner.sockets[0].getsockname()[1])
    with pytest.raises(SourceProblem, match="was not opened"):
        await source.fetch(entry, tmp_path)
    inner.close()
    assert calls == []


async def test_an_attachment_that_keeps_breaking_off_is_a_problem_of_its_own(bench: Bench) -> None:
    bench.mapping = TableMapping(fields={"attachment": "Picture"})
    picture(bench.frames.parent / "a.png", "green")
    attached = bench.server.attach("a.png", (bench.frames.parent / "a.png").read_bytes())
    bench.server.put("rec00000000000001", {"Picture": [attached], "Summary": "A green field."})
    bench.server.download_faults = ["half"] * 3
    async with bench.open() as client:
        first = await bench.sync(client)
        assert [one["code"] for one in first.problems] == ["download_failed"]
        second = await bench.sync(client)
        assert (second.added, second.problems) == (1, [])
        assert (await bench.sync(client)).changed == 0  # though its address is another one


async def test_a_table_that_is_empty_all_at_once_deletes_nothing(bench: Bench) -> None:
    bench.add(1)
    async with bench.open() as client:
        await bench.sync(client)
        bench.server.records.clear()
        with pytest.raises(Conflict, match="Nothing was deleted"):
            await bench.sync(client)
        assert len(await files(client)) == 1
        assert (await bench.sync(client, empty=True)).deleted == 1
        assert await files(client) == []


async def test_two_records_of_one_frame_are_two_files(bench: Bench) -> None:
    picture(bench.frames / "a.png", "red")
    bench.server.put("rec00000000000001", {"frame_filename": "a.png", "summary": "A red wall."})
    bench.server.put("rec00000000000002", {"frame_filename": "a.png", "summary": "A painting."})
    async with bench.open() as client:
        assert (await bench.sync(client)).added == 2
        del bench.server.records["rec00000000000001"]
        await bench.sync(client)
        (left,) = await files(client)
        original = await client.get(f"/resources/{left['id']}/file")
    assert left["identifier"] == "rec00000000000002"
    assert original.content == (bench.frames / "a.png").read_bytes()


@pytest.mark.parametrize(
    ("change", "error", "said"),
    [
        ({"token": "other"}, ProviderAuthError, "AIRTABLE_PAT"),
        ({"base": "appOTHER"}, ProviderRejected, "AIRTABLE_BASE_ID"),
        ({"table": "Other"}, ProviderAuthError, "data.records:read"),
        ({"columns": {"File"}}, ProviderRejected, "no such column"),
    ],
    ids=str,
)
async def test_what_airtable_refuses_says_what_to_do(
    bench: Bench, change: dict[str, Any], error: type[Exception], said: str
) -> None:
    source = bench.source()
    for name, value in change.items():
        setattr(bench.server, name, value)
    with pytest.raises(error, match=said):
        await source.present()


async def test_a_server_that_stays_away_stops_the_run_with_a_reason(bench: Bench) -> None:
    bench.add(1)
    bench.server.faults = [Response("error", 500)] * 20
    with pytest.raises(ProviderUnavailable):
        await bench.source().present()


def test_without_a_place_for_frames_it_is_said_before_anything_is_asked(bench: Bench) -> None:
    with pytest.raises(ConfigurationError, match="FRAME_BASE_DIR"):
        AirtableSource(bench.source()._access, TableMapping(), None)
