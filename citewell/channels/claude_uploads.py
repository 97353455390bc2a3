"""Uploads to Anthropic's Files API: a file is uploaded once, on request; reused; renewed after it expires; and deleted with the file.

Only these methods upload or delete. The uploads are recorded with the files, so that the next process finishes what an earlier one left undone.
Source: Anthropic's Files API, `client.beta.files` of anthropic 2.12.
"""

from __future__ import annotations

import asyncio
import inspect
import re
import tempfile
from collections.abc import Callable
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any
from weakref import WeakValueDictionary

from citewell.errors import InvalidInput, NotFound
from citewell.features.owner_data.service import ErasureReceipt, check_confirmation
from citewell.library import AsyncCitewell, Citewell
from citewell.types.json import well_formed

if TYPE_CHECKING:
    from anthropic import Anthropic, AsyncAnthropic

    from citewell.features.resources.handed_out import StoredBytes

BETA = "files-api-2025-04-14"
METADATA_KEY = "claude_file_id"
"""The metadata key that holds a file's upload id."""
MAX_UPLOAD_BYTES = 500_000_000
"""The Files API's limit per file."""
MIN_EXPIRY_SECONDS, MAX_EXPIRY_SECONDS = 3_600, 7_776_000
"""The bounds of the Files API: an hour and ninety days."""
DEFAULT_EXPIRY_SECONDS = 30 * 86_400
_MARGIN = timedelta(minutes=5)
"""An upload that expires within this time is renewed, because the caller has yet to write and send the message that uses it."""
MAX_NAME_CHARACTERS = 255
_FORBIDDEN = re.compile(r'[<>:"|?*\\/\x00-\x1f]')
_IN_MEMORY_BYTES = 8_000_000


class AsyncClaudeUploads:
    """The files of an open `AsyncCitewell` at Anthropic.

    claude: the client whose key (and workspace) owns the uploads; use one per folder. Its errors are raised unchanged.
    expires_in_seconds: 3,600 to 7,776,000, after which Anthropic deletes the upload
    """

    def __init__(
        self,
        citewell: AsyncCitewell,
        claude: AsyncAnthropic | Anthropic,
        *,
        expires_in_seconds: int = DEFAULT_EXPIRY_SECONDS,
    ) -> None:
        if not MIN_EXPIRY_SECONDS <= expires_in_seconds <= MAX_EXPIRY_SECONDS:
            raise InvalidInput(
                f"`expires_in_seconds` must be from {MIN_EXPIRY_SECONDS:,} to {MAX_EXPIRY_SECONDS:,} (ninety days)."
            )
        self._citewell = citewell
        self._files = claude.beta.files
        self._expires = expires_in_seconds
        self._busy: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()

    async def ensure(self, resource: str) -> str:
        """A file's id at Anthropic. Uploads the file if it has no upload, or an expired one.

        Its metadata then contains `claude_file_id`. Raises `NotFound` for an unknown file, `InvalidInput` for one that is too large.
        """
        await self.sweep()
        services = self._citewell._services  # pyright: ignore[reportPrivateUsage]
        owner = services.local_owner
        resource_id = await services.resources.resolve(owner, resource)
        async with self._busy.setdefault(resource_id, asyncio.Lock()):
            found = await services.resources.repository.get(owner, resource_id)
            known = await services.claude_files.find(owner, resource_id, found.version)
            file_id = known if known is not None and await self._is_there(known) else None
            if file_id is None:
                file_id = await self._upload(await services.contents.original(owner, resource_id, found.version))
                try:
                    await services.claude_files.keep(owner, resource_id, found.version, file_id)
                except NotFound:  # deleted meanwhile
                    await self._delete(file_id)
                    raise
                if known is not None:
                    await self._delete(known)
            if found.metadata.get(METADATA_KEY) != file_id:
                await self._citewell.describe(resource_id, metadata={METADATA_KEY: file_id})
        return file_id

    async def delete(self, resource: str) -> None:
        """Delete a file, as `AsyncCitewell.delete`, and its upload."""
        await self._citewell.delete(resource)
        await self.sweep()

    async def sweep(self) -> int:
        """Delete uploads whose file is deleted or has a newer version, and return their number. `ensure` and `delete` also do this."""
        services = self._citewell._services  # pyright: ignore[reportPrivateUsage]
        owner = services.local_owner
        orphans = await services.claude_files.orphans(owner)
        for resource_id, file_id in orphans:
            await self._delete(file_id)
            with suppress(NotFound):  # deleted, and its metadata with it
                found = await services.resources.repository.get(owner, resource_id)
                if found.metadata.get(METADATA_KEY) == file_id:
                    await self._citewell.describe(resource_id, metadata={METADATA_KEY: None})
            await services.claude_files.forget(owner, file_id)
        return len(orphans)

    async def erase(self, confirm: str) -> ErasureReceipt:
        """Delete every upload, then everything else, as `AsyncCitewell.erase`. Stops if an upload cannot be deleted."""
        check_confirmation(confirm)
        services = self._citewell._services  # pyright: ignore[reportPrivateUsage]
        owner = services.local_owner
        for file_id in await services.claude_files.all(owner):
            await self._delete(file_id)
            await services.claude_files.forget(owner, file_id)
        return await self._citewell.erase(confirm)

    async def _upload(self, stored: StoredBytes) -> str:
        if stored.size > MAX_UPLOAD_BYTES:
            raise InvalidInput(f"{stored.filename} is larger than the {MAX_UPLOAD_BYTES:,} bytes that Anthropic takes.")
        with tempfile.SpooledTemporaryFile(_IN_MEMORY_BYTES) as content:
            async for piece in stored.read(0, stored.size):
                content.write(piece)
            content.seek(0)
            file = (_name(stored.filename), content, stored.mime_type)
            made = await _called(self._files.upload, file=file, expires_in_seconds=self._expires, betas=[BETA])
        return made.id

    async def _is_there(self, file_id: str) -> bool:
        from anthropic import NotFoundError  # installed wherever a client exists

        try:
            found = await _called(self._files.retrieve_metadata, file_id, betas=[BETA])
        except NotFoundError:
            return False
        return found.expires_at is None or found.expires_at > datetime.now(UTC) + _MARGIN

    async def _delete(self, file_id: str) -> None:
        from anthropic import NotFoundError

        # It may have expired, or an earlier process deleted it and died before recording that.
        with suppress(NotFoundError):
            await _called(self._files.delete, file_id, betas=[BETA])


class ClaudeUploads:
    """`AsyncClaudeUploads` with synchronous methods, for an open `Citewell`."""

    def __init__(
        self, citewell: Citewell, claude: Anthropic, *, expires_in_seconds: int = DEFAULT_EXPIRY_SECONDS
    ) -> None:
        self._citewell = citewell
        self._uploads = citewell.run(lambda opened: _made(opened, claude, expires_in_seconds))

    def ensure(self, resource: str) -> str:
        """A file's id at Anthropic, as `AsyncClaudeUploads.ensure`."""
        return self._citewell.run(lambda _: self._uploads.ensure(resource))

    def delete(self, resource: str) -> None:
        """Delete a file and its upload."""
        self._citewell.run(lambda _: self._uploads.delete(resource))

    def sweep(self) -> int:
        """Delete the uploads whose file is deleted or has a newer version, as `AsyncClaudeUploads.sweep`."""
        return self._citewell.run(lambda _: self._uploads.sweep())

    def erase(self, confirm: str) -> ErasureReceipt:
        """Delete every upload, then everything else, as `AsyncClaudeUploads.erase`."""
        return self._citewell.run(lambda _: self._uploads.erase(confirm))


def _name(filename: str) -> str:
    """The name as the Files API accepts it: 1 to 255 characters, with its extension, without forbidden characters."""
    stem, dot, ending = _FORBIDDEN.sub("_", well_formed(filename)).rpartition(".")
    return f"{stem[: MAX_NAME_CHARACTERS - len(dot) - len(ending)]}{dot}{ending}"[:MAX_NAME_CHARACTERS] or "file"


async def _made(citewell: AsyncCitewell, claude: Anthropic, expires_in_seconds: int) -> AsyncClaudeUploads:
    return AsyncClaudeUploads(citewell, claude, expires_in_seconds=expires_in_seconds)


async def _called(method: Callable[..., Any], *arguments: object, **named: object) -> Any:
    """The result of a method of the vendor's asynchronous or synchronous client; the latter is called in a thread."""
    if inspect.iscoroutinefunction(method):
        return await method(*arguments, **named)
    return await asyncio.to_thread(method, *arguments, **named)
