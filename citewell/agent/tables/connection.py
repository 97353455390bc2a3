"""DuckDB over one Parquet copy: within fixed memory, in one thread, with no way to any other file."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

_MEMORY = "256MB"


def connect(path: Path) -> DuckDBPyConnection:
    """A database in memory that can read one file and nothing else."""
    import duckdb

    connection = duckdb.connect(
        config={
            "memory_limit": _MEMORY,
            "threads": 1,
            "autoinstall_known_extensions": False,
            "autoload_known_extensions": False,
        }
    )
    connection.execute("SET TimeZone = 'UTC'")
    connection.execute("SET allowed_paths = [" + "'" + str(path).replace("'", "''") + "']")
    connection.execute("SET enable_external_access = false")
    connection.execute("SET lock_configuration = true")
    return connection
