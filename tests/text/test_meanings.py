"""Which English words mean the same, and which are opposites."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest

from citewell.errors import ConfigurationError
from citewell.text import meanings
from citewell.text.meanings import are_opposites, is_noun, is_word, mean_the_same


@pytest.mark.parametrize(
    ("one", "other"),
    [("raised", "lifted"), ("bought", "purchased"), ("allowed", "permitted"), ("larger", "bigger"), ("running", "ran")],
)
def test_words_of_one_meaning_are_found_in_any_form(one: str, other: str) -> None:
    assert mean_the_same(one, other)
    assert mean_the_same(other, one)
    assert not are_opposites(one, other)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("rose", "fell"),
        ("mild", "severe"),
        ("complete", "incomplete"),
        ("opened", "unopened"),
        ("maximum", "minimum"),
        ("cheaper", "expensive"),
    ],
)
def test_opposites_are_found_in_any_form(one: str, other: str) -> None:
    assert are_opposites(one, other)
    assert are_opposites(other, one)


@pytest.mark.parametrize(("one", "other"), [("water", "blood"), ("red", "green"), ("xyzzy", "water"), ("", "a")])
def test_others_are_neither(one: str, other: str) -> None:
    assert not mean_the_same(one, other)
    assert not are_opposites(one, other)


def test_words_and_nouns_are_told() -> None:
    assert is_word("geese")
    assert not is_word("okafor")
    assert is_noun("lamps")
    assert not is_noun("quickly")
    assert is_noun("okafor"), "what is not known is most likely a name"


@pytest.mark.parametrize("content", [None, b"no gzip", gzip.compress(b"", mtime=0)[:-6]])
def test_a_damaged_file_is_an_error_that_names_it(
    content: bytes | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "relations.gz"
    if content is not None:
        file.write_bytes(content)
    monkeypatch.setattr(meanings, "FILE", file)
    monkeypatch.setattr(meanings, "_known", {})
    meanings._meanings.cache_clear()
    with pytest.raises(ConfigurationError, match="Reinstall"):
        is_word("lamp")
