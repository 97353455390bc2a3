"""Airtable: two runs of `citewell sync airtable` with pyairtable against its contract, and the design's example question."""

from __future__ import annotations

import asyncio
import json
from datetime import UTC, datetime
from pathlib import Path

from tests.transcripts.frames import CLIP_QUESTION, QUESTION, citewell, synchronised
from tests.transcripts.record import Transcript


async def run(folder: Path) -> Transcript:
    """The whole of it, in a thread: commands are programs of their own."""
    return await asyncio.to_thread(_run, folder)


def _run(folder: Path) -> Transcript:
    page = Transcript(
        "A run of the Airtable frames",
        "`citewell sync airtable` with pyairtable against a local server that follows Airtable's published contract "
        "(`tests/contract_servers/airtable.py`): three pictures, a clip, and a record that names a file outside the folder.",
    )
    data = ["--data", str(folder / "data")]
    with synchronised(folder / "frames") as (server, environment):
        page.step("The first run")
        page.block("$ citewell sync airtable\n" + _sorted(citewell(["sync", "airtable", *data], environment)))
        server.now = datetime.now(UTC)
        server.put(
            "rec00000000000002", {**server.records["rec00000000000002"].fields, "summary": "A blue car at the bend."}
        )
        del server.records["rec00000000000003"]
        page.step("Another run", "One record was changed, and one deleted; what did not change is left alone.")
        page.block("$ citewell sync airtable\n" + _sorted(citewell(["sync", "airtable", *data], environment)))
        page.step(
            "Questions",
            "Without a chat model: the tag and the dates of last week are read from the question as filters.",
        )
        for question in (QUESTION, CLIP_QUESTION):
            page.block(f'$ citewell ask "{question}"\n' + citewell(["ask", question, *data], environment))
        page.step("The same over HTTP", "What the browser's thumbnails are made of: `citewell ask --json`.")
        for question in (QUESTION, CLIP_QUESTION):
            answer = json.loads(citewell(["ask", question, "--json", *data], environment))
            page.block(json.dumps([_cited(one) for one in answer["citations"]], indent=2), "json")
    return page


def _sorted(printed: str) -> str:
    """The lines of records in the order of their ids: several are brought at once."""
    lines = printed.splitlines()
    records = sorted(
        (one for one in lines if one.startswith("  ") and "rec0" in one and "(" not in one),
        key=lambda one: one.split()[-1],
    )
    rest = [one for one in lines if one not in records]
    return "\n".join([*records, *rest])


def _cited(citation: dict[str, object]) -> dict[str, object]:
    """What says where the frame is."""
    return {name: citation[name] for name in ("n", "label", "identifier", "locator", "image") if name in citation}
