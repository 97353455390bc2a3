"""Reading rows in one step: the same rows as in a transaction, and always those that were committed last."""

from __future__ import annotations

import asyncio
from pathlib import Path

import sqlalchemy as sa

from citewell.storage.database import Database

_TABLE = sa.Table("notes", sa.MetaData(), sa.Column("id", sa.Integer, primary_key=True), sa.Column("text", sa.Text))


async def test_rows_are_those_committed_last(tmp_path: Path) -> None:
    database = Database(f"sqlite+aiosqlite:///{tmp_path / 'a.db'}")
    query = sa.select(_TABLE).order_by(_TABLE.c.id)
    async with database.write() as connection:
        await connection.run_sync(_TABLE.metadata.create_all)
    assert await database.rows(query) == []
    for number in range(3):
        async with database.write() as connection:
            await connection.execute(sa.insert(_TABLE), {"id": number, "text": f"note {number}"})
            assert len(await database.rows(query)) == number
        assert [row["text"] for row in await database.rows(query)] == [f"note {n}" for n in range(number + 1)]
    many = await asyncio.gather(*(database.rows(query.where(_TABLE.c.id == n % 3)) for n in range(40)))
    assert [rows[0]["id"] for rows in many] == [n % 3 for n in range(40)]
    await database.close()
