"""Frames are embedded as pictures, together with the words of their records, where the embedder takes pictures."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from citewell.client import call
from tests.connectors.made import video
from tests.connectors.test_airtable_sync import Bench, bench
from tests.contract_servers.voyage import VoyageServer
from tests.ingest.test_pictures import settings, shade, voyage

pytestmark = pytest.mark.full

__all__ = ["bench", "voyage"]


def inputs(server: VoyageServer) -> list[tuple[str, int]]:
    """What was embedded as a document with a picture: its words, and how many pictures."""
    sent: list[Any] = [one["content"] for body in server.requests for one in body.get("inputs", ())]
    words = [" ".join(part["text"] for part in content if part["type"] == "text") for content in sent]
    counts = [sum(part["type"] == "image_base64" for part in content) for content in sent]
    return [(text, count) for text, count in zip(words, counts, strict=True) if count]


async def test_a_record_is_embedded_together_with_its_frame(
    voyage: tuple[VoyageServer, str], bench: Bench, tmp_path: Path
) -> None:
    server, address = voyage
    bench.settings = settings(tmp_path / "data", address)
    for number, colour in enumerate(("red", "green")):
        shade(colour).save(bench.frames / f"{colour}.png")
        bench.server.put(f"rec{number:014d}", {"frame_filename": f"{colour}.png", "summary": f"Shot number {number}."})
    video(bench.frames / "a.mp4", [("blue", 2), ("green", 2)])
    bench.server.put("rec00000000000009", {"frame_filename": "a.mp4", "summary": "A lake, then a meadow."})
    async with bench.open() as client:
        assert (await bench.sync(client)).problems == []
        sent = inputs(server)
        found = await call(client, "POST", "/search", json={"query": "green", "rerank": False})
        again = len(server.requests)
        assert (await bench.sync(client)).changed == 0
        assert len(server.requests) == again
    assert all(count == 1 for _, count in sent)
    for summary in ("Shot number 0.", "Shot number 1.", "A lake, then a meadow."):
        assert any(f"Frame Summary: {summary}" in text for text, _ in sent)
    assert {hit["locator"].get("second") for hit in found["hits"]} >= {0.0, 2.0}
    assert found["hits"][0]["identifier"] in {"rec00000000000001", "rec00000000000009"}
