"""The built-in scorer tells what a question asks for from what it does not, and reads the same pair alike in any company."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from citewell.adapters.reader.reading_scorer import SCORER_FOLDER, BuiltinReadingScorer
from citewell.errors import ConfigurationError

NOTHING = ("nothing of the table, whose columns are Ship, Launched, Port, Crew", "")


@pytest.fixture(scope="module")
def scorer() -> BuiltinReadingScorer:
    return BuiltinReadingScorer.load()


@pytest.mark.parametrize(
    ("question", "meant", "other"),
    [
        (
            "which ship has the largest crew?",
            ("Ship of the row with the highest Crew", "Adda"),
            ("Ship of the row with the lowest Crew", "Pra"),
        ),
        ("how many ships are in tema?", ("number of rows where Port is Tema", "1"), ("Crew where Port is Tema", "96")),
        ("what is the port of the adda?", ("Port where Ship is Adda", "Takoradi"), ("Crew where Ship is Adda", "1204")),
        ("when was the densu launched?", ("Launched where Ship is Densu", "30 July 1911"), NOTHING),
        ("who won the world cup in 1998?", NOTHING, ("Ship where Launched is 1998", "Volta")),
    ],
)
def test_what_a_question_means_is_scored_higher(
    scorer: BuiltinReadingScorer, question: str, meant: tuple[str, str], other: tuple[str, str]
) -> None:
    high, low = scorer.score(question, [meant, other])
    assert high > low


def test_a_reading_is_scored_the_same_alone_and_in_company(scorer: BuiltinReadingScorer) -> None:
    readings = [("Port where Ship is Adda", "Takoradi"), ("Crew where Ship is Adda", "1204"), NOTHING]
    together = scorer.score("what is the port?", readings)
    assert together == pytest.approx([scorer.score("what is the port?", [one])[0] for one in readings], abs=1e-4)


@pytest.mark.parametrize("text", ["", " ", "\ud800", "wreck " * 500, "…"])
def test_any_text_is_scored(scorer: BuiltinReadingScorer, text: str) -> None:
    scores = scorer.score(text, [(text, text), (f"Ship where Port is {text}", ""), NOTHING])
    assert len(scores) == 3
    assert all(abs(score) < 100 for score in scores)


def test_no_readings_need_no_model(tmp_path: Path) -> None:
    shutil.copy(SCORER_FOLDER / "manifest.json", tmp_path)
    assert BuiltinReadingScorer.load(tmp_path).score("Who?", []) == []


def test_a_damaged_model_is_refused(tmp_path: Path) -> None:
    shutil.copy(SCORER_FOLDER / "manifest.json", tmp_path)
    (tmp_path / "model.onnx").write_bytes(b"no model")
    with pytest.raises(ConfigurationError, match="damaged"):
        BuiltinReadingScorer.load(tmp_path).score("Who?", [("Ship", "Adda")])


def test_without_its_manifest_it_says_so(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match="incomplete"):
        BuiltinReadingScorer.load(tmp_path)


def test_a_manifest_without_the_weights_of_its_scores_is_refused(tmp_path: Path) -> None:
    text = (SCORER_FOLDER / "manifest.json").read_text(encoding="utf-8")
    (tmp_path / "manifest.json").write_text(text.replace('"joined"', '"other"'), encoding="utf-8")
    with pytest.raises(ConfigurationError, match="incomplete"):
        BuiltinReadingScorer.load(tmp_path)
