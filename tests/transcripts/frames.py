"""Drawn frames and a clip, the Airtable records that describe them, and `citewell sync airtable` with both.

`python -m tests.transcripts.frames DATA` synchronises them into a data folder, also one that a running server holds.
"""

from __future__ import annotations

import io
import os
import subprocess
import sys
import tempfile
from collections.abc import Generator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path

import av
from av import VideoFrame
from PIL import Image, ImageDraw

from tests.contract_servers.airtable import AirtableServer
from tests.contract_servers.serving import serving

SIZE = (640, 360)
QUESTION = "Show me frames tagged 'outdoor' from last week showing a red car."
CLIP_QUESTION = "In which video is the sign HARBOUR ROAD 7?"
_RATE = 10
_SCENE_SECONDS = 6
_CARS = {"car": "#c62828", "blue": "#1565c0"}


def scene(kind: str) -> Image.Image:
    """A drawing of a coast: with a red `car`, a `blue` one, a `boat`, or a `sign` that says HARBOUR ROAD 7."""
    image = Image.new("RGB", SIZE, "#9fd3f0")
    pen = ImageDraw.Draw(image)
    pen.ellipse((520, 30, 580, 90), fill="#ffe082")
    pen.rectangle((0, 170, 640, 240), fill="#2b7a9b")
    pen.rectangle((0, 240, 640, 360), fill="#6d8f4e")
    if kind == "boat":
        pen.rectangle((0, 170, 640, 360), fill="#24688a")
        pen.polygon([(200, 230), (440, 230), (400, 280), (240, 280)], fill="#7b5237")
        pen.polygon([(320, 90), (320, 222), (420, 222)], fill="white")
        return image
    if kind == "sign":
        image.paste("#e8edf0", (0, 0, *SIZE))
        pen.rectangle((90, 110, 550, 230), fill="#1b5e20")
        pen.text((120, 140), "HARBOUR ROAD 7", fill="white", font_size=48)
        pen.rectangle((310, 230, 330, 360), fill="#555555")
        return image
    pen.rectangle((0, 262, 640, 330), fill="#54585c")
    for left in range(0, 640, 80):
        pen.rectangle((left, 293, left + 40, 298), fill="#e8e3c8")
    pen.rounded_rectangle((230, 232, 420, 285), 16, fill=_CARS[kind])
    pen.polygon([(265, 234), (295, 200), (365, 200), (395, 234)], fill=_CARS[kind])
    pen.polygon([(278, 232), (300, 208), (327, 208), (327, 232)], fill="#d8eef8")
    pen.polygon([(335, 232), (335, 208), (360, 208), (382, 232)], fill="#d8eef8")
    for wheel in (268, 372):
        pen.ellipse((wheel - 20, 264, wheel + 20, 304), fill="#202020")
        pen.ellipse((wheel - 8, 276, wheel + 8, 292), fill="#b0b0b0")
    return image


def png(image: Image.Image) -> bytes:
    """The picture as a file."""
    image.save(written := io.BytesIO(), "PNG")
    return written.getvalue()


def clip(path: Path, scenes: tuple[str, ...] = ("boat", "sign", "blue")) -> None:
    """A clip that browsers play, six seconds for each scene."""
    with av.open(str(path), "w") as container:
        stream = container.add_stream("libvpx", rate=_RATE)
        stream.width, stream.height = SIZE
        stream.pix_fmt = "yuv420p"
        for kind in scenes:
            picture = VideoFrame.from_image(scene(kind))
            for _ in range(_SCENE_SECONDS * _RATE):
                container.mux(stream.encode(picture.reformat(format="yuv420p")))
        container.mux(stream.encode())


def fill(server: AirtableServer, folder: Path) -> None:
    """The frames in a folder, and a record for each: three that last week's question is about, and one that names no frame inside the folder."""
    week = datetime.now(UTC) - timedelta(days=7)
    server.now = datetime.now(UTC) - timedelta(days=1)
    shots = folder / "shots"
    shots.mkdir(parents=True)
    rows = (
        ("car", "A red car on the coastal road.", ["outdoor", "car"], week),
        ("blue", "A blue car on the coastal road.", ["outdoor", "car"], week),
        ("boat", "A sailing boat off the coast.", ["outdoor", "boat"], week - timedelta(days=30)),
    )
    for number, (kind, summary, tags, when) in enumerate(rows, start=1):
        scene(kind).save(shots / f"{kind}.png")
        fields = {
            "frame_filename": f"shots/{kind}.png",
            "summary": summary,
            "tags": tags,
            "timestamp": when.isoformat(),
        }
        server.put(f"rec{number:014d}", fields)
    clip(shots / "drive.webm")
    drive = {"frame_filename": "shots/drive.webm", "summary": "A drive to the harbour.", "tags": ["outdoor", "drive"]}
    server.put("rec00000000000004", {**drive, "timestamp": (week - timedelta(days=30)).isoformat()})
    server.put("rec00000000000005", {"frame_filename": "../secret.png", "summary": "Not in the folder."})


@contextmanager
def synchronised(folder: Path) -> Generator[tuple[AirtableServer, dict[str, str]]]:
    """A base whose frames are in a folder, and the environment that `citewell sync airtable` takes."""
    server = AirtableServer()
    fill(server, folder)
    with serving(server.app()) as address:
        kept = {name: value for name, value in os.environ.items() if not name.startswith("CITEWELL_")}
        yield (
            server,
            kept
            | {
                "AIRTABLE_PAT": server.token,
                "AIRTABLE_BASE_ID": server.base,
                "AIRTABLE_TABLE_NAME": server.table,
                "AIRTABLE_ENDPOINT_URL": address,
                "FRAME_BASE_DIR": str(folder),
                "COLUMNS": "160",
            },
        )


def citewell(arguments: list[str], environment: dict[str, str]) -> str:
    """What the command line prints."""
    command = [sys.executable, "-m", "citewell.cli", *arguments]
    return subprocess.run(command, env=environment, capture_output=True, text=True, check=True).stdout


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as frames, synchronised(Path(frames)) as (_, environment):
        sys.stdout.write(citewell(["sync", "airtable", "--data", sys.argv[1]], environment))
