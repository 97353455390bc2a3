"""Commands are loaded with their modules when they are asked for; who looks at all of them sees all."""

from __future__ import annotations

import importlib
import pkgutil

import pytest
from typer import Context, Typer

from citewell import cli
from citewell.cli import Commands


def test_every_command_of_every_module_has_a_name_in_the_table() -> None:
    modules = [
        module
        for found in pkgutil.iter_modules(cli.__path__)
        if found.name != "__main__"
        and isinstance(getattr(module := importlib.import_module(f"citewell.cli.{found.name}"), "app", None), Typer)
    ]
    names: set[str] = set()
    for module in modules:
        if module.app.info.name:
            names.add(module.app.info.name)
        else:
            names |= {command.name or command.callback.__name__ for command in module.app.registered_commands}
    commands = Commands()
    assert set(commands.list_commands(Context(commands))) == names == set(commands.commands)


def test_a_command_is_loaded_without_the_others() -> None:
    commands = Commands()
    context = Context(commands)
    assert commands.get_command(context, "ask").name == "ask"
    assert set(commands.commands) == {"search", "ask"}
    assert set(commands.get_command(context, "index").commands) >= {"ls", "build", "switch"}
    assert commands.get_command(context, "nothing") is None


@pytest.mark.parametrize(("typed", "meant"), [("aks", "ask"), ("webhook", "webhooks")])
def test_a_name_like_that_of_a_command_is_suggested(typed: str, meant: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        Commands().main([typed], prog_name="citewell")
    assert f"Did you mean '{meant}'?" in capsys.readouterr().err
