"""`citewell telegram`: the server with the bot, and codes that link Telegram accounts."""

from __future__ import annotations

from importlib.util import find_spec
from typing import TYPE_CHECKING, Annotated, Any

import typer

from citewell.cli.common import AsJson, Data, print_json, settings_of, where
from citewell.client import request_json
from citewell.errors import ConfigurationError, MissingDependency
from citewell.system import console
from citewell.system.folder import DataFolder

if TYPE_CHECKING:
    from citewell.server import Companion
    from citewell.settings import Settings

app = typer.Typer(name="telegram", help="Run the Telegram bot; link Telegram accounts.")


@app.callback(invoke_without_command=True)
def telegram(
    context: typer.Context,
    data: Data = None,
    host: Annotated[str | None, typer.Option(help="The address to listen on.")] = None,
    port: Annotated[int | None, typer.Option(help="The port to listen on; 0 picks a free one.")] = None,
    as_json: AsJson = False,
) -> None:
    """Run the server with the bot. If a server already holds the folder, show the state of its bot."""
    if context.invoked_subcommand is not None:
        return
    settings = settings_of(data, host=host, port=port)
    holder = DataFolder(settings.data).holder()
    if holder is not None and holder.url is not None:
        found = request_json(settings, "GET", "/telegram")
        if found["bot"] is None:
            raise ConfigurationError(
                f"The server at {holder.url} holds {settings.data} and runs no bot. Stop it and run `citewell telegram`, or restart it "
                "with TELEGRAM_BOT_TOKEN set."
            )
        _tell(found, as_json)
        return
    if settings.telegram.token is None:
        raise ConfigurationError(
            "TELEGRAM_BOT_TOKEN is not set. Get a token from @BotFather in Telegram, and set it in the environment or in .env."
        )
    from citewell.server import serve

    serve(settings, bot_beside(settings))


@app.command()
def link(data: Data = None, as_json: AsJson = False) -> None:
    """Create a code. The first account that sends it to the bot within 15 minutes gets access to this folder's files."""
    made = request_json(where(data), "POST", "/telegram/codes")
    if as_json:
        print_json(made)
        return
    console.out.print(f"Send this to the bot within 15 minutes:  {made['code']}", markup=False)
    if made["address"]:
        console.out.print(f"or open  {made['address']}", markup=False)


@app.command()
def links(data: Data = None, as_json: AsJson = False) -> None:
    """List linked Telegram accounts."""
    _tell(request_json(where(data), "GET", "/telegram"), as_json)


@app.command()
def unlink(
    user_id: Annotated[int, typer.Argument(help="The account's number, from `citewell telegram links`.")],
    data: Data = None,
    as_json: AsJson = False,
) -> None:
    """Unlink a Telegram account. Its files stay."""
    request_json(where(data), "DELETE", f"/telegram/links/{user_id}")
    if as_json:
        print_json({"unlinked": user_id})
    else:
        console.out.print("Unlinked.")


def bot_beside(settings: Settings) -> Companion | None:
    """The bot to run beside a server, or None if no token is set. Raises `MissingDependency`."""
    if settings.telegram.token is None:
        return None
    if find_spec("aiogram") is None:
        raise MissingDependency(
            "The Telegram bot needs an optional package. Install it with: pip install 'citewell[telegram]'"
        )
    from citewell.channels.telegram.bot import telegram_bot

    return lambda services: telegram_bot(services, settings.telegram)


def _tell(found: Any, as_json: bool) -> None:
    if as_json:
        print_json(found)
        return
    console.out.print(f"Bot: @{found['bot']}" if found["bot"] else "This server runs no bot.", markup=False)
    for one in found["links"]:
        console.out.print(f"  {one['user_id']}  {one['name']}  since {one['linked_at']}", markup=False)
