"""`analyze_image` of `/mcp` with the official client: the picture as image content, of the token's owner and within the project only."""

from __future__ import annotations

import base64
import io
import json
import os
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, cast

import httpx
import pytest
from mcp import Client, StdioServerParameters
from mcp.client.stdio import stdio_client
from mcp.types import ImageContent, TextContent
from PIL import Image, ImageDraw

from citewell.ports.chat import MAX_IMAGE_BYTES
from tests.contract_servers.jwks import signed
from tests.server.in_process import InProcessServer
from tests.server.mcp_client import Result, connected
from tests.server.running import Server
from tests.transcripts.frames import clip

pytestmark = [pytest.mark.full, pytest.mark.slow(30)]
JWT_SECRET = "a secret that is long enough for a test"


@dataclass
class Pictured:
    """A server with two people's pictures."""

    server: Server
    sign: str
    film: str
    note: str
    bens: str
    ben: str


def _png(words: str, colour: str = "white") -> bytes:
    image = Image.new("RGB", (640, 200), colour)
    ImageDraw.Draw(image).text((20, 60), words, fill="black", font_size=48)
    image.save(written := io.BytesIO(), "PNG")
    return written.getvalue()


def _token(owner: str) -> str:
    return signed({"sub": owner, "exp": int(time.time()) + 3_600}, JWT_SECRET)


@pytest.fixture(scope="module")
def pictured(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Pictured]:
    folder = tmp_path_factory.mktemp("pictured")
    with InProcessServer(folder / "data", JWT_SECRET=JWT_SECRET) as server:
        clip(folder / "drive.webm")
        sign = server.add("Sign.png", _png("Lamp room: no entry"), project="Coast")
        note = server.add("Note.md", b"# Note\n\nThe lamp room is closed in winter.\n", project="Inland")
        added = server.add("drive.webm", (folder / "drive.webm").read_bytes(), caption="A drive.", project="Coast")
        ben = _token("ben")
        with httpx.Client(base_url=server.url, headers={"Authorization": f"Bearer {ben}"}, timeout=60) as client:
            bens = client.post("/ingest", files={"file": ("Plan.png", _png("Vault plan", "red"))}).json()
            client.get(f"/resources/{bens['id']}/events")  # ends when the file is done
        yield Pictured(server, sign["id"], added["id"], note["id"], bens["id"], ben)


def _pixels(data: bytes) -> Image.Image:
    return Image.open(io.BytesIO(data)).convert("RGB")


def _shown(result: Result) -> Image.Image:
    assert not result.is_error, result.text
    assert result.image is not None
    return _pixels(base64.b64decode(result.image.data))


async def test_a_picture_that_a_search_found_is_shown_as_image_content(pictured: Pictured) -> None:
    async with connected(pictured.server) as client:
        found = await client.call("search_files", {"query": "lamp room entry", "types": ["image"]})
        path = found.content["passages"][0]["picture"]
        assert f"Picture: {path}\n" in found.text
        result = await client.call("analyze_image", {"resource_id": path})
        by_id = await client.call("analyze_image", {"resource_id": pictured.sign})
    assert _shown(result).size == _shown(by_id).size == (640, 200)
    assert result.image is not None
    assert result.image.mime_type == "image/png"
    assert "Sign.png" in result.text
    assert result.content["passages"][0]["resource_id"] == pictured.sign
    assert result.image.data[:200] not in json.dumps(result.content)  # clients pass data on to their model as text


async def test_a_frame_of_a_video_is_shown_by_its_passage(pictured: Pictured) -> None:
    async with connected(pictured.server) as client:
        query = {"query": "the sign harbour road", "resource_ids": [pictured.film]}
        sign = (await client.call("search_files", query)).content["passages"][0]
        frame = _shown(await client.call("analyze_image", {"resource_id": sign["picture"]}))
        whole = await client.call("analyze_image", {"resource_id": pictured.film})
    assert sign["locator"]["second"] == 6
    red, green, _ = cast(tuple[int, int, int], frame.getpixel((320, 125)))  # the board of the sign
    assert green > 2 * red
    assert whole.is_error
    assert "drive.webm is not a picture." in whole.text


async def test_anothers_picture_is_not_there_by_id_nor_by_path(pictured: Pictured) -> None:
    async with connected(pictured.server, token=pictured.ben) as client:
        own = (await client.call("search_files", {"query": "vault", "types": ["image"]})).content["passages"][0]
        assert _shown(await client.call("analyze_image", {"resource_id": own["picture"]})).getpixel((1, 1)) == (
            255,
            0,
            0,
        )
    async with connected(pictured.server) as client:
        for wanted in (pictured.bens, own["picture"], f"resources/{pictured.sign}/chunks/{own['chunk_id']}"):
            result = await client.call("analyze_image", {"resource_id": wanted})
            if wanted.startswith(f"resources/{pictured.sign}/"):
                # An image file is its picture, whatever passage is named beside it.
                assert _shown(result).getpixel((1, 1)) == (255, 255, 255)
                continue
            assert result.is_error
            assert result.image is None
            assert "No such file is in the scope of this question." in result.text


async def test_a_project_bounds_what_is_shown(pictured: Pictured) -> None:
    async with connected(pictured.server, "?project=Inland") as client:
        outside = await client.call("analyze_image", {"resource_id": pictured.sign})
        no_picture = await client.call("analyze_image", {"resource_id": pictured.note})
        numbered = await client.call("analyze_image", {"resource_id": "[1]"})
    assert (outside.is_error, outside.image) == (True, None)
    assert "Note.md is not a picture." in no_picture.text
    assert "give its path, such as resources/" in numbered.text


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("Large.png", _png("Large") + b"\0" * MAX_IMAGE_BYTES, "cannot be shown"),
        ("Scan.tiff", None, "only JPEG, PNG, GIF and WebP"),
    ],
)
async def test_what_models_do_not_take_is_refused_alike_over_mcp_and_http(
    pictured: Pictured, name: str, content: bytes | None, said: str
) -> None:
    if content is None:
        Image.new("RGB", (80, 80), "white").save(written := io.BytesIO(), "TIFF")
        content = written.getvalue()
    added = pictured.server.add(name, content)
    async with connected(pictured.server) as client:
        result = await client.call("analyze_image", {"resource_id": added["id"]})
    assert (result.is_error, result.image) == (True, None)
    response = pictured.server.client.post(f"/resources/{added['id']}/picture", json={})
    assert response.status_code == 400
    for told in (result.text, response.json()["error"]["message"]):
        assert said in told


def _picture(pictured: Pictured, resource_id: str, **body: Any) -> httpx.Response:
    return pictured.server.client.post(f"/resources/{resource_id}/picture", json=body)


def test_a_picture_over_http_is_within_what_the_request_names(pictured: Pictured) -> None:
    shown = _picture(pictured, pictured.sign)
    assert (shown.status_code, shown.headers["content-type"]) == (200, "image/png")
    assert _pixels(shown.content).size == (640, 200)
    image = {"field": "category", "value": "image"}
    for within in ({"projects": ["Coast"]}, {"resource_ids": [pictured.sign]}, {"filters": [image]}):
        assert _picture(pictured, pictured.sign, **within).status_code == 200
    for without in (
        {"projects": ["Inland"]},
        {"projects": ["no such"]},
        {"resource_ids": [pictured.note]},
        {"resource_ids": []},
        {"filters": [{"not": image}]},
        {"chunk_id": "nothing"},
    ):
        assert _picture(pictured, pictured.sign, **without).status_code == 404, without
    assert _picture(pictured, pictured.bens).status_code == 404
    assert _picture(pictured, pictured.note).json()["error"]["code"] == "invalid_input"
    assert _picture(pictured, pictured.sign, filters=[{"field": "page", "value": 1}]).status_code == 422


async def test_a_picture_is_shown_over_standard_input_and_output(pictured: Pictured) -> None:
    command = ["-m", "citewell.cli", "mcp", "--data", str(pictured.server.data)]
    environment = {name: value for name, value in os.environ.items() if not name.startswith("CITEWELL_")}
    program = StdioServerParameters(command=sys.executable, args=command, env=environment)
    async with Client(stdio_client(program)) as client:
        text, image = (await client.call_tool("analyze_image", {"resource_id": pictured.sign})).content
    assert isinstance(text, TextContent)
    assert isinstance(image, ImageContent)
    assert _pixels(base64.b64decode(image.data)).size == (640, 200)
