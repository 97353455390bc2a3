"""The command line, as typed: alone on a data folder, and against the server that holds it."""

from __future__ import annotations

import json
import os
import shutil
import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from PIL import Image

from tests.server.in_process import InProcessServer
from tests.server.running import Server
from tests.server.typed import citewell

pytestmark = pytest.mark.slow(60)


def _citewell(*arguments: str | Path, code: int = 0) -> str:
    done = citewell(tuple(map(str, arguments)), Path.cwd(), os.environ)
    assert done.returncode == code, done.stdout + done.stderr
    return done.stdout + done.stderr


def _json(*arguments: str | Path) -> Any:
    return json.loads(_citewell(*arguments, "--json"))


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A data folder with three files of their own, added by the command line alone."""
    top = tmp_path_factory.mktemp("cli")
    files = top / "files"
    files.mkdir()
    (files / "Harbour rules.md").write_text(
        "# Berths\n\nA visiting boat pays 14 crowns for a night at the quay.\n\n# Quiet\n\nNo engines after ten in the evening.\n"
    )
    (files / "catch.csv").write_text("day,species,kilos\nMonday,cod,120\nTuesday,herring,310\nWednesday,cod,95\n")
    (files / ".hidden.txt").write_text("not to be read")
    said = _citewell("add", files, "--data", top / "data")
    assert "indexed" in said
    assert "analyzed" in said
    assert ".hidden" not in said
    return top / "data"


@pytest.fixture(scope="module")
def held(folder: Path) -> Iterator[Path]:
    """A copy of that folder, held by a running server: a command there starts no application of its own."""
    data = shutil.copytree(folder, folder.parent / "held")
    with InProcessServer(data):
        yield data


def test_ask_answers_with_references(folder: Path) -> None:
    said = _citewell("ask", "What does a visiting boat pay for a night?", "--data", folder)
    assert "14 crowns" in said
    assert "[1]" in said
    assert "Harbour rules.md" in said.split("References")[1]


def test_ask_says_what_would_help_where_there_is_no_answer(held: Path) -> None:
    said = _citewell("ask", "What does a helicopter cost?", "--data", held)
    assert "No passage found mentions “helicopter”.\nUpload a file that does" in said


def test_ask_names_sheet_and_row_of_data(held: Path) -> None:
    answer = _json("ask", "Which day had the highest kilos?", "--data", held)
    assert "Tuesday" in answer["answer"]
    assert answer["citations"][0]["locator"]["row"] == 3


def test_search_lists_passages_with_scores_and_places(folder: Path, held: Path) -> None:
    found = _json("search", "engines at night", "--data", folder)
    best = found["hits"][0]
    assert best["filename"] == "Harbour rules.md"
    assert "No engines after ten" in best["text"]
    assert best["score"] > 0
    assert "Harbour rules.md" in _citewell("search", "engines at night", "--data", held)


def test_answers_and_searches_are_reranked_on_demand(held: Path) -> None:
    asked = ("ask", "What does a visiting boat pay for a night?", "--data", held)
    assert _json(*asked, "--rerank")["usage"]["rerank_units"] == 1
    assert _json(*asked)["usage"]["rerank_units"] == 0
    found = _json("search", "engines at night", "--rerank", "--top-k", "2", "--data", held)["hits"]
    assert len(found) == 2
    assert all("rerank" in hit["scores"] for hit in found)
    limits = ("--rerank", "--rerank-candidates", "2", "--rerank-top-n", "1")
    assert len(_json("search", "engines at night", *limits, "--data", held)["hits"]) == 1
    assert "Set `rerank`" in _citewell(
        "search", "engines", "--no-rerank", "--rerank-top-n", "1", "--data", held, code=2
    )


def test_metadata_is_added_searched_by_and_asked_within(held: Path, tmp_path: Path) -> None:
    for name in ("north", "south"):
        (tmp_path / f"{name}.txt").write_text(f"The {name} mooring of the lagoon costs 30 crowns a night.\n")
    rows = tmp_path / "meta.csv"
    rows.write_text('file,identifier,depth,tags\nnorth.txt,North-Mooring,4.5,"[""deep""]"\nsouth.txt,,2,\n')
    files = (tmp_path / "north.txt", tmp_path / "south.txt")
    north, south = _json("add", *files, "--meta", "place=lagoon", "--meta-file", rows, "--data", held)
    assert (north["metadata"], north["identifier"]) == (
        {"place": "lagoon", "depth": 4.5, "tags": ["deep"]},
        "North-Mooring",
    )
    assert (south["metadata"], south["identifier"]) == ({"place": "lagoon", "depth": 2}, None)
    narrowed = ("--filter", "metadata.depth<3", "--filter", "metadata.place=Lagoon")
    found = _json("search", "mooring of the lagoon", *narrowed, "--data", held)["hits"]
    assert {hit["resource_id"] for hit in found} == {south["id"]}
    found = _json("search", "mooring of the lagoon", "--in", "north-mooring", "--data", held)["hits"]
    assert {hit["resource_id"] for hit in found} == {north["id"]}
    asked = ("ask", "What does a mooring of the lagoon cost?", "--data", held)
    answer = _json(*asked, "--in", "north-mooring")
    assert {citation["resource_id"] for citation in answer["citations"]} == {north["id"]}
    refused = _citewell("search", "x", "--filter", "colour=red", "--data", held, code=2)
    assert "Allowed: category, date" in refused
    assert len(refused.splitlines()) == 1
    assert "not_found" in _citewell(*asked, "--in", "east-mooring", code=2)
    assert "key=value" in _citewell("add", files[0], "--meta", "depth", "--data", held, code=2)
    assert "deleted" in _citewell("rm", "North-Mooring", south["id"], "--data", held)


def test_ls_lists_files(folder: Path, held: Path) -> None:
    assert {r["filename"] for r in _json("ls", "--data", folder)} == {"Harbour rules.md", "catch.csv"}
    assert [r["filename"] for r in _json("ls", "--data", held, "--status", "ready")]
    assert "catch.csv" in _citewell("ls", "--data", held)


def test_indexes_are_listed_compared_and_switched(held: Path) -> None:
    (index,) = _json("index", "ls", "--data", held, "--json")
    assert index["state"] == "active"
    listed = _citewell("index", "ls", "--data", held)
    assert listed.split()[0] == "active"
    assert index["id"] in listed
    same = _json("index", "compare", index["id"], "opening hours", "loan size", "--data", held, "--json")
    assert same["mean_overlap"] == 1.0
    assert "1.00  on average" in _citewell("index", "compare", index["id"], "opening hours", "--data", held)
    asked = ("ask", "What does a mooring of the lagoon cost?", "--data", held, "--index")
    assert _json(*asked, index["id"])["answer"]
    assert "not_found" in _citewell(*asked, "no-such-index", code=2)
    assert "not_found" in _citewell("search", "lagoon", "--data", held, "--index", "no-such-index", code=2)
    assert index["fingerprint"] in _citewell("index", "switch", index["id"], "--data", held)
    assert _json("index", "switch", index["id"], "--data", held, "--json")["id"] == index["id"]


def test_the_active_index_is_neither_built_again_nor_deleted(held: Path) -> None:
    (index,) = _json("index", "ls", "--data", held, "--json")
    assert "conflict" in _citewell("index", "rm", index["id"], "--data", held, code=2)
    assert "conflict" in _citewell("index", "build", "builtin", "--data", held, code=2)
    assert "not_found" in _citewell("index", "switch", "no-such-index", "--data", held, code=2)
    assert _json("index", "ls", "--data", held, "--json") == [index]


def test_token_prints_a_token_as_its_last_word(folder: Path) -> None:
    assert _citewell("token", "--data", folder).split()[-1] == _json("token", "--data", folder)["token"]


def test_doctor_says_what_works(folder: Path) -> None:
    findings = {f["part"]: f["level"] for f in _json("doctor", "--data", folder)}
    assert findings["database"] == findings["index"] == findings["embedder"] == "ok"


def test_errors_are_one_line_and_an_exit_code(folder: Path, held: Path) -> None:
    assert "No such file" in _citewell("add", "/no/such/file", "--data", held, code=2)
    assert "empty_query" in _citewell("search", " ", "--data", folder, code=2)
    for command in (("ls",), ("search", "words"), ("reindex",)):
        assert "project" in _citewell(*command, "--project", "", "--data", held, code=2)
    assert "There is no file" in _citewell("rm", "nothing like this", "--data", held, code=2)
    assert "CITEWELL_AUTH_SECRET" in _citewell("serve", "--host", "0.0.0.0", "--data", folder, code=2)


def test_a_running_server_is_used(server: Server, tmp_path: Path) -> None:
    word = f"zebra{uuid.uuid4().hex[:6]}"
    (tmp_path / f"{word}.txt").write_text(f"The {word} sleeps standing.")
    assert "indexed" in _citewell("add", tmp_path / f"{word}.txt", "--data", server.data)
    assert word in [Path(r["filename"]).stem for r in server.resources()]
    assert word in _citewell("ask", f"How does the {word} sleep?", "--data", server.data)
    assert "deleted" in _citewell("rm", f"{word}.txt", "--data", server.data)
    assert word not in [Path(r["filename"]).stem for r in server.resources()]


def test_a_known_file_is_read_again_with_the_options_of_now(held: Path, tmp_path: Path) -> None:
    page = tmp_path / "berths.html"
    page.write_text(
        "<h1>Berths</h1><table><tr><th>Berth</th><th>Price</th></tr><tr><td>North</td><td>14</td></tr></table>"
    )
    assert _json("add", page, "--data", held)[0]["coverage"]["tables"] == 1
    assert "already known" in _citewell("add", page, "--data", held)
    (read,) = _json("add", page, "--data", held, "--no-tables")
    assert (read["outcome"], read["coverage"]["tables"]) == ("reread", 0)
    assert "indexed again with these options" in _citewell("add", page, "--data", held, "--chunking", "tokens:50:5")
    assert "tokens:1000:100" in _citewell("add", page, "--data", held, "--chunking", "tokens:many", code=2)


def test_a_file_is_found_by_its_caption(held: Path, tmp_path: Path) -> None:
    picture = tmp_path / "IMG_0042.png"
    Image.effect_noise((64, 64), 20).save(picture)
    _citewell("add", picture, "--caption", "The lighthouse at dusk, seen from the pier.", "--data", held)
    best = _json("search", "lighthouse", "--data", held)["hits"][0]
    assert (best["filename"], best["type"]) == ("IMG_0042.png", "image")


def test_reindex_says_how_many_files_it_did(folder: Path, held: Path) -> None:
    assert "2 files reindexed" in _citewell("reindex", "--all", "--data", folder)
    done = _json("reindex", "--project", "My files", "--read-again", "--data", held)
    assert (done["state"], done["failed"]) == ("finished", 0)
    assert done["total"] >= 2
    assert _json("reindex", "--failed", "--data", held)["total"] == 0
    assert "--all" in _citewell("reindex", "--data", held, code=2)


def test_a_refused_file_fails_the_command(folder: Path, tmp_path: Path) -> None:
    (tmp_path / "empty.txt").write_bytes(b"")
    said = _citewell("add", tmp_path / "empty.txt", "--data", folder, code=1)
    assert "empty" in said
