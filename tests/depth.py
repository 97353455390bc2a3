"""How far properties are tried: with 20 examples in `make test`, and in `make test-all` with as many as each of them asks for.

`HYPOTHESIS_PROFILE` chooses: quick, or repeatable, with the same examples every time, so that a run tells of the change that it tests;
or explore, which looks for new ones.
"""

from __future__ import annotations

import os

from hypothesis import settings

PROFILE = os.environ.get("HYPOTHESIS_PROFILE", "quick")
_QUICK = 20

settings.register_profile("quick", max_examples=_QUICK, derandomize=True, database=None, deadline=None)
settings.register_profile("repeatable", derandomize=True, database=None, deadline=None)
settings.register_profile("explore", derandomize=False, deadline=None)


def examples(count: int) -> int:
    """How many examples a property that asks for `count` of them is tried with."""
    return min(count, _QUICK) if PROFILE == "quick" else count
