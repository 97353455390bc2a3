"""Cleaning a record by rules and with a chat model, and its text."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Sequence
from typing import Any

import pytest

from citewell.errors import ProviderRejected
from citewell.ingest.frame_model import tidied
from citewell.ingest.frames import RawFrame, cleaned
from citewell.ports import Capability, ChatDelta, ChatMessage, ImageInput
from citewell.types import JsonValue
from citewell.types.metadata_values import MetadataLimits, checked_metadata
from tests.retrieve.stand_ins import ScriptedChat


def raw(**said: JsonValue) -> RawFrame:
    return RawFrame(source_id="rec1", source_path="a/1.png", **said)  # pyright: ignore[reportArgumentType]


def test_a_record_becomes_text_and_metadata() -> None:
    record, notes = cleaned(
        raw(
            summary=" A red\ncar. ",
            tags="Outdoor, #Car; outdoor",
            timestamp="2026-11-20",
            objects=["Car"],
            other={"Camera No.": "M6"},
        )
    )
    assert notes == []
    assert (
        record.text()
        == "Frame Summary: A red car.\nTags: outdoor, car\nTimestamp: 2026-11-20\nObjects: car\ncamera no: M6"
    )
    assert record.metadata(MetadataLimits()) == {
        "frame_summary": "A red car.",
        "tags": ["outdoor", "car"],
        "timestamp": "2026-11-20",
        "objects": ["car"],
        "source_airtable_id": "rec1",
        "source_frame_path": "a/1.png",
        "camera_no": "M6",
    }


@pytest.mark.parametrize(
    ("given", "read"),
    [
        ("2026-11-20T10:00:00+02:00", "2026-11-20T08:00:00Z"),
        ("2026-11-20 10:00", "2026-11-20T10:00:00Z"),
        ("2026/11/20", "2026-11-20"),
        ("20 November 2026", "2026-11-20"),
        ("November 20, 2026", "2026-11-20"),
        ("03/04/2026", None),
        ("soon", None),
        ("2026-13-45", None),
        (1_763_600_000, None),
        ({"at": 1}, None),
        ("0001-01-01", None),
    ],
)
def test_a_date_is_read_only_where_nothing_is_guessed(given: JsonValue, read: str | None) -> None:
    record, notes = cleaned(raw(timestamp=given))
    assert record.timestamp == read
    assert bool(notes) == (read is None)


@pytest.mark.parametrize(
    "nonsense",
    [
        {"summary": {"a": [1]}, "tags": {"x": 1}, "objects": 7, "timestamp": []},
        {
            "summary": "\ud800" * 10,
            "tags": ["\x00", "a" * 10_000],
            "other": {"\x00": "\u2028", "x": float("inf"), "y": [{}]},
        },
        {"tags": ["t"] * 100_000, "summary": "s" * 100_000, "other": {f"k{n}": "v" for n in range(500)}},
    ],
    ids=["kinds", "characters", "sizes"],
)
def test_whatever_a_record_holds_it_becomes_metadata_that_is_accepted(nonsense: dict[str, JsonValue]) -> None:
    record, _ = cleaned(raw(**nonsense))
    checked_metadata(record.metadata(MetadataLimits()), MetadataLimits())
    record.text().encode()


async def test_a_chat_model_tidies_what_the_rules_then_check() -> None:
    said = {
        "frame_summary": "A red car on a road.",
        "tags": ["OUTDOOR", "car"],
        "timestamp": "2020-01-01",
        "classification_tags": ["vehicle"],
        "objects": [],
        "source_airtable_id": "recSTOLEN",
    }
    record, notes = await tidied(
        ScriptedChat(json.dumps(said)), raw(summary="red car raod", timestamp="2026-11-20", objects="Car")
    )
    assert notes == []
    assert (record.summary, record.tags, record.classification) == (
        "A red car on a road.",
        ("outdoor", "car"),
        ("vehicle",),
    )
    assert record.timestamp == "2026-11-20"
    assert record.objects == ("car",)
    assert record.source_id == "rec1"


@pytest.mark.parametrize("answer", ["no JSON", "[]", '{"tags": 3, "frame_summary": {}}'])
async def test_an_answer_of_another_form_leaves_the_rules(answer: str) -> None:
    record, _ = await tidied(ScriptedChat(answer), raw(summary="A red car.", tags="car"))
    assert (record.summary, record.tags) == ("A red car.", ("car",))


async def test_the_labels_of_the_record_stay_beside_those_of_the_model() -> None:
    said = {"frame_summary": "", "tags": ["misc"], "timestamp": None, "classification_tags": [], "objects": ["boat"]}
    record, _ = await tidied(ScriptedChat(json.dumps(said)), raw(tags=["outdoor", "boat"], objects="Sea"))
    assert (record.tags, record.objects) == (("outdoor", "boat", "misc"), ("sea", "boat"))


class Seeing(ScriptedChat):
    """Answers that it saw a picture, if the message has one; refuses pictures if it is blind after all."""

    capabilities = frozenset({Capability.MULTIMODAL})
    blind = False

    async def stream(self, messages: Sequence[ChatMessage], **options: Any) -> AsyncIterator[ChatDelta]:
        pictures = [image.data for message in messages for image in message.images]
        if pictures and self.blind:
            raise ProviderRejected
        shows = "A boat." if pictures == [b"png"] else ""
        yield ChatDelta(text=json.dumps({"frame_summary": shows, "tags": ["seen"]}))


@pytest.mark.parametrize(("blind", "summary"), [(False, "A boat."), (True, "")])
async def test_a_model_that_takes_pictures_sees_the_frame(blind: bool, summary: str) -> None:
    model = Seeing("")
    model.blind = blind
    record, _ = await tidied(model, raw(), ImageInput(b"png", "image/png"))
    assert (record.summary, record.tags) == (summary, ("seen",))
