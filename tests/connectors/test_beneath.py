"""Whoever may write in a folder that is synchronised cannot have a file from outside it read."""

from __future__ import annotations

import os
import threading
from pathlib import Path
from typing import BinaryIO

import httpx
import pytest

from citewell.cli.adding import _files, _opened
from citewell.connectors import frames
from citewell.connectors.beneath import open_beneath
from citewell.connectors.engine import Synchroniser, SyncRequest
from citewell.connectors.folder import FolderSource
from citewell.connectors.frames import FrameFolder
from citewell.connectors.interface import SourceEntry
from citewell.errors import FrameMissing, SourceProblem

SECRET = "Outside: the code is 8731."
ROUNDS = 300


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with a file in it and one below it, beside a folder with the same names that is not to be read."""
    for name, text in (("papers", "Inside."), ("private", SECRET)):
        (tmp_path / name / "old").mkdir(parents=True)
        (tmp_path / name / "a.txt").write_text(text)
        (tmp_path / name / "old/b.txt").write_text(text)
    return tmp_path / "papers"


def _swap(folder: Path, name: str) -> None:
    """Put a link to what the other folder has under this name, in one step."""
    link = folder / "swapped"
    link.symlink_to(folder.parent / "private" / name)
    target = folder / name
    if target.is_dir():
        target.rename(folder.parent / "moved")
    link.rename(target)


def test_a_file_below_the_folder_is_opened(folder: Path) -> None:
    with open_beneath(folder, ["old", "b.txt"]) as file:
        assert file.read() == b"Inside."


@pytest.mark.parametrize("name", ["a.txt", "old"])
def test_a_link_is_not_followed_at_the_end_or_on_the_way(folder: Path, name: str) -> None:
    _swap(folder, name)
    with pytest.raises(OSError, match=r"symbolic links|Not a directory"):
        open_beneath(folder, ["a.txt"] if name == "a.txt" else ["old", "b.txt"])


@pytest.mark.parametrize(
    "names", [[], [".."], ["..", "private", "a.txt"], ["/etc/passwd"], ["old/../../private/a.txt"], [""]]
)
def test_names_that_lead_up_or_nowhere_open_nothing(folder: Path, names: list[str]) -> None:
    with pytest.raises(OSError, match="No such file"):
        open_beneath(folder, names)


def test_a_pipe_or_a_folder_is_refused_without_waiting_and_leaves_no_descriptor(folder: Path) -> None:
    os.mkfifo(folder / "pipe")
    before = len(list(Path("/proc/self/fd").iterdir()))
    for name in ("pipe", "old"):
        with pytest.raises(OSError, match="not a regular file"):
            open_beneath(folder, [name])
    assert len(list(Path("/proc/self/fd").iterdir())) == before


@pytest.mark.parametrize("name", ["a.txt", "old"])
async def test_a_file_that_was_swapped_after_it_was_listed_is_a_problem_and_is_not_read(
    folder: Path, name: str
) -> None:
    source = FolderSource(folder)
    present = await source.present()
    entries = [entry async for entry in source.read(None, set(present))]
    assert [entry.key for entry in entries] == ["a.txt", "old/b.txt"]
    _swap(folder, name)
    (swapped,) = [entry for entry in entries if entry.key.startswith(name)]
    with pytest.raises(SourceProblem, match="cannot be read"):
        await source.fetch(swapped, folder)


async def test_what_is_sent_is_the_file_that_was_opened_even_if_its_path_changes_before_it_is_read(
    folder: Path,
) -> None:
    sent = list[bytes]()

    class Swapping(FolderSource):
        async def fetch(self, entry: SourceEntry, folder: Path) -> BinaryIO:
            file = await super().fetch(entry, folder)
            if entry.key == "a.txt":
                _swap(self.folder, "a.txt")
            return file

    def answer(request: httpx.Request) -> httpx.Response:
        if request.url.path.endswith("/items") and request.method == "POST":
            sent.append(request.read())
            return httpx.Response(200, json={"resource_id": f"r{len(sent)}", "notes": []})
        if request.url.path == "/resources":
            found = [{"id": one, "status": "indexed"} for one in request.url.params.get_list("id")]
            return httpx.Response(200, json={"resources": found})
        return httpx.Response(200, json={"items": [], "next_cursor": None, "cursor": None})

    async with httpx.AsyncClient(transport=httpx.MockTransport(answer), base_url="http://test") as client:
        report = await Synchroniser(client, Swapping(folder), SyncRequest(name="papers")).run()
    assert (folder / "a.txt").is_symlink()
    assert report.added == 2
    assert all(b"Inside." in body and SECRET.encode() not in body for body in sent)


async def test_a_folder_is_never_listed_through_a_link(folder: Path) -> None:
    (folder / "old").rename(folder.parent / "moved")
    (folder / "old").symlink_to(folder.parent / "private")
    source = FolderSource(folder)
    assert list(await source.present()) == ["a.txt"]


async def test_a_swap_in_a_loop_never_leads_outside(folder: Path) -> None:
    """The attack as it was made: a link and a file take turns under one name while it is read."""
    source, done = FolderSource(folder), threading.Event()
    await source.present()
    (entry,) = [entry async for entry in source.read(None, {"a.txt"})]

    def swap() -> None:
        while not done.is_set():
            (folder / ".link").symlink_to(folder.parent / "private/a.txt")
            (folder / ".link").rename(folder / "a.txt")
            (folder / ".file").write_text("Inside.")
            (folder / ".file").rename(folder / "a.txt")

    swapping = threading.Thread(target=swap)
    swapping.start()
    read = set[bytes]()
    try:
        for _ in range(ROUNDS):
            try:
                with await source.fetch(entry, folder) as file:
                    read.add(file.read())
            except SourceProblem:
                read.add(b"refused")
    finally:
        done.set()
        swapping.join()
    assert read <= {b"Inside.", b"refused"}


def test_a_frame_that_is_swapped_between_being_found_and_opened_is_missing(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = FrameFolder(folder)
    with found.open("old/b.txt") as file:
        assert file.read() == b"Inside."

    def swapped_first(top: Path, names: tuple[str, ...]) -> BinaryIO:
        _swap(folder, "old")
        return open_beneath(top, names)

    monkeypatch.setattr(frames, "open_beneath", swapped_first)
    with pytest.raises(FrameMissing, match="cannot be opened"):
        found.open("old/b.txt")


def test_a_frame_may_be_reached_by_a_link_that_stays_inside(folder: Path) -> None:
    (folder / "new").symlink_to(folder / "old")
    with FrameFolder(folder).open("new/b.txt") as file:
        assert file.read() == b"Inside."


def test_adding_a_folder_leaves_out_links_and_opens_none_that_came_later(folder: Path) -> None:
    (folder / "link.txt").symlink_to(folder.parent / "private/a.txt")
    files = _files([folder])
    assert [path.name for path in files] == ["a.txt", "b.txt"]
    _swap(folder, "a.txt")
    with pytest.raises(OSError, match="symbolic links"):
        _opened(folder / "a.txt", files[folder / "a.txt"])
    named = _files([folder / "a.txt"])  # the path that somebody types is meant, link or not
    with _opened(folder / "a.txt", named[folder / "a.txt"]) as file:
        assert file.read() == SECRET.encode()
