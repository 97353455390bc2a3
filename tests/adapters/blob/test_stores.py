"""Each blob store passes the suite; what only object stores can do wrong is said plainly."""

from __future__ import annotations

from collections.abc import Generator
from pathlib import Path

import pytest

from citewell.adapters.blob.layers import LayeredBlobStore
from citewell.adapters.blob.local import LocalBlobStore
from citewell.adapters.registry import build_blob_store
from citewell.errors import ConfigurationError, DamagedFile, NotFound, Unavailable
from citewell.ports import BlobStore
from citewell.settings import load_settings
from citewell.testing.blob_store_suite import BlobStoreConformance, file_of, read
from tests.adapters.blob.stores import KEYS, Wire, new_s3_bucket, s3, s3_client
from tests.contract_servers.azure import ACCOUNT, ACCOUNT_KEY, AzureServer
from tests.contract_servers.gcs import GCSServer
from tests.contract_servers.serving import serving


@pytest.fixture(scope="module")
def s3_address() -> Generator[str]:
    with s3() as address:
        yield address


def s3_store(address: str, data: Path, bucket: str | None = None, **more: object) -> BlobStore:
    bucket = bucket or new_s3_bucket(address)
    settings = load_settings(data=data, blob_backend="s3", blob_bucket=bucket, s3_endpoint=address, **KEYS, **more)
    return build_blob_store(settings.blobs)


def azure_store(address: str, data: Path, **more: object) -> BlobStore:
    keys = {"azure_account": ACCOUNT, "azure_account_key": ACCOUNT_KEY, "azure_endpoint": address} | more
    return build_blob_store(load_settings(data=data, blob_backend="azure", blob_bucket="files", **keys).blobs)


class TestLocal(BlobStoreConformance):
    @pytest.fixture
    def blobs(self, tmp_path: Path) -> BlobStore:
        return LocalBlobStore(tmp_path / "blobs")


class TestS3(BlobStoreConformance):
    @pytest.fixture
    def blobs(self, s3_address: str, tmp_path: Path) -> BlobStore:
        return s3_store(s3_address, tmp_path / "data")


class TestS3WithPrefix(BlobStoreConformance):
    @pytest.fixture
    def blobs(self, s3_address: str, tmp_path: Path) -> BlobStore:
        return s3_store(s3_address, tmp_path / "data", blob_prefix="citewell/files")


class TestGoogleCloudStorage(BlobStoreConformance):
    @pytest.fixture
    def blobs(self, tmp_path: Path) -> Generator[BlobStore]:
        server = GCSServer(objects={"files": {}})
        with serving(server.app) as address:
            settings = load_settings(data=tmp_path, blob_backend="gcs", blob_bucket="files", gcs_endpoint=address)
            yield build_blob_store(settings.blobs)


class TestAzure(BlobStoreConformance):
    @pytest.fixture
    def blobs(self, tmp_path: Path) -> Generator[BlobStore]:
        with serving(AzureServer(objects={"files": {}}).app) as address:
            yield azure_store(address, tmp_path)


async def test_a_wrong_key_of_azure_is_said(tmp_path: Path) -> None:
    with serving(AzureServer(objects={"files": {}}).app) as address:
        blobs = azure_store(address, tmp_path, azure_account_key="b3RoZXI=")
        with pytest.raises(Unavailable, match="credentials"):
            await blobs.put_file("key", file_of(tmp_path, b"1"))


class TestLayers(BlobStoreConformance):
    @pytest.fixture
    def blobs(self, tmp_path: Path) -> BlobStore:
        return LayeredBlobStore(LocalBlobStore(tmp_path / "new"), LocalBlobStore(tmp_path / "old"))


async def test_what_was_kept_in_the_data_folder_is_read_after_a_move_to_s3(s3_address: str, tmp_path: Path) -> None:
    data = tmp_path / "data"
    await LocalBlobStore(data / "blobs").put_file("originals/old", file_of(tmp_path, b"from before"))
    blobs = s3_store(s3_address, data)
    await blobs.put_file("originals/new", file_of(tmp_path, b"from now on"))
    assert await read(blobs, "originals/old", 5) == b"before"
    async with blobs.local_copy("originals/old") as copy:
        assert copy.read_bytes() == b"from before"
    assert await blobs.list("originals/") == ["originals/new", "originals/old"]
    assert [path.name for path in (data / "blobs").rglob("*") if path.is_file()] == ["old"]
    await blobs.delete("originals/old")
    with pytest.raises(NotFound):
        await read(blobs, "originals/old")


async def test_a_prefix_keeps_two_deployments_apart(s3_address: str, tmp_path: Path) -> None:
    bucket = new_s3_bucket(s3_address)
    one, two = (s3_store(s3_address, tmp_path, bucket, blob_prefix=name) for name in ("one", "two"))
    await one.put_file("key", file_of(tmp_path, b"1"))
    assert await two.list("") == []
    with pytest.raises(NotFound):
        await read(two, "key")
    listed = s3_client(s3_address).list_objects_v2(Bucket=bucket)["Contents"]
    assert [found["Key"] for found in listed] == ["one/key"]


async def test_files_are_encrypted_as_configured(s3_address: str, tmp_path: Path) -> None:
    bucket = new_s3_bucket(s3_address)
    blobs = s3_store(s3_address, tmp_path, bucket, s3_encryption="aws:kms", s3_kms_key_id="alias/files")
    await blobs.put_file("key", file_of(tmp_path, b"1"))
    head = s3_client(s3_address).head_object(Bucket=bucket, Key="key")
    assert (head["ServerSideEncryption"], head["SSEKMSKeyId"]) == ("aws:kms", "alias/files")


async def test_a_large_file_arrives_in_parts(s3_address: str, tmp_path: Path) -> None:
    bucket = new_s3_bucket(s3_address)
    await s3_store(s3_address, tmp_path, bucket).put_file("key", file_of(tmp_path, b"-" * 20_000_000))
    assert s3_client(s3_address).head_object(Bucket=bucket, Key="key")["ETag"].strip('"').endswith("-3")


async def test_a_store_that_is_down_is_unavailable_and_nothing_is_lost(s3_address: str, tmp_path: Path) -> None:
    wire = Wire(int(s3_address.rsplit(":", 1)[1]))
    blobs = s3_store(wire.address, tmp_path, new_s3_bucket(s3_address))
    await blobs.put_file("before", file_of(tmp_path, b"before"))
    wire.cut()
    path = file_of(tmp_path, b"during")
    with pytest.raises(Unavailable, match="does not respond"):
        await blobs.put_file("during", path)
    assert path.read_bytes() == b"during"
    with pytest.raises(Unavailable, match="does not respond"):
        await read(blobs, "before")
    wire.mend()
    assert await read(blobs, "before") == b"before"
    await blobs.put_file("during", path)
    assert await read(blobs, "during") == b"during"
    wire.close()


async def test_a_bucket_that_is_not_there_is_said(s3_address: str, tmp_path: Path) -> None:
    blobs = s3_store(s3_address, tmp_path, "no-such-bucket")
    with pytest.raises((Unavailable, NotFound)):
        await blobs.put_file("key", file_of(tmp_path, b"1"))


async def test_an_object_cut_short_is_damage(s3_address: str, tmp_path: Path) -> None:
    bucket = new_s3_bucket(s3_address)
    blobs = s3_store(s3_address, tmp_path, bucket)
    await blobs.put_file("key", file_of(tmp_path, b"0123456789"))
    s3_client(s3_address).put_object(Bucket=bucket, Key="key", Body=b"0123")
    with pytest.raises(DamagedFile):
        await read(blobs, "key", 0, 10)


def test_a_bucket_must_be_named(tmp_path: Path) -> None:
    for backend in ("s3", "gcs", "azure"):
        with pytest.raises(ConfigurationError, match="no bucket is set"):
            build_blob_store(load_settings(data=tmp_path, blob_backend=backend).blobs)
