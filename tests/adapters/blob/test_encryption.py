"""Whoever asks for encryption gets it, or is told at the start that it would not be there."""

from __future__ import annotations

import base64
import os
from pathlib import Path

import pytest

from citewell.errors import ConfigurationError
from citewell.settings import AzureBlobs, load_settings

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
        (AZURE | {"azure_encryption_key": KEY, "blob_link_seconds": 60}, "no link can do without it"),
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
    with pytest.raises(ConfigurationError, match="Google's own address"):
        load_settings(data=tmp_path, **given)


@pytest.mark.parametrize("seconds", [-1, 301])
def test_links_are_short_lived(tmp_path: Path, seconds: int) -> None:
    with pytest.raises(ConfigurationError, match="blob_link_seconds"):
        load_settings(data=tmp_path, blob_backend="s3", blob_link_seconds=seconds)
