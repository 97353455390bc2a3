from __future__ import annotations

import io
import json
import random
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from citewell.errors import LimitExceeded
from citewell.extract.formats.tabular.json_stream import Damaged, JsonStream
from citewell.types import ElementType
from tests.depth import examples
from tests.extract.documents.reading import read_bytes
from tests.extract.tabular.tables import column, copied, rows, tables


def test_a_list_of_objects_becomes_rows_with_paths(tmp_path: Path) -> None:
    records = [{"id": 1, "who": {"name": "Ama", "tags": ["x", "y"]}}, {"id": 2, "who": {"name": "Kofi"}, "late": True}]
    reading = read_bytes(tmp_path, "a.json", json.dumps(records))
    first, second = rows(reading)
    assert first.text == "id: 1 | who.name: Ama | who.tags[0]: x | who.tags[1]: y"
    assert first.values == {"id": 1, "who.name": "Ama", "who.tags[0]": "x", "who.tags[1]": "y"}
    assert second.values == {"id": 2, "who.name": "Kofi", "late": True}
    assert (first.locator.row, second.locator.row) == (1, 2)
    assert copied(reading)[0]["late"] is None
    assert column(reading, "id")["sum"] == 3


def test_lists_inside_an_object_become_tables_of_their_own(tmp_path: Path) -> None:
    body = {"title": "Report", "data": [{"a": 1}, {"a": 2}], "deep": {"list": [{"b": 3}, {"b": 4}], "n": 5}}
    reading = read_bytes(tmp_path, "a.json", json.dumps(body))
    assert [table["name"] for table in tables(reading)] == ["data", "deep.list"]
    assert reading.texts(ElementType.PARAGRAPH) == ["title: Report", "deep.n: 5"]


def test_other_values_become_paragraphs(tmp_path: Path) -> None:
    reading = read_bytes(tmp_path, "a.json", json.dumps({"k": "v", "list": ["one", 2], "none": None, "text": "a\nb"}))
    assert reading.texts() == ["k: v", "list[0]: one", "list[1]: 2", "none:", "text: a\nb"]


def test_json_lines_are_numbered_by_line_and_broken_lines_stay_text(tmp_path: Path) -> None:
    reading = read_bytes(tmp_path, "a.ndjson", '{"a": 1}\n\n{"a": 2}\nnot json at all\n{"a": 3}\n')
    assert [(row.locator.row, row.values) for row in rows(reading)] == [(1, {"a": 1}), (3, {"a": 2}), (5, {"a": 3})]
    (broken,) = reading.of(ElementType.PARAGRAPH)
    assert (broken.text, broken.locator.row) == ("not json at all", 4)
    assert "line 4" in reading.notes()


def test_cut_off_json_yields_what_is_whole_and_the_rest_as_text(tmp_path: Path) -> None:
    text = json.dumps([{"name": f"person {n}", "city": "Accra"} for n in range(10)])[:-12]
    reading = read_bytes(tmp_path, "a.json", text)
    assert len(rows(reading)) == 9
    assert "person 9" in reading.text
    assert "cut off" in reading.notes()


def test_a_nesting_bomb_is_refused(tmp_path: Path) -> None:
    for text in ("[" * 100_000, '{"a":' * 50_000 + "1" + "}" * 50_000, "[" * 300 + "]" * 300):
        with pytest.raises(LimitExceeded):
            read_bytes(tmp_path, "a.json", text)


def test_a_nesting_bomb_in_a_line_is_refused(tmp_path: Path) -> None:
    with pytest.raises(LimitExceeded):
        read_bytes(tmp_path, "a.ndjson", '{"a": 1}\n{"a": 2}\n' + "[" * 100_000 + "\n")


@pytest.mark.full
def test_records_without_end_of_fields_stay_within_columns(tmp_path: Path) -> None:
    records = [{f"f{n}_{i}": n for i in range(30)} for n in range(60)]
    reading = read_bytes(tmp_path, "a.json", json.dumps(records))
    assert tables(reading)[0]["column_count"] == 1_001
    assert json.loads(copied(reading)[59]["(more)"]) == records[59]
    assert "more than 1,000" in reading.notes()


def test_odd_numbers_and_texts_survive(tmp_path: Path) -> None:
    body = '[{"n": 1e400, "big": %s, "s": "\\ud800\\u0000x"}, {"n": NaN, "big": 2, "s": "y"}]' % ("9" * 400)
    reading = read_bytes(tmp_path, "a.json", body)
    assert len(rows(reading)) == 2
    assert (rows(reading)[0].values or {})["big"] == "9" * 400
    assert (rows(reading)[0].values or {})["s"] == "?x"


def test_utf_16_json_is_read(tmp_path: Path) -> None:
    reading = read_bytes(tmp_path, "a.json", json.dumps([{"a": "ü"}, {"a": "é"}], ensure_ascii=False).encode("utf-16"))
    assert [row.text for row in rows(reading)] == ["a: ü", "a: é"]


class Trickle(io.StringIO):
    """A file that gives a few characters at a time."""

    def __init__(self, text: str, seed: int) -> None:
        super().__init__(text)
        self._random = random.Random(seed)

    def read(self, size: int | None = -1, /) -> str:
        return super().read(self._random.randint(1, 5))


_json = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=12,
)


@settings(max_examples=examples(200), deadline=None)
@given(_json, st.booleans(), st.integers(0, 1_000))
def test_a_stream_in_pieces_gives_the_values_of_the_whole(value: Any, plain: bool, seed: int) -> None:
    text = json.dumps(value, ensure_ascii=plain, indent=1 if plain else None)
    items = list(JsonStream(Trickle(text, seed)))
    if isinstance(value, list):
        rebuilt: Any = [item.value for item in items]
    elif isinstance(value, dict):
        rebuilt = {key: [] for key, member in value.items() if isinstance(member, list)}
        for item in items:
            if item.index is None:
                rebuilt[item.key] = item.value
            else:
                rebuilt[item.key].append(item.value)
    else:
        rebuilt = items[0].value
    assert rebuilt == value


@settings(max_examples=examples(200), deadline=None)
@given(_json, st.integers(0, 60), st.integers(0, 1_000))
def test_a_cut_stream_loses_no_text(value: Any, cut: int, seed: int) -> None:
    text = json.dumps(value)[:cut]
    stream = JsonStream(Trickle(text, seed))
    read = ""
    try:
        for item in stream:
            read += json.dumps(item.key) + json.dumps(item.value)
    except Damaged:
        read += "".join(stream.rest())
    assert all(word in read for word in _words(text))


def _words(text: str) -> list[str]:
    return [word for word in text.replace("\\", " ").split() if word.isalnum() and word.isascii() and len(word) > 2]
