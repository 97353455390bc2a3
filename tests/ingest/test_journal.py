"""The journal of blobs: what a process that died was storing, and nothing that an acknowledged upload has stored."""

from __future__ import annotations

import errno
import os
import shutil
from contextlib import suppress
from pathlib import Path

import pytest

from citewell.errors import DiskFull
from citewell.ingest import journal as module
from citewell.ingest.journal import BlobJournal


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "journal"


def _die_storing(path: Path, *keys: str, remade: bool = False) -> None:
    """As a process that dies within the block: nothing else is written."""
    with pytest.raises(KeyboardInterrupt), BlobJournal(path).begun(keys, remade=remade):
        raise KeyboardInterrupt


def test_what_a_process_was_storing_when_it_died_is_left(path: Path) -> None:
    journal = BlobJournal(path)
    with journal.begun(["o/done"]):
        assert BlobJournal(path).left() == {"o/done"}
    with pytest.raises(KeyboardInterrupt), journal.begun(["o/a", "o/b"]):
        raise KeyboardInterrupt
    journal.close()
    assert BlobJournal(path).left() == {"o/a", "o/b"}


def test_nothing_is_left_of_what_ended_and_what_is_unknown(path: Path) -> None:
    journal = BlobJournal(path)
    with suppress(KeyboardInterrupt), journal.begun(["o/unknown"]):
        journal.end(["o/unknown", "o/never begun"])
        raise KeyboardInterrupt
    assert BlobJournal(path).left() == set()


def test_a_restart_forgets_what_the_process_before_left(path: Path) -> None:
    _die_storing(path, "o/a")
    journal = BlobJournal(path)
    journal.restart()
    assert BlobJournal(path).left() == set()
    with journal.begun(["o/b"]):
        assert BlobJournal(path).left() == {"o/b"}


def test_a_line_that_was_cut_off_counts_for_nothing(path: Path) -> None:
    _die_storing(path, "o/a")
    with path.open("a") as file:
        file.write("+o/b")
    assert BlobJournal(path).left() == {"o/a"}


@pytest.mark.parametrize("content", [b"", b"\n", b"\xff\xff", b"+o/a\n", b"another run 1\n+o/a\n"])
def test_a_damaged_journal_has_nothing_deleted(path: Path, content: bytes) -> None:
    path.write_bytes(content)
    assert BlobJournal(path).left() == set()


def test_a_copy_of_the_journal_has_nothing_deleted(path: Path) -> None:
    """It was made while uploads were under way, which have been acknowledged since."""
    _die_storing(path, "o/a")
    shutil.copy2(path, path.with_name("copy"))
    assert BlobJournal(path.with_name("copy")).left() == set()


@pytest.mark.parametrize("other", ["8c7f33a6-0000", ""])
def test_after_a_power_failure_only_what_can_be_made_again_is_deleted(
    path: Path, monkeypatch: pytest.MonkeyPatch, other: str
) -> None:
    """The line that an upload ended may not have reached the disk."""
    journal = BlobJournal(path)
    for key, remade in (("o/original", False), ("o/picture", True)):
        with pytest.raises(KeyboardInterrupt), journal.begun([key], remade=remade):
            raise KeyboardInterrupt
    boot = path.with_name("boot_id")
    boot.write_text(f"{other}\n")
    monkeypatch.setattr(module, "_BOOT_ID", boot)
    assert BlobJournal(path).left() == {"o/picture"}


def test_without_room_for_a_line_nothing_begins_and_nothing_is_deleted(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    journal = BlobJournal(path)
    with journal.begun(["o/a"]):
        pass
    write, is_full = os.write, True

    def partly(descriptor: int, data: bytes) -> int:
        return write(descriptor, data[:3]) if is_full else write(descriptor, data)

    monkeypatch.setattr(module.os, "write", partly)
    with pytest.raises(DiskFull), journal.begun(["o/b"]):
        raise AssertionError("it began without a line")
    assert BlobJournal(path).left() == set()
    is_full = False
    with journal.begun(["o/c"]):
        is_full = True
    is_full = False
    assert BlobJournal(path).left() == set()
    with journal.begun(["o/d"]):
        assert BlobJournal(path).left() == {"o/d"}


def test_a_journal_that_has_grown_is_written_anew_with_what_is_still_under_way(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "_MAX_BYTES", 500)
    journal = BlobJournal(path)
    with journal.begun(["o/long"]):
        for number in range(200):
            with journal.begun([f"o/{number}"]):
                pass
        assert path.stat().st_size < 700
        assert BlobJournal(path).left() == {"o/long"}


def test_an_error_of_the_disk_is_no_other_error(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(*_: object) -> int:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(module.os, "write", fails)
    with pytest.raises(DiskFull), BlobJournal(path).begun(["o/a"]):
        raise AssertionError
