"""Connector for an Airtable table, through pyairtable: its records with their frames, from a folder or from attachments."""

from __future__ import annotations

import asyncio
import hashlib
import json
from collections.abc import AsyncIterator, Callable, Collection, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path
from typing import Any, BinaryIO, TypeVar, cast

import httpx

from citewell.composition.downloads import opened
from citewell.connectors.frames import FrameFolder
from citewell.connectors.interface import SourceEntry
from citewell.connectors.mapping import TableMapping
from citewell.connectors.pace import Pace
from citewell.errors import (
    ConfigurationError,
    DownloadFailed,
    FrameMissing,
    MissingDependency,
    ProviderAuthError,
    ProviderError,
    ProviderRateLimited,
    ProviderRejected,
    ProviderUnavailable,
    SourceProblem,
    Unavailable,
    named,
)
from citewell.types import JsonValue

T = TypeVar("T")
REQUESTS_PER_SECOND = 5.0
"""Airtable's limit per base; beyond it, every request fails for 30 seconds. https://airtable.com/developers/web/api/rate-limits"""
_PAGE = 100
_IDS_AT_ONCE = 50
"""Records requested by id in one formula: 50 ids take about 1,300 characters, and a URL may have 16,000."""
_OVERLAP = timedelta(minutes=5)
"""The next run starts this long before the last one began, because clocks differ. A record read twice has the same stamp and is skipped."""
_RETRIES = 6
"""The waits of 1, 2, 4 … 32 seconds outlast the 30 seconds for which a base refuses requests after too many."""
_DOWNLOADS = 3
_SECONDS = 60.0
_EXPIRED = "iterator_expired"
# Part of every stamp: records that an earlier version imported in another form are imported again.
_FORM = "1"


@dataclass(frozen=True, slots=True, kw_only=True)
class AirtableAccess:
    """Where the table is, and the token to read it. backoff: seconds of the first wait after a refusal; later waits double."""

    token: str
    base: str
    table: str
    url: str = "https://api.airtable.com"
    view: str | None = None
    backoff: float = 1.0
    max_bytes: int = 512 * 1024 * 1024


class AirtableSource:
    """A table's records, each with its frame in a folder or as an attachment."""

    kind = "airtable"

    def __init__(
        self,
        access: AirtableAccess,
        mapping: TableMapping,
        frames: FrameFolder | None,
        *,
        pace: Pace | None = None,
        now: Callable[[], datetime] = lambda: datetime.now(UTC),
    ) -> None:
        if frames is None and mapping.attachment_column is None:
            raise ConfigurationError(
                "The location of the frames is missing. Set FRAME_BASE_DIR (or --frames) to their folder, or name the attachment column."
            )
        self._access = access
        self._mapping = mapping
        self._frames = frames
        self._pace = pace or Pace(REQUESTS_PER_SECOND)
        self._now = now
        self._table = _table(access)
        self._began: datetime | None = None
        self.requests = 0

    async def present(self) -> Mapping[str, str]:
        """Record ids with their frames' stamps; takes one request per hundred records."""
        self._began = self._now()
        columns = [name for name in (self._mapping.frame_column, self._mapping.attachment_column) if name]
        found: dict[str, str] = {}
        async for record in self._pages(fields=columns):
            found[record["id"]] = await asyncio.to_thread(self._frame_stamp, record["fields"])
        return found

    async def read(self, since: str | None, keys: Collection[str]) -> AsyncIterator[SourceEntry]:
        """Records changed since a time, then those of the given ids that were not among them."""
        left = set(keys)
        formula = None if since is None else f"IS_AFTER(LAST_MODIFIED_TIME(), DATETIME_PARSE('{_sound(since)}'))"
        async for record in self._pages(formula=formula):
            left.discard(record["id"])
            yield await asyncio.to_thread(self._entry, record)
        asked = sorted(key for key in left if key.isalnum())
        for start in range(0, len(asked), _IDS_AT_ONCE):
            ids = ", ".join(f"RECORD_ID() = '{key}'" for key in asked[start : start + _IDS_AT_ONCE])
            async for record in self._pages(formula=f"OR({ids})"):
                yield await asyncio.to_thread(self._entry, record)

    async def fetch(self, entry: SourceEntry, folder: Path) -> BinaryIO:
        """The frame from its folder, or the downloaded attachment."""
        place = cast(Mapping[str, str], entry.place)
        if "reference" in place and self._frames is not None:
            return await asyncio.to_thread(self._frames.open, place["reference"])
        return await self._download(entry, folder)

    def cursor(self) -> str | None:
        """The time this run began, minus the overlap."""
        return None if self._began is None else (self._began - _OVERLAP).strftime("%Y-%m-%dT%H:%M:%S.000Z")

    # ---- records

    async def _pages(self, **options: Any) -> AsyncIterator[dict[str, Any]]:
        """All records, page by page. Starts over once if Airtable's iterator expires; repeated records do no harm."""
        given = {name: value for name, value in {**options, "view": self._access.view}.items() if value is not None}
        pages: Iterator[Any] = self._table.iterate(page_size=_PAGE, **given)
        restarts = 1
        while True:
            try:
                page = await self._ask(partial(next, pages, None))
            except ProviderRejected as error:
                if not restarts or not error.details.get(_EXPIRED):
                    raise
                pages, restarts = self._table.iterate(page_size=_PAGE, **given), restarts - 1
                continue
            if page is None:
                return
            for record in page:
                yield record

    async def _ask(self, call: Callable[[], T]) -> T:
        await self._pace()
        self.requests += 1
        return await asyncio.to_thread(_translated, call)

    def _entry(self, record: Mapping[str, Any]) -> SourceEntry:
        columns: Mapping[str, Any] = record["fields"]
        stamp = f"{_FORM}.{_hash([columns, dict(self._mapping.fields)])}/{self._frame_stamp(columns)}"
        key = str(record["id"])
        try:
            place, filename, path = self._place(columns)
        except SourceProblem as problem:
            return SourceEntry(key=key, stamp=stamp, problem=problem)
        meant, other = self._mapping.roles(columns)
        frame: dict[str, JsonValue] = {"source_id": key, "source_path": path, **meant, "other": other}
        return SourceEntry(
            key=key,
            stamp=stamp,
            filename=filename,
            identifier=key,
            frame=cast(dict[str, JsonValue], _bounded(frame)),
            place=place,
        )

    def _place(self, columns: Mapping[str, Any]) -> tuple[dict[str, str], str, str]:
        """The frame's place, its file name, and its path as shown to people."""
        reference = _reference(columns.get(self._mapping.frame_column or ""))
        if reference is not None and self._frames is not None:
            self._frames.find(reference)
            return {"reference": reference}, reference.replace("\\", "/").rsplit("/", 1)[-1], reference
        attachment = _attachment(columns.get(self._mapping.attachment_column or ""))
        if attachment is None:
            raise FrameMissing("The record has no frame. Fill in its column, or attach the frame.")
        name = str(attachment.get("filename") or attachment["id"])
        return {"attachment": str(attachment["id"])}, name, f"{attachment['id']}/{name}"

    def _frame_stamp(self, columns: Mapping[str, Any]) -> str:
        reference = _reference(columns.get(self._mapping.frame_column or ""))
        if reference is not None and self._frames is not None:
            return f"{_hash(reference)[:16]}.{self._frames.stamp(reference)}"
        attachment = _attachment(columns.get(self._mapping.attachment_column or ""))
        return "none" if attachment is None else f"{attachment['id']}.{attachment.get('size', 0)}"

    # ---- attachments

    async def _download(self, entry: SourceEntry, folder: Path) -> BinaryIO:
        """Download the whole attachment. Its URL expires after two hours, so each attempt requests the record again for a new one."""
        place = cast(Mapping[str, str], entry.place)
        reason = ""
        for _ in range(_DOWNLOADS):
            record = await self._ask(lambda: self._table.get(entry.key))
            attachment = _attachment(record["fields"].get(self._mapping.attachment_column or ""), place["attachment"])
            if attachment is None:
                raise FrameMissing("The attachment no longer exists. The next run imports the record's current frame.")
            target = folder / hashlib.sha256(place["attachment"].encode()).hexdigest()
            try:
                await self._stream(str(attachment["url"]), target, int(attachment.get("size") or 0))
            except (httpx.HTTPError, Unavailable, DownloadFailed) as error:
                target.unlink(missing_ok=True)
                reason = str(error) or type(error).__name__
            else:
                file = await asyncio.to_thread(target.open, "rb")
                target.unlink()  # the bytes remain until the file is closed
                return file
        raise DownloadFailed(f"The attachment could not be downloaded in {_DOWNLOADS} attempts ({reason[:120]}).")

    async def _stream(self, url: str, target: Path, size: int) -> None:
        async with opened(url, known=self._access.url, seconds=_SECONDS) as response:
            if response.status_code != 200:
                raise DownloadFailed(f"status {response.status_code}")
            received = 0
            with target.open("wb") as file:
                async for data in response.aiter_bytes():
                    received += len(data)
                    if received > self._access.max_bytes:
                        raise SourceProblem(
                            f"The attachment is larger than the limit of {self._access.max_bytes:,} bytes."
                        )
                    await asyncio.to_thread(file.write, data)
        if size and received != size:
            raise DownloadFailed(f"{received:,} of {size:,} bytes")


def _table(access: AirtableAccess) -> Any:
    try:
        from pyairtable import Api, retry_strategy
    except ImportError as error:
        raise MissingDependency(
            'Airtable needs the package `pyairtable`. Install it with: pip install "citewell[airtable]"'
        ) from error
    retries = retry_strategy(
        status_forcelist=(429, 500, 502, 503, 504),
        backoff_factor=access.backoff,
        total=_RETRIES,
        raise_on_status=False,
        allowed_methods=None,
    )
    api = Api(access.token, timeout=(10, 60), retry_strategy=retries, endpoint_url=access.url)
    return api.table(access.base, access.table)


def _translated(call: Callable[[], T]) -> T:
    """The call's result, with the vendor's errors translated to Citewell's."""
    import requests

    try:
        return call()
    except requests.HTTPError as error:
        raise _refusal(error) from error
    except requests.RequestException as error:
        raise ProviderUnavailable(f"Airtable cannot be reached ({type(error).__name__}). Try again shortly.") from error


def _refusal(error: Any) -> ProviderError:
    status = error.response.status_code
    said = " ".join(str(error.args[1] if len(error.args) > 1 else error.response.text[:200]).split())[:300]
    match status:
        case 401:
            return ProviderAuthError("Airtable refused the token. Check AIRTABLE_PAT.")
        case 403:
            return ProviderAuthError(
                "Airtable refused access. Give the token the scope data.records:read and access to the base, and check AIRTABLE_BASE_ID."
            )
        case 404:
            return ProviderRejected(
                "Airtable has no such base, table or view. Check AIRTABLE_BASE_ID and AIRTABLE_TABLE_NAME."
            )
        case 422 if "LIST_RECORDS_ITERATOR_NOT_AVAILABLE" in said:
            return ProviderRejected("Airtable's list iterator expired. Try again.", **{_EXPIRED: True})
        case 422 if "UNKNOWN_FIELD_NAME" in said:
            return ProviderRejected(
                f"The table has no such column. Name its columns with --field or in the mapping. Airtable says: {said}"
            )
        case 429:
            return ProviderRateLimited("Airtable's rate limit is reached. Try again in a minute.")
        case _ if status >= 500:
            return ProviderUnavailable(f"Airtable answered with an error ({status}). Try again shortly.")
        case _:
            return ProviderRejected(f"Airtable refused the request ({status}): {said}")


def _reference(value: Any) -> str | None:
    """The path in a column; formulas and lookups return it as a list of one."""
    if isinstance(value, list) and len(cast(list[object], value)) == 1:
        value = cast(list[Any], value)[0]
    return value if isinstance(value, str) and value.strip() else None


def _attachment(value: Any, wanted: str | None = None) -> Mapping[str, Any] | None:
    """A column's first attachment, or the one with the id `wanted`."""
    for one in cast(list[Any], value) if isinstance(value, list) else []:
        if isinstance(one, Mapping) and {"id", "url"} <= cast(Mapping[str, Any], one).keys():
            found = cast(Mapping[str, Any], one)
            if wanted is None or found["id"] == wanted:
                return found
    return None


def _hash(value: object) -> str:
    """The hash of a record without attachment addresses, which change without an edit."""
    text = json.dumps(_lasting(value), sort_keys=True, default=str)
    return hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()


def _lasting(value: object) -> object:
    if isinstance(value, Mapping):
        found = cast(Mapping[str, object], value)
        return {key: _lasting(one) for key, one in found.items() if key not in ("url", "thumbnails")}
    if isinstance(value, list):
        return [_lasting(one) for one in cast(list[object], value)]
    return value


_MAX_DEPTH = 8
_MAX_TEXT = 20_000


def _bounded(value: object, depth: int = 0) -> object:
    """A column's value with its depth, lists and texts cut to sizes that a request may carry."""
    if isinstance(value, str):
        return value[:_MAX_TEXT]
    if depth == _MAX_DEPTH:
        return None
    if isinstance(value, Mapping):
        return {str(key)[:256]: _bounded(one, depth + 1) for key, one in cast(Mapping[object, object], value).items()}
    if isinstance(value, list):
        return [_bounded(one, depth + 1) for one in cast(list[object], value)[:1_000]]
    return value


def _sound(cursor: str) -> str:
    """A cursor as a formula takes it. Raises `ProviderRejected` if it is not a time."""
    try:
        at = datetime.fromisoformat(cursor)
    except ValueError as error:
        raise ProviderRejected(f"{named(cursor)} is not a time. Run once with --full.") from error
    return at.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%S.000Z")
