"""Landlock: the kernel confines this process to the given paths and forbids TCP ports and signals to other processes.

See `Documentation/userspace-api/landlock.rst` of the Linux kernel (5.13 and later; scopes need version 6 of the ABI).
"""

from __future__ import annotations

import ctypes
import os
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

from citewell.extract.sandbox.system import syscall

_CREATE_RULESET, _ADD_RULE, _RESTRICT_SELF = 444, 445, 446
_VERSION_QUERY = 1
_RULE_PATH_BENEATH = 1

_EXECUTE, _WRITE_FILE, _READ_FILE, _READ_DIR, _REMOVE_DIR, _REMOVE_FILE = (1 << bit for bit in range(6))
_MAKE_DIR, _MAKE_REGULAR = 1 << 7, 1 << 8
_REFER, _TRUNCATE, _IOCTL_DEVICE = 1 << 13, 1 << 14, 1 << 15
_READ = _READ_FILE | _READ_DIR
_WRITE = _READ | _WRITE_FILE | _REMOVE_DIR | _REMOVE_FILE | _MAKE_DIR | _MAKE_REGULAR | _TRUNCATE
_OF_FILES = _EXECUTE | _WRITE_FILE | _READ_FILE | _TRUNCATE | _IOCTL_DEVICE
_FS_OF_VERSION = {1: (1 << 13) - 1, 2: (1 << 14) - 1, 3: (1 << 15) - 1, 4: (1 << 15) - 1}
_NET_ALL = 0b11
_SCOPE_ALL = 0b11


class _RulesetAttributes(ctypes.Structure):
    _fields_ = [
        ("handled_access_fs", ctypes.c_uint64),
        ("handled_access_net", ctypes.c_uint64),
        ("scoped", ctypes.c_uint64),
    ]


class _PathBeneath(ctypes.Structure):
    _pack_ = 1
    _fields_ = [("allowed_access", ctypes.c_uint64), ("parent_fd", ctypes.c_int32)]


def version() -> int:
    """Returns the Landlock version that the kernel offers; 0 for none."""
    with suppress(OSError):
        return syscall(_CREATE_RULESET, None, ctypes.c_size_t(0), ctypes.c_uint32(_VERSION_QUERY))
    return 0


def restrict(readable: Iterable[Path], writable: Iterable[Path]) -> None:
    """Restricts this process and its children to these files and folders for good; missing paths are skipped.

    Links, sockets, pipes and device files cannot be created even where writing is allowed. Raises OSError if the kernel
    refuses, for instance without a prior `forbid_new_privileges`.
    """
    offered = version()
    handled = _FS_OF_VERSION.get(offered, (1 << 16) - 1)
    attributes = _RulesetAttributes(handled, _NET_ALL if offered >= 4 else 0, _SCOPE_ALL if offered >= 6 else 0)
    ruleset = syscall(
        _CREATE_RULESET,
        ctypes.byref(attributes),
        ctypes.c_size_t(ctypes.sizeof(attributes)),
        ctypes.c_uint32(0),
    )
    try:
        for path in readable:
            _allow(ruleset, path, _READ & handled)
        for path in writable:
            _allow(ruleset, path, _WRITE & handled)
        syscall(_RESTRICT_SELF, ctypes.c_int(ruleset), ctypes.c_uint32(0))
    finally:
        os.close(ruleset)


def _allow(ruleset: int, path: Path, access: int) -> None:
    try:
        descriptor = os.open(path, os.O_PATH | os.O_CLOEXEC)
    except OSError:
        return
    try:
        allowed = access if path.is_dir() else access & _OF_FILES
        rule = _PathBeneath(allowed, descriptor)
        syscall(
            _ADD_RULE,
            ctypes.c_int(ruleset),
            ctypes.c_int(_RULE_PATH_BENEATH),
            ctypes.byref(rule),
            ctypes.c_uint32(0),
        )
    finally:
        os.close(descriptor)
