"""Where files are stored: the settings of each blob store."""

from __future__ import annotations

import base64
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal, TypeAlias
from urllib.parse import urlsplit

from pydantic import Field, SecretStr

from citewell.settings.base import DataFolderSetting, SettingsGroup
from citewell.settings.names import PREFIX, named
from citewell.settings.values import HttpAddress

_ELSEWHERE = "Configure encryption on the bucket, container or disk itself, and remove this setting."
_BLOB_BACKEND = named("blob_backend", "STORAGE_BACKEND")


@dataclass(frozen=True, kw_only=True)
class LocalBlobs(SettingsGroup):
    """Files are stored in the data folder."""

    provider: Annotated[Literal["local"], _BLOB_BACKEND] = "local"
    data: DataFolderSetting

    @property
    def folder(self) -> Path:
        """The folder with the files."""
        return self.data / "blobs"


@dataclass(frozen=True, kw_only=True)
class _ObjectStoreBlobs(SettingsGroup):
    data: DataFolderSetting
    bucket: Annotated[
        str | None, named("blob_bucket", "S3_BUCKET", "AWS_S3_BUCKET", "GCS_BUCKET", "AZURE_STORAGE_CONTAINER_NAME")
    ] = None
    prefix: Annotated[str, named("blob_prefix")] = ""
    link_seconds: Annotated[int, Field(ge=0, le=300), named("blob_link_seconds")] = 0


@dataclass(frozen=True, kw_only=True)
class S3Blobs(_ObjectStoreBlobs):
    """Files are stored in a bucket of S3 or a compatible service. Without keys, the machine's role is used."""

    provider: Annotated[Literal["s3"], _BLOB_BACKEND] = "s3"
    endpoint: Annotated[HttpAddress | None, named("s3_endpoint", "S3_ENDPOINT", "AWS_ENDPOINT_URL")] = None
    region: Annotated[str | None, named("s3_region", "S3_REGION", "AWS_REGION")] = None
    access_key_id: Annotated[SecretStr | None, named("s3_access_key_id", "AWS_ACCESS_KEY_ID")] = None
    secret_access_key: Annotated[SecretStr | None, named("s3_secret_access_key", "AWS_SECRET_ACCESS_KEY")] = None
    session_token: Annotated[SecretStr | None, named("s3_session_token", "AWS_SESSION_TOKEN")] = None
    encryption: Annotated[Literal["AES256", "aws:kms", "aws:kms:dsse"] | None, named("s3_encryption")] = None
    kms_key_id: Annotated[str | None, named("s3_kms_key_id")] = None


@dataclass(frozen=True, kw_only=True)
class GcsBlobs(_ObjectStoreBlobs):
    """Files are stored in a bucket of Google Cloud Storage. Without credentials, the machine's account is used."""

    provider: Annotated[Literal["gcs"], _BLOB_BACKEND] = "gcs"
    endpoint: Annotated[HttpAddress | None, named("gcs_endpoint", "STORAGE_EMULATOR_HOST")] = None
    credentials: Annotated[Path | None, named("gcs_credentials", "GOOGLE_APPLICATION_CREDENTIALS")] = None


@dataclass(frozen=True, kw_only=True)
class AzureBlobs(_ObjectStoreBlobs):
    """Files are stored in a container of Azure Blob Storage. Without a key, the machine's identity is used."""

    provider: Annotated[Literal["azure"], _BLOB_BACKEND] = "azure"
    account: Annotated[str | None, named("azure_account", "AZURE_STORAGE_ACCOUNT_NAME")] = None
    account_key: Annotated[SecretStr | None, named("azure_account_key", "AZURE_STORAGE_ACCOUNT_KEY")] = None
    endpoint: Annotated[HttpAddress | None, named("azure_endpoint", "AZURE_STORAGE_ENDPOINT")] = None
    encryption_key: Annotated[SecretStr | None, named("azure_encryption_key", "AZURE_ENCRYPTION_KEY")] = None


BlobSettings: TypeAlias = LocalBlobs | S3Blobs | GcsBlobs | AzureBlobs
# Settings that request encryption, with the only store that uses them.
_ENCRYPTING = {"s3_encryption": "s3", "s3_kms_key_id": "s3", "azure_encryption_key": "azure"}
_AES_BYTES = 32


def blob_problems(blobs: BlobSettings) -> list[str]:
    """Settings that request encryption or links without effect; one or two sentences each."""
    problems = [
        f"{blobs.given[keyword]} is set, but {blobs.name_of('provider')} is {blobs.provider!r}, so it would encrypt nothing. {_ELSEWHERE}"
        for keyword, provider in _ENCRYPTING.items()
        if keyword in blobs.given and blobs.given[keyword].startswith((PREFIX, "`")) and blobs.provider != provider
    ]
    if isinstance(blobs, S3Blobs) and blobs.kms_key_id is not None and blobs.encryption in (None, "AES256"):
        problems.append(
            f"{blobs.name_of('kms_key_id')} names a key that would not be used. Set {blobs.name_of('encryption')} to 'aws:kms' or 'aws:kms:dsse'."
        )
    if isinstance(blobs, AzureBlobs) and blobs.encryption_key is not None:
        problems += _customer_key_problems(blobs, blobs.encryption_key)
    if isinstance(blobs, GcsBlobs) and blobs.link_seconds and blobs.endpoint:
        problems.append(
            f"{blobs.name_of('link_seconds')} makes links to Google's address only. Set it to 0, or remove {blobs.name_of('endpoint')}."
        )
    return problems


def _customer_key_problems(blobs: AzureBlobs, key: SecretStr) -> list[str]:
    name, problems = blobs.name_of("encryption_key"), list[str]()
    try:
        size = len(base64.b64decode(key.get_secret_value(), validate=True))
    except ValueError:
        size = 0
    if size != _AES_BYTES:
        problems.append(
            f"{name} must be {_AES_BYTES} bytes in Base64. Create one with: openssl rand -base64 {_AES_BYTES}"
        )
    if blobs.endpoint is not None and urlsplit(blobs.endpoint).scheme != "https":
        problems.append(f"{name} is sent with every request, so {blobs.name_of('endpoint')} must begin with https://.")
    if blobs.link_seconds:
        problems.append(
            f"{name} is needed to read a file, so links cannot work. Set {blobs.name_of('link_seconds')} to 0."
        )
    return problems
