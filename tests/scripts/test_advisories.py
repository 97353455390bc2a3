"""Known vulnerabilities of pinned packages are listed, from a dump or from OSV; and where there is neither, that is said."""

from __future__ import annotations

import json
import zipfile
from pathlib import Path
from typing import Any

import pytest
from fastapi import FastAPI, Request

from tests.contract_servers.serving import serving
from tests.scripts.loading import load_script

advisories = load_script("advisories")


def _range(*events: tuple[str, str], kind: str = "ECOSYSTEM") -> dict[str, Any]:
    return {"ranges": [{"type": kind, "events": [{name: at} for name, at in events]}]}


@pytest.mark.parametrize(
    ("affected", "version", "known"),
    [
        ({"versions": ["1.0", "1.1"]}, "1.1", True),
        (_range(("introduced", "0"), ("fixed", "1.2")), "1.1.9", True),
        (_range(("introduced", "0"), ("fixed", "1.2")), "1.2", False),
        (_range(("introduced", "2.0"), ("last_affected", "2.3")), "2.3", True),
        (_range(("introduced", "2.0"), ("last_affected", "2.3")), "2.4", False),
        (_range(("introduced", "0"), ("fixed", "1.0"), ("introduced", "2.0"), ("fixed", "2.1")), "1.5", False),
        (_range(("introduced", "0"), ("fixed", "1.0"), ("introduced", "2.0"), ("fixed", "2.1")), "2.0.5", True),
        (_range(("introduced", "2.0"), ("fixed", "2.1"), ("introduced", "0"), ("fixed", "1.0")), "0.9", True),
        (_range(("introduced", "1.10.0"), kind="SEMVER"), "1.9.0", False),
        (_range(("introduced", "0"), kind="GIT"), "1.0", False),
        (_range(("introduced", "0")), "not a version", True),
    ],
)
def test_a_version_is_affected_within_its_ranges(affected: dict[str, Any], version: str, known: bool) -> None:
    assert advisories.is_affected(affected, version) is known


@pytest.fixture
def packages() -> list[Any]:
    return [advisories.Package("PyPI", "typing-extensions", "4.16.0"), advisories.Package("npm", "@a/b", "1.0.0")]


def test_a_dump_is_read_packed_and_unpacked(tmp_path: Path, packages: list[Any]) -> None:
    def written(id: str, ecosystem: str, name: str, **more: str) -> str:
        affected = {"package": {"ecosystem": ecosystem, "name": name}, **_range(("introduced", "0"))}
        return json.dumps({"id": id, "affected": [affected], **more})

    (tmp_path / "one.json").write_text(written("PYSEC-1", "PyPI", "Typing_Extensions"))
    with zipfile.ZipFile(tmp_path / "all.zip", "w") as archive:
        archive.writestr("GHSA-1.json", written("GHSA-1", "npm", "@a/b"))
        archive.writestr("GHSA-2.json", written("GHSA-2", "npm", "@a/b", withdrawn="2026-01-01T00:00:00Z"))
        archive.writestr("GHSA-3.json", written("GHSA-3", "npm", "typing-extensions"))
    assert advisories.from_dumps(packages, [tmp_path]) == {packages[0]: {"PYSEC-1"}, packages[1]: {"GHSA-1"}}


def test_osv_is_asked_for_all_at_once(packages: list[Any]) -> None:
    app, asked = FastAPI(), list[Any]()

    @app.post("/v1/querybatch")
    async def answer(request: Request) -> dict[str, Any]:
        asked.append(await request.json())
        return {"results": [{"vulns": [{"id": "PYSEC-1", "modified": "2026-01-01T00:00:00Z"}]}, {}]}

    with serving(app) as address:
        found = advisories.from_osv(packages, f"{address}/v1/querybatch")
    assert found == {packages[0]: {"PYSEC-1"}}
    assert [query["package"]["name"] for query in asked[0]["queries"]] == ["typing-extensions", "@a/b"]


def test_everything_that_is_pinned_is_looked_up() -> None:
    found = advisories.pinned()
    assert {"PyPI", "npm"} == {package.ecosystem for package in found}
    assert {"fastapi", "langchain-core"} <= {package.name for package in found}
    assert all(package.version[0].isdigit() for package in found)


def test_without_a_source_it_says_so(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    assert advisories.main([str(tmp_path / "all.zip")]) == 2
    assert "Nothing was checked" in capsys.readouterr().err
