"""The command line: `citewell serve | add | search | ask | ls | rm | reindex | sync | index | eval | folder | export | erase | audit | accounts | quotas | webhooks | mcp | worker | telegram | doctor | token`."""

from __future__ import annotations

import gc
import importlib
import sys
from collections.abc import Iterable
from typing import Any

import typer
from typer.core import TyperGroup
from typer.main import get_group

from citewell.client import SilentServer
from citewell.errors import CitewellError, Unavailable
from citewell.system import console
from citewell.system.environment import compute_in_one_thread

_MAX_ALLOWED = 40
_WRONG, _TRY_AGAIN = 2, 75
"""Exit codes: for errors that a retry cannot fix, and (`EX_TEMPFAIL` in sysexits.h) for a server that cannot be reached now."""
_COLLECT_AFTER = 50_000
"""Objects. Imports leave no garbage, and looking for some takes a tenth of a command's time."""
_MODULES = {
    "serve": "serving",
    "worker": "serving",
    "token": "serving",
    "add": "adding",
    "search": "questions",
    "ask": "questions",
    "ls": "files",
    "rm": "files",
    "doctor": "serving",
    "mcp": "mcp",
    "reindex": "reindexing",
    "folder": "folder",
    "export": "owner_data",
    "erase": "owner_data",
    "audit": "audit",
    "index": "indexes",
    "sync": "syncing",
    "eval": "evaluation",
    "accounts": "accounts",
    "quotas": "quotas",
    "telegram": "telegram",
    "webhooks": "webhooks",
}
"""The module of each command or group of commands, in the order of `--help`."""


class Commands(TyperGroup):
    """The commands. Each module is loaded on first use: loading all takes longer than most commands run."""

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        """The command, or None. An unknown name loads all commands, so that similar names can be suggested."""
        self._load([cmd_name] if cmd_name in _MODULES else _MODULES)
        return super().get_command(ctx, cmd_name)

    def list_commands(self, ctx: Any) -> list[str]:
        """All names."""
        self._load(_MODULES)
        return list(_MODULES)

    def _load(self, names: Iterable[str]) -> None:
        for module in {_MODULES[name] for name in names if name not in self.commands}:
            part = typer.Typer()
            part.add_typer(importlib.import_module(f"{__name__}.{module}").app)
            for name, command in get_group(part).commands.items():
                self.add_command(command, name)


app = Commands(
    no_args_is_help=True, help="Ask questions about your own files, and see exactly where each answer comes from."
)


def main() -> None:
    """Run the command line; a Citewell error is printed as one line, without a traceback."""
    gc.set_threshold(_COLLECT_AFTER)
    compute_in_one_thread()
    try:
        app()
    except CitewellError as error:
        # On one line, because a quoted library error may span several.
        message = " ".join(error.message.split())
        allowed = error.details.get("allowed")
        if isinstance(allowed, list) and allowed:
            message += f" Allowed: {', '.join(map(str, allowed[:_MAX_ALLOWED]))}{', …' if len(allowed) > _MAX_ALLOWED else '.'}"
        console.err.print(f"[red]{console.escape(message)}[/] [dim]({error.code})[/]")
        sys.exit(_TRY_AGAIN if isinstance(error, Unavailable) else _WRONG)
    except SilentServer as error:
        console.err.print(
            f"[red]The server that holds the data folder is not responding:[/] {console.escape(str(error))}"
        )
        sys.exit(_WRONG)
