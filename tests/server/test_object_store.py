"""A server whose files are in S3, Google Cloud Storage or Azure: nothing of them stays in its data folder, and what the store loses or damages is said."""

from __future__ import annotations

import hashlib
import time
from collections.abc import Generator
from pathlib import Path
from typing import Protocol

import pytest

from tests.adapters.blob.stores import KEYS, Wire, new_s3_bucket, s3, s3_client
from tests.contract_servers.azure import ACCOUNT, ACCOUNT_KEY, AzureServer
from tests.contract_servers.gcs import GCSServer
from tests.contract_servers.serving import serving
from tests.server.in_process import InProcessServer

pytestmark = [pytest.mark.full, pytest.mark.slow(30)]
SAMPLES = Path(__file__).resolve().parents[2] / "samples"


class Stored(Protocol):
    """A bucket, as its owner sees it, behind a wire that can be cut."""

    backend: str
    wire: Wire
    environment: dict[str, str]

    def keys(self) -> list[str]: ...
    def remove(self, key: str) -> None: ...
    def damage(self, key: str) -> None:
        """Other bytes, as many."""
        ...


class InS3:
    """On moto's server."""

    backend = "s3"

    def __init__(self, address: str) -> None:
        self.wire = Wire(int(address.rsplit(":", 1)[1]))
        self.bucket = new_s3_bucket(address)
        self._client = s3_client(address)
        self.environment = {
            "CITEWELL_BLOB_BACKEND": "s3",
            "S3_BUCKET": self.bucket,
            "S3_ENDPOINT": self.wire.address,
            "S3_REGION": KEYS["s3_region"],
            "AWS_ACCESS_KEY_ID": KEYS["s3_access_key_id"],
            "AWS_SECRET_ACCESS_KEY": KEYS["s3_secret_access_key"],
        }

    def keys(self) -> list[str]:
        listed = self._client.list_objects_v2(Bucket=self.bucket)
        return [found["Key"] for found in listed.get("Contents", ())]

    def remove(self, key: str) -> None:
        self._client.delete_object(Bucket=self.bucket, Key=key)

    def damage(self, key: str) -> None:
        data = self._client.get_object(Bucket=self.bucket, Key=key)["Body"].read()
        self._client.put_object(Bucket=self.bucket, Key=key, Body=_other(data))


class InMemory:
    """On a contract server, whose objects are in `kept`."""

    def __init__(self, backend: str, address: str, kept: dict[str, bytes]) -> None:
        self.backend, self._kept = backend, kept
        self.wire = Wire(int(address.rsplit(":", 1)[1]))
        self.environment = {
            "CITEWELL_BLOB_BACKEND": backend,
            "CITEWELL_BLOB_BUCKET": "files",
            f"CITEWELL_{backend.upper()}_ENDPOINT": self.wire.address,
        }
        if backend == "azure":
            self.environment |= {"AZURE_STORAGE_ACCOUNT_NAME": ACCOUNT, "AZURE_STORAGE_ACCOUNT_KEY": ACCOUNT_KEY}

    def keys(self) -> list[str]:
        return sorted(self._kept)

    def remove(self, key: str) -> None:
        del self._kept[key]

    def damage(self, key: str) -> None:
        self._kept[key] = _other(self._kept[key])


def _originals(stored: Stored) -> list[str]:
    keys = stored.keys()
    return [key for key in keys if "/original-" in key]


def _other(data: bytes) -> bytes:
    return data[:-1] + bytes([data[-1] ^ 1])


@pytest.fixture(params=["s3", "gcs", "azure"])
def stored(request: pytest.FixtureRequest) -> Generator[Stored]:
    found: Stored
    if request.param == "s3":
        with s3() as address:
            found = InS3(address)
            yield found
    else:
        server = {"gcs": GCSServer, "azure": AzureServer}[request.param](page=1_000, objects={"files": {}})
        with serving(server.app) as address:
            found = InMemory(request.param, address, server.objects["files"])
            yield found
    found.wire.close()


def test_files_are_asked_about_read_and_deleted_in_the_store(stored: Stored, tmp_path: Path) -> None:
    with InProcessServer(tmp_path / "data", **stored.environment) as running:
        names = ["Loan Policy.pdf", "Finance Sheet.xlsx"]
        added = [running.add(name, (SAMPLES / name).read_bytes()) for name in names]
        assert {one["storage_backend"] for one in added} == {stored.backend}
        assert len(_originals(stored)) == len(names)
        assert not [path for path in (tmp_path / "data" / "blobs").rglob("*") if path.is_file()]

        answer = running.client.post("/chat", json={"message": "What are the total expenses?"}).json()
        assert answer["citations"]
        for one, name in zip(added, names, strict=True):
            original = running.client.get(f"/resources/{one['id']}/file")
            assert hashlib.sha256(original.content).digest() == hashlib.sha256((SAMPLES / name).read_bytes()).digest()
            part = running.client.get(f"/resources/{one['id']}/file", headers={"Range": "bytes=10-19"})
            assert (part.status_code, part.content) == (206, (SAMPLES / name).read_bytes()[10:20])

        for one in added:
            assert running.client.delete(f"/resources/{one['id']}").status_code == 200
        assert stored.keys() == []


def test_while_the_store_is_down_uploads_are_refused_questions_answered_and_accepted_files_wait(
    stored: Stored, tmp_path: Path
) -> None:
    with InProcessServer(tmp_path / "data", **stored.environment) as running:
        running.add("policy.pdf", (SAMPLES / "Loan Policy.pdf").read_bytes())
        accepted = running.upload("growth.docx", (SAMPLES / "Growth Plan.docx").read_bytes()).json()
        stored.wire.cut()
        refused = running.upload("late.txt", b"Too late for now.")
        assert (refused.status_code, refused.json()["error"]["code"]) == (503, "unavailable")
        found = running.client.post("/search", json={"query": "maximum loan"})
        assert found.json()["hits"]
        time.sleep(5)
        stored.wire.mend()
        assert running.wait(accepted["id"])["status"] == "indexed"
        assert running.add("late.txt", b"Too late for now.")["status"] == "indexed"


def test_an_object_that_is_lost_or_other_bytes_is_damage_and_the_same_upload_restores_it(
    stored: Stored, tmp_path: Path
) -> None:
    with InProcessServer(tmp_path / "data", **stored.environment) as running:
        data = (SAMPLES / "Growth Plan.docx").read_bytes()
        added = running.add("growth.docx", data)
        [key] = _originals(stored)
        for harm in (stored.remove, stored.damage):
            harm(key)
            broken = running.client.get(f"/resources/{added['id']}/file")
            assert (broken.status_code, broken.json()["error"]["code"]) == (500, "damaged_file")
            assert running.upload("growth.docx", data).status_code == 200
            assert running.client.get(f"/resources/{added['id']}/file").content == data
