"""The current revision of a database, and the revisions that exist.

Read without Alembic: loading it takes a tenth of the server's startup, and usually there is nothing to migrate.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import sqlalchemy as sa

_TABLE = sa.table("alembic_version", sa.column("version_num"))


def current_revision(connection: sa.Connection) -> str | None:
    """Returns the revision of a database; None for an empty one."""
    if not sa.inspect(connection).has_table(_TABLE.name):
        return None
    return connection.execute(sa.select(_TABLE.c.version_num)).scalar()


def newest_name(migrations: Path) -> str:
    """Returns the latest revision, judging by the numbers in the file names.

    Reading all files would take a hundredth of the startup time.
    """
    return max(path.stem for path in (migrations / "versions").glob("*.py"))


def known_revisions(migrations: Path) -> dict[str, str | None]:
    """Returns each revision in a migrations folder with its predecessor, parsed from the files without running them."""
    found: dict[str, str | None] = {}
    for path in (migrations / "versions").glob("*.py"):
        said = dict(_constants(ast.parse(path.read_text(encoding="utf-8"))))
        revision, before = said["revision"], said["down_revision"]
        assert isinstance(revision, str)
        found[revision] = None if before is None else str(before)
    return found


def last_revision(known: dict[str, str | None]) -> str:
    """Returns the latest revision: the one that no other follows."""
    (last,) = known.keys() - set(known.values())
    return last


def _constants(module: ast.Module) -> Iterator[tuple[str, object]]:
    for statement in module.body:
        if not isinstance(statement, ast.Assign):
            continue
        for target in statement.targets:
            for name, value in zip(_parts(target), _parts(statement.value), strict=False):
                if isinstance(name, ast.Name) and isinstance(value, ast.Constant):
                    yield name.id, value.value


def _parts(expression: ast.expr) -> list[ast.expr]:
    return expression.elts if isinstance(expression, ast.Tuple) else [expression]
