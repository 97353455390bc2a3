from __future__ import annotations

import bz2
import gzip
import io
import lzma
import stat
import tarfile
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

from citewell.errors import CorruptFile, LimitExceeded, PasswordRequired
from tests.extract.documents.reading import Reading, read, read_bytes


def zipped(files: dict[str, bytes], method: int = zipfile.ZIP_DEFLATED) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", method) as archive:
        for name, data in files.items():
            archive.writestr(name, data)
    return out.getvalue()


def tarred(files: dict[str, bytes], *others: tarfile.TarInfo) -> bytes:
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w") as archive:
        for info in others:
            archive.addfile(info)
        for name, data in files.items():
            info = tarfile.TarInfo(name)
            info.size = len(data)
            archive.addfile(info, io.BytesIO(data))
    return out.getvalue()


def children(reading: Reading) -> dict[str, bytes]:
    return {child.filename: (reading.folder / child.path).read_bytes() for child in reading.summary.children}


FILES = {"notes.txt": b"one", "folder/data.csv": b"a,b\n1,2\n"}


@pytest.mark.parametrize("method", [zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
def test_members_of_a_zip_become_children(tmp_path: Path, method: int) -> None:
    reading = read_bytes(tmp_path, "a.zip", zipped(FILES, method))
    assert children(reading) == FILES
    assert reading.texts() == ["notes.txt (3 bytes)", "folder/data.csv (8 bytes)"]
    assert reading.summary.metadata["files"] == 2
    assert reading.summary.metadata["unpacked_bytes"] == 11


@pytest.mark.parametrize(("name", "pack"), [("zz.zip", zipped), ("zz.tar", tarred)])
def test_a_member_with_the_bytes_of_another_is_named_with_it(
    tmp_path: Path, name: str, pack: Callable[[dict[str, bytes]], bytes]
) -> None:
    files = {"a/report.txt": b"one", "b/copy.txt": b"one", "c/other.txt": b"two", "d/again.txt": b"one"}
    reading = read_bytes(tmp_path, name, pack(files))
    assert children(reading) == {"a/report.txt": b"one", "c/other.txt": b"two"}
    skipped = [text for unit in reading.summary.coverage.units for text in unit.skipped]
    assert skipped == ["b/copy.txt: the same as a/report.txt", "d/again.txt: the same as a/report.txt"]
    assert [text.split(" ")[0] for text in reading.texts()] == list(files)


def test_members_with_the_same_bytes_count_against_the_limit(tmp_path: Path) -> None:
    with pytest.raises(LimitExceeded):
        read_bytes(tmp_path, "a.tar", tarred({f"{n}.txt": b"one" for n in range(4)}), max_archive_members=3)


@pytest.mark.parametrize(
    ("name", "pack"),
    [("a.tar", bytes), ("a.tar.gz", gzip.compress), ("a.tar.bz2", bz2.compress), ("a.tar.xz", lzma.compress)],
)
def test_members_of_a_tar_become_children(tmp_path: Path, name: str, pack: type[bytes]) -> None:
    assert children(read_bytes(tmp_path, name, pack(tarred(FILES)))) == FILES


@pytest.mark.parametrize(("name", "pack"), [("a.gz", gzip.compress), ("a.bz2", bz2.compress), ("a.xz", lzma.compress)])
def test_a_compressed_file_is_its_own_child(tmp_path: Path, name: str, pack: type[bytes]) -> None:
    body = b"some text that is long enough to be worth it\n" * 20
    reading = read_bytes(tmp_path, name, pack(body))
    assert list(children(reading).values()) == [body]


def test_several_streams_after_each_other_are_one_file(tmp_path: Path) -> None:
    for name, pack in (("a.gz", gzip.compress), ("a.xz", lzma.compress)):
        reading = read_bytes(tmp_path, name, pack(b"first ") + pack(b"second"))
        assert list(children(reading).values()) == [b"first second"]


def test_the_name_that_gzip_keeps_is_used(tmp_path: Path) -> None:
    out = io.BytesIO()
    with gzip.GzipFile("report.csv", "wb", fileobj=out) as file:
        file.write(b"a,b\n")
    assert children(read_bytes(tmp_path, "x.gz", out.getvalue())) == {"report.csv": b"a,b\n"}


HOSTILE = [
    "../../etc/passwd",
    "/etc/passwd",
    "..\\..\\boot.ini",
    "C:\\Windows\\x.ini",
    "a/../../b",
    "x\n\x1b[0m.txt",
    "../",
]


@pytest.mark.parametrize("kind", ["zip", "tar"])
def test_names_are_only_shown(tmp_path: Path, kind: str) -> None:
    files = {name: f"file {n}".encode() for n, name in enumerate(HOSTILE[:-1])}
    reading = read_bytes(tmp_path, f"a.{kind}", zipped(files) if kind == "zip" else tarred(files))
    assert list(children(reading)) == ["etc/passwd", "etc/passwd", "boot.ini", "Windows/x.ini", "a/b", "x[0m.txt"][1:]
    assert len(reading.summary.children) == 6
    assert {child.path for child in reading.summary.children} == {f"child-{n}" for n in range(6)}
    assert "5 names point outside" in reading.notes()
    assert sorted(p.name for p in tmp_path.iterdir()) == sorted([f"a.{kind}", reading.folder.name])


def test_links_devices_and_folders_are_not_followed(tmp_path: Path) -> None:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        link = zipfile.ZipInfo("link")
        link.external_attr = (stat.S_IFLNK | 0o777) << 16
        archive.writestr(link, "/etc/passwd")
        archive.writestr("folder/", "")
        archive.writestr("real.txt", "text")
    reading = read_bytes(tmp_path, "a.zip", out.getvalue())
    assert children(reading) == {"real.txt": b"text"}
    assert "link: a link" in reading.notes()

    others = []
    for name, kind in (
        ("sym", tarfile.SYMTYPE),
        ("hard", tarfile.LNKTYPE),
        ("dev", tarfile.CHRTYPE),
        ("dir", tarfile.DIRTYPE),
    ):
        info = tarfile.TarInfo(name)
        info.type, info.linkname = kind, "/etc/passwd"
        others.append(info)
    reading = read_bytes(tmp_path, "a.tar", tarred({"real.txt": b"text"}, *others))
    assert children(reading) == {"real.txt": b"text"}
    assert "sym: a link" in reading.notes()
    assert "dev: a device" in reading.notes()


def test_empty_and_system_files_are_left_out_and_named(tmp_path: Path) -> None:
    files = {"__MACOSX/._a.txt": b"x", "sub/.DS_Store": b"x", "empty.txt": b"", "a.txt": b"text"}
    reading = read_bytes(tmp_path, "a.zip", zipped(files))
    assert children(reading) == {"a.txt": b"text"}
    assert "empty.txt: empty" in reading.notes()
    assert "sub/.DS_Store: a system file" in reading.notes()


def test_a_member_without_a_name_is_numbered(tmp_path: Path) -> None:
    data = zipped({"a": b"text"}, zipfile.ZIP_STORED)
    local, central = data.find(b"PK\x03\x04"), data.find(b"PK\x01\x02")
    nameless = bytearray(data[:30] + data[31:central] + data[central : central + 46] + data[central + 47 :])
    nameless[local + 26] = 0
    nameless[central - 1 + 28] = 0
    end = nameless.find(b"PK\x05\x06")
    nameless[end + 12 : end + 20] = (46).to_bytes(4, "little") + (central - 1).to_bytes(4, "little")
    assert children(read_bytes(tmp_path, "a.zip", bytes(nameless))) == {"member 1": b"text"}


def test_names_in_another_code_page_are_read(tmp_path: Path) -> None:
    name = "決算報告書の明細一覧.csv"
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        archive.writestr("?" * len(name.encode("cp932")), b"a,b\n")
    data = out.getvalue().replace(b"?" * len(name.encode("cp932")), name.encode("cp932"))
    assert list(children(read_bytes(tmp_path, "a.zip", data))) == [name]


@pytest.mark.full
@pytest.mark.parametrize("name", ["a.zip", "a.gz", "a.tar.bz2", "a.xz"])
def test_bombs_are_refused(tmp_path: Path, name: str) -> None:
    zeros = b"\0" * (40 * 1024 * 1024)
    packed = {
        "a.zip": lambda: zipped({"zeros": zeros}),
        "a.gz": lambda: gzip.compress(zeros),
        "a.tar.bz2": lambda: bz2.compress(tarred({"zeros": zeros})),
        "a.xz": lambda: lzma.compress(zeros),
    }[name]()
    with pytest.raises(LimitExceeded):
        read_bytes(tmp_path, name, packed)


def test_a_bomb_in_a_tar_header_is_refused(tmp_path: Path) -> None:
    info = tarfile.TarInfo("x")
    info.pax_headers = {"comment": "c" * (8 * 1024 * 1024)}
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w", format=tarfile.PAX_FORMAT) as archive:
        archive.addfile(info)
    with pytest.raises(LimitExceeded):
        read_bytes(tmp_path, "a.tar.gz", gzip.compress(out.getvalue()))


def test_more_members_than_allowed_are_refused(tmp_path: Path) -> None:
    files = {f"{n}.txt": b"x" for n in range(20)}
    for name, data in (("a.zip", zipped(files)), ("a.tar", tarred(files))):
        with pytest.raises(LimitExceeded):
            read_bytes(tmp_path, name, data, max_archive_members=10)


def test_archives_too_deep_are_kept_closed(tmp_path: Path) -> None:
    reading = read_bytes(tmp_path, "a.zip", zipped(FILES), depth=2)
    assert not reading.summary.children
    assert "within 2 others" in reading.notes()


def test_encrypted_archives_ask_for_their_password(tmp_path: Path) -> None:
    data = bytearray(zipped({"a.txt": b"secret", "b.txt": b"secret"}))
    for signature, offset in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        at = data.find(signature)
        while at >= 0:
            data[at + offset] |= 1
            at = data.find(signature, at + 1)
    with pytest.raises(PasswordRequired):
        read_bytes(tmp_path, "a.zip", bytes(data))


def test_one_damaged_member_does_not_cost_the_others(tmp_path: Path) -> None:
    data = bytearray(zipped({"bad.txt": b"A" * 100, "good.txt": b"B" * 100}, zipfile.ZIP_STORED))
    data[data.find(b"AAAA") + 10] = 0
    reading = read_bytes(tmp_path, "a.zip", bytes(data))
    assert children(reading) == {"good.txt": b"B" * 100}
    assert "bad.txt: A member of the ZIP container is damaged." in reading.notes()


def test_a_cut_off_tar_gives_what_is_whole(tmp_path: Path) -> None:
    files = {f"{n}.bin": bytes([n]) * 3_000 for n in range(1, 6)}
    reading = read_bytes(tmp_path, "a.tar", tarred(files)[:9_000])
    assert set(children(reading)) == {"1.bin", "2.bin"}
    assert "truncated" in reading.notes()


def test_what_is_no_archive_inside_is_a_typed_error(tmp_path: Path) -> None:
    for name, data in (
        ("a.zip", b"PK\x03\x04" + b"x" * 60),
        ("a.gz", b"\x1f\x8b\x08\x00" + b"x" * 60),
        ("a.xz", lzma.compress(b"some text" * 50)[:40]),
    ):
        (tmp_path / name).write_bytes(data)
        with pytest.raises(CorruptFile):
            read(tmp_path / name)
