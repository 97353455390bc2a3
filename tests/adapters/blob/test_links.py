"""Links to a file in an object store: good without credentials, for this file, for seconds, and never shown by a browser."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable, Generator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, urlencode, urlsplit, urlunsplit

import httpx
import pytest
from cryptography.hazmat.primitives.asymmetric import rsa
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat
from starlette.applications import Starlette
from starlette.routing import Mount

from citewell.adapters.blob.layers import LayeredBlobStore
from citewell.adapters.blob.local import LocalBlobStore
from citewell.adapters.registry import build_blob_store
from citewell.errors import DamagedFile, NotFound, Unavailable
from citewell.ports import BlobStore
from citewell.settings import GcsBlobs, load_settings
from citewell.testing.blob_store_suite import file_of
from citewell.types import BlobLink
from tests.adapters.blob.stores import KEYS, new_s3_bucket, s3, s3_client
from tests.contract_servers.azure import ACCOUNT, ACCOUNT_KEY, AzureServer
from tests.contract_servers.gcs import GCSServer
from tests.contract_servers.serving import serving
from tests.contract_servers.signed_addresses import S3Gate

pytestmark = pytest.mark.full

SECONDS = 60
KEY = "owner/resource/1/original-1"
PAGE = b"<html><script>alert(document.domain)</script></html>"


@dataclass
class Bucket:
    """A store that gives links, its server's clock, and a way to put an object there as another program would."""

    blobs: BlobStore
    set_clock: Callable[[Callable[[], float]], None]
    put: Callable[[str, bytes], None]


@contextmanager
def in_s3(data: Path, **more: object) -> Generator[Bucket]:
    with s3() as address:
        gate = S3Gate(address, KEYS["s3_secret_access_key"])
        bucket = new_s3_bucket(address)
        with serving(gate.app) as gated:
            blobs = _store(data, "s3", bucket, s3_endpoint=gated, **KEYS, **more)
            prefix = more.get("blob_prefix", "")

            def put(key: str, content: bytes) -> None:
                whole = f"{prefix}/{key}" if prefix else key
                s3_client(address).put_object(Bucket=bucket, Key=whole, Body=content, ContentType="text/html")

            yield Bucket(blobs, lambda now: setattr(gate, "now", now), put)


@contextmanager
def in_gcs(data: Path) -> Generator[Bucket]:
    key = rsa.generate_private_key(public_exponent=65_537, key_size=2_048)
    server = GCSServer(objects={"files": {}}, account=key.public_key())
    with serving(server.app) as address:
        account = {
            "type": "service_account",
            "client_email": "citewell@example.iam.gserviceaccount.com",
            "private_key": key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()).decode(),
            "private_key_id": "1",
            "gcs_base_url": address,
            "disable_oauth": False,
        }
        data.mkdir(parents=True, exist_ok=True)
        credentials = data / "account.json"
        credentials.write_text(json.dumps(account))
        # `load_settings` refuses links beside an endpoint: they are signed for Google's own address, wherever they lead.
        settings = GcsBlobs(data=data, bucket="files", endpoint=address, credentials=credentials, link_seconds=SECONDS)
        yield Bucket(
            build_blob_store(settings), lambda now: setattr(server, "now", now), server.objects["files"].__setitem__
        )


@contextmanager
def in_azure(data: Path) -> Generator[Bucket]:
    server = AzureServer(objects={"files": {}})
    # Where the account is not in the host's name, it begins the path, as with Azurite.
    with serving(Starlette(routes=[Mount(f"/{ACCOUNT}", server.app)])) as address:
        keys = {"azure_account": ACCOUNT, "azure_account_key": ACCOUNT_KEY}
        blobs = _store(data, "azure", "files", azure_endpoint=f"{address}/{ACCOUNT}", **keys)
        yield Bucket(blobs, lambda now: setattr(server, "now", now), server.objects["files"].__setitem__)


@contextmanager
def in_s3_below_a_prefix(data: Path) -> Generator[Bucket]:
    with in_s3(data, blob_prefix="citewell/files") as bucket:
        yield bucket


def _store(data: Path, backend: str, bucket: str, **more: object) -> BlobStore:
    given: dict[str, object] = {"blob_link_seconds": SECONDS} | more
    return build_blob_store(load_settings(data=data, blob_backend=backend, blob_bucket=bucket, **given).blobs)


@pytest.fixture(params=[in_s3, in_s3_below_a_prefix, in_gcs, in_azure])
def bucket(request: pytest.FixtureRequest, tmp_path: Path) -> Generator[Bucket]:
    with request.param(tmp_path / "data") as found:
        yield found


async def _asked(url: str, method: str = "GET", **more: Any) -> httpx.Response:
    async with httpx.AsyncClient() as client:
        return await client.request(method, url, **more)


async def _link(blobs: BlobStore, size: int, key: str = KEY) -> BlobLink:
    link = await blobs.link(key, size)
    assert link is not None
    return link


async def test_a_link_reads_the_bytes_without_credentials_for_as_long_as_it_says(
    bucket: Bucket, tmp_path: Path
) -> None:
    await bucket.blobs.put_file(KEY, file_of(tmp_path, PAGE), "a page.html")
    before = time.time()
    link = await _link(bucket.blobs, len(PAGE))
    assert before + SECONDS - 1 <= link.expires_at <= time.time() + SECONDS
    assert link.url not in repr(link)
    assert (await _asked(link.url)).content == PAGE
    assert (await _asked(link.url, headers={"Range": "bytes=1-4"})).content == PAGE[1:5]
    bucket.set_clock(lambda: link.expires_at - 1)
    assert (await _asked(link.url)).status_code == 200
    bucket.set_clock(lambda: link.expires_at + 2)
    assert (await _asked(link.url)).status_code == 403


async def test_a_browser_saves_what_a_link_leads_to_under_its_name_and_runs_nothing(
    bucket: Bucket, tmp_path: Path
) -> None:
    await bucket.blobs.put_file(KEY, file_of(tmp_path, PAGE), 'Bericht "März".html')
    answer = await _asked((await _link(bucket.blobs, len(PAGE))).url)
    assert answer.headers["content-type"] == "application/octet-stream"
    disposition = "attachment; filename*=UTF-8''Bericht%20%22M%C3%A4rz%22.html"
    assert answer.headers["content-disposition"] == disposition
    assert answer.headers["cache-control"] == "private, no-store"


async def test_a_large_file_says_the_same(bucket: Bucket, tmp_path: Path) -> None:
    data = os.urandom(1024) * 20_000
    await bucket.blobs.put_file(KEY, file_of(tmp_path, data), "large.bin")
    answer = await _asked((await _link(bucket.blobs, len(data))).url)
    assert answer.content == data
    assert answer.headers["content-type"] == "application/octet-stream"
    assert answer.headers["content-disposition"].startswith("attachment")


async def test_a_link_is_good_for_its_file_for_reading_and_as_it_was_signed(bucket: Bucket, tmp_path: Path) -> None:
    other = KEY.replace("owner", "another")
    await bucket.blobs.put_file(KEY, file_of(tmp_path, PAGE))
    await bucket.blobs.put_file(other, file_of(tmp_path, b"of somebody else"))
    url = (await _link(bucket.blobs, len(PAGE))).url
    parts = urlsplit(url)
    query = dict(parse_qsl(parts.query))
    signature = next(name for name in query if name in ("sig", "X-Amz-Signature", "X-Goog-Signature"))
    turned = ("2" if query[signature].startswith("1") else "1") + query[signature][1:]
    assert (await _asked(url.replace("/owner/", "/another/"))).status_code == 403
    assert (await _asked(urlunsplit(parts._replace(query=urlencode(query | {signature: turned}))))).status_code == 403
    assert (await _asked(f"{url}&response-content-disposition=inline&rscd=inline")).status_code == 403
    assert (await _asked(urlunsplit(parts._replace(query="")))).status_code in (401, 403)
    assert (await _asked(url, "PUT", content=b"other")).status_code == 403
    assert (await _asked(url, "DELETE")).status_code == 403
    assert (await _asked(url)).content == PAGE


async def test_what_a_browser_might_show_gets_no_link(bucket: Bucket) -> None:
    bucket.put(KEY, PAGE)
    assert await bucket.blobs.link(KEY, len(PAGE)) is None


async def test_what_is_not_there_and_what_has_another_size_gets_no_link(bucket: Bucket, tmp_path: Path) -> None:
    with pytest.raises(NotFound):
        await bucket.blobs.link(KEY, 1)
    await bucket.blobs.put_file(KEY, file_of(tmp_path, PAGE))
    with pytest.raises(DamagedFile):
        await bucket.blobs.link(KEY, len(PAGE) + 1)


async def test_there_are_no_links_unless_they_are_asked_for(tmp_path: Path) -> None:
    server = AzureServer(objects={"files": {}})
    with serving(server.app) as address:
        more = {"azure_account": ACCOUNT, "azure_account_key": ACCOUNT_KEY, "azure_endpoint": address}
        blobs = build_blob_store(load_settings(data=tmp_path, blob_backend="azure", blob_bucket="files", **more).blobs)
        await blobs.put_file(KEY, file_of(tmp_path, PAGE))
        assert await blobs.link(KEY, len(PAGE)) is None


async def test_files_on_this_machine_get_none(tmp_path: Path) -> None:
    local = LocalBlobStore(tmp_path / "old")
    await local.put_file(KEY, file_of(tmp_path, PAGE))
    for blobs in (local, LayeredBlobStore(LocalBlobStore(tmp_path / "new"), local)):
        assert await blobs.link(KEY, len(PAGE)) is None
        with pytest.raises(NotFound):
            await blobs.link("never", 1)
        with pytest.raises(DamagedFile):
            await blobs.link(KEY, 1)


async def test_no_message_holds_a_key_or_a_signature(tmp_path: Path) -> None:
    with serving(AzureServer(objects={"files": {}}).app) as address:
        more = {"azure_account": ACCOUNT, "azure_account_key": "b3RoZXI=", "azure_endpoint": address}
        with pytest.raises(Unavailable, match="credentials") as caught:
            await _store(tmp_path, "azure", "files", **more).link(KEY, 1)
    shown = f"{caught.value!r} {caught.value.__cause__!r}"
    assert "sig=" not in shown
    assert "b3RoZXI=" not in shown
