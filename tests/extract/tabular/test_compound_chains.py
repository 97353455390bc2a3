"""Compound files whose pointers lead in circles or out of the file are refused before anything follows them."""

from __future__ import annotations

import struct
from pathlib import Path

import pytest

from citewell.errors import CorruptFile
from citewell.extract.formats.tabular.compound_chains import check_chains
from tests.extract.documents.seeds import seeds

WHOLE = seeds()["a.msg"]


def _changed(offset: int, value: int) -> bytes:
    return WHOLE[:offset] + struct.pack("<I", value) + WHOLE[offset + 4 :]


def _fat_at() -> int:
    return (struct.unpack_from("<I", WHOLE, 76)[0] + 1) * 512


@pytest.mark.parametrize(
    "damaged",
    [_changed(48, 0x700000), _changed(60, 0x700000), _changed(68, 0), _changed(_fat_at() + 4, 1), WHOLE[:100]],
    ids=["directory", "mini stream", "more tables", "circle", "cut off"],
)
def test_damaged_chains_are_refused(damaged: bytes, tmp_path: Path) -> None:
    (tmp_path / "a.xls").write_bytes(damaged)
    with pytest.raises(CorruptFile, match="OLE container"):
        check_chains(tmp_path / "a.xls")


def test_sound_and_other_files_pass(tmp_path: Path) -> None:
    (tmp_path / "a.xls").write_bytes(WHOLE)
    check_chains(tmp_path / "a.xls")
    (tmp_path / "b.xlsx").write_bytes(b"PK\x03\x04")
    check_chains(tmp_path / "b.xlsx")
