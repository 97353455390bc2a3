"""Subtitles and transcripts (WebVTT, SubRip): who says what and when, without cue numbers, times and markup."""

from __future__ import annotations

import html
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from citewell.extract.core.decode import decode_file
from citewell.extract.core.sink import Sink
from citewell.types import ElementType, Locator

MAX_TRANSCRIPT_BYTES = 64 * 1024 * 1024
_MAX_TURN = 600  # characters after which a speaker's turn is split at the end of a cue
_TIME = r"(?:(\d{1,4}):)?(\d{1,2}):(\d{2})[.,](\d{1,3})"
_TIMES = re.compile(rf"\s*{_TIME}\s*-->\s*{_TIME}")
_VOICE = re.compile(r"<v(?:\.[^\s>]*)?\s+([^>\n]{1,80})>")
_TAG = re.compile(r"<[^<>\n]{0,200}>|\{\\[^{}\n]{0,80}\}")
_SENTENCE_END = re.compile(r"[.!?…。！？][\"'”’»)]*\Z")


@dataclass(frozen=True, slots=True)
class _Said:
    """One speaker's words in one cue; `start` and `end` are the cue's offsets in the text."""

    speaker: str
    text: str
    second: float
    start: int
    end: int


def extract(path: Path, sink: Sink) -> None:
    """Reads a transcript in any encoding: one paragraph per uninterrupted turn, with its start time."""
    decoded = decode_file(path, MAX_TRANSCRIPT_BYTES)
    sink.metadata |= {"encoding": decoded.encoding, "line_count": len(decoded.text.splitlines())}
    sink.start_unit("file", 1)
    if decoded.replaced:
        sink.warn(f"{decoded.replaced} characters could not be decoded as {decoded.encoding}.")
    for turn in _turns(_cues(decoded.text)):
        text = " ".join(said.text for said in turn)
        sink.emit(
            ElementType.PARAGRAPH,
            f"{turn[0].speaker}: {text}" if turn[0].speaker else text,
            Locator(second=turn[0].second, char_start=turn[0].start, char_end=turn[-1].end),
        )


def _cues(text: str) -> Iterator[_Said]:
    """Yields the words of each cue, speaker by speaker."""
    second: float | None = None
    lines: list[str] = []
    start = position = 0
    for line in (*text.splitlines(keepends=True), "\n"):
        times = _TIMES.match(line)
        if times is not None or not line.strip():
            if second is not None:
                yield from _voices("\n".join(lines), second, start, position)
            second, lines = (_seconds(times), []) if times is not None else (None, [])
            start = position + len(line)
        elif second is not None:
            lines.append(line.strip())
        position += len(line)


def _voices(text: str, second: float, start: int, end: int) -> Iterator[_Said]:
    speaker, position = "", 0
    for voice in (*_VOICE.finditer(text), None):
        words = _plain(text[position : voice.start() if voice else len(text)])
        if words:
            yield _Said(speaker, words, second, start, end)
        if voice is not None:
            speaker, position = voice[1].strip(), voice.end()


def _turns(said: Iterable[_Said]) -> Iterator[list[_Said]]:
    """Yields runs of one speaker's cues, ended at a sentence end or when the run is long."""
    turn: list[_Said] = []
    for one in said:
        long = sum(len(other.text) for other in turn) > _MAX_TURN
        ended = turn and _SENTENCE_END.search(turn[-1].text) is not None
        if turn and (one.speaker != turn[0].speaker or ended or long):
            yield turn
            turn = []
        turn.append(one)
    if turn:
        yield turn


def _plain(text: str) -> str:
    return " ".join(html.unescape(_TAG.sub("", text)).split())


def _seconds(times: re.Match[str]) -> float:
    hours, minutes, seconds, fraction = times.group(1, 2, 3, 4)
    return int(hours or 0) * 3600 + int(minutes) * 60 + int(seconds) + int(fraction) / 10 ** len(fraction)
