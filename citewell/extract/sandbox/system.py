"""The few system calls without a Python function, made through the C library."""

from __future__ import annotations

import ctypes
import os

_libc = ctypes.CDLL(None, use_errno=True)
_libc.syscall.restype = ctypes.c_long

PR_SET_PDEATHSIG = 1
PR_SET_SECCOMP = 22
PR_SET_NO_NEW_PRIVS = 38
_CAPSET = {"x86_64": 126, "aarch64": 91}
_CAPABILITY_VERSION_3 = 0x20080522


class _CapabilityHeader(ctypes.Structure):
    _fields_ = [("version", ctypes.c_uint32), ("pid", ctypes.c_int)]


def syscall(number: int, *arguments: object) -> int:
    """Makes a system call and returns its result; OSError if it fails."""
    result = _libc.syscall(ctypes.c_long(number), *arguments)
    if result < 0:
        code = ctypes.get_errno()
        raise OSError(code, os.strerror(code))
    return int(result)


def prctl(option: int, *arguments: object) -> None:
    """`prctl(2)`; OSError if it fails."""
    padded = (*arguments, 0, 0, 0, 0)[:4]
    if _libc.prctl(option, *(ctypes.c_ulong(a) if isinstance(a, int) else a for a in padded)) < 0:
        code = ctypes.get_errno()
        raise OSError(code, os.strerror(code))


def unshare(flags: int) -> None:
    """`unshare(2)`; OSError if the system does not allow it."""
    if _libc.unshare(ctypes.c_int(flags)) != 0:
        code = ctypes.get_errno()
        raise OSError(code, os.strerror(code))


def die_with_parent(parent: int, signal: int) -> None:
    """Has the kernel send `signal` to this process when its parent (of id `parent`) dies; exits if it already has."""
    prctl(PR_SET_PDEATHSIG, int(signal))
    if os.getppid() != parent:
        os._exit(1)


def forbid_new_privileges() -> None:
    """Stops programs started from now on from gaining privileges (set-user-id); required by Landlock and seccomp."""
    prctl(PR_SET_NO_NEW_PRIVS, 1)


def drop_capabilities() -> None:
    """Drops all capabilities; root keeps only the ownership of its files."""
    number = _CAPSET.get(os.uname().machine)
    if number is None:
        return
    header = _CapabilityHeader(_CAPABILITY_VERSION_3, 0)
    syscall(number, ctypes.byref(header), (ctypes.c_uint32 * 6)())
