"""The end of a turn that failed, as the error it came from."""

from __future__ import annotations

from citewell.agent.turns import Failed
from citewell.errors import CitewellError, ProviderRateLimited


class TurnFailed(CitewellError):
    """The answer could not be finished."""

    def __init__(self, failed: Failed) -> None:
        super().__init__(failed.message, **failed.details)
        self.code = failed.code


def failure(failed: Failed) -> CitewellError:
    """The error of ours with this code, so that it gets its own HTTP status."""
    if failed.code == ProviderRateLimited.code:
        wait = failed.details.get("retry_after")
        return ProviderRateLimited(failed.message, float(wait) if isinstance(wait, int | float) else None)
    for kind in _all_errors(CitewellError):
        if kind.code == failed.code and kind.__init__ is CitewellError.__init__:
            return kind(failed.message, **failed.details)
    return TurnFailed(failed)


def _all_errors(kind: type[CitewellError]) -> list[type[CitewellError]]:
    return [kind, *(found for sub in kind.__subclasses__() for found in _all_errors(sub))]
