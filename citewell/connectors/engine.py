"""Imports a source's files through Citewell's HTTP API: only what changed, each file once, and without losses if a run is interrupted."""

from __future__ import annotations

import asyncio
import json
import tempfile
import time
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO
from urllib.parse import quote

from citewell.client import call
from citewell.connectors.interface import Connector, SourceEntry
from citewell.errors import CitewellError, Conflict, RateLimited, SourceProblem
from citewell.types import TERMINAL, JsonValue, Status

if TYPE_CHECKING:
    import httpx

_PAGE = 1_000
_AT_ONCE = 4
_IDS = 100
_POLL_SECONDS = 0.3
_PATIENCE_SECONDS = 600.0
"""How long one request waits in total while rate-limited; limits are per minute."""
_MAX_PAUSE_SECONDS = 60.0
# An unreadable file is retried only once it changes; other problems are retried in every run.
_BROKEN = "broken"
_MAX_SAID = 1_000


@dataclass(slots=True)
class SyncReport:
    """The result of a run: counts, why entries could not be imported (`problems`), and unusable values in their records (`notes`).

    broken: entries whose problem is that of an earlier run, as they have not changed since
    """

    added: int = 0
    changed: int = 0
    unchanged: int = 0
    deleted: int = 0
    problems: list[dict[str, str]] = field(default_factory=list[dict[str, str]])
    notes: list[dict[str, str]] = field(default_factory=list[dict[str, str]])
    broken: int = 0
    seconds: float = 0.0

    @property
    def did_something(self) -> bool:
        """Whether anything was added, changed, deleted or has a problem."""
        return bool(self.added or self.changed or self.deleted or self.problems)

    def to_json(self) -> dict[str, JsonValue]:
        """As JSON, with the first 200 problems and notes."""
        most = 200
        return {
            "added": self.added,
            "changed": self.changed,
            "unchanged": self.unchanged,
            "deleted": self.deleted,
            "problem_count": len(self.problems) + self.broken,
            "problems": [dict(one) for one in self.problems[:most]],
            "notes": [dict(one) for one in self.notes[:most]],
            "seconds": round(self.seconds, 1),
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class SyncRequest:
    """The options of a run.

    full: read everything again; empty: delete all files if the source is empty; by_model: let a chat model tidy records
    watching: one of a series of runs; webhooks receive events only for runs with changes or problems
    """

    name: str
    project: str | None = None
    full: bool = False
    empty: bool = False
    by_model: bool = True
    watching: bool = False


@dataclass(slots=True)
class Synchroniser:
    """One run over a source. `tell` is called with each entry's key and outcome."""

    client: httpx.AsyncClient
    source: Connector
    request: SyncRequest
    tell: Callable[[str, str], None] = lambda key, outcome: None
    sleep: Callable[[float], Awaitable[None]] = asyncio.sleep
    report: SyncReport = field(default_factory=SyncReport)
    _known: dict[str, dict[str, Any]] = field(default_factory=dict[str, dict[str, Any]])
    _sent: dict[str, tuple[str, str]] = field(default_factory=dict[str, tuple[str, str]])
    _new: set[str] = field(default_factory=set[str])

    async def run(self) -> SyncReport:
        """Import what changed, delete what is gone, and wait until everything is processed. Raises errors that stop the whole run."""
        began = time.monotonic()
        body = {"kind": self.source.kind, "project": self.request.project}
        state = await self._call("PUT", self._path(), json=body)
        self._known = await self._items()
        present = await self.source.present()
        await self._remove(present)
        wanted = {key for key, part in present.items() if self._is_wanted(key, part)}
        since = None if self.request.full else state["cursor"]
        with tempfile.TemporaryDirectory(prefix="citewell-sync-") as folder:
            await self._bring(since, wanted, Path(folder))
        await self._settle()
        troubled = self._in_trouble(present)
        self.report.broken = len(troubled - {one["key"] for one in self.report.problems})
        self.report.unchanged = len(present) - self.report.added - self.report.changed - len(troubled)
        self.report.seconds = time.monotonic() - began
        told = not self.request.watching or self.report.did_something
        end = {"cursor": self.source.cursor(), "report": self.report.to_json(), "announce": told}
        await self._call("POST", f"{self._path()}/runs", json=end)
        return self.report

    async def _call(self, method: str, path: str, **request: Any) -> Any:
        """Citewell's response. While rate-limited, waits as long as the server asks and retries."""
        waited = 0.0
        while True:
            try:
                return await call(self.client, method, path, **request)
            except RateLimited as error:
                if waited >= _PATIENCE_SECONDS:
                    raise
                pause = min(max(error.retry_after, _POLL_SECONDS), _MAX_PAUSE_SECONDS)
            await self.sleep(pause)
            waited += pause
            for _, file in request.get("files", {}).values():
                file.seek(0)

    def _path(self) -> str:
        return f"/sources/{quote(self.request.name, safe='')}"

    async def _items(self) -> dict[str, dict[str, Any]]:
        found: dict[str, dict[str, Any]] = {}
        cursor: str | None = None
        while True:
            params: dict[str, str | int] = {"limit": _PAGE, **({"cursor": cursor} if cursor else {})}
            page = await self._call("GET", f"{self._path()}/items", params=params)
            found |= {item["key"]: item for item in page["items"]}
            cursor = page["next_cursor"]
            if cursor is None:
                return found

    async def _remove(self, present: Mapping[str, str]) -> None:
        gone = sorted(set(self._known) - set(present))
        if gone and not present and not self.request.empty:
            raise Conflict(
                f"The source is empty, although {len(gone):,} files came from it. Nothing was deleted; "
                "to delete them, run again with --empty."
            )
        for key in gone:
            await self._call("POST", f"{self._path()}/removals", json={"key": key})
            del self._known[key]
            self.report.deleted += 1
            self.tell(key, "deleted")

    def _is_wanted(self, key: str, part: str) -> bool:
        """Whether an entry must be read even if the source does not report it as changed."""
        known = self._known.get(key)
        if known is None or not known["stamp"].endswith(part):
            return True
        if known["problem_code"] is not None:
            return known["problem_code"] != _BROKEN
        return known["resource_id"] is None

    def _is_done(self, entry: SourceEntry) -> bool:
        known = self._known.get(entry.key)
        if known is None or known["stamp"] != entry.stamp:
            return False
        return known["problem_code"] == _BROKEN or (known["problem_code"] is None and known["resource_id"] is not None)

    async def _bring(self, since: str | None, wanted: set[str], folder: Path) -> None:
        """Import a few entries at a time. Problems with one entry are reported; errors that stop the run are raised."""
        waiting: set[asyncio.Task[None]] = set()
        seen: set[str] = set()
        try:
            async for entry in self.source.read(since, wanted):
                if entry.key in seen or self._is_done(entry):
                    continue
                seen.add(entry.key)
                waiting.add(asyncio.create_task(self._one(entry, folder)))
                if len(waiting) >= _AT_ONCE:
                    done, waiting = await asyncio.wait(waiting, return_when=asyncio.FIRST_COMPLETED)
                    for task in done:
                        task.result()
            await asyncio.gather(*waiting)
        finally:
            for task in waiting:
                task.cancel()
            await asyncio.gather(*waiting, return_exceptions=True)

    async def _one(self, entry: SourceEntry, folder: Path) -> None:
        try:
            if entry.problem is not None:
                raise entry.problem
            with await self.source.fetch(entry, folder) as file:
                kept = await self._send(entry, file)
        except CitewellError as problem:
            await self._trouble(entry.key, entry.stamp, problem.code, problem.message)
            return
        is_new = entry.key not in self._known or self._known[entry.key]["resource_id"] is None
        if is_new:
            self._new.add(kept["resource_id"])
        self.report.added += is_new
        self.report.changed += not is_new
        self.report.notes += [{"key": entry.key, "note": note} for note in kept["notes"]]
        self._sent[kept["resource_id"]] = (entry.key, entry.stamp)
        self.tell(entry.key, "added" if is_new else "changed")

    async def _send(self, entry: SourceEntry, file: BinaryIO) -> Any:
        item = {
            "key": entry.key,
            "stamp": entry.stamp,
            "identifier": entry.identifier,
            "metadata": dict(entry.metadata),
            "frame": entry.frame,
            "by_model": self.request.by_model,
        }
        files, said = {"file": (entry.filename or entry.key, file)}, {"item": json.dumps(item)}
        try:
            return await self._call("POST", f"{self._path()}/items", files=files, data=said)
        except OSError as error:
            raise SourceProblem(f"The file cannot be read: {error.strerror or error}.") from error

    async def _trouble(self, key: str, stamp: str, code: str, message: str) -> None:
        body = {"key": key, "stamp": stamp, "code": code[:64], "message": message[:_MAX_SAID]}
        await self._call("POST", f"{self._path()}/problems", json=body)
        self.report.problems.append({"key": key, "code": code, "message": message})
        self.tell(key, code)

    async def _settle(self) -> None:
        """Wait until every imported file is in its final state, and report those that cannot be read."""
        waiting = dict(self._sent)
        # Also wait for files of an earlier run that ended before they were read.
        for key, item in self._known.items():
            if item["resource_id"] and item["problem_code"] is None and item["status"] not in _FINE:
                waiting.setdefault(item["resource_id"], (key, item["stamp"]))
        while waiting:
            ids = list(waiting)[:_IDS]
            params = {"id": ids, "limit": _IDS, "fields": "summary"}
            page = await self._call("GET", "/resources", params=params)
            found = {one["id"]: one for one in page["resources"]}
            for one in ids:
                resource = found.get(one)
                if resource is not None and Status(resource["status"]) not in TERMINAL:
                    continue
                key, stamp = waiting.pop(one)
                if resource is not None and resource["status"] == Status.FAILED:
                    if one in self._sent:  # sent, but not imported
                        self.report.added -= one in self._new
                        self.report.changed -= one not in self._new
                    await self._trouble(key, stamp, _BROKEN, resource["error_message"] or "The file cannot be read.")
            if any(one in waiting for one in ids):
                await asyncio.sleep(_POLL_SECONDS)

    def _in_trouble(self, present: Mapping[str, str]) -> set[str]:
        """Keys not counted as unchanged: those with a problem, of this run or, if they were not sent again, of an earlier one."""
        sent = {key for key, _ in self._sent.values()}
        now = {one["key"] for one in self.report.problems}
        before = {key for key, item in self._known.items() if item["problem_code"] is not None}
        return ((now | before) & set(present)) - (sent - now)


_FINE = frozenset(status.value for status in TERMINAL if status is not Status.FAILED)
