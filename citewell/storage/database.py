"""Connections: pooled readers, and one writer at a time on SQLite."""

from __future__ import annotations

import asyncio
import contextlib
import json
import logging
import os
import sqlite3
import uuid
from collections.abc import AsyncGenerator, Callable, Generator, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, TypeAlias, TypeVar, cast

import sqlalchemy as sa
from sqlalchemy import event
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.engine import ExceptionContext
from sqlalchemy.exc import DataError, DBAPIError, SQLAlchemyError
from sqlalchemy.exc import TimeoutError as PoolTimeout
from sqlalchemy.ext.asyncio import AsyncConnection, create_async_engine

from citewell.errors import ConfigurationError, DatabaseAway, DiskFull, InvalidInput
from citewell.storage.grouped import GroupedWrites
from citewell.storage.lookups import Lookup, Prepared
from citewell.storage.revisions import current_revision, known_revisions, last_revision, newest_name
from citewell.storage.sqlite import FileConnection, FileConnections, prepare
from citewell.system.batching import Batcher, outcome
from citewell.system.disk import SpareSpace, disk_errors

_log = logging.getLogger(__name__)
T = TypeVar("T")
_Reading: TypeAlias = Callable[[sqlite3.Connection], Sequence[Mapping[Any, Any]]]
MIGRATIONS = Path(__file__).parent / "migrations"
_READERS = 4
_READINGS_PER_STEP = 8
_FEW_IDS = 32
_NOT_IN_REPERTOIRE = "22021"
# Behind a pooler, each transaction may get a different session, which lacks earlier prepared statements and may already
# use their names.
_POOLED = {
    "statement_cache_size": 0,
    "prepared_statement_cache_size": 0,
    "prepared_statement_name_func": lambda: f"citewell_{uuid.uuid4().hex}",
}
# Processes that start at the same time migrate one after the other; the later ones find nothing to do.
_LOCK_SCHEMA = sa.text("SELECT pg_advisory_xact_lock(426970998032)")
# Postgres refuses to alter columns that a view reads. The vector store recreates this view when it opens.
_DROP_VIEWS = sa.text("""DO $$ DECLARE found regclass; BEGIN
    FOR found IN SELECT DISTINCT v.oid FROM pg_class AS v JOIN pg_rewrite AS w ON w.ev_class = v.oid JOIN pg_depend AS d ON d.objid = w.oid
        WHERE v.relname = 'frame_chunks' AND v.relkind = 'v' AND d.refobjid = to_regclass('chunks')
    LOOP EXECUTE format('DROP VIEW %s', found); END LOOP;
END $$""")


class DatabaseUnusable(Exception):
    """The database cannot be opened or reached. `is_away`: it may become reachable later."""

    def __init__(self, reason: str, *, is_away: bool = False) -> None:
        super().__init__(reason)
        self.is_away = is_away


class Database:
    """The SQL database.

    `read()` and `write()` yield a connection inside a transaction, which commits when the block exits.

    A write that fails because the disk is full raises `DiskFull`, and its transaction is rolled back.

    On SQLite: WAL, `synchronous=FULL`, foreign keys on. Writers queue within this process, so none finds the database
    busy.

    spare: space that is given back for writes when the disk is full
    """

    def __init__(self, url: str, spare: SpareSpace | None = None) -> None:
        self.url = url
        self.is_sqlite = url.startswith("sqlite")
        self._files = FileConnections(sa.make_url(url).database or ":memory:") if self.is_sqlite else None
        parsed = sa.make_url(url)
        options: dict[str, Any] = {"pool_pre_ping": True}
        if self._files is not None:
            options = {"async_creator": self._files.connect}
        elif parsed.query.get("pgbouncer") == "true":
            options = {"connect_args": _POOLED}
        self._engine = create_async_engine(
            parsed.difference_update_query(["pgbouncer"]),
            json_serializer=_dumps,
            pool_size=8,
            max_overflow=24,
            **options,
        )
        self._writer = asyncio.Lock()
        self._writes = 0
        self._reader = self._open_reader(url) if self.is_sqlite and ":memory:" not in url else None
        self._threads = ThreadPoolExecutor(_READERS, thread_name_prefix="sql-read")
        self._readings = Batcher(self._threads, _READERS // 2, _READINGS_PER_STEP, self._read_all)
        self._grouped = None if self._reader is None else GroupedWrites(self._reader, self._threads, self._writer)
        self._is_away = False
        self._spare = spare
        event.listen(self._engine.sync_engine, "handle_error", self._translate)
        if self.is_sqlite:
            event.listen(self._engine.sync_engine, "begin", _begin_sqlite)

    @asynccontextmanager
    async def _connected(self) -> AsyncGenerator[AsyncConnection]:
        """Yields a connection.

        Raises `DatabaseAway` if the server is unreachable; so do statements on a lost one (`_translate`).
        """
        async with contextlib.AsyncExitStack() as stack:
            try:
                connection = await stack.enter_async_context(self._engine.connect())
            except (OSError, TimeoutError, PoolTimeout) as error:
                raise self._away(error) from error
            if self._is_away:
                self._is_away = False
                _log.warning("The database is reached again.")
            yield connection

    def _translate(self, context: ExceptionContext) -> None:
        """Translates a driver's error into Citewell's own where there is a matching one."""
        _refuse_nul(context)
        error = context.original_exception
        if self.is_sqlite or not isinstance(error, Exception):
            return
        if context.is_disconnect or _is_closed(context.connection) or _is_away(error):
            raise self._away(error) from error

    def _away(self, error: Exception) -> DatabaseAway:
        """Returns the error for an unreachable server, and logs each outage once, not once per request."""
        if not self._is_away:
            self._is_away = True
            _log.error("The database cannot be reached: %s. Requests get a 503 response until it can.", _reason(error))
        return DatabaseAway()

    @asynccontextmanager
    async def read(self) -> AsyncGenerator[AsyncConnection]:
        """Yields a connection in a read transaction, with a consistent snapshot."""
        with disk_errors(), _values_checked():
            async with self._connected() as connection:
                yield connection

    async def rows(
        self, query: sa.Select[*tuple[Any, ...]], parameters: Mapping[str, Any] | None = None
    ) -> Sequence[sa.RowMapping]:
        """Returns all rows of a query, outside a transaction.

        On SQLite it takes a single hop to a thread, as every search waits for it.
        """
        with _values_checked():
            if self._reader is None:
                async with self._connected() as connection:
                    return (await connection.execute(query, parameters)).mappings().all()
            loop = asyncio.get_running_loop()
            return await loop.run_in_executor(self._threads, _fetch, self._reader, query, parameters)

    async def look_up(
        self, lookup: Lookup, ids: Sequence[str | bytes], parameters: Mapping[str, Any]
    ) -> Sequence[Mapping[Any, Any]]:
        """Returns the rows with these ids, outside a transaction. On SQLite, small lookups are batched."""
        if self._reader is None or len(ids) > _FEW_IDS:
            return await self.rows(lookup.query, {**parameters, "ids": list(ids)})
        with _values_checked():
            return await self._readings.ask(lambda connection: lookup.read(connection, ids, parameters))

    async def fetch(self, prepared: Prepared, **parameters: Any) -> Sequence[Mapping[Any, Any]]:
        """Returns the rows of a frequent query, outside a transaction. On SQLite, concurrent calls are batched."""
        if self._reader is None:
            return await self.rows(prepared.query, parameters)
        with _values_checked():
            return await self._readings.ask(lambda connection: prepared.read(connection, parameters))

    @asynccontextmanager
    async def write(self) -> AsyncGenerator[AsyncConnection]:
        """Yields a connection in a write transaction, committed when the block ends, rolled back on any error."""
        turn = self._writer if self.is_sqlite else contextlib.nullcontext()
        try:
            with self._room(), _values_checked():
                async with turn, self._connected() as connection:
                    await connection.execution_options(citewell_write=True)
                    async with connection.begin():
                        yield connection
        finally:
            self._writes += 1

    @contextlib.contextmanager
    def _room(self) -> Generator[None]:
        """Makes room for a write where the disk is full. Raises `DiskFull` if that was not enough; it may be for the next one."""
        if self._spare is not None:
            self._spare.tend()
        try:
            with disk_errors():
                yield
        except DiskFull:
            if self._spare is not None:
                self._spare.give_back()
            raise

    async def look(self, work: Callable[[sa.Connection], T]) -> T:
        """Runs `work` outside a transaction and returns its result.

        On SQLite, all its statements run in one hop to a thread.
        """
        with _values_checked():
            if self._reader is None:
                async with self._connected() as connection:
                    return await connection.run_sync(work)
            loop = asyncio.get_running_loop()
            return await loop.run_in_executor(self._threads, _look, self._reader, work)

    async def change(self, work: Callable[[sa.Connection], T]) -> T:
        """Runs `work` in a write transaction, as in `write`, and returns its result.

        On SQLite, it takes a single hop to a thread and shares its commit with others that were waiting for the same
        writer.
        """
        if self._grouped is None:
            async with self.write() as connection:
                return await connection.run_sync(work)
        try:
            with self._room(), _values_checked():
                return await self._grouped.run(work)
        finally:
            self._writes += 1

    @property
    def writes(self) -> int:
        """The number of write transactions that have ended in this process.

        While it is unchanged, so are the files in an SQLite database: only one process at a time holds the data folder.
        """
        return self._writes

    async def migrate(self, backups: Path | None = None) -> None:
        """Brings the schema up to date; safe to call at every start.

        backups: where to copy an SQLite database before its schema changes; on Postgres, use its own backups

        Raises `ConfigurationError` for a database migrated by a newer version, as migrations only go forward, and
        `DatabaseUnusable` for one that cannot be opened, reached or changed.
        """
        try:
            if self._reader is not None:
                await asyncio.to_thread(_make_private, Path(sa.make_url(self.url).database or ""))
            await (await self._engine.connect().start()).close()
        except Exception as error:
            # Each driver raises its own errors, including TypeError for an unknown URL argument.
            raise DatabaseUnusable(_reason(error), is_away=_is_away(error)) from error
        try:
            await self._migrate(backups)
        except SQLAlchemyError as error:
            raise DatabaseUnusable(_reason(error)) from error

    async def _migrate(self, backups: Path | None) -> None:
        async with self.read() as connection:
            revision = await connection.run_sync(current_revision)
        if revision == newest_name(MIGRATIONS):
            return
        known = known_revisions(MIGRATIONS)
        if revision is not None and revision not in known:
            raise ConfigurationError(
                f"The database is at revision {revision}, which this version of Citewell does not know. Install the newer version."
            )
        if revision == last_revision(known):
            return
        if revision is not None and self._reader is not None and backups is not None:
            await asyncio.to_thread(_copy, self._reader, backups / f"citewell-{revision}.db")
        async with self._engine.connect() as connection:
            await connection.execution_options(citewell_write=True)
            async with connection.begin():
                if not self.is_sqlite:
                    await connection.execute(_LOCK_SCHEMA)
                    await connection.execute(_DROP_VIEWS)
                await connection.run_sync(_upgrade)

    async def close(self) -> None:
        """Closes all connections."""
        await asyncio.to_thread(self._threads.shutdown)
        if self._reader is not None:
            self._reader.dispose()
        await self._engine.dispose()
        if self._files is not None:
            await self._files.close()

    def _read_all(
        self, readings: Sequence[_Reading]
    ) -> Iterator[list[tuple[int, Sequence[Mapping[Any, Any]] | BaseException]]]:
        assert self._reader is not None
        with contextlib.closing(self._reader.raw_connection()) as connection:
            driver = cast(sqlite3.Connection, connection.driver_connection)
            yield [(number, outcome(reading, driver)) for number, reading in enumerate(readings)]

    def _open_reader(self, url: str) -> sa.Engine:
        plain = url.replace("sqlite+aiosqlite:", "sqlite:", 1)
        reader = sa.create_engine(plain, isolation_level="AUTOCOMMIT", pool_size=_READERS, max_overflow=0)
        event.listen(reader, "connect", prepare)
        return reader


def _is_closed(connection: sa.Connection | None) -> bool:
    """Whether Postgres closed the connection during a statement; the driver may then raise an unrelated error."""
    driver = None if connection is None or connection.invalidated else connection.connection.driver_connection
    return driver is not None and driver.is_closed()


def _is_away(error: Exception) -> bool:
    """Whether the server is unreachable, or currently refuses connections.

    SQLSTATE class 08 is a broken connection; 57P01 to 57P03 and 53300 mean starting, stopping or too many connections.
    """
    cause = error.orig if isinstance(error, DBAPIError) else error
    state = str(getattr(cause, "sqlstate", None) or "")
    return isinstance(cause, OSError) or state.startswith("08") or state in ("57P01", "57P02", "57P03", "53300")


def _reason(error: Exception) -> str:
    """Returns the driver's message, without the statement and links that SQLAlchemy appends."""
    cause = error.orig if isinstance(error, DBAPIError) and error.orig is not None else error
    return " ".join(str(cause).split()).rstrip(".") or type(cause).__name__


@contextlib.contextmanager
def _values_checked() -> Generator[None]:
    """Raises `InvalidInput` for values that no column can hold, since a client sent them.

    Such values are integers over 64 bits, lone surrogates and, on Postgres, null characters.
    """
    try:
        yield
    except (OverflowError, UnicodeEncodeError, DataError) as error:
        raise InvalidInput("A number is too large, or a text contains characters that cannot be stored.") from error


def insert_new(connection: AsyncConnection | sa.Connection, table: sa.Table) -> sqlite.Insert | postgresql.Insert:
    """Builds an INSERT that skips existing rows, even uncommitted ones; `rowcount` is the number of rows inserted."""
    if connection.dialect.name == "sqlite":
        return sqlite.insert(table).on_conflict_do_nothing()
    return postgresql.insert(table).on_conflict_do_nothing()


async def upsert(
    connection: AsyncConnection, row: Mapping[sa.Column[Any], Any], changed: Mapping[sa.Column[Any], Any]
) -> sa.Row[Any]:
    """Inserts a row, or updates the one with its primary key; returns the resulting row.

    Concurrent calls wait for each other.
    """
    table = next(iter(row)).table
    make = sqlite.insert if connection.dialect.name == "sqlite" else postgresql.insert
    statement = make(table).values({column.name: value for column, value in row.items()})
    statement = statement.on_conflict_do_update(
        index_elements=list(table.primary_key), set_={column.name: value for column, value in changed.items()}
    )
    return (await connection.execute(statement.returning(*table.c))).one()


def _fetch(
    reader: sa.Engine, query: sa.Select[*tuple[Any, ...]], parameters: Mapping[str, Any] | None
) -> Sequence[sa.RowMapping]:
    with reader.connect() as connection:
        return connection.execute(query, parameters).mappings().all()


def _look(reader: sa.Engine, work: Callable[[sa.Connection], T]) -> T:
    with reader.connect() as connection:
        return work(connection)


def _make_private(path: Path) -> None:
    """Creates the database file if it is missing, and makes it and SQLite's companion files readable by this user only.

    An existing file is not opened: closing it would release the locks of this process's other connections.
    """
    with contextlib.suppress(OSError):  # SQLite reports what is wrong with the path
        os.close(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600))
    for one in (path, *(path.with_name(f"{path.name}{end}") for end in ("-wal", "-shm"))):
        with contextlib.suppress(OSError):  # missing, or owned by another user
            one.chmod(0o600)


def _copy(reader: sa.Engine, path: Path) -> None:
    """Copies the whole database to `path`, atomically."""
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    stem, number = path.stem, 1
    while path.exists():  # never overwrite: an earlier copy may be the only one of another database
        number += 1
        path = path.with_stem(f"{stem}-{number}")
    partial = path.with_name(f"{path.name}.new")
    partial.unlink(missing_ok=True)
    partial.touch(0o600)  # SQLite keeps the mode of an empty file; one that it creates would be readable by others
    with reader.connect() as connection:
        connection.execute(sa.text("VACUUM INTO :path"), {"path": str(partial)})
    partial.replace(path)
    _log.info("The database was copied to %s before its schema changes.", path)


def _upgrade(connection: sa.Connection) -> None:
    from alembic import command
    from alembic.config import Config
    from alembic.util import CommandError

    config = Config()
    config.set_main_option("script_location", str(MIGRATIONS))
    config.attributes["connection"] = connection
    try:
        command.upgrade(config, "head")
    except CommandError as error:
        raise DatabaseUnusable(_reason(error)) from error


def _refuse_nul(context: ExceptionContext) -> None:
    """Raises `InvalidInput` for a NUL character, which Postgres accepts in no text, stored or compared."""
    if getattr(context.original_exception, "sqlstate", None) == _NOT_IN_REPERTOIRE:
        raise InvalidInput("The request contains a NUL character. Remove it.") from context.original_exception


def _begin_sqlite(connection: sa.Connection) -> None:
    driver = connection.connection.driver_connection
    assert isinstance(driver, FileConnection)
    driver.begins(immediate=connection.get_execution_options().get("citewell_write", False))


def _dumps(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"), default=str)
