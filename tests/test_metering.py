"""What work spends is collected by the block that does it, and reported for its owner."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from citewell.ports.metering import reported, spend
from citewell.types import Usage

_EMBEDDED = Usage(kind="embedding", provider="p", model="m", input_tokens=3, units=1)
_READ = Usage(kind="vision", provider="p", model="m", input_tokens=5, units=1)


class Reports:
    def __init__(self) -> None:
        self.seen: list[tuple[str, tuple[Usage, ...]]] = []

    async def __call__(self, owner_id: str, spent: Sequence[Usage]) -> None:
        self.seen.append((owner_id, tuple(spent)))


async def test_a_block_reports_what_it_spent_once_summed_by_kind_and_model() -> None:
    reports = Reports()
    async with reported("ada", reports):
        for usage in (_EMBEDDED, _READ, _EMBEDDED):
            spend(usage)
    spend(_READ)  # outside of the block, so it counts for nobody
    summed = Usage(kind="embedding", provider="p", model="m", input_tokens=6, units=2)
    assert reports.seen == [("ada", (summed, _READ))]


async def _break_off(reports: Reports) -> None:
    async with reported("ada", reports):
        spend(_READ)
        raise ValueError("broke off")


async def test_a_block_that_fails_reports_what_it_spent_until_then() -> None:
    reports = Reports()
    with pytest.raises(ValueError, match="broke off"):
        await _break_off(reports)
    assert reports.seen == [("ada", (_READ,))]
