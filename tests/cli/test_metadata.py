"""`--meta`, `--meta-file` and `--identifier`: which file gets what, and errors that name what is wrong."""

from __future__ import annotations

from pathlib import Path

import pytest

from citewell import InvalidInput
from citewell.cli.metadata import FileAnnotations, annotations_of_each

FILES = (Path("photos/a.jpg"), Path("photos/old/b.jpg"), Path("scans/old/b.jpg"))


def _said(text: str, name: str, tmp_path: Path, *meta: str) -> dict[Path, FileAnnotations]:
    path = tmp_path / name
    path.write_text(text, encoding="utf-8")
    return annotations_of_each(FILES, meta, path, None)


def test_values_that_are_typed_have_the_type_that_they_look_like() -> None:
    typed = ["iso=400", "indoor=false", "camera=Leica M6", 'year="2024"', 'tags=["a", "b"]', "formula=a=b", "zip=01234"]
    (said,) = annotations_of_each(FILES[:1], typed, None, "frame-1").values()
    assert said.metadata == {
        "iso": 400,
        "indoor": False,
        "camera": "Leica M6",
        "year": "2024",
        "tags": ["a", "b"],
        "formula": "a=b",
        "zip": "01234",
    }
    assert said.fields()["identifier"] == "frame-1"


def test_rows_of_a_file_name_files_by_the_end_of_their_paths_and_win_over_meta(tmp_path: Path) -> None:
    said = _said(
        'file,identifier,camera,iso,note\na.jpg,frame-1,Leica,,"two\nlines"\nscans/old/b.jpg,,,800,\n',
        "m.csv",
        tmp_path,
        "camera=Canon",
        "iso=100",
    )
    assert said == {
        FILES[0]: FileAnnotations({"camera": "Leica", "iso": 100, "note": "two\nlines"}, "frame-1"),
        FILES[1]: FileAnnotations({"camera": "Canon", "iso": 100}),
        FILES[2]: FileAnnotations({"camera": "Canon", "iso": 800}),
    }


def test_json_is_an_object_by_names_or_a_list(tmp_path: Path) -> None:
    wanted = {FILES[0]: FileAnnotations({"iso": 400}, "7"), FILES[1]: FileAnnotations(), FILES[2]: FileAnnotations()}
    assert _said('{"a.jpg": {"iso": 400, "identifier": "7"}}', "m.json", tmp_path) == wanted
    assert _said('[{"file": "photos/a.jpg", "iso": 400, "identifier": 7}]', "m.JSON", tmp_path) == wanted


@pytest.mark.parametrize(
    ("name", "text", "problem"),
    [
        ("m.csv", "file,iso\nc.jpg,1\n", "'c.jpg', which is no file that is added"),
        ("m.csv", "file,iso\nold/b.jpg,1\n", "several of the files"),
        ("m.csv", "file,iso\na.jpg,1\nphotos/a.jpg,2\n", "several rows for 'photos/a.jpg'"),
        ("m.csv", "file,iso\na.jpg,1,2\n", "Line 2 of m.csv has more cells"),
        ("m.csv", "iso\n1\n", "names its file under `file`"),
        ("m.csv", "file,iso,iso\na.jpg,1,2\n", "name its columns, each once"),
        ("m.csv", "", "name its columns, each once"),
        ("m.csv", 'file,iso\n"a.jpg,1\n', "is not CSV, from line 2 on"),
        ("m.json", "{", "m.json is not JSON"),
        ("m.json", "3", "an object of objects"),
        ("m.json", '{"a.jpg": 3}', "an object of objects"),
    ],
)
def test_a_metadata_file_that_cannot_be_used_is_refused(name: str, text: str, problem: str, tmp_path: Path) -> None:
    with pytest.raises(InvalidInput) as caught:
        _said(text, name, tmp_path)
    assert problem in caught.value.message


def test_what_is_typed_wrongly_is_refused(tmp_path: Path) -> None:
    for meta in ("camera", "=x", "camera= "):
        with pytest.raises(InvalidInput, match="key=value"):
            annotations_of_each(FILES, [meta], None, None)
    with pytest.raises(InvalidInput, match="names one file"):
        annotations_of_each(FILES, [], None, "frame-1")
    with pytest.raises(InvalidInput, match="cannot be read: No such file"):
        annotations_of_each(FILES, [], tmp_path / "none.csv", None)
    (tmp_path / "latin.csv").write_bytes(b"file,caf\xe9\n")
    with pytest.raises(InvalidInput, match="UTF-8"):
        annotations_of_each(FILES, [], tmp_path / "latin.csv", None)
