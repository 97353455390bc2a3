"""A link to a file goes to its owner alone, and nothing keeps it; files whose keys have the form of before are read, linked and erased as others."""

from __future__ import annotations

import json
import re
import sqlite3
import time
import uuid
from collections.abc import Generator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import httpx
import pytest

from tests.adapters.blob.stores import KEYS, Wire, new_s3_bucket, s3, s3_client
from tests.contract_servers.jwks import signed
from tests.server.in_process import InProcessServer
from tests.server.running import RunningServer, Server

pytestmark = [pytest.mark.full, pytest.mark.slow(20)]
SECRET = "a secret that is long enough for a test"
PAGE = b"<html><script>alert(1)</script><p>The warehouse closes at nine in the evening.</p></html>"
KEY = re.compile(r"[0-9a-f-]{36}/[0-9a-f-]{36}/[12]/(original|extracted-\d+)-[0-9a-f]{12}")


@dataclass
class Place:
    """A bucket, and what configures a server for it."""

    bucket: str
    client: Any
    wire: Wire
    environment: dict[str, str]

    def names(self) -> list[str]:
        return [one["Key"] for one in self.client.list_objects_v2(Bucket=self.bucket).get("Contents", ())]


@pytest.fixture
def place() -> Generator[Place]:
    with s3() as address:
        wire, bucket = Wire(int(address.rsplit(":", 1)[1])), new_s3_bucket(address)
        environment = {
            "CITEWELL_BLOB_BACKEND": "s3",
            "CITEWELL_BLOB_LINK_SECONDS": "60",
            "S3_BUCKET": bucket,
            "S3_ENDPOINT": wire.address,
            "S3_REGION": KEYS["s3_region"],
            "AWS_ACCESS_KEY_ID": KEYS["s3_access_key_id"],
            "AWS_SECRET_ACCESS_KEY": KEYS["s3_secret_access_key"],
            "JWT_SECRET": SECRET,
        }
        yield Place(bucket, s3_client(address), wire, environment)
        wire.close()


def client_of(running: Server, name: str) -> httpx.Client:
    token = signed({"sub": name, "exp": int(time.time()) + 3_600}, SECRET)
    return httpx.Client(base_url=running.url, headers={"Authorization": f"Bearer {token}"}, timeout=120)


def add(client: httpx.Client, name: str, data: bytes) -> str:
    resource = client.post("/ingest", files={"file": (name, data)}).raise_for_status().json()["id"]
    client.get(f"/resources/{resource}/events").raise_for_status()
    return resource


def test_a_link_is_for_the_owner_and_is_kept_nowhere(place: Place, tmp_path: Path) -> None:
    data = tmp_path / "data"
    with RunningServer(data, **place.environment) as running, ExitStack() as stack:
        ann, bob = (stack.enter_context(client_of(running, name)) for name in ("ann", "../bob %2e"))
        mine = add(ann, "page.html", PAGE)
        add(bob, "page.html", PAGE)
        newer = PAGE.replace(b"nine", b"ten")
        ann.put(f"/resources/{mine}/file", files={"file": ("newer.html", newer)}).raise_for_status()
        ann.get(f"/resources/{mine}/events").raise_for_status()

        made = ann.post(f"/resources/{mine}/link").raise_for_status()
        assert made.headers["cache-control"] == "no-store"
        found = httpx.get(made.json()["url"])
        assert found.content == newer
        assert found.headers["content-disposition"] == "attachment; filename*=UTF-8''newer.html"
        assert (made.json()["filename"], made.json()["size"]) == ("newer.html", len(newer))
        first = ann.post(f"/resources/{mine}/link", params={"version": 1}).raise_for_status().json()
        assert httpx.get(first["url"]).content == PAGE

        foreign, unknown = bob.post(f"/resources/{mine}/link"), bob.post(f"/resources/{uuid.uuid4()}/link")
        assert (foreign.status_code, foreign.json()) == (unknown.status_code, unknown.json())
        assert foreign.status_code == 404
        assert httpx.post(f"{running.url}/resources/{mine}/link").status_code == 401
        assert all(KEY.fullmatch(key) for key in place.names())

        entered = ann.get("/audit").raise_for_status().json()["entries"]
        assert [one["subject"] for one in entered if one["action"] == "file.downloaded"] == [mine]
        signature = parse_qs(urlsplit(made.json()["url"]).query)["X-Amz-Signature"][0]
        running.stop()
    kept = [*data.rglob("*"), tmp_path / "data.log"]
    assert not [path for path in kept if path.is_file() and signature.encode() in path.read_bytes()]


def test_without_the_store_there_is_no_link_and_it_says_so(place: Place, tmp_path: Path) -> None:
    with InProcessServer(tmp_path / "data", **place.environment) as running:
        mine = add(running.client, "page.html", PAGE)
        place.wire.cut()
        down = running.client.post(f"/resources/{mine}/link")
        assert (down.status_code, down.json()["error"]["code"]) == (503, "unavailable")
        place.wire.mend()
        assert httpx.get(running.client.post(f"/resources/{mine}/link").json()["url"]).content == PAGE
        place.client.delete_object(Bucket=place.bucket, Key=next(key for key in place.names() if "/original-" in key))
        lost = running.client.post(f"/resources/{mine}/link")
        assert (lost.status_code, lost.json()["error"]["code"]) == (500, "damaged_file")


def test_keys_of_the_form_of_before_are_read_linked_once_sent_again_and_erased(place: Place, tmp_path: Path) -> None:
    with InProcessServer(tmp_path / "data", **place.environment) as running, ExitStack() as stack:
        ann, bob = (stack.enter_context(client_of(running, name)) for name in ("ann", "bob"))
        mine, theirs = add(ann, "page.html", PAGE), add(bob, "page.html", PAGE)
        running.stop()
        _as_before(place, tmp_path / "data", mine)
        running.start()

        ann, bob = (stack.enter_context(client_of(running, name)) for name in ("ann", "bob"))
        assert ann.get(f"/resources/{mine}/file").content == PAGE
        refused = ann.post(f"/resources/{mine}/link")
        assert (refused.status_code, refused.json()["error"]["code"]) == (409, "conflict")
        assert ann.post("/ingest", files={"file": ("page.html", PAGE)}).status_code == 200
        assert httpx.get(ann.post(f"/resources/{mine}/link").json()["url"]).content == PAGE

        owner = next(key.split("/")[1] for key in place.names() if key.startswith("originals/"))
        place.client.put_object(Bucket=place.bucket, Key=f"{owner}/interrupted/1/original-0", Body=b"1")
        receipt = ann.post("/erasure", json={"confirm": "erase everything"}).raise_for_status().json()
        removed = {one["place"]: (one["before"], one["after"]) for one in receipt["removed"]}
        assert receipt["complete"]
        assert removed["files in s3 storage"] == (2, 0)
        assert not [key for key in place.names() if owner in key]
        assert bob.get(f"/resources/{theirs}/file").content == PAGE


def _as_before(place: Place, data: Path, resource_id: str) -> None:
    """Give a file's only object the key that it would have had, and let it say nothing of itself."""
    [key] = [key for key in place.names() if f"/{resource_id}/" in key]
    before = f"originals/{key.split('/')[0]}/0123456789abcdef"
    content = place.client.get_object(Bucket=place.bucket, Key=key)["Body"].read()
    place.client.put_object(Bucket=place.bucket, Key=before, Body=content)
    place.client.delete_object(Bucket=place.bucket, Key=key)
    [database] = data.glob("*.db")
    with sqlite3.connect(database) as connection:
        changed = connection.execute("UPDATE resource_versions SET blob_key = ? WHERE blob_key = ?", (before, key))
        assert changed.rowcount == 1
    connection.close()
    assert json.dumps(place.names()).count(before) == 1
