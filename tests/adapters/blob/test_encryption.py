"""Whoever asks for encryption gets it, or is told at the start that it would not be there."""

from __future__ import annotations

import base64
import hashlib
import os
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

import pytest

from citewell.adapters.blob import object_store
from citewell.adapters.registry import build_blob_store
from citewell.errors import ConfigurationError, Unavailable
from citewell.settings import AzureBlobs, load_settings
from citewell.testing.blob_store_suite import file_of, read
from tests.contract_servers.azure import ACCOUNT, ACCOUNT_KEY, AzureServer
from tests.contract_servers.certificates import write_certificate
from tests.contract_servers.serving import serving

KEY = base64.b64encode(b"k" * 32).decode()
AZURE = {"blob_backend": "azure", "blob_bucket": "files", "azure_account": "files"}


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"blob_backend": "gcs", "s3_encryption": "aws:kms"}, "s3_encryption.*'gcs'.*encrypt nothing"),
        ({"blob_backend": "azure", "s3_kms_key_id": "alias/files"}, "s3_kms_key_id.*'azure'.*encrypt nothing"),
        ({"s3_encryption": "AES256"}, "s3_encryption.*'local'.*encrypt nothing"),
        ({"blob_backend": "s3", "azure_encryption_key": KEY}, "azure_encryption_key.*'s3'.*encrypt nothing"),
        ({"blob_backend": "s3", "s3_kms_key_id": "alias/files"}, "s3_kms_key_id.*names a key.*'aws:kms'"),
        ({"blob_backend": "s3", "s3_kms_key_id": "alias/files", "s3_encryption": "AES256"}, "names a key"),
        (AZURE | {"azure_encryption_key": "c2hvcnQ="}, "32 bytes"),
        (AZURE | {"azure_encryption_key": "not Base64!"}, "32 bytes"),
        (AZURE | {"azure_encryption_key": KEY, "azure_endpoint": "http://azure.local"}, "https://"),
        (AZURE | {"azure_encryption_key": KEY, "blob_link_seconds": 60}, "links cannot work"),
    ],
)
def test_what_would_not_be_encrypted_is_refused(tmp_path: Path, given: dict[str, object], said: str) -> None:
    with pytest.raises(ConfigurationError, match=said) as caught:
        load_settings(data=tmp_path, **given)
    assert KEY not in str(caught.value)


@pytest.mark.parametrize(
    "given",
    [
        {"blob_backend": "s3", "s3_encryption": "AES256"},
        {"blob_backend": "s3", "s3_encryption": "aws:kms"},
        {"blob_backend": "s3", "s3_encryption": "aws:kms:dsse", "s3_kms_key_id": "alias/files"},
        AZURE | {"azure_encryption_key": KEY, "azure_endpoint": "https://azure.local"},
    ],
)
def test_what_is_encrypted_is_accepted(tmp_path: Path, given: dict[str, object]) -> None:
    assert load_settings(data=tmp_path, **given).blobs.provider == given["blob_backend"]


def test_a_key_under_the_name_of_another_tool_is_for_that_tool(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(os.environ, "AZURE_ENCRYPTION_KEY", KEY)
    assert load_settings(data=tmp_path).blobs.provider == "local"
    blobs = load_settings(data=tmp_path, **AZURE).blobs
    assert isinstance(blobs, AzureBlobs)
    assert blobs.encryption_key is not None
    assert KEY not in repr(blobs)


def test_links_of_google_are_for_googles_address(tmp_path: Path) -> None:
    given = {"blob_backend": "gcs", "gcs_endpoint": "http://127.0.0.1:4443", "blob_link_seconds": 60}
    with pytest.raises(ConfigurationError, match="Google's address"):
        load_settings(data=tmp_path, **given)


@pytest.mark.parametrize("seconds", [-1, 301])
def test_links_are_short_lived(tmp_path: Path, seconds: int) -> None:
    with pytest.raises(ConfigurationError, match="blob_link_seconds"):
        load_settings(data=tmp_path, blob_backend="s3", blob_link_seconds=seconds)


@contextmanager
def _over_tls(server: AzureServer, folder: Path) -> Generator[str]:
    with serving(server.app, write_certificate(folder)) as address:
        yield address


async def test_azure_encrypts_with_the_key_that_is_sent_and_reads_with_no_other(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(object_store, "_CLIENT", {"allow_invalid_certificates": True})
    server = AzureServer(objects={"files": {}})
    keys = {"azure_account_key": ACCOUNT_KEY, "blob_backend": "azure", "blob_bucket": "files", "azure_account": ACCOUNT}
    with _over_tls(server, tmp_path) as address:
        given = keys | {"azure_endpoint": address, "data": tmp_path}
        blobs = build_blob_store(load_settings(**given, azure_encryption_key=KEY).blobs)
        small, large = b"small", b"-" * 20_000_000
        await blobs.put_file("small", file_of(tmp_path, small))
        await blobs.put_file("large", file_of(tmp_path, large))
        assert (await read(blobs, "small"), await read(blobs, "large")) == (small, large)
        expected = base64.b64encode(hashlib.sha256(b"k" * 32).digest()).decode()
        assert {said["x-ms-encryption-key-sha256"] for said in server.said.values()} == {expected}
        with pytest.raises(Unavailable):
            await read(build_blob_store(load_settings(**given).blobs), "small")
        await blobs.delete("small")
        assert await blobs.list("") == ["large"]
