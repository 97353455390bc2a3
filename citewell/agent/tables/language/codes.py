"""What the codes in a column's cells stand for: results of games (`W 20–7`, `L`, `3–1 (D)`), and who travelled (`at Boston`, `@BOS`)."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from citewell.agent.tables.thresholds import THRESHOLDS

SAID: Mapping[str, str] = {
    "win": "win", "victori": "win", "beat": "win", "loss": "loss", "draw": "draw", "home": "home", "away": "away", "road": "away",
}  # fmt: skip
"""What a word of a question, as it is compared, asks for."""
_RESULTS = {
    "w": "win", "win": "win", "won": "win", "l": "loss", "loss": "loss", "lost": "loss",
    "t": "draw", "tie": "draw", "tied": "draw", "d": "draw", "draw": "draw", "drew": "draw", "drawn": "draw",
}  # fmt: skip
_LETTERS = re.compile(r"[^\W\d_]+")
_AWAY = re.compile(r"@|at ", re.I)


def coded_rows(texts: Sequence[str]) -> dict[str, frozenset[int]]:
    """The rows of each meaning, by a column's cells; none where it has no codes."""
    filled = {row: text.strip() for row, text in enumerate(texts) if text.strip()}
    results = {
        row: _RESULTS.get(found[0].casefold()) for row, text in filled.items() if (found := _LETTERS.search(text))
    }
    known = {row: result for row, result in results.items() if result is not None}
    if len({*known.values()}) > 1 and len(known) >= THRESHOLDS.alike * len(filled):
        return _by_meaning(known)
    places = {row: "away" if _AWAY.match(text) else "home" for row, text in filled.items()}
    share = sum(place == "away" for place in places.values()) / max(1, len(places))
    return _by_meaning(places) if 1 - THRESHOLDS.alike <= share <= THRESHOLDS.alike else {}


def _by_meaning(meanings: Mapping[int, str]) -> dict[str, frozenset[int]]:
    return {
        meaning: frozenset(row for row, other in meanings.items() if other == meaning)
        for meaning in {*meanings.values()}
    }
