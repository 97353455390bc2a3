"""What the sandbox says that it enforces is what it enforces."""

from __future__ import annotations

import ctypes
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from citewell.extract.sandbox import ParserLimits, capabilities, landlock, lockdown, seccomp
from citewell.extract.sandbox.report import Protection

Attempt = Callable[[str], str]
TRIAL = """
import os, sys
TKILL = {{'x86_64': 200, 'aarch64': 130}}[os.uname().machine]
from pathlib import Path
from citewell.extract.sandbox import ParserLimits, lock_down
lock_down(ParserLimits(memory_bytes=256 << 20, reserved_bytes=0), sources=[Path(sys.argv[1])], scratch=Path(sys.argv[2]), own_user_namespace=False)
try:
    {attempt}
    print("allowed")
except (OSError, MemoryError, ValueError) as error:
    print(type(error).__name__)
"""


@pytest.fixture
def attempt(tmp_path: Path) -> Attempt:
    scratch, source = tmp_path / "scratch", tmp_path / "source"
    scratch.mkdir()
    source.write_text("text")

    def run(code: str) -> str:
        script = TRIAL.format(attempt=code)
        done = subprocess.run(
            [sys.executable, "-c", script, str(source), str(scratch)], capture_output=True, text=True, check=False
        )
        return done.stdout.strip() or f"status {done.returncode}: {done.stderr[-300:]}"

    return run


def test_the_report_names_every_protection_and_how_it_is_kept() -> None:
    report = capabilities()
    assert all(isinstance(item, Protection) and item.detail for item in report)
    assert {item.name for item in report} == {
        "no network",
        "writes only to its scratch folder",
        "reads only its file and Python's",
        "starts no program or process",
        "signals no other process",
        "memory, processor time, file size",
    }


def test_the_report_agrees_with_what_the_kernel_offers() -> None:
    enforced = {item.name: item.enforced for item in capabilities()}
    assert enforced["memory, processor time, file size"]
    assert enforced["writes only to its scratch folder"] == (landlock.version() > 0)
    assert enforced["starts no program or process"] == seccomp.is_offered()


@pytest.mark.parametrize(
    "code",
    [
        "open(sys.argv[1]).read()",
        "Path(sys.argv[2], 'file').write_text('x')",
        "Path(sys.argv[2], 'folder').mkdir()",
        "Path(sys.argv[2], 'a').touch(); Path(sys.argv[2], 'a').rename(Path(sys.argv[2], 'b'))",
        "import json.tool, sqlite3, lxml.etree",
        "import threading; t = threading.Thread(target=print, args=('',)); t.start(); t.join()",
        "import signal; signal.raise_signal(signal.SIGCHLD)",
        "bytearray(64 << 20)",
    ],
)
def test_what_a_reader_needs_is_allowed(attempt: Attempt, code: str) -> None:
    assert attempt(code) == "allowed"


@pytest.mark.full
@pytest.mark.parametrize(
    "code",
    [
        "open(sys.argv[1], 'a')",
        "open('/etc/passwd')",
        "open('/proc/1/environ')",
        "os.listdir(Path(sys.argv[1]).parent)",
        "Path(sys.argv[2], 'link').symlink_to('/etc/passwd')",
        "os.link(sys.argv[1], Path(sys.argv[2], 'link'))",
        "os.mkfifo(Path(sys.argv[2], 'pipe'))",
        "os.memfd_create('hidden')",
        "os.fork()",
        "os.posix_spawn('/bin/true', ['true'], {})",
        "os.execv('/bin/true', ['true'])",
        "from citewell.extract.sandbox.system import syscall; syscall(TKILL, os.getpid(), 0)",
        "import socket; socket.socket(socket.AF_INET)",
        "import socket; socket.socket(socket.AF_INET6, socket.SOCK_DGRAM)",
        "import socket; socket.socket(socket.AF_UNIX)",
        "import socket; socket.socket(socket.AF_NETLINK, socket.SOCK_RAW)",
        "os.kill(os.getppid(), 0)",
        "os.pidfd_open(os.getppid())",
        "os.setpriority(os.PRIO_PROCESS, os.getppid(), 19)",
        "import resource; resource.setrlimit(resource.RLIMIT_DATA, (1 << 40, 1 << 40))",
        "import resource; resource.prlimit(os.getppid(), resource.RLIMIT_CPU, (1, 1))",
        "os.chroot(sys.argv[2])",
        "from citewell.extract.sandbox.system import unshare; unshare(0x10000000)",
        "from citewell.extract.sandbox.system import syscall; syscall(425, 8, None)",
        "bytearray(400 << 20)",
    ],
)
def test_what_a_hostile_file_wants_is_refused(attempt: Attempt, code: str) -> None:
    assert attempt(code) in {"PermissionError", "OSError", "MemoryError", "ValueError"}


def test_a_process_of_another_architecture_is_killed_by_the_filter() -> None:
    names = ("x86_64", "aarch64")
    machines = [seccomp._ARCHITECTURES[name] for name in names]
    assert all(len(machine.denied) == len(set(machine.denied)) for machine in machines)
    for machine in machines:
        program = seccomp._filter(machine, own=1)
        assert program[1][3] == machine.audit
        assert program[2][3] == seccomp._KILL_PROCESS
        jumps = [(index, step) for index, step in enumerate(program) if step[0] & 0x07 == seccomp._JUMP_EQUAL & 0x07]
        assert all(max(step[1:3]) <= 255 and index + 1 + max(step[1:3]) < len(program) for index, step in jumps)


def test_packages_installed_for_one_user_stay_readable(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    own, other = tmp_path / "python3" / "site-packages", tmp_path / "project"
    monkeypatch.setattr(sys, "path", [*sys.path, str(own), str(other)])
    readable = lockdown.readable.__wrapped__()
    assert own in readable
    assert other not in readable


def test_structures_have_the_size_that_the_kernel_expects() -> None:
    assert ctypes.sizeof(landlock._PathBeneath) == 12
    assert ctypes.sizeof(landlock._RulesetAttributes) == 24
    assert ctypes.sizeof(seccomp._Instruction) == 8


def test_limits_are_positive_and_stall_comes_before_the_end() -> None:
    limits = ParserLimits()
    assert 0 < limits.stall_seconds < limits.total_seconds
    assert limits.memory_bytes > 0
