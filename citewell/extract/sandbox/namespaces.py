"""Namespaces: a network without interfaces, entered once by the template and inherited by the parsers it forks."""

from __future__ import annotations

import os
from pathlib import Path

from citewell.extract.sandbox.system import unshare

_NEW_IPC, _NEW_USER, _NEW_NET = 0x08000000, 0x10000000, 0x40000000


def leave_network() -> bool:
    """Enters new user, network and IPC namespaces; False if the system does not allow it.

    The process must be single-threaded. User and group ids are kept, so that files stay readable.
    """
    user, group = os.getuid(), os.getgid()
    try:
        unshare(_NEW_USER | _NEW_NET | _NEW_IPC)
    except OSError:
        return False
    Path("/proc/self/setgroups").write_text("deny")
    Path("/proc/self/uid_map").write_text(f"{user} {user} 1")
    Path("/proc/self/gid_map").write_text(f"{group} {group} 1")
    return True
