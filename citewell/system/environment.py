"""What the environment and `.env` say, and where data is kept; the only reader of both.

Apart from `settings/`, which takes a tenth of a second to load: a command that speaks to a running server needs the data folder and nothing else.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from citewell.errors import ConfigurationError

PREFIX = "CITEWELL_"
# Citewell's variables that are not settings: those of the tests, the benchmarks, and the scripts that start it.
NO_SETTINGS = ("CITEWELL_TEST_", "CITEWELL_BENCH_", "CITEWELL_PYTHON")
_DATA = f"{PREFIX}DATA"


def compute_in_one_thread() -> None:
    """Have numpy's OpenBLAS start no threads, unless the environment says how many.

    While they wait for work they keep a processor busy: a twentieth of a server's start. What Citewell multiplies is small:
    a product of 20 and 300 vectors takes 63 µs in one thread, and 85 to 3,400 µs in two that share their processors.
    """
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")


@dataclass(frozen=True)
class Environment:
    """The variables of this process, and those of the file `.env` in its working folder."""

    of_process: Mapping[str, str]
    of_file: Mapping[str, str]
    file: Path

    @property
    def variables(self) -> dict[str, str]:
        """Those of the process over those of the file, with names in capitals."""
        return {name.upper(): value for source in (self.of_file, self.of_process) for name, value in source.items()}


def read_environment() -> Environment:
    """Both sources; `ConfigurationError` for a file that cannot be read."""
    file = Path(".env").absolute()
    try:
        of_file = _said_in(file) if file.exists() else {}
    except (OSError, ValueError) as error:
        raise ConfigurationError(f"The file {file} cannot be read: {error}.") from error
    return Environment(of_process=os.environ, of_file=of_file, file=file)


def _said_in(file: Path) -> dict[str, str]:
    from dotenv import dotenv_values  # here: most commands run where there is no such file

    return {name: value or "" for name, value in dotenv_values(file, interpolate=True).items()}


def lone_data_folder(given: Path | None) -> Path | None:
    """The data folder, where it is all that was set of Citewell and exists.

    None in every other case: `load_settings` then finds it, and says what is misspelt or wrong.
    """
    variables = read_environment().variables
    if any(name.startswith(PREFIX) and name != _DATA and not name.startswith(NO_SETTINGS) for name in variables):
        return None
    named = variables.get(_DATA)
    if given is None and named is not None and not named.strip():
        return None
    try:
        folder = given or (Path(named) if named is not None else default_data_folder())
        folder = folder.expanduser().absolute()
    except RuntimeError:  # there is no such user's home
        return None
    return folder if folder.is_dir() else None


def default_data_folder() -> Path:
    """The per-user data folder of this operating system. Raises `ConfigurationError` for a user without a home."""
    try:
        home = Path.home()
    except RuntimeError as error:
        raise ConfigurationError("This user has no home folder. Set CITEWELL_DATA to a folder for the data.") from error
    if sys.platform == "darwin":
        return home / "Library" / "Application Support" / "citewell"
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA", home)) / "citewell"
    return Path(os.environ.get("XDG_DATA_HOME", home / ".local" / "share")) / "citewell"
