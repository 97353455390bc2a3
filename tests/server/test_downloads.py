"""What clients that download a file may rely on: ranges, validators, and HEAD (RFC 9110, sections 9.3.2, 13 and 14)."""

from __future__ import annotations

import hashlib
from collections.abc import AsyncIterator, Mapping
from typing import Any

import httpx
import pytest

from citewell.errors import RangeNotSatisfiable
from citewell.features.resources.handed_out import StoredBytes
from citewell.features.resources.stored_bytes import stored_bytes
from tests.server.running import Server

_TEXT = b"All of these words."
_TAG = f'"{hashlib.sha256(_TEXT).hexdigest()}"'
_OTHER = f'"{hashlib.sha256(b"").hexdigest()}"'


def _stored(data: bytes = _TEXT, content_hash: str | None = _TAG.strip('"')) -> StoredBytes:
    async def read(start: int, end: int) -> AsyncIterator[bytes]:
        yield data[start:end]

    return StoredBytes("words.txt", "text/plain", len(data), read, content_hash)


async def _answer(headers: Mapping[str, str], **stored: Any) -> tuple[int, bytes, Mapping[str, str]]:
    response = await stored_bytes(_stored(**stored), headers)
    pieces = getattr(response, "body_iterator", None)
    body = response.body if pieces is None else b"".join([piece async for piece in pieces])
    return response.status_code, bytes(body), response.headers


@pytest.mark.parametrize(
    ("asked", "part", "said"),
    [
        ("bytes=0-2", b"All", "bytes 0-2/19"),
        ("bytes=13-", b"words.", "bytes 13-18/19"),
        ("bytes=-6", b"words.", "bytes 13-18/19"),
        ("bytes=-99", _TEXT, "bytes 0-18/19"),
        ("bytes=18-999", b".", "bytes 18-18/19"),
    ],
)
async def test_a_range_is_a_part(asked: str, part: bytes, said: str) -> None:
    status, body, headers = await _answer({"range": asked})
    assert (status, body, headers["content-range"], headers["content-length"]) == (206, part, said, str(len(part)))
    assert headers["etag"] == _TAG


@pytest.mark.parametrize("asked", ["bytes=19-", "bytes=99999999-", "bytes=19-20", "bytes=-0", "bytes=-00"])
async def test_a_range_in_which_there_is_nothing_is_refused(asked: str) -> None:
    with pytest.raises(RangeNotSatisfiable) as refused:
        await _answer({"range": asked})
    assert refused.value.details == {"size": 19}


@pytest.mark.parametrize("asked", ["bytes=5-1", "bytes=-", "bytes=a-b", "words=0-1", "bytes=0-1,3-4", "bytes"])
async def test_what_is_no_single_range_gives_the_whole(asked: str) -> None:
    status, body, headers = await _answer({"range": asked})
    assert (status, body, "content-range" in headers) == (200, _TEXT, False)


@pytest.mark.parametrize(
    ("named", "status"),
    [(_TAG, 304), (f"W/{_TAG}", 304), (f"{_OTHER}, {_TAG}", 304), ("*", 304), (_OTHER, 200), ("", 200), ("\xff", 200)],
)
async def test_bytes_that_a_client_has_are_not_sent_again(named: str, status: int) -> None:
    got, body, headers = await _answer({"if-none-match": named, "range": "x"})
    assert (got, body, headers["etag"]) == (status, b"" if status == 304 else _TEXT, _TAG)


@pytest.mark.parametrize(
    ("named", "status"), [(_TAG, 206), (_OTHER, 200), (f"W/{_TAG}", 200), ("Thu, 26 Nov 2026", 200)]
)
async def test_a_range_of_other_bytes_is_the_whole(named: str, status: int) -> None:
    got, body, _ = await _answer({"if-range": named, "range": "bytes=0-2"})
    assert (got, body) == (status, b"All" if status == 206 else _TEXT)


async def test_bytes_without_a_known_hash_have_no_validator() -> None:
    status, body, headers = await _answer({"if-none-match": "*", "range": "bytes=0-2"}, content_hash=None)
    assert (status, body, "etag" in headers) == (206, b"All", False)
    assert (await _answer({"if-range": _TAG, "range": "bytes=0-2"}, content_hash=None))[0] == 200


@pytest.mark.slow(10)
def test_a_file_is_downloaded_in_parts_and_only_once(server: Server) -> None:
    file = f"/resources/{server.add('words.txt', _TEXT)['id']}/file"
    beyond = server.client.get(file, headers={"Range": "bytes=99999999-"})
    assert (beyond.status_code, beyond.headers["content-range"]) == (416, "bytes */19")
    assert beyond.json()["error"]["code"] == "range_not_satisfiable"
    tag = server.client.get(file).headers["etag"]
    assert tag == _TAG
    again = server.client.get(file, headers={"If-None-Match": tag})
    assert (again.status_code, again.content) == (304, b"")
    assert server.client.get(file, headers={"If-Range": tag, "Range": "bytes=0-2"}).content == b"All"
    wrong = server.client.get(file, params={"version": 9})
    assert (wrong.status_code, wrong.json()["error"]["message"]) == (
        404,
        "This file has no version 9: its newest is 1.",
    )


@pytest.mark.slow(10)
def test_head_is_answered_as_get_is_without_a_body(server: Server) -> None:
    one = server.add("words.txt", _TEXT)["id"]
    paths = (
        "/health", "/resources", f"/resources/{one}", f"/resources/{one}/file", f"/resources/{one}/events", "/openapi.json", "/", "/resources/none"
    )  # fmt: skip
    for path in paths:
        got, head = server.client.get(path), server.client.head(path)
        assert (path, head.status_code, head.content) == (path, got.status_code, b"")
        for name in ("content-type", "content-length", "etag", "accept-ranges"):
            assert (path, head.headers.get(name)) == (path, got.headers.get(name))
    part = server.client.head(f"/resources/{one}/file", headers={"Range": "bytes=0-2"})
    assert (part.status_code, part.headers["content-length"]) == (206, "3")
    assert server.client.head("/search").status_code == 405
    assert server.client.head("/mcp").status_code == 405
    assert httpx.head(f"{server.url}/resources/{one}/file").status_code == 401
    assert server.client.get("/health").status_code == 200  # the connection is as it should be


@pytest.mark.slow(10)
def test_the_description_of_a_download_has_what_it_answers(server: Server) -> None:
    paths = server.client.get("/openapi.json").json()["paths"]
    responses = paths["/resources/{resource_id}/file"]["get"]["responses"]
    assert {"200", "206", "304", "416"} <= responses.keys()
    assert "Content-Range" in responses["206"]["headers"]
    assert responses["416"]["content"]["application/json"]["schema"]["$ref"].endswith("/ErrorResponse")
