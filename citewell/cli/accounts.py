"""Commands for accounts: create an administrator, or a link to reset a forgotten password. They work while a server runs."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Annotated

import typer

from citewell.cli.common import AsJson, Data, print_json, settings_of
from citewell.client import run
from citewell.errors import InvalidInput
from citewell.system import console
from citewell.types.accounts import Person

if TYPE_CHECKING:
    from citewell.settings import Settings

app = typer.Typer(name="accounts", help="People with accounts (CITEWELL_ACCOUNTS=on).", no_args_is_help=True)


@app.callback()
def _group() -> None:
    """People with accounts (CITEWELL_ACCOUNTS=on)."""


@app.command("create-admin")
def create_admin(
    email: Annotated[str, typer.Argument(help="The e-mail address to sign in with.")],
    name: Annotated[str, typer.Option(help="The name that others see.")] = "",
    data: Data = None,
    as_json: AsJson = False,
) -> None:
    """Create an administrator account. Prompts for the password, or reads it from standard input."""
    if sys.stdin.isatty():
        password = typer.prompt("Password", hide_input=True, confirmation_prompt=True)
    else:
        password = sys.stdin.readline().rstrip("\n")
    if not password:
        raise InvalidInput("No password was given. Type one, or send it on standard input.")
    person = run(_create(settings_of(data), email, name, password))
    if as_json:
        print_json({"id": person.id, "email": person.email})
    else:
        console.out.print(f"{console.escape(person.email)} can now sign in as an administrator.")


async def _create(settings: Settings, email: str, name: str, password: str) -> Person:
    # Imported here, because it takes long and no other command needs it.
    from citewell.composition.accounts import open_accounts

    async with open_accounts(settings) as accounts:
        return await accounts.create_administrator(email, name, password)


@app.command("reset-password")
def reset_password(
    email: Annotated[str, typer.Argument(help="The e-mail address of the account.")],
    data: Data = None,
    as_json: AsJson = False,
) -> None:
    """Print a link to set a new password. It works once, within an hour."""
    link = run(_link(settings_of(data), email))
    if as_json:
        print_json({"link": link})
        return
    from citewell.composition.accounts import UNKNOWN_ADDRESS

    console.out.print(console.escape(link))
    if link.startswith(UNKNOWN_ADDRESS):
        console.err.print(f"Replace {UNKNOWN_ADDRESS} with your server's address, or set CITEWELL_PUBLIC_URL.")


async def _link(settings: Settings, email: str) -> str:
    from citewell.composition.accounts import open_password_resets

    async with open_password_resets(settings) as resets:
        return await resets.link(email)
