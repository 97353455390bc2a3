"""The Python facade, as README shows it."""

from __future__ import annotations

from pathlib import Path

import pytest

from citewell import Citewell
from citewell.errors import DataFolderBusy, InvalidInput
from citewell.types import Status


def test_add_search_ask_delete(tmp_path: Path) -> None:
    note = tmp_path / "note.md"
    note.write_text("# Keys\n\nThe spare key hangs behind the blue door.\n")
    with Citewell(tmp_path / "data") as cw:
        resource = cw.add(note)
        assert resource.status is Status.INDEXED
        assert cw.search("spare key")[0].chunk.resource_id == resource.id
        answer = cw.ask("Where does the spare key hang?")
        assert "blue door" in answer.text
        assert answer.citations[0].label.startswith("note.md")
        assert [r.id for r in cw.resources()] == [resource.id]
        cw.delete(resource.id)
        assert cw.search("spare key") == []


def test_how_many_and_whether_to_rerank_are_as_configured_unless_told(tmp_path: Path) -> None:
    note = tmp_path / "note.md"
    note.write_text("\n\n".join(f"# Key {n}\n\n" + f"The spare key {n} hangs behind door {n}. " * 12 for n in range(6)))
    with Citewell(tmp_path / "data", top_k=2, rerank_provider="none") as cw:
        cw.add(note)
        assert len(cw.search("spare key")) == 2
        assert len(cw.search("spare key", 4)) == 4
        assert cw.ask("Where does the spare key 3 hang?", rerank=False).text
        with pytest.raises(InvalidInput, match="RERANK_PROVIDER"):
            cw.ask("Where does the spare key 3 hang?", rerank=True)


def test_texts_are_found_by_their_record_id_and_replaced_by_it(tmp_path: Path) -> None:
    with Citewell(tmp_path / "data") as cw:
        records = [
            {"id": "a", "text": "Herons wade in shallow water.", "title": "Birds"},
            {"id": "b", "text": "Locksmiths cut keys.", "metadata": {"trade": True}},
            {"id": "long", "text": "Rivers carry silt. " * 400},
        ]
        assert cw.add_texts(records).added == 3
        assert cw.search("heron")[0].record_id == "a"
        assert sum(hit.record_id == "long" for hit in cw.search("silt in rivers", top_k=20)) > 1
        assert cw.add_texts(records).unchanged == 3
        assert cw.add_texts([{"id": "a", "text": "Owls hunt at night."}]).replaced == 1
        assert cw.search("owls")[0].record_id == "a"
        assert all("Herons" not in hit.chunk.text for hit in cw.search("heron"))


def test_records_without_id_or_text_are_refused(tmp_path: Path) -> None:
    with Citewell(tmp_path / "data") as cw:
        with pytest.raises(InvalidInput, match="`id`"):
            cw.add_texts([{"text": "x"}])
        with pytest.raises(InvalidInput, match="`text`"):
            cw.add_texts([{"id": "x"}])


def test_what_was_added_is_there_when_opened_again_and_one_process_holds_the_folder(tmp_path: Path) -> None:
    with Citewell(tmp_path / "data") as cw:
        cw.add_texts([{"id": "a", "text": "Herons wade in shallow water."}])
        with pytest.raises(DataFolderBusy):
            Citewell(tmp_path / "data").__enter__()
    with Citewell(tmp_path / "data") as cw:
        assert cw.search("heron")[0].record_id == "a"


def test_two_folders_are_open_at_once_and_keep_apart(tmp_path: Path) -> None:
    with Citewell(tmp_path / "one") as one, Citewell(tmp_path / "two") as two:
        one.add_texts([{"id": "a", "text": "Herons wade in shallow water."}])
        assert two.search("heron") == []
