"""Quotas: what an owner may have and do, how much of it is used, and whether more fits. What is counted and what is added are one transaction."""

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
    """How many files an owner has, of how many bytes, and how many there may be; None for no limit."""

    files: int = 0
    most_files: float | None = None
    size: int = 0
    most_bytes: float | None = None

    def take(self, files: int, size: int) -> None:
        """Add so many files and bytes. Raises `FilesQuotaReached` or `BytesQuotaReached` where they do not fit; then nothing is added."""
        if self.most_files is not None and files > 0 and self.files + files > self.most_files:
            raise FilesQuotaReached(
                f"The quota of files is used up: {self.files:,} of {self.most_files:,.0f}. Delete some, or {_MORE}.",
                **_details(Quota.FILES, self.files, self.most_files),
            )
        if self.most_bytes is not None and size > 0 and self.size + size > self.most_bytes:
            raise self.no_bytes
        self.files += files
        self.size += size

    @property
    def no_bytes(self) -> BytesQuotaReached:
        """The error for a file larger than what is left."""
        most = self.most_bytes or 0.0
        return BytesQuotaReached(
            f"The quota of bytes has no room for this file: {self.size:,} of {most:,.0f} are used. "
            f"Delete files, or {_MORE}.",
            **_details(Quota.BYTES, self.size, most),
        )


@dataclass(frozen=True, slots=True)
class UploadBound:
    """How large a file may be for which there may be room, in bytes; and why a larger one is refused."""

    most_bytes: int
    refusal: BytesQuotaReached


class QuotaRepository:
    """Quotas by owner. `defaults` hold where nothing else is set for an owner; without one there is no limit. now: seconds since 1970

    What the service accounts of an owner have and do counts as the owner's: nobody gets more by making some.
    """

    def __init__(
        self, database: Database, defaults: Mapping[Quota, float] | None = None, now: Callable[[], float] = time.time
    ) -> None:
        self._database = database
        self._defaults = dict(defaults or {})
        self._now = now

    async def own(self, owner_id: str) -> dict[Quota, float | None]:
        """What is set for an owner in the place of defaults; None for no limit. Of a service account, what holds for its manager."""
        return {Quota(row["quota"]): row["most"] for row in await self._database.fetch(_OWN, owner=owner_id)}

    async def change(self, owner_id: str, own: Mapping[Quota, float | None]) -> None:
        """Set what holds for an owner in the place of defaults, which hold for what is left out. `NotFound` for nobody's id."""
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
        """The id of the owner with this id, e-mail address or name in JWTs. Raises `NotFound`."""
        called = sa.select(owners.c.id).outerjoin(people, people.c.owner_id == owners.c.id)
        for column, value in ((owners.c.id, name), (people.c.email, name.lower()), (owners.c.name, name)):
            if rows := await self._database.rows(called.where(column == value)):
                return rows[0]["id"]
        raise NotFound("There is no such owner. Give an id, the e-mail address of an account, or the subject of a JWT.")

    async def standings(self, owner_id: str) -> list[QuotaStanding]:
        """All quotas of an owner, and how far they are used."""
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
        """What room an owner has, inside the caller's write transaction: until its end nobody else takes any of it."""
        limits = self._limits(connection, owner_id)
        if limits.keys().isdisjoint(_OF_FILES):
            return FileRoom()
        if not self._database.is_sqlite:  # SQLite has one writer at a time anyway
            manager = connection.scalar(sa.select(_manager(owner_id)))
            connection.execute(_LOCK, {"name": f"citewell/quotas/{manager}"})
        return _room(connection, owner_id, limits)

    async def require_room(self, owner_id: str, files: int, size: int) -> None:
        """Raise `FilesQuotaReached` or `BytesQuotaReached` where so many more files and bytes do not fit at present."""
        limits = self._with_defaults(await self.own(owner_id))
        if limits.keys().isdisjoint(_OF_FILES):
            return
        async with self._database.read() as connection:
            (await connection.run_sync(_room, owner_id, limits)).take(files, size)

    async def upload_bound(self, owner_id: str) -> UploadBound | None:
        """How large an owner's next file may be; None without a limit.

        One that the owner has already takes no room, and is no larger than the largest; anything beyond that is new.
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
        """Count a question that an owner asks. Raises `QuestionsQuotaReached` beyond the month's; then it is not counted."""
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
            f"The quota of questions is used up: {asked:,} of {most:,.0f} this month. "
            f"The next month begins on {_day(until)} (UTC); until then, {_MORE}.",
            retry_after=until - self._now(),
            **_details(Quota.QUESTIONS, asked, most),
        )

    async def require_spend(self, owner_id: str, under_way: float = 0.0) -> None:
        """Raise `SpendQuotaReached` when an owner has spent what models may cost this month.

        under_way: US dollars that the work has cost so far and that are not in the ledger yet
        """
        _, since, until = month_of(self._now())
        most = self._with_defaults(await self.own(owner_id)).get(Quota.SPEND)
        if most is None:
            return
        async with self._database.read() as connection:
            spent = await _spent(connection, owner_id, since) + under_way
        if spent >= most:
            raise SpendQuotaReached(
                f"What models may cost is used up: {spent:,.2f} of {most:,.2f} US dollars this month. "
                f"The next month begins on {_day(until)} (UTC); until then, {_MORE}.",
                **_details(Quota.SPEND, spent, most),
            )

    def _limits(self, connection: sa.Connection, owner_id: str) -> dict[Quota, float]:
        """The limits that there are for an owner."""
        return self._with_defaults(
            {Quota(row.quota): row.most for row in connection.execute(_OWN.query, {"owner": owner_id})}
        )

    def _with_defaults(self, own: Mapping[Quota, float | None]) -> dict[Quota, float]:
        return {quota: most for quota, most in {**self._defaults, **own}.items() if most is not None}


def month_of(moment: float) -> tuple[str, float, float]:
    """The calendar month (UTC) of a time: as 2026-01, and when it begins and ends, all in seconds since 1970."""
    first = datetime.fromtimestamp(moment, UTC).replace(day=1, hour=0, minute=0, second=0, microsecond=0)
    following = (first + timedelta(days=32)).replace(day=1)
    return f"{first:%Y-%m}", first.timestamp(), following.timestamp()


def _manager(owner_id: str | sa.BindParameter[str]) -> sa.ColumnElement[str]:
    """Who manages a service account, and is counted with it; of others, the owner."""
    managed = sa.select(service_accounts.c.owner_id).where(service_accounts.c.acts_as == owner_id)
    return sa.func.coalesce(managed.scalar_subquery(), owner_id)


# Written once, as every upload asks it twice.
_OWN = Prepared(
    sa.select(owner_quotas.c.quota, owner_quotas.c.most).where(
        owner_quotas.c.owner_id == _manager(sa.bindparam("owner", type_=sa.String()))
    )
)


def _counted(column: sa.ColumnElement[str], owner_id: str) -> sa.ColumnElement[bool]:
    """Whether a row is of the owner, of its service accounts, or of those that have the same manager."""
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
    """Bytes of the versions that are kept: all those of files, the current ones of records.

    As two sums, so that the rows of files, which are long, are not read.
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
    """Questions of a month: those that were counted, or those in the owner's conversations where none was."""
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
    """US dollars in the ledger since a time; what context stuffing would have cost is no expense."""
    query = sa.select(sa.func.sum(usage.c.cost)).where(
        _counted(usage.c.owner_id, owner_id), usage.c.created_at >= since, usage.c.kind != "context_stuffing"
    )
    return float(await connection.scalar(query) or 0.0)


def _details(quota: Quota, used: float, limit: float) -> dict[str, str | float]:
    return {"quota": quota.value, "used": used, "limit": limit}


def _day(moment: float) -> str:
    return f"{datetime.fromtimestamp(moment, UTC):%Y-%m-%d}"
