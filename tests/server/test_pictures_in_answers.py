"""A chat model looks at real files of its user's while it answers, and at nobody else's."""

from __future__ import annotations

import base64
import io
import json
from pathlib import Path
from typing import Any

import pytest
from PIL import Image, ImageDraw

from citewell import AsyncCitewell, Citewell
from citewell.types import OriginalPicture
from tests.contract_servers.openai import KEY, OpenAIServer
from tests.contract_servers.script import Call, Queue, Reply
from tests.contract_servers.serving import serving

pytestmark = pytest.mark.full


def _sign(path: Path, colour: str) -> Path:
    image = Image.new("RGB", (640, 200), colour)
    ImageDraw.Draw(image).text((20, 60), "Lamp room: no entry", fill="black", font_size=48)
    image.save(path)
    return path


def _shown(body: dict[str, Any]) -> list[str]:
    blocks = [
        block for message in body["messages"] if isinstance(message["content"], list) for block in message["content"]
    ]
    return [block["image_url"]["url"] for block in blocks if block["type"] == "image_url"]


def test_a_picture_file_is_shown_and_cited_and_anothers_is_not(tmp_path: Path) -> None:
    server = OpenAIServer()
    with serving(server.app) as address:
        settings = {
            "chat_provider": "openai",
            "chat_model": "gpt-test",
            "chat_base_url": f"{address}/v1",
            "chat_profile": "full",
        }
        with Citewell(tmp_path / "data", openai_api_key=KEY, **settings) as cw:
            sign = cw.add(_sign(tmp_path / "Sign.png", "white"))

            async def of_ben(opened: AsyncCitewell) -> str:
                services = opened._services
                ben = await services.auth.repository.ensure("ben")
                added = await services.resources.add_file(ben, _sign(tmp_path / "Plan.png", "red"))
                await services.resources.wait(ben, added.id)
                return added.id

            foreign = cw.run(of_ben)
            calls = tuple(Call("analyze_image", {"resource_id": wanted}) for wanted in (foreign, sign.id))
            server.script = Queue(Reply(calls=calls), Reply(text="The sign is white and forbids entry [1]."))
            answer = cw.ask("What colour is the sign, and what does it say?")
    first, second = server.requests[-2:]
    assert _shown(first) == []
    (url,) = _shown(second)
    with Image.open(io.BytesIO(base64.b64decode(url.split(",", 1)[1]))) as image:
        assert image.convert("RGB").getpixel((1, 1)) == (255, 255, 255)
    assert "No such file is in the scope of this question." in json.dumps(second["messages"])
    (citation,) = answer.citations
    assert citation.resource_id == sign.id
    assert citation.picture == OriginalPicture(sign.id)
