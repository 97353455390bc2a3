"""Files made to do harm, through a running server: nothing is fetched, nothing outside is read, and no name becomes SQL."""

from __future__ import annotations

import asyncio
import csv
import io
import json
import tarfile
import threading
import uuid
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import PlainTextResponse
from starlette.routing import Route

from citewell.system.folder import DataFolder
from tests.contract_servers.serving import serving
from tests.extract.documents.office import docx, paragraph
from tests.ingest.referring import REFERRING
from tests.server.mcp_client import connected
from tests.server.running import Server

pytestmark = pytest.mark.full

END_STATES = {"indexed", "analyzed", "described", "stored", "partial", "failed"}


@pytest.fixture(scope="module")
def listener() -> Iterator[tuple[str, list[str]]]:
    """A host that counts who calls."""
    called: list[str] = []
    lock = threading.Lock()

    async def answer(request: Request) -> PlainTextResponse:
        with lock:
            called.append(str(request.url))
        return PlainTextResponse("thank you")

    with serving(Starlette(routes=[Route("/{path:path}", answer)])) as host:
        yield host, called


def _template_docx(url: str) -> bytes:
    return docx(paragraph("Text"), relationships={"rId8": ("attachedTemplate", url), "rId7": ("oleObject", url)})


def _everything_said(server: Server, resource: dict[str, Any]) -> str:
    """All that the server tells of a file and of the files inside it."""
    said = json.dumps(resource)
    for path in ("elements", "chunks", "blobs"):
        said += server.client.get(f"/resources/{resource['id']}/{path}", params={"limit": 1_000}).text
    children = server.client.get("/resources", params={"parent_id": resource["id"], "limit": 1_000}).json()["resources"]
    return said + "".join(_everything_said(server, server.wait(child["id"])) for child in children)


@pytest.mark.parametrize("name", [*REFERRING, "template.docx"])
def test_what_a_file_refers_to_is_fetched_neither_from_a_host_nor_from_the_disk(
    server: Server, listener: tuple[str, list[str]], name: str
) -> None:
    host, called = listener
    make: Callable[[str], bytes] = REFERRING.get(name, _template_docx)
    secret = DataFolder(server.data).token()
    for url in (f"{host}/{uuid.uuid4()}", (server.data / "token").as_uri()):
        resource = server.add(name, make(url))
        assert resource["status"] in {"indexed", "described"}, resource["error_message"]
        assert secret not in _everything_said(server, resource)
    assert called == []


def _tar_with(add: Callable[[tarfile.TarFile], None]) -> bytes:
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w") as archive:
        add(archive)
        inside = tarfile.TarInfo("note.txt")
        text = f"A harmless note {uuid.uuid4()}".encode()
        inside.size = len(text)
        archive.addfile(inside, io.BytesIO(text))
    return buffer.getvalue()


def _tar_link(kind: bytes, target: str, name: str = "link.txt") -> bytes:
    def add(archive: tarfile.TarFile) -> None:
        link = tarfile.TarInfo(name)
        link.type, link.linkname = kind, target
        archive.addfile(link)

    return _tar_with(add)


def _zip_with(members: dict[str, tuple[int, bytes]]) -> bytes:
    """A ZIP of members with their Unix mode."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        archive.writestr("note.txt", f"A harmless note {uuid.uuid4()}")
        for name, (mode, content) in members.items():
            info = zipfile.ZipInfo(name)
            info.create_system, info.external_attr = 3, mode << 16
            archive.writestr(info, content)
    return buffer.getvalue()


def _archives(secret: str) -> dict[str, bytes]:
    through = _tar_with(
        lambda archive: [
            archive.addfile(_link("folder", str(Path(secret).parent))),
            archive.addfile(_link("folder/token", "token")),
        ].clear()
    )
    return {
        "symlink.tar": _tar_link(tarfile.SYMTYPE, secret),
        "hardlink.tar": _tar_link(tarfile.LNKTYPE, secret),
        "climbing.tar": _tar_link(tarfile.SYMTYPE, "../" * 30 + secret.lstrip("/")),
        "through a folder.tar": through,
        "device.tar": _tar_link(tarfile.CHRTYPE, "", "zero.txt"),
        "pipe.tar": _tar_link(tarfile.FIFOTYPE, "", "pipe.txt"),
        "symlink.zip": _zip_with({"link.txt": (0o120777, secret.encode())}),
        "climbing.zip": _zip_with(
            {"../../../../tmp/citewell-climbed.txt": (0o100644, b"out"), "/etc/x": (0o100644, b"y")}
        ),
    }


def _link(name: str, target: str) -> tarfile.TarInfo:
    link = tarfile.TarInfo(name)
    link.type, link.linkname = tarfile.SYMTYPE, target
    return link


@pytest.mark.parametrize("name", list(_archives("/nothing")))
def test_links_and_paths_in_archives_lead_nowhere(server: Server, name: str) -> None:
    resource = server.add(name, _archives(str(server.data / "token"))[name])
    assert resource["status"] in END_STATES
    said = _everything_said(server, resource)
    assert DataFolder(server.data).token() not in said
    assert "root:" not in said
    assert "harmless note" in said
    assert not Path("/tmp/citewell-climbed.txt").exists()


def test_archives_inside_archives_end(server: Server) -> None:
    inner = f"The innermost note {uuid.uuid4()}".encode()
    name = "note.txt"
    for level in range(40):
        buffer = io.BytesIO()
        with zipfile.ZipFile(buffer, "w") as archive:
            archive.writestr(name, inner)
        inner, name = buffer.getvalue(), f"level {level}.zip"
    outermost = server.add(name, inner)
    depth, resource = 0, outermost
    while children := server.client.get("/resources", params={"parent_id": resource["id"]}).json()["resources"]:
        assert len(children) == 1
        depth, resource = depth + 1, server.wait(children[0]["id"])
    assert 1 <= depth < 40
    assert "not unpacked" in json.dumps(resource["coverage"])
    receipt = server.client.delete(f"/resources/{outermost['id']}").json()
    assert len(receipt["deleted"]) == depth + 1


NAMES = [
    'a"; DROP TABLE resources; --',
    "'; DELETE FROM owners; --",
    '"quoted"',
    "back\\slash",
    "line\nbreak",
    "select",
    "_row",
    "rowid",
    "$x",
    "?",
    "{0}",
    "%s",
    ":name",
    "",
    "",
    "same",
    "same",
    "SAME",
    "\u0430mount",
    "amount",
    "a\u0301",
    "\u00e1",
    "\u202eevil",
    "tab\there",
    "../../etc/passwd",
    "<script>alert(1)</script>",
    "=cmd|' /C calc'!A0",
    "x" * 10_000,
    "read_parquet('/etc/passwd')",
    "*",
]


def _sheet(names: list[str]) -> bytes:
    buffer = io.StringIO()
    writer = csv.writer(buffer)
    writer.writerow(names)
    writer.writerows([[row * 100 + column for column in range(len(names))] for row in range(1, 6)])
    return buffer.getvalue().encode()


@pytest.fixture(scope="module")
def sheet(server: Server) -> dict[str, Any]:
    resource = server.add("hostile columns.csv", _sheet(NAMES), project="Columns")
    assert resource["status"] == "analyzed", resource["error_message"]
    return resource


def _columns(resource: dict[str, Any]) -> list[str]:
    return [column["name"] for column in resource["extraction_metadata"]["tables"][0]["columns"]]


def _is_whole(server: Server, sheet: dict[str, Any]) -> bool:
    """Nothing was dropped or deleted."""
    return server.client.get(f"/resources/{sheet['id']}").status_code == 200 and len(server.resources()) > 0


def test_column_names_are_kept_distinct(sheet: dict[str, Any]) -> None:
    columns = _columns(sheet)
    assert len(columns) == len(NAMES)
    assert len({name.casefold() for name in columns}) == len(NAMES)
    assert 'a"; DROP TABLE resources; --' in columns
    assert max(map(len, columns)) <= 310


def test_every_column_is_shown_and_its_values_are_spread_whatever_its_name(
    server: Server, sheet: dict[str, Any]
) -> None:
    table = sheet["extraction_metadata"]["tables"][0]["id"]
    rows = server.client.get(f"/resources/{sheet['id']}/tables/{table}/rows").json()
    assert rows["columns"] == _columns(sheet)
    assert rows["rows"][0]["cells"] == [100 + column for column in range(len(NAMES))]
    for name in _columns(sheet):
        spread = server.client.get(f"/resources/{sheet['id']}/tables/{table}/spread", params={"column": name})
        assert spread.status_code == 200, (name, spread.text)
        assert sum(bar["count"] for bar in spread.json()["bars"]) == 5, name
    for name in ('x"; SELECT 1; --', "1=1", '" OR ""="'):
        answer = server.client.get(f"/resources/{sheet['id']}/tables/{table}/spread", params={"column": name})
        assert answer.status_code == 404
    assert _is_whole(server, sheet)


async def test_every_column_is_summed_filtered_grouped_and_ordered_whatever_its_name(
    server: Server, sheet: dict[str, Any]
) -> None:
    source = f"{sheet['id']}/{sheet['extraction_metadata']['tables'][0]['id']}"
    async with connected(server, "?project=Columns") as client:
        columns = _columns(sheet)
        for place, name in enumerate(columns):
            asked = {"source": source, "aggregates": [{"function": "sum", "column": name}]}
            summed = await client.call("query_table", asked)
            assert not summed.is_error, (name, summed.text)
            assert str(1_500 + 5 * place) in summed.text.replace(",", ""), name
            asked = {
                "source": source,
                "columns": [name],
                "conditions": [{"column": name, "comparison": "gt", "value": 300}],
                "order": [{"by": name, "descending": True}],
            }
            listed = await client.call("query_table", asked)
            assert not listed.is_error, (name, listed.text)
            grouped = {"source": source, "groups": [{"column": name}], "aggregates": [{"function": "count"}]}
            assert not (await client.call("query_table", grouped)).is_error, name
        for value in ("'; DROP TABLE x; --", '"', "\\", "%"):
            asked = {
                "source": source,
                "conditions": [{"column": columns[-1], "comparison": "contains", "value": value}],
            }
            await client.call("query_table", asked)
        refused = await client.call("query_table", {"source": source, "columns": ['1"; SELECT 1']})
        assert refused.is_error
    assert await asyncio.to_thread(_is_whole, server, sheet)


def test_questions_about_such_columns_are_answered(server: Server, sheet: dict[str, Any]) -> None:
    for question in (
        "What is the total of amount?",
        'What is the sum of a"; DROP TABLE resources; --?',
        "How many rows are there?",
    ):
        answer = server.client.post("/chat", json={"message": question, "resource_ids": [sheet["id"]]})
        assert answer.status_code == 200, answer.text
    assert _is_whole(server, sheet)
