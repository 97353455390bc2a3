"""Names in SQL. Apart from the compiler, which takes longer to load, for what reads tables without a typed query."""

from __future__ import annotations


def quoted(identifier: str) -> str:
    """An SQL identifier."""
    return '"' + identifier.replace('"', '""') + '"'
