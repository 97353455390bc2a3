"""Quotas: limits per owner, their current use, and checks for more. Checks and additions share a transaction."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncConnection

from citewell.errors import (
    BytesQuotaReached,
    Conflict,
    FilesQuotaReached,
    NotFound,
    QuestionsQuotaReached,
    SpendQuotaReached,
    in_dollars,
)
from citewell.storage.accounts.tables import people, service_accounts
from citewell.storage.database import Database, insert_new
from citewell.storage.lookups import Prepared
from citewell.storage.spending.quota_tables import owner_quotas, question_counts
from citewell.storage.tables import messages, owners, resource_versions, resources, threads, usage
from citewell.types.quotas import Quota, QuotaStanding

_LOCK = sa.text("SELECT pg_advisory_xact_lock(hashtext(:name))")
_OF_FILES = frozenset({Quota.FILES, Quota.BYTES})
_OF_MONTH = frozenset({Quota.QUESTIONS, Quota.SPEND})
_MORE = "ask an administrator for a higher quota"


@dataclass(slots=True, kw_only=True)
class FileRoom:
    """An owner's files and bytes, and the limits on both; None for no limit."""

    files: int = 0
    most_files: float | None = None
    size: int = 0
    most_bytes: float | None = None

    def take(self, files: int, size: int) -> None:
        """Adds files and bytes.

        Raises `FilesQuotaReached` or `BytesQuotaReached`, and adds nothing, if they do not fit.
        """
        if self.most_files is not None and files > 0 and self.files + files > self.most_files:
            raise FilesQuotaReached(
                f"The file quota is used up: {self.files:,} of {self.most_files:,.0f}. Delete some, or {_MORE}.",
                **_details(Quota.FILES, self.files, self.most_files),
            )
        if self.most_bytes is not None and size > 0 and self.size + size > self.most_bytes:
            raise self.no_bytes
        self.files += files
        self.size += size

    @property
    def no_bytes(self) -> BytesQuotaReached:
        """Returns the error for a file that exceeds the remaining bytes."""
        most = self.most_bytes or 0.0
        return BytesQuotaReached(
            f"The storage quota has no room for this file: {self.size:,} of {most:,.0f} are used. "
            f"Delete files, or {_MORE}.",
            **_details(Quota.BYTES, self.size, most),
        )


@dataclass(frozen=True, slots=True)
class UploadBound:
    """The largest file, in bytes, that may fit, and the error for a larger one."""

    most_bytes: int
    refusal: BytesQuotaReached


class QuotaRepository:
    """Quotas by owner. `defaults` apply unless overridden for an owner; without a default, there is no limit.

    Usage by service accounts counts toward their manager, so that creating some does not raise the quota.
    now: returns seconds since 1970
    """

    def __init__(
        self, database: Database, defaults: Mapping[Quota, float] | None = None, now: Callable[[], float] = time.time
    ) -> None:
        self._database = database
        self._defaults = dict(defaults or {})
        self._now = now

    async def own(self, owner_id: str) -> dict[Quota, float | None]:
        """Returns an owner's overrides of the defaults; None for no limit.

        For a service account, returns its manager's.
        """
        return {Quota(row["quota"]): row["most"] for row in await self._database.fetch(_OWN, owner=owner_id)}

    async def change(self, owner_id: str, own: Mapping[Quota, float | None]) -> None:
        """Replaces an owner's overrides; the defaults apply to omitted quotas.

        Raises `NotFound` for an unknown owner.
        """
        rows = [{"owner_id": owner_id, "quota": quota.value, "most": most} for quota, most in own.items()]
        async with self._database.write() as connection:
            if await connection.scalar(sa.select(owners.c.id).where(owners.c.id == owner_id)) is None:
                raise NotFound("There is no such owner.")
            if await connection.scalar(sa.select(_manager(owner_id))) != owner_id:
                raise Conflict("A service account has no quotas of its own. Set those of the owner who manages it.")
            await connection.execute(sa.delete(owner_quotas).where(owner_quotas.c.owner_id == owner_id))
            if rows:
                await connection.execute(sa.insert(owner_quotas), rows)

    async def find_owner(self, name: str) -> str:
        """Returns the id of the owner with this id, e-mail address or JWT subject. Raises `NotFound`."""
        called = sa.select(owners.c.id).outerjoin(people, people.c.owner_id == owners.c.id)
        for column, value in ((owners.c.id, name), (people.c.email, name.lower()), (owners.c.name, name)):
            if rows := await self._database.rows(called.where(column == value)):
                return rows[0]["id"]
        raise NotFound("There is no such owner. Give an id, the e-mail address of an account, or the subject of a JWT.")

    async def standings(self, owner_id: str) -> list[QuotaStanding]:
        """Returns all quotas of an owner with their current use."""
        own = await self.own(owner_id)
        month, since, until = month_of(self._now())
        async with self._database.read() as connection:
            used: dict[Quota, float] = {
                Quota.FILES: await connection.run_sync(_count_files, owner_id),
                Quota.BYTES: await connection.run_sync(_count_bytes, owner_id),
                Quota.QUESTIONS: await _count_questions(connection, owner_id, month, since),
                Quota.SPEND: await _spent(connection, owner_id, since),
            }
        return [
            QuotaStanding(
                quota=quota,
                limit=own.get(quota, self._defaults.get(quota)),
                used=used[quota],
                is_own=quota in own,
                resets_at=until if quota in _OF_MONTH else None,
            )
            for quota in Quota
        ]

    def file_room(self, connection: sa.Connection, owner_id: str) -> FileRoom:
        """Returns an owner's room for files, reserved until the end of the caller's write transaction."""
        limits = self._limits(connection, owner_id)
        if limits.keys().isdisjoint(_OF_FILES):
            return FileRoom()
        if not self._database.is_sqlite:  # SQLite has one writer at a time anyway
            manager = connection.scalar(sa.select(_manager(owner_id)))
            connection.execute(_LOCK, {"name": f"citewell/quotas/{manager}"})
        return _room(connection, owner_id, limits)

    async def require_room(self, owner_id: str, files: int, size: int) -> None:
        """Raises `FilesQuotaReached` or `BytesQuotaReached` if so many more files and bytes do not currently fit."""
        limits = self._with_defaults(await self.own(owner_id))
        if limits.keys().isdisjoint(_OF_FILES):
            return
        async with self._database.read() as connection:
            (await connection.run_sync(_room, owner_id, limits)).take(files, size)

    async def upload_bound(self, owner_id: str) -> UploadBound | None:
        """Returns the size limit for an owner's next upload; None without a limit.

        A file that the owner already has takes no room. Uploads up to the size of the owner's largest file may be such.
        """
        limits = self._with_defaults(await self.own(owner_id))
        if Quota.BYTES not in limits:
            return None
        async with self._database.read() as connection:
            room = await connection.run_sync(_room, owner_id, limits)
            largest = sa.select(sa.func.max(resources.c.file_size_bytes)).where(resources.c.owner_id == owner_id)
            known = await connection.scalar(largest) or 0
        return UploadBound(max(int(limits[Quota.BYTES]) - room.size, known), room.no_bytes)

    async def count_question(self, owner_id: str) -> None:
        """Counts an owner's question.

        Raises `QuestionsQuotaReached`, and does not count it, if the month's quota is used up.
        """
        month, since, until = month_of(self._now())
        table = question_counts
        async with self._database.write() as connection:
            most = (await connection.run_sync(self._limits, owner_id)).get(Quota.QUESTIONS)
            if most is None:
                return
            asked = await _count_questions(connection, owner_id, month, since)
            manager = await connection.scalar(sa.select(_manager(owner_id)))
            row = {"owner_id": manager, "month": month, "asked": asked}
            if (await connection.execute(insert_new(connection, table).values(row))).rowcount:
                await connection.execute(sa.delete(table).where(table.c.owner_id == manager, table.c.month != month))
            mine = sa.and_(table.c.owner_id == manager, table.c.month == month)
            more = sa.update(table).where(mine, table.c.asked + 1 <= most).values(asked=table.c.asked + 1)
            if (await connection.execute(more)).rowcount:
                return
            asked = await connection.scalar(sa.select(table.c.asked).where(mine)) or 0
        raise QuestionsQuotaReached(
            f"The question quota is used up: {asked:,} of {most:,.0f} this month. "
            f"The next month begins on {_day(until)} (UTC); until then, {_MORE}.",
            retry_after=until - self._now(),
            **_details(Quota.QUESTIONS, asked, most),
        )

    async def require_spend(self, owner_id: str, under_way: float = 0.0) -> None:
        """Raises `SpendQuotaReached` if an owner has reached the month's spending quota for models.

        under_way: US dollars that the current work has cost so far and that are not in the ledger yet
        """
        _, since, until = month_of(self._now())
        most = self._with_defaults(await self.own(owner_id)).get(Quota.SPEND)
        if most is None:
            return
        async with self._database.read() as connection:
            spent = await _spent(connection, owner_id, since) + under_way
        if spent >= most:
            raise SpendQuotaReached(
                f"The spending quota is used up: {in_dollars(spent)} of {in_dollars(most)} US dollars this month. "
                f"The next month begins on {_day(until)} (UTC); until then, {_MORE}.",
                **_details(Quota.SPEND, spent, most),
            )

    def _limits(self, connection: sa.Connection, owner_id: str) -> dict[Quota, float]:
        """Returns an owner's limits, including defaults."""
        return self._with_defaults(
            {Quota(row.quota): row.most for row in connection.execute(_OWN.query, {"owner": owner_id})}
        )

    def _with_defaults(self, own: Mapping[Quota, float | None]) -> dict[Quota, float]:
        return {quota: most for quota, most in {**self._defaults, **own}.items() if most is not None}


def month_of(moment: float) -> tuple[str, float, float]:
    """Returns the calendar month (UTC) of a time, such as 2026-01, and its start and end in seconds since 1970."""
    first = datetime.fromtimestamp(moment, UTC).replace(day=1, hour=0, minute=0, second=0, microsecond=0)
    following = (first + timedelta(days=32)).replace(day=1)
    return f"{first:%Y-%m}", first.timestamp(), following.timestamp()


def _manager(owner_id: str | sa.BindParameter[str]) -> sa.ColumnElement[str]:
    """Selects the manager of a service account, who shares its quotas; for other owners, the owner."""
    managed = sa.select(service_accounts.c.owner_id).where(service_accounts.c.acts_as == owner_id)
    return sa.func.coalesce(managed.scalar_subquery(), owner_id)


# Compiled once, because every upload runs it twice.
_OWN = Prepared(
    sa.select(owner_quotas.c.quota, owner_quotas.c.most).where(
        owner_quotas.c.owner_id == _manager(sa.bindparam("owner", type_=sa.String()))
    )
)


def _counted(column: sa.ColumnElement[str], owner_id: str) -> sa.ColumnElement[bool]:
    """Whether a row belongs to the owner, its service accounts, its manager or another account of that manager."""
    manager = _manager(owner_id)
    managed = sa.select(service_accounts.c.acts_as).where(service_accounts.c.owner_id == manager)
    return column.in_(sa.union_all(sa.select(manager), managed))


def _room(connection: sa.Connection, owner_id: str, limits: Mapping[Quota, float]) -> FileRoom:
    return FileRoom(
        files=_count_files(connection, owner_id) if Quota.FILES in limits else 0,
        most_files=limits.get(Quota.FILES),
        size=_count_bytes(connection, owner_id) if Quota.BYTES in limits else 0,
        most_bytes=limits.get(Quota.BYTES),
    )


def _count_files(connection: sa.Connection, owner_id: str) -> int:
    query = sa.select(sa.func.count()).select_from(resources).where(_counted(resources.c.owner_id, owner_id))
    return connection.scalar(query) or 0


def _count_bytes(connection: sa.Connection, owner_id: str) -> int:
    """Sums the bytes of stored versions: all versions of files, the current ones of records.

    Uses two sums, to avoid reading the long rows of files.
    """
    table = resource_versions
    of_files = (
        sa.select(sa.func.sum(table.c.file_size_bytes))
        .join(resources, resources.c.id == table.c.resource_id)
        .where(_counted(resources.c.owner_id, owner_id), table.c.blob_key.is_not(None))
    )
    of_records = sa.select(sa.func.sum(resources.c.file_size_bytes)).where(
        _counted(resources.c.owner_id, owner_id), resources.c.record_id.is_not(None)
    )
    return int(connection.scalar(of_files) or 0) + int(connection.scalar(of_records) or 0)


async def _count_questions(connection: AsyncConnection, owner_id: str, month: str, since: float) -> int:
    """Returns the questions in a month: as counted, or, without a count, those in the owner's conversations."""
    table = question_counts
    counted = sa.select(table.c.asked).where(table.c.owner_id == _manager(owner_id), table.c.month == month)
    if (asked := await connection.scalar(counted)) is not None:
        return asked
    query = (
        sa.select(sa.func.count())
        .select_from(messages.join(threads, threads.c.id == messages.c.thread_id))
        .where(_counted(threads.c.owner_id, owner_id), messages.c.role == "user", messages.c.created_at >= since)
    )
    return await connection.scalar(query) or 0


async def _spent(connection: AsyncConnection, owner_id: str, since: float) -> float:
    """Sums the US dollars in the ledger since a time, without the hypothetical cost of context stuffing."""
    query = sa.select(sa.func.sum(usage.c.cost)).where(
        _counted(usage.c.owner_id, owner_id), usage.c.created_at >= since, usage.c.kind != "context_stuffing"
    )
    return float(await connection.scalar(query) or 0.0)


def _details(quota: Quota, used: float, limit: float) -> dict[str, str | float]:
    return {"quota": quota.value, "used": used, "limit": limit}


def _day(moment: float) -> str:
    return f"{datetime.fromtimestamp(moment, UTC):%Y-%m-%d}"
