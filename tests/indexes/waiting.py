"""Waiting for an index."""

from __future__ import annotations

import asyncio

from citewell.composition import Services


async def until_whole(services: Services) -> None:
    """Until nothing is being rebuilt."""
    async with asyncio.timeout(60):
        while services.health.rebuilding is not None:  # noqa: ASYNC110 - as a user would look
            await asyncio.sleep(0.02)
