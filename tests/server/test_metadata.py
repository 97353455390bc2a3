"""Metadata over HTTP and in Python: in, changed, searched by, given out, and finished after a crash."""

from __future__ import annotations

import asyncio
import io
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from PIL import Image

from citewell import AsyncCitewell, Conflict, InvalidFilter, InvalidMetadata, NotFound
from citewell.composition import open_services
from citewell.features.chat.service import ChatRequest
from citewell.features.resources.said import Said
from citewell.ingest.payloads import PayloadWriter
from citewell.settings import load_settings
from citewell.storage.accounts.owners import OwnerRepository
from citewell.storage.database import Database
from citewell.storage.files.metadata import FileChange, MetadataRepository
from citewell.types import Scope, SearchRequest, Status
from tests.server.running import Server

pytestmark = pytest.mark.full

CAMERA = {"field": "metadata.camera", "value": "leica"}


async def _added(cw: AsyncCitewell, folder: Path, name: str, **said: Any) -> str:
    path = folder / name
    path.write_text(f"The red car of {name} stands in the harbour at noon.\n", encoding="utf-8")
    resource = await cw.add(path, **said)
    assert resource.status is Status.INDEXED
    return resource.id


async def test_what_is_said_of_a_file_is_searched_by_and_given_out(tmp_path: Path) -> None:
    async with AsyncCitewell(tmp_path / "data") as cw:
        leica = await _added(cw, tmp_path, "a.txt", metadata={"camera": "Leica", "iso": 400}, identifier="Frame-1")
        canon = await _added(cw, tmp_path, "b.txt", metadata={"camera": "Canon", "iso": 800})
        (hit,) = await cw.search("red car", conditions=[CAMERA])
        assert (hit.chunk.resource_id, hit.identifier, dict(hit.metadata)) == (
            leica,
            "Frame-1",
            {"camera": "Leica", "iso": 400},
        )
        assert [h.chunk.resource_id for h in await cw.search("red car", resource_ids=["frame-1"])] == [leica]
        vectors = await cw._services.indexes.migration.indexes.active.store.vectors([hit.chunk.id])  # pyright: ignore[reportPrivateUsage]
        changed = await cw.describe(canon, metadata={"camera": "Leica", "iso": None})
        assert dict(changed.metadata) == {"camera": "Leica"}
        found = await cw.search(
            "red car", conditions=[CAMERA, {"not": {"field": "metadata.iso", "operator": "exists"}}]
        )
        assert [h.chunk.resource_id for h in found] == [canon]
        again = await cw._services.indexes.migration.indexes.active.store.vectors([hit.chunk.id])  # pyright: ignore[reportPrivateUsage]
        assert (again[hit.chunk.id] == vectors[hit.chunk.id]).all()
        with pytest.raises(InvalidFilter):
            await cw.search("red car", conditions=[{"field": "metadata.lens", "value": "x"}])
        with pytest.raises(InvalidMetadata) as caught:
            await cw.describe(canon, metadata={"size": {"w": 1}})
        assert caught.value.details == {"key": "size"}
        with pytest.raises(Conflict):
            await cw.describe(canon, identifier="FRAME-1")
        with pytest.raises(NotFound):
            await cw.search("red car", resource_ids=["frame-2"])


async def test_a_change_that_a_crash_interrupted_is_finished_by_the_next_process(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with AsyncCitewell(tmp_path / "data") as cw:
        resource = await _added(cw, tmp_path, "a.txt", metadata={"camera": "Canon"})
    database = Database(f"sqlite+aiosqlite:///{tmp_path / 'data' / 'citewell.db'}")
    owner = await OwnerRepository(database).ensure("local")
    said = FileChange(metadata=lambda _: {"camera": "Leica"})
    assert await MetadataRepository(database).change(owner, resource, said)
    await database.close()
    async with AsyncCitewell(tmp_path / "data") as cw:
        for _ in range(200):
            if await cw.search("red car", conditions=[CAMERA]):
                break
            await asyncio.sleep(0.05)
        assert [h.chunk.resource_id for h in await cw.search("red car", conditions=[CAMERA])] == [resource]
        monkeypatch.setattr(PayloadWriter, "_apply", _crash)
        await cw.describe(resource, metadata={"camera": "Nikon"}, thread="t1")
    monkeypatch.undo()
    async with AsyncCitewell(tmp_path / "data") as cw:
        for _ in range(200):
            if not await cw.search("red car", conditions=[{"field": "thread", "operator": "ne", "value": "T1"}]):
                break
            await asyncio.sleep(0.05)
        assert await cw.search("red car", conditions=[{"field": "thread", "value": "T1"}])


async def _crash(*_: object) -> None:
    raise asyncio.CancelledError


def test_metadata_comes_with_an_upload_and_is_patched(server: Server) -> None:
    metadata = {"taken": "2025-06-01T09:30:00+02:00", "tags": ["outdoor"], "indoor": False}
    form = {"metadata": json.dumps(metadata), "identifier": "frame-http", "thread": "t-http"}
    client = server.client
    sent = client.post("/ingest", files={"file": ("frame http.txt", b"A frame of the harbour, http.")}, data=form)
    assert sent.status_code == 201, sent.text
    assert sent.json()["metadata"] == {**metadata, "taken": "2025-06-01T07:30:00Z"}
    known = client.get("/resources/frame-http").json()
    assert (known["id"], known["thread"]) == (sent.json()["id"], "t-http")
    changed = client.patch("/resources/Frame-HTTP", json={"metadata": {"indoor": None, "rating": 4.5}})
    assert changed.status_code == 200, changed.text
    assert changed.json()["metadata"] == {"taken": "2025-06-01T07:30:00Z", "tags": ["outdoor"], "rating": 4.5}
    refused = client.patch("/resources/frame-http", json={"metadata": {"x" * 65: 1}})
    assert (refused.status_code, refused.json()["error"]["code"]) == (422, "invalid_metadata")
    assert refused.json()["error"]["details"]["key"].startswith("xxx")
    broken = client.post("/ingest", files={"file": ("b.txt", b"b")}, data={"metadata": "[1]"})
    assert (broken.status_code, broken.json()["error"]["code"]) == (422, "invalid_metadata")


def test_searches_answers_and_threads_tell_what_is_said_of_a_file(server: Server) -> None:
    client = server.client
    said = {"identifier": "frame-out", "metadata": {"frame_path": "frames/17.jpg", "iso": 400, "tags": ["outdoor"]}}
    form = {"identifier": "frame-out", "metadata": json.dumps(said["metadata"])}
    text = b"The zeppelin of the frame library is moored at the western mast.\n"
    sent = client.post("/ingest", files={"file": ("zeppelin.txt", text)}, data=form).json()
    server.wait(sent["id"])
    (hit,) = client.post("/search", json={"query": "zeppelin mast", "resource_ids": ["frame-out"]}).json()["hits"]
    assert {key: hit[key] for key in said} == said
    question = {"message": "Where is the zeppelin moored?", "resource_ids": ["Frame-Out"]}
    answer = client.post("/chat", json=question).json()
    (citation,) = answer["citations"]
    assert {key: citation[key] for key in said} == said
    assert citation["image"] is None
    lines = client.post("/chat", json=question | {"stream": True}).text.splitlines()
    used = next(json.loads(line)["used_docs"] for line in lines if "used_docs" in line)
    assert {key: used[0]["metadata"][key] for key in said} == said
    asked = client.post(
        "/records", json={"records": [{"id": "rec-zep", "text": "A blimp is no zeppelin, says the rule."}]}
    )
    assert asked.is_success, asked.text
    blimp = client.post("/chat", json={"message": "What is no zeppelin?"}).json()
    assert "rec-zep" in [one["record_id"] for one in blimp["citations"]]
    client.delete("/resources/frame-out")
    (gone,) = client.get(f"/threads/{answer['thread_id']}").json()["messages"][1]["citations"]
    assert (gone["identifier"], gone["metadata"], gone["available"]) == (None, None, False)


def test_a_passage_of_a_picture_says_where_the_picture_is(server: Server) -> None:
    buffer = io.BytesIO()
    Image.effect_noise((64, 48), 80).save(buffer, "PNG")
    sent = server.client.post(
        "/ingest", files={"file": ("gondola.png", buffer.getvalue())}, data={"metadata": '{"title": "gondola"}'}
    ).json()
    server.wait(sent["id"])
    hits = server.client.post("/search", json={"query": "gondola.png", "resource_ids": [sent["id"]]}).json()["hits"]
    image = hits[0]["image"]
    assert image == {"resource_id": sent["id"], "blob": None, "path": f"/resources/{sent['id']}/file"}
    assert server.client.get(image["path"]).content == buffer.getvalue()


async def test_several_projects_and_filters_bound_searches_questions_and_tables(tmp_path: Path) -> None:
    async with AsyncCitewell(tmp_path / "data") as cw:
        ids = {
            name: await _added(
                cw, tmp_path, f"{name}.txt", project=name, metadata={"place": name}, identifier=f"car-{name}"
            )
            for name in ("north", "south", "west")
        }
        sales = tmp_path / "sales.csv"
        sales.write_text("month,kilos\nMay,120\nJune,340\n", encoding="utf-8")
        table = await cw.add(sales, project="west", metadata={"place": "west"})
        assert table.status is Status.ANALYZED
        two = {ids["north"], ids["south"]}
        assert {h.chunk.resource_id for h in await cw.search("red car", projects=["north", "south"])} == two
        assert {h.chunk.resource_id for h in await cw.search("red car", project="north", projects=["south"])} == two
        assert await cw.search("red car", projects=[]) == []
        with pytest.raises(NotFound):
            await cw.search("red car", projects=["north", "east"])
        asked = await cw.ask("Where does the red car of south stand?", projects=["north", "south"])
        assert {c.resource_id for c in asked.citations} <= two
        assert asked.answered
        place: Any = {"field": "metadata.place", "value": "south"}
        asked = await cw.ask("Where does the red car stand?", conditions=[place])
        assert {c.resource_id for c in asked.citations} == {ids["south"]}
        most = "Which month had the most kilos?"
        assert (await cw.ask(most, conditions=[{"not": place}])).answered
        assert not (await cw.ask(most, conditions=[place])).answered
        # A question about a file that is not in the project is refused; a search looks at those that are.
        assert (await cw.ask(most, project="west", resource_ids=[table.id])).answered
        with pytest.raises(NotFound):
            await cw.ask(most, project="north", resource_ids=[table.id, ids["north"]])
        assert {h.chunk.resource_id for h in await cw.search("red car", project="north", resource_ids=list(two))} == {
            ids["north"]
        }
        with pytest.raises(InvalidFilter):
            await cw.ask(most, conditions=[{"field": "metadata.lens", "value": "x"}])


async def test_what_became_a_filter_is_not_looked_for_in_sentences_too(tmp_path: Path) -> None:
    note = tmp_path / "harbour.txt"
    note.write_text(
        "The outdoor pool was closed in May. The red car stands at the harbour gate. Frames are counted at night.\n",
        encoding="utf-8",
    )
    async with AsyncCitewell(tmp_path / "data", ocr=False) as cw:
        await cw.add(note, metadata={"tags": ["outdoor"]})
        asked = await cw.ask("In the frames tagged 'outdoor', where does the red car stand?")
        plain = await cw.ask("Where does the red car stand?")
    assert [one.id for one in asked.inferred_filters if one.applied] == ["tag"]
    assert asked.text == plain.text
    assert "harbour gate" in asked.text


async def test_projects_of_another_owner_are_neither_found_nor_searched(tmp_path: Path) -> None:
    async with open_services(load_settings(data=tmp_path / "data", ocr=False)) as services:
        ann, ben = services.local_owner, await services.auth.repository.ensure("ben")
        path = tmp_path / "secret.txt"
        path.write_text("The harbour seal of Ann is named Otto.", encoding="utf-8")
        resource = await services.resources.add_file(ann, path, project="Ann's harbour", said=Said(identifier="seal"))
        await services.resources.wait(ann, resource.id)
        (project,) = [one.id for one in await services.projects.repository.all(ann) if one.name == "Ann's harbour"]
        mine = SearchRequest(owner_id=ann, query="harbour seal", projects=(project,), resource_ids=("seal",))
        assert len((await services.search.search(mine)).hits) == 1
        inside = Scope(project_ids=(project,))
        for request in (replace(mine, scope=inside, projects=None, resource_ids=None), replace(mine, scope=inside)):
            assert (await services.search.search(request)).hits
        blind = SearchRequest(owner_id=ben, query="harbour seal", scope=inside)
        assert not (await services.search.search(blind)).hits
        for named in (("Ann's harbour",), (project,)):
            with pytest.raises(NotFound):
                await services.search.search(replace(mine, owner_id=ben, projects=named, resource_ids=None))
            with pytest.raises(NotFound):
                await services.chat.begin(ChatRequest(owner_id=ben, message="Who is the harbour seal?", projects=named))
        with pytest.raises(NotFound):
            await services.chat.begin(ChatRequest(owner_id=ben, message="Who is it?", resource_ids=("seal",)))
        turn = await services.chat.begin(ChatRequest(owner_id=ann, message="Who is the seal?", projects=(project,)))
        await turn.events.aclose()
        assert turn.thread.scope == {"project": project}


async def test_metadata_in_a_question_is_a_filter_as_long_as_a_file_has_it(tmp_path: Path) -> None:
    query = "files with camera Canon that show a red car"
    async with AsyncCitewell(tmp_path / "data") as cw:
        await _added(cw, tmp_path, "a.txt", metadata={"camera": "Leica", "timestamp": "2025-06-01T09:30:00+02:00"})
        assert (await cw.search_result(query)).inferred == ()
        canon = await _added(cw, tmp_path, "b.txt", metadata={"camera": "Canon", "timestamp": "2025-06-01T18:00:00Z"})
        found = await cw.search_result(query)
        assert [(one.id, one.label, one.words) for one in found.inferred] == [
            ("metadata.camera", "camera: Canon", "with camera Canon")
        ]
        assert [hit.chunk.resource_id for hit in found.hits] == [canon]
        assert len(await cw.search(query, ignore_inferred=["metadata.camera"])) == 2
        late = "files with timestamp after 5 pm on 1 June 2025 that show a car"
        assert [hit.chunk.resource_id for hit in await cw.search(late)] == [canon]
        # Six in the evening in UTC is two in the afternoon in New York.
        there = await cw.search_result(late, time_zone="America/New_York")
        assert [one.applied for one in there.inferred] == [False]
        await cw.describe(canon, metadata={"camera": "Nikon"})
        assert (await cw.search_result(query)).inferred == ()
