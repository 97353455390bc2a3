"""Applies all protections, in the order that the kernel requires."""

from __future__ import annotations

import os
import sys
import sysconfig
from collections.abc import Sequence
from functools import cache
from pathlib import Path

from citewell.extract.sandbox import landlock, seccomp
from citewell.extract.sandbox.limits import ParserLimits, apply, prefer_in_shortage
from citewell.extract.sandbox.system import drop_capabilities, forbid_new_privileges

_PACKAGE = Path(__file__).resolve().parents[2]
_SYSTEM = (
    "/usr/lib",
    "/usr/lib64",
    "/usr/local/lib",
    "/lib",
    "/lib64",
    "/usr/share",
    "/etc/fonts",
    "/etc/ld.so.cache",
    "/etc/localtime",
    "/etc/mime.types",
    "/dev/urandom",
    "/dev/zero",
    "/proc/cpuinfo",
    "/proc/meminfo",
    "/proc/self",
    "/sys/devices/system/cpu",
    "/sys/fs/cgroup",
)


def lock_down(limits: ParserLimits, *, sources: Sequence[Path], scratch: Path, own_user_namespace: bool) -> None:
    """Restricts this process irreversibly to reading `sources` and Python's own files, and writing in `scratch`.

    Protections that the machine does not offer are skipped (see `capabilities`). The process must be single-threaded.
    """
    os.nice(limits.niceness)
    prefer_in_shortage()
    apply(limits, own_user_namespace=own_user_namespace)
    if not sys.platform.startswith("linux"):
        return
    drop_capabilities()
    forbid_new_privileges()
    if landlock.version():
        landlock.restrict((*sources, *readable()), (scratch, Path("/dev/null")))
    if seccomp.is_offered():
        seccomp.install()


@cache
def readable() -> tuple[Path, ...]:
    """Returns the paths that Python and native libraries read at run time: no user folder, none that holds data.

    Called once before the first fork, because computing it takes some milliseconds.
    """
    paths = sysconfig.get_paths()
    own = {Path(paths[name]) for name in ("stdlib", "platstdlib", "purelib", "platlib")}
    own.update(Path(entry) for entry in sys.path if Path(entry).name in ("site-packages", "dist-packages"))
    own.add(Path(sys.base_prefix) / "lib")
    return (_PACKAGE, *sorted(own), *(Path(path) for path in _SYSTEM))
