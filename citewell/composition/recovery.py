"""Adds uploaded files that are in `lost+found` again, for commands."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass

from citewell.composition import Services, open_services
from citewell.errors import CitewellError, NotFound
from citewell.extract.detect import detect
from citewell.ingest.blob_keys import original_of
from citewell.settings import Settings, change
from citewell.system.lost_found import LostAndFound


@dataclass(frozen=True, slots=True)
class Recovered:
    """What became of one file: its resource, or why there is none."""

    key: str
    resource_id: str | None
    filename: str
    problem: str = ""


async def restore_lost(settings: Settings) -> list[Recovered]:
    """Add the uploaded files of `lost+found`, each for the owner that it was stored for; what the owner has already stays as it is.

    The files stay in `lost+found` as well. Pictures and copies of tables are not added: they are made of these files again.
    Raises what opening the services raises.
    """
    lost, found = LostAndFound(settings.data), list[Recovered]()
    async with open_services(change(settings, workers=0)) as services:
        for one in await asyncio.to_thread(lost.files):
            if origin := original_of(one.key):
                found.append(await _restored(services, lost, one.key, *origin))
    return found


async def _restored(services: Services, lost: LostAndFound, key: str, owner_id: str, name: str) -> Recovered:
    try:
        await services.quotas.repository.find_owner(owner_id)
    except NotFound:
        return Recovered(key, None, name, f"the database does not know its owner {owner_id}")
    path = lost.path(key)
    filename = f"{name}.{(await asyncio.to_thread(detect, path, name)).label}"
    try:
        resource = await services.resources.add_file(owner_id, path, filename=filename)
    except CitewellError as error:
        return Recovered(key, None, filename, error.message)
    return Recovered(key, resource.id, resource.filename)
