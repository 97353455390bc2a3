"""ZIP containers are unpacked within one budget, and damage has a name."""

from __future__ import annotations

import io
import struct
import zipfile
from pathlib import Path

import pytest

from citewell.errors import CorruptFile, LimitExceeded, PasswordRequired, WrongPassword
from citewell.extract.core import safezip
from citewell.extract.core.safezip import RATIO_FLOOR, SafeZip
from citewell.types import ExtractOptions


def archive(path: Path, members: dict[str, bytes], method: int = zipfile.ZIP_DEFLATED) -> Path:
    with zipfile.ZipFile(path, "w", method) as out:
        for name, data in members.items():
            out.writestr(name, data)
    return path


def test_members_are_read_extracted_and_listed(tmp_path: Path) -> None:
    with SafeZip(archive(tmp_path / "a.zip", {"a.txt": b"alpha", "b/c.txt": b"gamma"}), ExtractOptions()) as found:
        assert found.names() == ["a.txt", "b/c.txt"]
        assert "a.txt" in found
        assert found.read("a.txt") == b"alpha"
        assert found.extract_to("b/c.txt", tmp_path / "out") == 5
        with pytest.raises(KeyError):
            found.read("none")
    assert (tmp_path / "out").read_bytes() == b"gamma"


def test_the_budget_is_shared_by_all_reads(tmp_path: Path) -> None:
    big = b"\0" * (RATIO_FLOOR // 2 + 1)
    with SafeZip(archive(tmp_path / "a.zip", {"a": big, "b": big}), ExtractOptions()) as found:
        assert len(found.read("a")) == len(big)
        with pytest.raises(LimitExceeded):
            found.read("b")


def test_the_ratio_decides_above_the_floor_and_the_absolute_limit_above_all(tmp_path: Path) -> None:
    path = archive(tmp_path / "a.zip", {"a": bytes(range(256)) * 4_000}, zipfile.ZIP_STORED)
    assert SafeZip(path, ExtractOptions(max_archive_ratio=100)).budget == 100 * path.stat().st_size
    assert SafeZip(path, ExtractOptions(max_output_bytes=1_000)).budget == 1_000


def test_a_member_larger_than_the_reader_wants_is_refused_before_and_while_unpacking(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = archive(tmp_path / "a.zip", {"a": b"x" * 1_000})
    with SafeZip(path, ExtractOptions()) as found, pytest.raises(LimitExceeded):
        found.read("a", 999)
    lied = bytearray(path.read_bytes())
    at = lied.rfind(b"PK\x01\x02")
    struct.pack_into("<I", lied, at + 24, 10)
    path.write_bytes(bytes(lied))
    monkeypatch.setattr(safezip, "_PIECE", 100)
    with SafeZip(path, ExtractOptions()) as found, pytest.raises((LimitExceeded, CorruptFile)):
        found.read("a", 999)


def test_a_directory_with_too_many_members_is_refused_before_it_is_loaded(tmp_path: Path) -> None:
    path = archive(tmp_path / "a.zip", {str(number): b"" for number in range(101)}, zipfile.ZIP_STORED)
    with pytest.raises(LimitExceeded):
        SafeZip(path, ExtractOptions(max_archive_members=100))
    with SafeZip(path, ExtractOptions(max_archive_members=101)) as found:
        assert len(found.names()) == 101


def test_a_directory_that_claims_to_be_huge_is_refused(tmp_path: Path) -> None:
    data = bytearray(archive(tmp_path / "a.zip", {"a": b"x" * 200_000}, zipfile.ZIP_STORED).read_bytes())
    at = data.rfind(b"PK\x05\x06")
    struct.pack_into("<HHI", data, at + 8, 0xFFFF, 0xFFFF, 190_000)
    (tmp_path / "a.zip").write_bytes(bytes(data))
    with pytest.raises(LimitExceeded):
        SafeZip(tmp_path / "a.zip", ExtractOptions(max_archive_members=10))


@pytest.mark.parametrize("cut", [10, 40, -5, -30])
def test_a_cut_off_container_is_damaged(cut: int, tmp_path: Path) -> None:
    data = archive(tmp_path / "a.zip", {"a": b"x" * 50, "b": b"y" * 50}).read_bytes()
    (tmp_path / "a.zip").write_bytes(data[:cut])
    with pytest.raises(CorruptFile):
        SafeZip(tmp_path / "a.zip", ExtractOptions())


def test_damaged_contents_are_reported_when_read(tmp_path: Path) -> None:
    data = bytearray(archive(tmp_path / "a.zip", {"a": bytes(range(256)) * 40}).read_bytes())
    data[60:70] = b"\xff" * 10
    (tmp_path / "a.zip").write_bytes(bytes(data))
    with SafeZip(tmp_path / "a.zip", ExtractOptions()) as found, pytest.raises(CorruptFile):
        found.read("a")


def test_an_unknown_compression_is_damage(tmp_path: Path) -> None:
    data = bytearray(archive(tmp_path / "a.zip", {"a": b"x" * 50}).read_bytes())
    struct.pack_into("<H", data, 8, 99)
    struct.pack_into("<H", data, data.rfind(b"PK\x01\x02") + 10, 99)
    (tmp_path / "a.zip").write_bytes(bytes(data))
    with SafeZip(tmp_path / "a.zip", ExtractOptions()) as found, pytest.raises(CorruptFile):
        found.read("a")


# `secret.txt` with the text `hidden words`, encrypted with the password `tika` by the classic method.
def encrypted(path: Path) -> Path:
    plain = b"hidden words"
    keys = [0x12345678, 0x23456789, 0x34567890]
    table = [_crc(number) for number in range(256)]

    def update(byte: int) -> None:
        keys[0] = table[(keys[0] ^ byte) & 0xFF] ^ keys[0] >> 8
        keys[1] = ((keys[1] + (keys[0] & 0xFF)) * 134775813 + 1) & 0xFFFFFFFF
        keys[2] = table[(keys[2] ^ keys[1] >> 24) & 0xFF] ^ keys[2] >> 8

    for byte in b"tika":
        update(byte)
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as out:
        out.writestr("secret.txt", plain)
        check = out.infolist()[0].CRC >> 24
    body = bytearray()
    for byte in b"\0" * 11 + bytes([check]) + plain:
        mask = keys[2] | 2
        body.append(byte ^ (mask * (mask ^ 1) >> 8 & 0xFF))
        update(byte)
    data = buffer.getvalue()
    name_end = 30 + len("secret.txt")
    directory = bytearray(data[data.rfind(b"PK\x01\x02") : data.rfind(b"PK\x05\x06")])
    end = bytearray(data[data.rfind(b"PK\x05\x06") :])
    head = bytearray(data[:name_end])
    struct.pack_into("<H", head, 6, 1)
    struct.pack_into("<I", head, 18, len(body))
    struct.pack_into("<H", directory, 8, 1)
    struct.pack_into("<I", directory, 20, len(body))
    struct.pack_into("<I", end, 16, name_end + len(body))
    path.write_bytes(bytes(head + body + directory + end))
    return path


def _crc(number: int) -> int:
    for _ in range(8):
        number = number >> 1 ^ 0xEDB88320 if number & 1 else number >> 1
    return number


def test_encrypted_members_open_with_their_password_only(tmp_path: Path) -> None:
    path = encrypted(tmp_path / "a.zip")
    with SafeZip(path, ExtractOptions()) as found, pytest.raises(PasswordRequired):
        found.read("secret.txt")
    with SafeZip(path, ExtractOptions(password="tika")) as found:
        assert found.read("secret.txt") == b"hidden words"
    with SafeZip(path, ExtractOptions(password="guess")) as found, pytest.raises((WrongPassword, CorruptFile)):
        found.read("secret.txt")
