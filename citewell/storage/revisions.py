"""Which revision a database is at, and which there are. Alembic is not asked: loading it takes a tenth of the server's start, and most find nothing to do."""

from __future__ import annotations

import re
from pathlib import Path

import sqlalchemy as sa

_TABLE = sa.table("alembic_version", sa.column("version_num"))
_SAYS = re.compile(r'^(revision|down_revision) = (?:"(\w+)"|None)$', re.MULTILINE)
"""The lines of a migration that say which it is, and which it comes after."""


def current_revision(connection: sa.Connection) -> str | None:
    """The revision of a database; None for an empty one."""
    if not sa.inspect(connection).has_table(_TABLE.name):
        return None
    return connection.execute(sa.select(_TABLE.c.version_num)).scalar()


def known_revisions(migrations: Path) -> dict[str, str | None]:
    """Each revision of a folder of migrations with the one before it, as their files say without being run."""
    found: dict[str, str | None] = {}
    for path in (migrations / "versions").glob("*.py"):
        said = {name: value or None for name, value in _SAYS.findall(path.read_text(encoding="utf-8"))}
        revision, before = said["revision"], said["down_revision"]
        assert revision is not None
        found[revision] = before
    return found


def last_revision(known: dict[str, str | None]) -> str:
    """The one that none comes after."""
    (last,) = known.keys() - set(known.values())
    return last
