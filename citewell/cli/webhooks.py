"""`citewell webhooks`: add, test and remove endpoints; inspect and resend deliveries."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from citewell.cli.common import AsJson, Data, print_json, where
from citewell.client import request_json
from citewell.system import console

app = typer.Typer(name="webhooks", no_args_is_help=True, help="Webhooks: notify other programs of events.")
_Id = Annotated[str, typer.Argument(help="A webhook's id, from `citewell webhooks ls`.")]
_Events = Annotated[
    list[str] | None,
    typer.Option("--event", help="An event to send. Repeatable. Default: all except chunk.stored."),
]


@app.command("ls")
def list_webhooks(data: Data = None, as_json: AsJson = False) -> None:
    """List webhooks."""
    found = _do(data, "GET", "/webhooks")["webhooks"]
    if as_json:
        print_json(found)
        return
    for one in found:
        state = "" if one["enabled"] else f" [red]disabled[/] {console.escape(one['problem'])}"
        console.out.print(f"  {console.escape(one['url'])}  [dim]{one['id']}  {', '.join(one['events'])}[/]{state}")


@app.command()
def add(
    url: Annotated[str, typer.Argument(help="The URL to post events to.")],
    event: _Events = None,
    description: Annotated[str, typer.Option(help="A note for yourself.")] = "",
    data: Data = None,
    as_json: AsJson = False,
) -> None:
    """Send events to a URL. Prints the signing secret, once."""
    made = _do(data, "POST", "/webhooks", json={"url": url, "events": event or None, "description": description})
    if as_json:
        print_json(made)
        return
    console.out.print(f"Events go to {console.escape(url)}. Id: {made['id']}")
    console.out.print(f"Keep this secret; it is not shown again: {made['secret']}")


@app.command("rm")
def remove(webhook_id: _Id, data: Data = None) -> None:
    """Remove a webhook."""
    _do(data, "DELETE", f"/webhooks/{webhook_id}")
    console.out.print("Removed.")


@app.command()
def enable(
    webhook_id: _Id,
    off: Annotated[bool, typer.Option("--off", help="Disable it instead.")] = False,
    data: Data = None,
) -> None:
    """Enable a webhook, or disable it with --off."""
    _do(data, "PATCH", f"/webhooks/{webhook_id}", json={"enabled": not off})
    console.out.print("Disabled." if off else "Enabled.")


@app.command("test")
def try_webhook(webhook_id: _Id, data: Data = None, as_json: AsJson = False) -> None:
    """Send a webhook.test event."""
    sent = _do(data, "POST", f"/webhooks/{webhook_id}/test")
    if as_json:
        print_json(sent)
    else:
        console.out.print(f"A test event is on its way: {sent['id']}. Check it with: citewell webhooks log")


@app.command()
def log(
    dead: Annotated[bool, typer.Option("--dead", help="Only deliveries that were given up.")] = False,
    webhook: Annotated[str | None, typer.Option(help="Only this webhook's deliveries.")] = None,
    limit: Annotated[int, typer.Option(min=1, max=200)] = 50,
    data: Data = None,
    as_json: AsJson = False,
) -> None:
    """List deliveries that were sent, are pending, or were given up, newest first."""
    wanted = {"limit": limit, "state": "dead" if dead else None, "webhook_id": webhook}
    params = {name: value for name, value in wanted.items() if value is not None}
    found = _do(data, "GET", "/webhooks/deliveries", params=params)["deliveries"]
    if as_json:
        print_json(found)
        return
    for one in found:
        console.out.print(
            f"  {one['state']:<9} {one['type']:<17} {one['created_at'][:19]}  attempts {one['attempts']}  [dim]{one['id']}[/] "
            f"{console.escape(one['problem'])}"
        )


@app.command()
def replay(
    which: Annotated[str, typer.Argument(help="A delivery (msg_…), or a webhook for all its given-up deliveries.")],
    data: Data = None,
) -> None:
    """Resend given-up deliveries under the same ids."""
    if which.startswith("msg_"):
        _do(data, "POST", f"/webhooks/deliveries/{which}/replay")
        console.out.print("Queued to be sent again.")
        return
    count = _do(data, "POST", f"/webhooks/{which}/replay")["replayed"]
    console.out.print(f"Deliveries queued to be sent again: {count:,}.")


def _do(data: Any, method: str, path: str, **request: Any) -> Any:
    return request_json(where(data), method, path, **request)
