"""Quotas of a deployment, by its settings: for the Python package, archives, synchronised folders, the command line and paid models."""

from __future__ import annotations

import io
import json
import zipfile
from pathlib import Path

import pytest

from citewell import BytesQuotaReached, Citewell, FilesQuotaReached, QuestionsQuotaReached
from citewell.client import connect
from citewell.connectors.engine import Synchroniser, SyncReport, SyncRequest
from citewell.connectors.folder import FolderSource
from citewell.errors import InvalidInput, NotFound
from citewell.settings import load_settings
from tests.server.in_process import InProcessServer

pytestmark = pytest.mark.full


def test_the_package_keeps_to_the_settings(tmp_path: Path) -> None:
    for name in ("a", "b", "c"):
        (tmp_path / f"{name}.txt").write_text(f"The file {name} says that the harbour opens at dawn.")
    with Citewell(tmp_path / "data", quota_files=2, quota_questions=1) as library:
        library.add(tmp_path / "a.txt")
        library.add_texts([{"id": "r", "text": "The harbour closes at night."}])
        with pytest.raises(FilesQuotaReached):
            library.add(tmp_path / "b.txt")
        with pytest.raises(FilesQuotaReached):
            library.add_texts([{"id": "s", "text": "Something else."}])
        library.ask("When does the harbour open?")
        with pytest.raises(QuestionsQuotaReached):
            library.ask("When does the harbour close?")
    assert len(list((tmp_path / "data/blobs").rglob("original-*"))) == 1
    assert not list((tmp_path / "data/uploads").iterdir())
    with Citewell(tmp_path / "data", quota_bytes=100) as library, pytest.raises(BytesQuotaReached):
        library.add(tmp_path / "c.txt")
    with Citewell(tmp_path / "data") as library:
        library.add(tmp_path / "c.txt")
        library.ask("When does the harbour close?")


def test_of_an_archive_as_many_files_are_kept_as_there_is_room_for(tmp_path: Path) -> None:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        for n in range(4):
            archive.writestr(f"note-{n}.txt", f"Note {n} of the archive.")
    with InProcessServer(tmp_path / "data", CITEWELL_QUOTA_FILES="3") as server:
        outer = server.add("notes.zip", packed.getvalue())
        assert outer["status"] != "failed"
        inside = [one for one in server.resources() if one["parent_id"] == outer["id"]]
        assert len(inside) == 2
        told = outer["extraction_metadata"]["not_adopted"]
        assert [one.partition(".txt: The file quota is used up: 3 of 3.")[0] for one in told] == [
            "note-2",
            "note-3",
        ]


async def test_a_synchronised_folder_says_what_did_not_fit_and_brings_it_when_it_does(tmp_path: Path) -> None:
    folder = tmp_path / "papers"
    folder.mkdir()
    for name in ("a", "b"):
        (folder / f"{name}.txt").write_text(f"Paper {name}.")

    async def sync(**quotas: int) -> SyncReport:
        async with connect(load_settings(data=tmp_path / "data", **quotas)) as client:
            return await Synchroniser(client, FolderSource(folder), SyncRequest(name="papers")).run()

    report = await sync(quota_files=1)
    assert report.added == 1
    [problem] = report.problems
    assert problem["code"] == "quota_files"
    assert "1 of 1" in problem["message"]
    assert (await sync(quota_files=2)).added == 1


def test_quotas_are_set_on_the_server_while_it_runs(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    from citewell.cli import quotas

    data = tmp_path / "data"
    with InProcessServer(data, CITEWELL_QUOTA_FILES="5") as server:
        quotas.set_quotas("local", files="1", size="none", spend="2.50", data=data)
        assert server.upload("a.txt", b"The first.").status_code == 201
        assert server.upload("b.txt", b"The second.").json()["error"]["code"] == "quota_files"
        shown = {one["quota"]: (one["limit"], one["own"]) for one in server.client.get("/quotas").json()["quotas"]}
        assert shown == {"files": (1, True), "bytes": (None, True), "questions": (None, False), "spend": (2.5, True)}
        quotas.set_quotas("local", files="default", data=data)
        assert server.upload("b.txt", b"The second.").status_code == 201
        entries = server.client.get("/audit", params={"action": "person.quota_changed"}).json()["entries"]
        assert [(one["actor"], one["outcome"]) for one in entries] == [("system", "done")] * 2
        capsys.readouterr()
        quotas.show(data=data, as_json=True)
        printed = {one["quota"]: (one["used"], one["limit"]) for one in json.loads(capsys.readouterr().out)}
        assert printed["files"] == (2, None), "its defaults are those of its own environment"
        assert printed["spend"] == (0, 2.5)
    for wrong in ("-1", "1.5", "much", "9" * 16, ""):
        with pytest.raises(InvalidInput, match="not a valid limit for files"):
            quotas.set_quotas("local", files=wrong, data=data)
    with pytest.raises(InvalidInput, match="Name a quota"):
        quotas.set_quotas("local", data=data)
    with pytest.raises(NotFound):
        quotas.set_quotas("nobody", files="1", data=data)
