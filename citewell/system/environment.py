"""The only reader of environment variables and `.env`, and the location of the data folder.

Separate from `settings/`, which takes a tenth of a second to import: a command that talks to a running server needs
only the data folder.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit
from urllib.request import getproxies, proxy_bypass

from citewell.errors import ConfigurationError

PREFIX = "CITEWELL_"
# Variables of Citewell that are not settings, used by tests, benchmarks and start scripts.
NO_SETTINGS = ("CITEWELL_TEST_", "CITEWELL_BENCH_", "CITEWELL_PYTHON")
_DATA = f"{PREFIX}DATA"


def proxy_of(url: str) -> str | None:
    """The proxy that the environment names for a URL (`HTTPS_PROXY`, `ALL_PROXY`, `NO_PROXY`); None for a direct connection."""
    address = urlsplit(url)
    proxies = getproxies()
    if proxy_bypass(address.hostname or ""):
        return None
    return proxies.get(address.scheme) or proxies.get("all")


def own_certificates() -> str | None:
    """The file of certificate authorities that the environment names (`SSL_CERT_FILE`), as OpenSSL reads it."""
    return os.environ.get("SSL_CERT_FILE") or None


def compute_in_one_thread() -> None:
    """Keeps numpy's OpenBLAS from starting threads, unless the environment sets their number.

    Waiting threads keep a processor busy, for a twentieth of a server's startup, and Citewell's products are small: 20
    by 300 vectors take 63 µs in one thread, and 85 to 3,400 µs in two that share their processors.
    """
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")


@dataclass(frozen=True)
class Environment:
    """The variables of this process and of the `.env` file in its working directory."""

    of_process: Mapping[str, str]
    of_file: Mapping[str, str]
    file: Path

    @property
    def variables(self) -> dict[str, str]:
        """All variables, with uppercase names; those of the process override those of the file."""
        return {name.upper(): value for source in (self.of_file, self.of_process) for name, value in source.items()}


def read_environment() -> Environment:
    """Reads both sources. Raises `ConfigurationError` if the file cannot be read."""
    file = Path(".env").absolute()
    try:
        of_file = _said_in(file) if file.exists() else {}
    except (OSError, ValueError) as error:
        raise ConfigurationError(f"The file {file} cannot be read: {error}.") from error
    return Environment(of_process=os.environ, of_file=of_file, file=file)


def _said_in(file: Path) -> dict[str, str]:
    from dotenv import dotenv_values  # imported here because most commands run without such a file

    return {name: value or "" for name, value in dotenv_values(file, interpolate=True).items()}


def lone_data_folder(given: Path | None) -> Path | None:
    """Returns the data folder if it exists and no other setting of Citewell is given.

    Otherwise None: `load_settings` then finds it, and reports misspelled or invalid settings.
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
    except RuntimeError:  # `~user` of an unknown user
        return None
    return folder if folder.is_dir() else None


def default_data_folder() -> Path:
    """Returns the operating system's per-user data folder. Raises `ConfigurationError` for a user without a home."""
    try:
        home = Path.home()
    except RuntimeError as error:
        raise ConfigurationError("This user has no home folder. Set CITEWELL_DATA to a folder for the data.") from error
    if sys.platform == "darwin":
        return home / "Library" / "Application Support" / "citewell"
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA", home)) / "citewell"
    return Path(os.environ.get("XDG_DATA_HOME", home / ".local" / "share")) / "citewell"
