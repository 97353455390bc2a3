"""Exports an owner's data as one archive, or erases it, with a receipt of what was removed where and what a second check found."""

from __future__ import annotations

import asyncio
import contextlib
import io
import re
import time
import zipfile
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

import orjson

from citewell.errors import DamagedFile, InvalidInput, NotFound
from citewell.indexes.index_set import IndexSet
from citewell.ingest.blob_keys import prefixes_of
from citewell.ports import BlobStore
from citewell.storage.accounts.owner_data import EXPORTED, OriginalFile, OwnerDataRepository
from citewell.storage.files.content import ContentRepository
from citewell.storage.files.table_copies import copy_path
from citewell.system.lost_found import LostAndFound
from citewell.system.shares import Shares
from citewell.types import Filter
from citewell.types.accounts import ERASURE_CONFIRMATION

_UNSAFE = re.compile(r"[^\w .()\-]+")
_MAX_NAME = 120
_ROWS_AT_ONCE = 100  # rows packed in one step, a few hundred kilobytes
T = TypeVar("T")
_ROUNDS = 3  # files uploaded during the erasure are erased in the next round
# What this machine's owner keeps: access, and a first project.
_STAYING = frozenset({"table tokens", "table projects"})
_README = """This archive holds what Citewell keeps of you.

files/      what was uploaded: a folder per file, in it one per version
tables/     rows of the database as JSON, one per line; times in seconds since 1970
missing.txt files whose bytes are lost, if there are any

Not in here: pictures, tables and vectors that Citewell makes of the files, and secrets (tokens are kept as hashes only).
"""


@dataclass(frozen=True, slots=True)
class Removed:
    """One place, and how much of the owner's data it contained before the erasure and after it."""

    place: str
    before: int
    after: int


@dataclass(frozen=True, slots=True)
class ErasureReceipt:
    """What an erasure removed. not_looked_into: places with possible copies that Citewell cannot check."""

    owner_id: str
    at: float
    removed: tuple[Removed, ...]
    not_looked_into: tuple[str, ...]

    @property
    def complete(self) -> bool:
        """Whether the second check found nothing."""
        return not any(one.after for one in self.removed)


class _Pieces(io.RawIOBase):
    """A buffer for a `ZipFile`'s output, sent piece by piece."""

    def __init__(self) -> None:
        super().__init__()
        self._written: list[bytes] = []

    def writable(self) -> bool:
        """Yes."""
        return True

    def write(self, data: Any, /) -> int:
        """Store a piece until it is taken."""
        piece = bytes(data)
        self._written.append(piece)
        return len(piece)

    def take(self) -> bytes:
        """Everything written since the last call."""
        taken, self._written = b"".join(self._written), []
        return taken


class _Archive:
    """A ZIP archive packed in threads: each step takes one piece of a file, and none outlives its caller."""

    def __init__(self) -> None:
        self._pieces = _Pieces()
        self._zip = zipfile.ZipFile(self._pieces, "w", zipfile.ZIP_DEFLATED, allowZip64=True)

    def text(self, name: str, text: str) -> None:
        """Add a short text."""
        self._zip.writestr(name, text)

    @asynccontextmanager
    async def entry(self, name: str, compression: int) -> AsyncGenerator[Callable[..., Awaitable[bytes]]]:
        """Add one file. The block gets a function that converts its argument to bytes, adds them, and returns what can be sent."""
        info = zipfile.ZipInfo(name, time.gmtime()[:6])
        info.compress_type = compression
        with self._zip.open(info, "w", force_zip64=True) as entry:

            def add(packed: Callable[[Any], bytes], of: Any) -> bytes:
                entry.write(packed(of))
                return self._pieces.take()

            yield partial(_whole, add)

    async def end(self) -> bytes:
        """The archive's directory, and everything not sent yet."""
        await _whole(self._zip.close)
        return self._pieces.take()


async def _whole(work: Callable[..., T], *arguments: Any) -> T:
    """Run work in a thread. If the caller is cancelled, wait for the end, because two threads must not write at once."""
    step = asyncio.ensure_future(asyncio.to_thread(work, *arguments))
    try:
        return await asyncio.shield(step)
    except asyncio.CancelledError:
        await asyncio.wait({step})
        raise


async def _batches(rows: AsyncGenerator[T]) -> AsyncGenerator[list[T]]:
    batch = list[T]()
    async with contextlib.aclosing(rows):
        async for row in rows:
            batch.append(row)
            if len(batch) == _ROWS_AT_ONCE:
                yield batch
                batch = []
    if batch:
        yield batch


def _lines(rows: Sequence[Mapping[str, Any]]) -> bytes:
    return b"".join(orjson.dumps(row, default=str, option=orjson.OPT_APPEND_NEWLINE) for row in rows)


@dataclass(frozen=True, slots=True, kw_only=True)
class OwnerDataService:
    """Exports or erases an owner's data.

    delete_file: removes a file with its bytes and vectors
    uploads:     the ids of an owner's files at Anthropic
    text_key:    the key of a text in the embedding cache
    backups:     the folder with copies of the database; cache: the folder with copies of tables
    local_owner: can still use this machine after its data is erased
    """

    data: OwnerDataRepository
    content: ContentRepository
    blobs: BlobStore
    indexes: IndexSet
    delete_file: Callable[[str, str], Awaitable[object]]
    uploads: Callable[[str], Awaitable[Sequence[str]]]
    text_key: Callable[[str], str]
    backups: Path
    cache: Path
    lost: LostAndFound
    local_owner: str
    forget_credentials: Callable[[], None]
    exports: Shares = field(default_factory=lambda: Shares("exports", each=1))

    async def export(self, owner_id: str) -> AsyncGenerator[bytes]:
        """A ZIP archive in pieces: the uploaded files, and the database's content as JSON.

        Raises `RateLimited` while the owner has another export in progress. Packs in threads, a piece at a time.
        """
        async with self.exports.hold(owner_id):
            archive = _Archive()
            archive.text("README.txt", _README)
            for table in EXPORTED:
                async with archive.entry(f"tables/{table}.ndjson", zipfile.ZIP_DEFLATED) as write:
                    async for rows in _batches(self.data.rows(owner_id, table)):
                        yield await write(_lines, rows)
            missing = list[str]()
            for one in await self.data.originals(owner_id):
                try:
                    # Most formats are already compressed.
                    async with archive.entry(_name(one), zipfile.ZIP_STORED) as write:
                        async for data in self.blobs.get(one.key):
                            yield await write(bytes, data)
                except (NotFound, DamagedFile):
                    missing.append(f"{_name(one)}\n")
            if missing:
                archive.text("missing.txt", "".join(missing))
            yield await archive.end()

    async def erase(self, owner_id: str, confirmation: str) -> ErasureReceipt:
        """Erase everything of the owner and its service accounts, and check that nothing is left. Raises `InvalidInput` without the confirmation."""
        check_confirmation(confirmation)
        managed, removed = await self.data.service_owners(owner_id), list[Removed]()
        uploads, answers = list[str](), 0
        for one in (*managed, owner_id):
            withdrawn = await self.data.withdraw_quotations(one)
            answers += withdrawn.answers
            removed.append(Removed("citations in conversations of others", withdrawn.citations, 0))
            uploads += await self.uploads(one)
            removed += await self._erase(one)
        if managed:  # each was erased with its data
            left = await self.data.service_owners(owner_id)
            removed.append(Removed("table service_accounts", len(managed), len(left)))
        elsewhere = (*_at_anthropic(uploads), *_in_answers(answers), *self._elsewhere())
        return ErasureReceipt(owner_id, time.time(), _together(removed), elsewhere)

    async def _erase(self, owner_id: str) -> list[Removed]:
        before = await self._found(owner_id)
        passages = await self._text_keys(owner_id)
        copies = [copy_path(self.cache, key) for key in await self._keys(owner_id)]
        for _ in range(_ROUNDS):
            files = await self.data.resource_ids(owner_id)
            for resource_id in files:
                with contextlib.suppress(NotFound):  # deleted by somebody else meanwhile
                    await self.delete_file(owner_id, resource_id)
            if not files:
                break
        for key in await self._keys(owner_id):  # the remains of an interrupted upload
            await self.blobs.delete(key)
        forgotten = await self.data.forget_vectors(passages)
        removed_copies = sum([await asyncio.to_thread(_unlinked, copy) for copy in copies])
        stays = owner_id == self.local_owner
        await self.data.erase(owner_id, keep_access=stays)
        self.forget_credentials()
        after = await self._found(owner_id)
        places = [place for place in dict.fromkeys([*before, *after]) if not (stays and place in _STAYING)]
        removed = [Removed(place, before.get(place, 0), after.get(place, 0)) for place in places]
        removed.append(Removed("cache of embeddings", forgotten, 0))
        removed.append(Removed("copies of tables on this machine", removed_copies, 0))
        if lost := await asyncio.to_thread(self.lost.remove_below, prefixes_of(owner_id)):
            removed.append(Removed("lost+found", lost, 0))
        return removed

    async def _found(self, owner_id: str) -> dict[str, int]:
        """The amount of the owner's data, by place."""
        found = {f"table {name}": count for name, count in (await self.data.counts(owner_id)).items()}
        for index in self.indexes.all:
            place = f"index {index.record.fingerprint} in {index.record.store}"
            found[place] = await index.store.count(Filter(owner_id=owner_id))
        found[f"files in {self.blobs.backend} storage"] = len(await self._keys(owner_id))
        return found

    async def _keys(self, owner_id: str) -> list[str]:
        return [key for prefix in prefixes_of(owner_id) for key in await self.blobs.list(prefix)]

    async def _text_keys(self, owner_id: str) -> list[str]:
        """The keys of the owner's passages in the embedding cache."""
        ids = await self.data.resource_ids(owner_id, inside_others=True)
        if not ids:
            return []
        batches = self.content.iterate_chunks(resource_ids=ids)
        return [self.text_key(one.chunk.embedded_text) async for batch in batches for one in batch]

    def _elsewhere(self) -> tuple[str, ...]:
        copies = sorted(self.backups.glob("*.db")) if self.backups.is_dir() else []
        return (
            *(f"{copy}: a copy of the database made by an upgrade; delete it" for copy in copies),
            "the embedding cache: vectors, without text or owner, of passages from files deleted or changed earlier",
            "data that the database and vector stores have deleted but not yet overwritten in their files",
            "logs of the server and of proxies in front of it, which may contain file names",
            "the operator's backups, and copies that providers keep of texts sent to them",
        )


def check_confirmation(confirmation: str) -> None:
    """Raise `InvalidInput` unless these words confirm erasing everything."""
    if confirmation != ERASURE_CONFIRMATION:
        raise InvalidInput(
            f"Nothing was erased. To erase everything, send `confirm` with the words '{ERASURE_CONFIRMATION}'."
        )


def _at_anthropic(uploads: Sequence[str]) -> tuple[str, ...]:
    """The remaining uploads at Anthropic by id: Citewell's record of them is erased, and only their key can delete them."""
    if not uploads:
        return ()
    return (
        f"Anthropic's Files API, which keeps uploads until they expire or are deleted with their key: {', '.join(uploads)}",
    )


def _in_answers(answers: int) -> tuple[str, ...]:
    if not answers:
        return ()
    return (
        f"conversations of others: they keep {answers} answers about files you shared, which may repeat their content",
    )


def _together(removed: Sequence[Removed]) -> tuple[Removed, ...]:
    """The same places of several owners, added up."""
    found: dict[str, Removed] = {}
    for one in removed:
        known = found.get(one.place, Removed(one.place, 0, 0))
        found[one.place] = Removed(one.place, known.before + one.before, known.after + one.after)
    return tuple(found.values())


def _unlinked(path: Path) -> bool:
    try:
        path.unlink()
    except FileNotFoundError:
        return False
    return True


def _name(file: OriginalFile) -> str:
    """A path that stays within the archive, whatever the file name."""
    safe = _UNSAFE.sub("_", Path(file.filename).name).strip(". ")[-_MAX_NAME:] or "file"
    return f"files/{file.resource_id}/{file.version} {safe}"
