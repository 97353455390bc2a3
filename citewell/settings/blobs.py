"""Where files are kept: the settings of each blob store."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal, TypeAlias

from pydantic import SecretStr

from citewell.settings.base import DataFolderSetting, SettingsGroup
from citewell.settings.names import named
from citewell.settings.values import HttpAddress

_BLOB_BACKEND = named("blob_backend", "STORAGE_BACKEND")


@dataclass(frozen=True, kw_only=True)
class LocalBlobs(SettingsGroup):
    """Files are kept in the data folder."""

    provider: Annotated[Literal["local"], _BLOB_BACKEND] = "local"
    data: DataFolderSetting

    @property
    def folder(self) -> Path:
        """Where the files are."""
        return self.data / "blobs"


@dataclass(frozen=True, kw_only=True)
class _ObjectStoreBlobs(SettingsGroup):
    data: DataFolderSetting
    bucket: Annotated[
        str | None, named("blob_bucket", "S3_BUCKET", "AWS_S3_BUCKET", "GCS_BUCKET", "AZURE_STORAGE_CONTAINER_NAME")
    ] = None
    prefix: Annotated[str, named("blob_prefix")] = ""


@dataclass(frozen=True, kw_only=True)
class S3Blobs(_ObjectStoreBlobs):
    """Files are kept in a bucket of S3 or a compatible service. Without keys the machine's own role is used."""

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
    """Files are kept in a bucket of Google Cloud Storage. Without credentials the machine's own account is used."""

    provider: Annotated[Literal["gcs"], _BLOB_BACKEND] = "gcs"
    endpoint: Annotated[HttpAddress | None, named("gcs_endpoint", "STORAGE_EMULATOR_HOST")] = None
    credentials: Annotated[Path | None, named("gcs_credentials", "GOOGLE_APPLICATION_CREDENTIALS")] = None


@dataclass(frozen=True, kw_only=True)
class AzureBlobs(_ObjectStoreBlobs):
    """Files are kept in a container of Azure Blob Storage. Without a key the machine's own identity is used."""

    provider: Annotated[Literal["azure"], _BLOB_BACKEND] = "azure"
    account: Annotated[str | None, named("azure_account", "AZURE_STORAGE_ACCOUNT_NAME")] = None
    account_key: Annotated[SecretStr | None, named("azure_account_key", "AZURE_STORAGE_ACCOUNT_KEY")] = None
    endpoint: Annotated[HttpAddress | None, named("azure_endpoint", "AZURE_STORAGE_ENDPOINT")] = None


BlobSettings: TypeAlias = LocalBlobs | S3Blobs | GcsBlobs | AzureBlobs
