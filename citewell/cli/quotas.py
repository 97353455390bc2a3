"""`citewell quotas`: limits per owner. Works on the server's data while it runs."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Annotated

import typer

from citewell.cli.common import AsJson, Data, print_json, settings_of
from citewell.client import run
from citewell.errors import InvalidInput, named
from citewell.system import console
from citewell.types.quotas import Quota, QuotaStanding

if TYPE_CHECKING:
    from citewell.settings import Settings

app = typer.Typer(name="quotas", help="Limits per owner.", no_args_is_help=True)
_NO_LIMIT, _DEFAULT = "none", "default"
_Owner = Annotated[str, typer.Argument(help="An account's e-mail address, an owner's id, or the subject of a JWT.")]
_Files = Annotated[str | None, typer.Option(help="Files: a number, `none` for no limit, or `default`.")]
_Bytes = Annotated[str | None, typer.Option("--bytes", help="Total bytes of all file versions.")]
_Questions = Annotated[str | None, typer.Option(help="Questions per calendar month (UTC).")]
_Spend = Annotated[str | None, typer.Option(help="US dollars spent on models per calendar month (UTC).")]


@app.command("show")
def show(owner: _Owner = "local", data: Data = None, as_json: AsJson = False) -> None:
    """Show an owner's limits and usage. Default: this machine's owner."""
    _print(run(_standings(settings_of(data), owner)), as_json=as_json)


@app.command("set")
def set_quotas(
    owner: _Owner,
    files: _Files = None,
    size: _Bytes = None,
    questions: _Questions = None,
    spend: _Spend = None,
    data: Data = None,
    as_json: AsJson = False,
) -> None:
    """Set limits for one owner; others stay unchanged. They apply from the next file or question."""
    given = {Quota.FILES: files, Quota.BYTES: size, Quota.QUESTIONS: questions, Quota.SPEND: spend}
    said = {quota: text for quota, text in given.items() if text is not None}
    if not said:
        raise InvalidInput("Name a quota to set, such as `--files 1000`.")
    to_default = frozenset(quota for quota, text in said.items() if text == _DEFAULT)
    own = {quota: _limit(quota, text) for quota, text in said.items() if quota not in to_default}
    _print(run(_changed(settings_of(data), owner, own, to_default)), as_json=as_json)


async def _standings(settings: Settings, owner: str) -> list[QuotaStanding]:
    # Imported here, because it takes long and no other command needs it.
    from citewell.composition.quotas import open_quotas

    async with open_quotas(settings) as quotas:
        return await quotas.repository.standings(await quotas.repository.find_owner(owner))


async def _changed(
    settings: Settings, owner: str, own: dict[Quota, float | None], to_default: frozenset[Quota]
) -> list[QuotaStanding]:
    from citewell.composition.quotas import open_quotas

    async with open_quotas(settings) as quotas:
        return await quotas.change_on_server(owner, own, to_default)


def _limit(quota: Quota, text: str) -> float | None:
    if text == _NO_LIMIT:
        return None
    whole = text.replace("_", "")
    if whole.isascii() and whole.isdecimal() and len(whole) <= 15:
        return float(whole)
    if quota is Quota.SPEND and whole.isascii() and whole.replace(".", "", 1).isdecimal() and len(whole) <= 15:
        return float(whole)
    raise InvalidInput(
        f"{named(text)} is not a valid limit for {quota.value}. Write a number, `{_NO_LIMIT}`, or `{_DEFAULT}`."
    )


def _print(standings: Sequence[QuotaStanding], *, as_json: bool) -> None:
    if as_json:
        print_json(
            [
                {"quota": one.quota, "limit": one.limit, "used": one.used, "own": one.is_own, "resets_at": _day(one)}
                for one in standings
            ]
        )
        return
    for one in standings:
        limit = "no limit" if one.limit is None else f"{one.limit:,.10g}"
        notes = [*(["set for this owner"] if one.is_own else []), *([f"until {_day(one)}"] if _day(one) else [])]
        console.out.print(f"  {one.quota.value:<10} {one.used:>16,.10g} of {limit:<16} [dim]{', '.join(notes)}[/]")


def _day(standing: QuotaStanding) -> str | None:
    if standing.resets_at is None:
        return None
    return f"{datetime.fromtimestamp(standing.resets_at, UTC):%Y-%m-%d}"
