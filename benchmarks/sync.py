"""A table of Airtable with pictures and videos, synchronised, changed by a tenth, and synchronised again.

    python -m benchmarks.sync [--records 1000] [--images 300] [--videos 20]

Against the contract server of the tests, with the real pyairtable. Records without a frame of their own share the pictures, so that each has one.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import tempfile
import time
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from citewell.client import call, connect
from citewell.connectors.airtable import AirtableAccess, AirtableSource
from citewell.connectors.engine import Synchroniser, SyncRequest
from citewell.connectors.frames import FrameFolder
from citewell.connectors.mapping import TableMapping
from citewell.settings import load_settings
from tests.connectors.made import COLOURS, picture, video
from tests.contract_servers.airtable import AirtableServer
from tests.contract_servers.serving import serving

QUESTION = "Show me frames tagged 'outdoor' from last week showing a red car."
_THINGS = ("car", "boat", "house", "tree", "train")
_PLACES = ("outdoor", "indoor")


def fields_of(number: int, path: str, round_: int = 0) -> dict[str, Any]:
    """A record whose words follow from its number; `round_` changes them."""
    colour = list(COLOURS)[number % len(COLOURS)]
    thing, place = _THINGS[number % len(_THINGS)], _PLACES[number // 3 % 2]
    day = datetime.now(UTC) - timedelta(days=7 + number % 40)
    again = f" Seen again in round {round_}." if round_ else ""
    return {
        "frame_filename": path,
        "summary": f"A {colour} {thing} {place}, shot number {number}.{again}",
        "tags": [place, thing, colour],
        "timestamp": day.date().isoformat(),
    }


def fill(server: AirtableServer, frames: Path, records: int, images: int, videos: int) -> list[str]:
    """The folder and the table; the paths by record."""
    shots = [f"shots/{n:04d}.png" for n in range(images)]
    clips = [f"clips/{n:03d}.mp4" for n in range(videos)]
    for number, path in enumerate(shots):
        picture(frames / path, list(COLOURS)[number % len(COLOURS)], mark=number)
    for number, path in enumerate(clips):
        colours = list(COLOURS)
        video(frames / path, [(colours[(number + scene) % len(colours)], 3) for scene in range(3)])
    paths = [*clips, *shots]
    chosen = [paths[number % len(paths)] for number in range(records)]
    for number, path in enumerate(chosen):
        server.put(f"rec{number:014d}", fields_of(number, path))
    return chosen


async def measure(records: int, images: int, videos: int) -> dict[str, Any]:
    """Three runs: all, nothing, a tenth; and the design's question."""
    with tempfile.TemporaryDirectory() as folder:
        frames = Path(folder) / "frames"
        server = AirtableServer()
        chosen = fill(server, frames, records, images, videos)
        settings = load_settings(data=Path(folder) / "data", ocr=False)
        found: dict[str, Any] = {"records": records, "images": images, "videos": videos}
        with serving(server.app()) as address:
            async with connect(settings) as client:
                for name in ("first", "second", "tenth"):
                    if name == "tenth":
                        for number in range(0, records, 10):
                            server.put(f"rec{number:014d}", fields_of(number, chosen[number], 1))
                    access = AirtableAccess(token=server.token, base=server.base, table=server.table, url=address)
                    clock = server.now
                    source = AirtableSource(access, TableMapping(), FrameFolder(frames), now=lambda at=clock: at)
                    begin = time.monotonic()
                    report = await Synchroniser(client, source, SyncRequest(name="frames")).run()
                    said = report.to_json()
                    found[name] = {
                        key: said[key] for key in ("added", "changed", "unchanged", "deleted", "problem_count")
                    }
                    found[name] |= {"seconds": round(time.monotonic() - begin, 1), "requests": source.requests}
                answer = await call(client, "POST", "/chat", json={"message": QUESTION})
        found["answer"] = {
            "filters": answer.get("inferred_filters"),
            "text": answer["answer"],
            "sources": [(one["filename"], one["identifier"], one["metadata"]["tags"]) for one in answer["citations"]],
        }
        return found


def main() -> None:
    """Print what was measured as JSON."""
    parser = argparse.ArgumentParser(description=__doc__)
    for name, default in (("records", 1_000), ("images", 300), ("videos", 20)):
        parser.add_argument(f"--{name}", type=int, default=default)
    given = parser.parse_args()
    print(json.dumps(asyncio.run(measure(given.records, given.images, given.videos)), indent=2, default=str))


if __name__ == "__main__":
    main()
