"""Subtitles and transcripts: who says what, and when."""

from __future__ import annotations

from pathlib import Path

from citewell.types import ElementType
from tests.extract.documents.reading import read_bytes

VTT = (
    "WEBVTT - standup\n\nNOTE made by a program\n\n1\n00:00:03.000 --> 00:00:07.500 align:start\n<v Maya>Good morning.\n\n"
    "00:08.000 --> 00:15.000\n<v Diego>The cart expired &amp; the <i>cookie</i>\n\n00:15.500 --> 00:21.000\n<v Diego>was wrong.</v>\n\n"
    "01:00:22.000 --> 01:00:29.000\n<v Maya>Who tests it? <v Priya>I will, on Android.\n"
)
SRT = "1\r\n00:00:01,000 --> 00:00:02,500\r\nThe gate closes\r\nat nine.\r\n\r\n2\r\n00:00:04,000 --> 00:00:05,000\r\nNot before.\r\n"


def test_a_transcript_becomes_what_each_says_at_its_moment(tmp_path: Path) -> None:
    reading = read_bytes(tmp_path, "a.vtt", VTT)
    assert [(element.text, element.locator.label("a.vtt")) for element in reading.of(ElementType.PARAGRAPH)] == [
        ("Maya: Good morning.", "a.vtt (0:03)"),
        ("Diego: The cart expired & the cookie was wrong.", "a.vtt (0:08)"),
        ("Maya: Who tests it?", "a.vtt (1:00:22)"),
        ("Priya: I will, on Android.", "a.vtt (1:00:22)"),
    ]


def test_subtitles_have_no_numbers_and_times_in_their_text(tmp_path: Path) -> None:
    reading = read_bytes(tmp_path, "a.srt", SRT)
    assert reading.texts() == ["The gate closes at nine.", "Not before."]
    first = reading.elements[0].locator
    assert "The gate closes" in SRT[first.char_start : first.char_end]


def test_a_file_without_cues_is_empty(tmp_path: Path) -> None:
    assert read_bytes(tmp_path, "a.vtt", "WEBVTT\n\nNOTE nothing yet\n").texts() == []
