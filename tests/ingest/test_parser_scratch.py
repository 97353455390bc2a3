"""What a parser that was taken over could leave behind, and what the server makes of it."""

from __future__ import annotations

import json
import os
from dataclasses import replace
from pathlib import Path
from typing import Any

import hypothesis.strategies as st
import pytest
from hypothesis import HealthCheck, given, settings

from citewell.errors import ExtractionError, LimitExceeded, ParserCrashed
from citewell.extract.core.sink import ELEMENTS_FILE
from citewell.extract.sandbox.job import REPORT_FILE
from citewell.ingest import parser_scratch
from citewell.ingest.parser_scratch import Scratch, follow_element_lines, read_element_lines, read_elements
from citewell.types import (
    Box,
    Category,
    ChildFile,
    Coverage,
    DetectedType,
    Element,
    ElementType,
    ExtractedBlob,
    ExtractionSummary,
    Locator,
    UnitCoverage,
)
from tests.depth import examples

SUMMARY = ExtractionSummary(
    detected=DetectedType("application/pdf", "pdf", Category.RAG, "pdf"),
    coverage=Coverage(units=(UnitCoverage(unit="page", number=1, ocr_confidence=0.9, warnings=("w",)),), elements=1),
    metadata={"pages": 1},
    language="en",
    blobs=(ExtractedBlob(name="n", path="blob-0", mime_type="image/png", kind="image"),),
    children=(ChildFile(filename="f", path="child-0", locator=Locator(page=1)),),
)
ELEMENT = Element(
    id="e0",
    type=ElementType.TABLE,
    text="| ä |",
    locator=Locator(page=1, pages=(1,), boxes=(Box(1, 0, 1.5, 2, 3),), headings=("h",), sheet="s", row=2),
    span_starts=(0,),
    html="<table>",
    grid=(("ä",),),
    header_rows=1,
    values={"a": None},
    confidence=0.5,
)
_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=6,
)


@pytest.fixture
def scratch(tmp_path: Path) -> Scratch:
    return _scratch(tmp_path / "scratch")


def _scratch(folder: Path) -> Scratch:
    scratch = Scratch.prepare(folder)
    scratch.close()
    for name in ("blob-0", "child-0", ELEMENTS_FILE):
        (folder / name).touch()
    return scratch


def _leave(scratch: Scratch, report: object) -> None:
    (scratch.folder / REPORT_FILE).write_text(json.dumps(report))


def _replaced(value: Any, path: list[int], other: Any) -> Any:
    """`value` with one of its parts, found by indexes modulo the number of parts, replaced."""
    if not path or not isinstance(value, dict | list) or not value:
        return other
    keys = list(value) if isinstance(value, dict) else range(len(value))
    chosen = keys[path[0] % len(keys)]
    changed = dict(value) if isinstance(value, dict) else list(value)
    changed[chosen] = _replaced(value[chosen], path[1:], other)
    return changed


def test_an_honest_report_is_read_as_it_was_written(scratch: Scratch) -> None:
    _leave(scratch, {"summary": SUMMARY.to_json()})
    assert scratch.summary() == SUMMARY


def test_honest_elements_are_read_as_they_were_written(scratch: Scratch) -> None:
    line = json.dumps(ELEMENT.to_json(), ensure_ascii=False)
    (scratch.folder / ELEMENTS_FILE).write_text(line + "\n")
    assert list(read_element_lines(scratch.folder)) == [(ELEMENT, line)]


mutations = settings(max_examples=examples(200), deadline=None, suppress_health_check=[HealthCheck.too_slow])


@mutations
@given(st.lists(st.integers(0, 20), min_size=1, max_size=6), _JSON)
def test_a_changed_report_is_a_summary_of_the_right_types_or_an_extraction_error(
    tmp_path_factory: pytest.TempPathFactory, path: list[int], other: Any
) -> None:
    scratch = _scratch(tmp_path_factory.mktemp("scratch") / "s")
    _leave(scratch, _replaced({"summary": SUMMARY.to_json()}, path, other))
    try:
        summary = scratch.summary()
    except ExtractionError:
        return
    assert parser_scratch.well_typed(summary)
    json.dumps(summary.to_json(), ensure_ascii=False).encode()


@mutations
@given(st.lists(st.integers(0, 20), min_size=1, max_size=5), _JSON)
def test_a_changed_element_has_the_right_types_or_is_refused(
    tmp_path_factory: pytest.TempPathFactory, path: list[int], other: Any
) -> None:
    folder = tmp_path_factory.mktemp("scratch")
    (folder / ELEMENTS_FILE).write_text(json.dumps(_replaced(ELEMENT.to_json(), path, other)) + "\n")
    try:
        (element,) = read_elements(folder)
    except ExtractionError:
        return
    assert parser_scratch.well_typed(element)
    json.dumps(element.to_json(), ensure_ascii=False).encode()


@pytest.mark.parametrize(
    "error", [None, [], {}, {"code": []}, {"code": "corrupt_file", "message": 1, "details": 3}, "text"]
)
def test_an_error_that_makes_no_sense_is_a_crash(scratch: Scratch, error: object) -> None:
    _leave(scratch, {"error": error})
    with pytest.raises(ParserCrashed):
        scratch.summary()


def test_an_endless_message_is_cut(scratch: Scratch) -> None:
    _leave(scratch, {"error": {"code": "corrupt_file", "message": "x" * 100_000, "details": {}}})
    with pytest.raises(ExtractionError) as caught:
        scratch.summary()
    assert len(caught.value.message) == 2_000


def _link_to_accounts(path: Path) -> None:
    path.symlink_to("/etc/passwd")


@pytest.mark.parametrize("make", [_link_to_accounts, os.mkfifo, Path.mkdir])
@pytest.mark.parametrize("name", ["blob-0", "child-0", ELEMENTS_FILE, REPORT_FILE])
def test_what_is_no_plain_file_is_not_opened(scratch: Scratch, make: Any, name: str) -> None:
    _leave(scratch, {"summary": SUMMARY.to_json()})
    (scratch.folder / name).unlink()
    make(scratch.folder / name)
    with pytest.raises(ParserCrashed):
        scratch.summary()


def test_a_second_name_of_a_foreign_file_is_refused(scratch: Scratch, tmp_path: Path) -> None:
    (tmp_path / "foreign").write_text("secret")
    (scratch.folder / "blob-0").unlink()
    (scratch.folder / "blob-0").hardlink_to(tmp_path / "foreign")
    _leave(scratch, {"summary": SUMMARY.to_json()})
    with pytest.raises(ParserCrashed):
        scratch.summary()


@pytest.mark.parametrize("path", ["../foreign", "/etc/passwd", "", ".", "folder/file", "a\x00b", "x" * 300])
def test_a_path_out_of_scratch_is_refused(scratch: Scratch, tmp_path: Path, path: str) -> None:
    (tmp_path / "foreign").write_text("secret")
    report = SUMMARY.to_json() | {
        "blobs": [{"name": "n", "path": path, "mime_type": "m", "kind": "image", "metadata": {}}]
    }
    _leave(scratch, {"summary": report})
    with pytest.raises(ParserCrashed):
        scratch.summary()


def test_a_line_without_end_is_not_read_into_memory(scratch: Scratch, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parser_scratch, "_LINE_BYTES", 1_000)
    (scratch.folder / ELEMENTS_FILE).write_text("x" * 5_000)
    with pytest.raises(LimitExceeded):
        list(read_elements(scratch.folder))


@pytest.mark.parametrize(
    "written", ["", "{", '{"beat": "x"}', "[]", "\x00\xff" * 50, '{"beat": 1e999, "done": 1, "total": 2}']
)
def test_progress_that_makes_no_sense_is_none(tmp_path: Path, written: str) -> None:
    scratch = Scratch.prepare(tmp_path / "scratch")
    (scratch.folder / "progress.json").write_text(written)
    assert scratch.progress() == parser_scratch.Progress()
    scratch.close()


def test_what_is_written_before_the_parser_ends_is_followed(tmp_path: Path) -> None:
    lines = [json.dumps(replace(ELEMENT, id=f"e{n}").to_json()) + "\n" for n in range(3)]
    path = tmp_path / ELEMENTS_FILE
    path.write_text(lines[0], encoding="utf-8")

    def wait() -> bool:
        """It writes the rest while nobody looks, and ends."""
        path.write_text("".join(lines), encoding="utf-8")
        return False

    assert [element.id for element, _ in follow_element_lines(tmp_path, wait)] == ["e0", "e1", "e2"]
