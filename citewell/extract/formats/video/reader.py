"""Videos: a frame at each scene change and at least every ten seconds, each with its time and its text read by OCR.

Runs in the sandboxed process like every reader: FFmpeg's decoders are the largest attack surface for a hostile file.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from PIL import Image

from citewell.errors import CorruptFile, LimitExceeded, UnsupportedType
from citewell.extract.core.damage import LIBRARY_DAMAGE
from citewell.extract.core.likeness import keep_likeness
from citewell.extract.core.ocr import as_rgb, mean_confidence, read_image
from citewell.extract.core.pictures import MAX_SIDE
from citewell.extract.core.sink import Sink
from citewell.types import PREVIEW, ElementType, Locator
from citewell.types.locators import clock

EVERY_SECONDS = 10.0
"""Longest interval between kept frames, in seconds."""
MAX_FRAMES = 300
"""Frames kept per video, as many as pictures of one file are described; in a long video they are further apart."""
_SCENE = 0.12
"""Mean difference between two small frames, 0 to 1, at which they are different scenes. Cuts between unlike pictures
give 0.2 and more, a moving camera 0.02 to 0.08 (synthetic videos; set by hand).
"""
_MIN_SECONDS = 0.5
"""Shortest interval between kept frames, in seconds: a flicker is not a scene."""
_ALL_FRAMES_SECONDS = 300.0
"""Length of a video up to which every frame is decoded; in longer ones, only keyframes (placed at cuts)."""
_SMALL = 32
"""Pixels per side of the copy used to tell scenes apart."""
_DECODE_SECONDS = 420.0
"""Seconds of decoding after which the rest is skipped; the parser process is killed after 600 in total."""
_OCR_SECONDS = 40.0
_QUALITY = 85

Small = npt.NDArray[np.int16]


@dataclass(frozen=True, slots=True)
class _Decoded:
    """A frame as returned by the decoder (an `av.VideoFrame`)."""

    second: float
    frame: Any


@dataclass(frozen=True, slots=True)
class _Kept:
    second: float
    image: Image.Image


def extract(path: Path, sink: Sink) -> None:
    """Emits one image element per kept frame, with its time, its picture and its text. Audio is not read."""
    try:
        import av
        from av import logging
        from av.error import FFmpegError
    except ImportError as error:
        raise UnsupportedType('Videos need the package `av`. Install it: pip install "citewell[video]".') from error
    logging.set_level(None)
    try:
        with av.open(str(path), mode="r", options={"protocol_whitelist": "file"}) as container:
            _read(container, sink)
    except (FFmpegError, *LIBRARY_DAMAGE) as error:
        raise CorruptFile(f"The video cannot be read: {str(error)[:200]}") from error


def _read(container: Any, sink: Sink) -> None:
    if not container.streams.video:
        raise CorruptFile("The file has no video, only audio, which is not read.")
    stream = container.streams.video[0]
    if stream.width * stream.height > sink.options.max_pixels:
        raise LimitExceeded(f"The video's frames exceed the limit of {sink.options.max_pixels:,} pixels.")
    # One thread: a parser process has few, and frames come out in order.
    stream.thread_type = "NONE"
    length = float(container.duration or 0) / 1_000_000
    sink.metadata |= {
        "format": str(container.format.name),
        "codec": str(stream.codec_context.name),
        "width": int(stream.width),
        "height": int(stream.height),
        "seconds": round(length, 2),
    }
    every = max(EVERY_SECONDS, length / (MAX_FRAMES / 2))
    if length > _ALL_FRAMES_SECONDS:
        stream.codec_context.skip_frame = "NONKEY"
    if container.streams.audio:
        sink.skip("The audio of a video is not read.")
    kept = 0
    spent = 0.0
    for frame in _scenes(_decoded(container, stream, sink, length), every):
        if kept == MAX_FRAMES:
            sink.skip(f"Frames after {clock(frame.second)} are beyond the limit of {MAX_FRAMES}.")
            break
        spent += _emit(frame, kept, sink, spent < _OCR_SECONDS)
        kept += 1
    if not kept:
        raise CorruptFile("No frame of the video can be decoded.")
    sink.metadata["frames"] = kept


def _decoded(container: Any, stream: Any, sink: Sink, length: float) -> Iterator[_Decoded]:
    """Yields frames with their times. Damage ends the video at that point; earlier frames are kept."""
    begin, last = time.monotonic(), 0.0
    try:
        for raw in container.decode(stream):
            if raw.width * raw.height > sink.options.max_pixels:
                raise LimitExceeded(f"The video's frames exceed the limit of {sink.options.max_pixels:,} pixels.")
            last = max(last, float(raw.time or 0.0))
            sink.progress(int(last), int(length) or None)
            yield _Decoded(last, raw)
            if time.monotonic() - begin > _DECODE_SECONDS:
                sink.skip(f"Everything after {clock(last)} was left out: decoding takes too long.")
                return
    except LIBRARY_DAMAGE as error:
        sink.warn(f"The video is damaged after {clock(last)}: {str(error)[:120]}")


def _scenes(frames: Iterator[_Decoded], every: float) -> Iterator[_Kept]:
    """Yields the first frame, those that begin a scene, and at least one every `every` seconds."""
    shown: Small | None = None
    at = 0.0
    for frame in frames:
        small = frame.frame.reformat(width=_SMALL, height=_SMALL, format="rgb24").to_ndarray().astype(np.int16)
        since = frame.second - at
        is_new = shown is None or since >= every
        if not is_new and since >= _MIN_SECONDS and shown is not None:
            is_new = float(np.abs(small - shown).mean()) / 255 >= _SCENE
        if is_new:
            shown, at = small, frame.second
            yield _Kept(frame.second, frame.frame.to_image())


def _emit(frame: _Kept, number: int, sink: Sink, reads: bool) -> float:
    """Writes a frame; returns the seconds that OCR took."""
    sink.start_unit("frame", number + 1, clock(frame.second))
    image = as_rgb(frame.image)
    begin = time.monotonic()
    lines = read_image(image, lambda: sink.progress(number)) if reads and sink.options.ocr else []
    spent = time.monotonic() - begin
    if not reads:
        sink.skip("The text in this frame was not read: the video has too many.")
    image.thumbnail((MAX_SIDE, MAX_SIDE))
    name = f"frame-{number}.jpg"
    target = sink.add_blob(name, "image/jpeg", PREVIEW, {"of": name, "second": round(frame.second, 2)})
    image.save(target, "JPEG", quality=_QUALITY)
    keep_likeness(sink, image, of=name)
    sink.emit(
        ElementType.IMAGE,
        "\n".join(line.text for line in lines),
        Locator(second=round(frame.second, 2)),
        blob=name,
        confidence=round(mean_confidence(lines), 4) if lines else None,
        metadata={"width": image.width, "height": image.height},
    )
    return spent
