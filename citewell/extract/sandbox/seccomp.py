"""seccomp: denies system calls that a parser never needs: network, processes, signals to others, kernel administration.

See seccomp(2) and `Documentation/userspace-api/seccomp_filter.rst`. This is a denylist, because the calls of a dozen
native readers cannot be listed here; Landlock, namespaces and rlimits back it up.
"""

from __future__ import annotations

import ctypes
import errno
import os
from contextlib import suppress
from dataclasses import dataclass

from citewell.extract.sandbox.system import PR_SET_SECCOMP, prctl

_PR_GET_SECCOMP = 21
_MODE_FILTER = 2
_ALLOW, _ERRNO, _KILL_PROCESS = 0x7FFF0000, 0x00050000, 0x80000000
_LOAD, _JUMP_EQUAL, _JUMP_AT_LEAST, _JUMP_ANY_BIT, _RETURN = 0x20, 0x15, 0x35, 0x45, 0x06
_OFFSET_NUMBER, _OFFSET_ARCHITECTURE, _OFFSET_FIRST_ARGUMENT = 0, 4, 16
_CLONE_THREAD = 0x10000
_X32_NUMBERS = 0x40000000

_DENIED_BOTH: dict[str, tuple[int, int]] = {
    "accept": (43, 202), "accept4": (288, 242), "acct": (163, 89), "add_key": (248, 217), "adjtimex": (159, 171),
    "bind": (49, 200), "bpf": (321, 280), "chroot": (161, 51), "clock_adjtime": (305, 266), "clock_settime": (227, 112),
    "connect": (42, 203), "delete_module": (176, 106), "execve": (59, 221), "execveat": (322, 281),
    "fanotify_init": (300, 262), "finit_module": (313, 273), "fsconfig": (431, 431), "fsmount": (432, 432),
    "fsopen": (430, 430), "fspick": (433, 433), "init_module": (175, 105), "io_uring_enter": (426, 426),
    "io_uring_register": (427, 427), "io_uring_setup": (425, 425), "kcmp": (312, 272), "kexec_file_load": (320, 294),
    "kexec_load": (246, 104), "keyctl": (250, 219), "listen": (50, 201), "memfd_create": (319, 279),
    "memfd_secret": (447, 447), "mount": (165, 40), "mount_setattr": (442, 442), "move_mount": (429, 429),
    "move_pages": (279, 239), "mq_open": (240, 180), "msgget": (68, 186), "name_to_handle_at": (303, 264),
    "open_by_handle_at": (304, 265), "open_tree": (428, 428), "perf_event_open": (298, 241), "personality": (135, 92),
    "pidfd_getfd": (438, 438), "pidfd_open": (434, 434), "pidfd_send_signal": (424, 424), "pivot_root": (155, 41),
    "process_madvise": (440, 440), "process_vm_readv": (310, 270), "process_vm_writev": (311, 271), "ptrace": (101, 117),
    "quotactl": (179, 60), "reboot": (169, 142), "request_key": (249, 218), "rt_sigqueueinfo": (129, 138),
    "rt_tgsigqueueinfo": (297, 240), "sched_setattr": (314, 274), "sched_setscheduler": (144, 119), "semget": (64, 190),
    "setdomainname": (171, 162), "sethostname": (170, 161), "setns": (308, 268), "setpriority": (141, 140),
    "settimeofday": (164, 170), "shmget": (29, 194), "socket": (41, 198), "swapoff": (168, 225), "swapon": (167, 224),
    "syslog": (103, 116), "tkill": (200, 130), "umount2": (166, 39), "unshare": (272, 97), "userfaultfd": (323, 282),
    "vhangup": (153, 58),
}  # fmt: skip
_DENIED_X86_64 = {"fork": 57, "iopl": 172, "ioperm": 173, "modify_ldt": 154, "uselib": 134, "vfork": 58}


@dataclass(frozen=True, slots=True)
class _Architecture:
    """System call numbers and constants of one processor family."""

    audit: int
    denied: tuple[int, ...]
    clone: int
    clone3: int
    kill: int
    tgkill: int
    prlimit: int
    sched_setaffinity: int


_ARCHITECTURES = {
    "x86_64": _Architecture(
        audit=0xC000003E,
        denied=(*(numbers[0] for numbers in _DENIED_BOTH.values()), *_DENIED_X86_64.values()),
        clone=56,
        clone3=435,
        kill=62,
        tgkill=234,
        prlimit=302,
        sched_setaffinity=203,
    ),
    "aarch64": _Architecture(
        audit=0xC00000B7,
        denied=tuple(numbers[1] for numbers in _DENIED_BOTH.values()),
        clone=220,
        clone3=435,
        kill=129,
        tgkill=131,
        prlimit=261,
        sched_setaffinity=122,
    ),
}


class _Instruction(ctypes.Structure):
    _fields_ = [
        ("code", ctypes.c_uint16),
        ("if_true", ctypes.c_uint8),
        ("if_false", ctypes.c_uint8),
        ("operand", ctypes.c_uint32),
    ]


class _Program(ctypes.Structure):
    _fields_ = [("length", ctypes.c_uint16), ("instructions", ctypes.POINTER(_Instruction))]


def is_offered() -> bool:
    """Whether the kernel supports seccomp and we have the call table of this processor."""
    if os.uname().machine not in _ARCHITECTURES:
        return False
    with suppress(OSError):
        prctl(_PR_GET_SECCOMP)
        return True
    return False


def install() -> None:
    """Filters this process's system calls from now on; OSError if the kernel refuses, KeyError without `is_offered`."""
    code = _filter(_ARCHITECTURES[os.uname().machine], os.getpid())
    array = (_Instruction * len(code))(*(_Instruction(*step) for step in code))
    prctl(PR_SET_SECCOMP, _MODE_FILTER, ctypes.byref(_Program(len(code), array)))


def _filter(machine: _Architecture, own: int) -> list[tuple[int, int, int, int]]:
    """Returns the filter as instructions (code, jump if true, jump if false, operand)."""
    denied = (_RETURN, 0, 0, _ERRNO | errno.EPERM)
    steps = [
        (_LOAD, 0, 0, _OFFSET_ARCHITECTURE),
        (_JUMP_EQUAL, 1, 0, machine.audit),
        (_RETURN, 0, 0, _KILL_PROCESS),
        (_LOAD, 0, 0, _OFFSET_NUMBER),
        (_JUMP_AT_LEAST, 0, 1, _X32_NUMBERS),
        denied,
        (_JUMP_EQUAL, 0, 1, machine.clone3),
        (_RETURN, 0, 0, _ERRNO | errno.ENOSYS),
    ]
    for number in machine.denied:
        steps += [(_JUMP_EQUAL, 0, 1, number), denied]
    steps += _unless_first_argument(machine.clone, [(_JUMP_ANY_BIT, 1, 0, _CLONE_THREAD)])
    for number in (machine.kill, machine.tgkill):
        steps += _unless_first_argument(number, [(_JUMP_EQUAL, 1, 0, own)])
    for number in (machine.prlimit, machine.sched_setaffinity):
        steps += _unless_first_argument(number, [(_JUMP_EQUAL, 2, 0, 0), (_JUMP_EQUAL, 1, 0, own)])
    return [*steps, (_RETURN, 0, 0, _ALLOW)]


def _unless_first_argument(number: int, tests: list[tuple[int, int, int, int]]) -> list[tuple[int, int, int, int]]:
    """Denies a call unless a test of its first argument (lower 32 bits) jumps past the denial."""
    return [
        (_JUMP_EQUAL, 0, len(tests) + 3, number),
        (_LOAD, 0, 0, _OFFSET_FIRST_ARGUMENT),
        *tests,
        (_RETURN, 0, 0, _ERRNO | errno.EPERM),
        (_RETURN, 0, 0, _ALLOW),
    ]
