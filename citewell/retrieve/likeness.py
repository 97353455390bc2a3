"""How much two pictures have in common: as a whole, or by corners that lie the same way in both."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from citewell.types import LIKENESS_FEATURE, LIKENESS_SHAPE_BYTES

Bits = npt.NDArray[np.uint64]
Points = npt.NDArray[np.float32]

MIN_SCORE = 0.5
"""Below it, two pictures only happen to share something. See `docs/decisions/0037-pictures-are-found-by-their-corners.md`."""
_MAX_WAVES = 8
"""Differing bits, of 80, of the coarse shapes of two copies of a picture."""
_MIN_CORNERS = 8
"""Corners that two different pictures hardly ever share in the same arrangement."""
_FEW_CORNERS = 60
"""With fewer corners, pictures are compared as a whole."""
_ASKED = 300
"""Corners of the example that are looked for."""
_MAX_BITS, _MAX_SHARE = 64, 0.85
"""Differing bits, of 256, of two views of a corner; and their share of those of the next best corner."""
_STEP = 1.2
_SCALE, _TURN = 0.4, 0.4
"""By how much views of one arrangement may differ: logarithm of the scale, radians."""
_NEAR, _DRIFT = 12.0, 0.1
"""How far a corner may be from where the arrangement has it: pixels, and share of its distance from the others."""


@dataclass(frozen=True, slots=True)
class Likeness:
    """What is kept of a picture.

    shape: bits of the coarse shape
    points: shape (corners, 4): x, y, logarithm of the size, direction in radians
    bits: shape (4, corners): 256 bits for each corner
    """

    shape: npt.NDArray[np.uint8]
    points: Points
    bits: Bits

    @staticmethod
    def read(data: bytes) -> Likeness:
        """The inverse of what the parser process writes (`citewell.extract.core.likeness`)."""
        found = np.frombuffer(data, np.dtype(LIKENESS_FEATURE), offset=LIKENESS_SHAPE_BYTES)
        size, turn = found["octave"] * np.log(_STEP), found["angle"] * (2 * np.pi / 256)
        points = np.stack([found["x"], found["y"], size, turn], axis=1).astype(np.float32)
        bits = np.frombuffer(np.ascontiguousarray(found["bits"]).tobytes(), np.uint64).reshape(-1, 4)
        shape = np.frombuffer(data, np.uint8, LIKENESS_SHAPE_BYTES)
        return Likeness(shape, points, np.ascontiguousarray(bits.T))


def alike(example: Likeness, other: Likeness) -> float:
    """0 to 1: from 0.9 for copies; 0.5 for a detail just large enough to be no chance; smaller for different pictures."""
    waves = int(np.bitwise_count(example.shape ^ other.shape).sum())
    shared = _shared(example, other)
    score = 0.9 * shared / (shared + 0.8 * _MIN_CORNERS)
    # Pages of text, too, look alike from afar; only a picture without corners is known by its shape alone.
    is_copy = waves <= _MAX_WAVES and (
        score >= MIN_SCORE or min(len(example.bits[0]), len(other.bits[0])) < _FEW_CORNERS
    )
    return max(score, 1.0 - 0.1 * waves / _MAX_WAVES) if is_copy else score


def _shared(example: Likeness, other: Likeness) -> int:
    """How many corners lie in one arrangement in both pictures."""
    mine, theirs = example.points[:_ASKED], other.points
    if min(len(mine), len(theirs)) < _MIN_CORNERS:
        return 0
    ours, found = _paired(example.bits[:, :_ASKED], other.bits)
    if len(ours) < _MIN_CORNERS:
        return 0
    a, b = mine[ours], theirs[found]
    scale, turn = b[:, 2] - a[:, 2], b[:, 3] - a[:, 3]
    x, y = a[None, :, 0] - a[:, None, 0], a[None, :, 1] - a[:, None, 1]
    # Each pair is taken for the truth in turn: it says where the other corners should be.
    along, across = (np.exp(scale) * np.cos(turn))[:, None], (np.exp(scale) * np.sin(turn))[:, None]
    off = np.hypot(
        b[:, None, 0] + along * x - across * y - b[None, :, 0], b[:, None, 1] + across * x + along * y - b[None, :, 1]
    )
    fits = off < np.maximum(_NEAR, _DRIFT * np.hypot(x, y) * np.exp(scale)[:, None])
    fits &= np.abs(scale[None] - scale[:, None]) < _SCALE
    fits &= np.abs((turn[None] - turn[:, None] + np.pi) % (2 * np.pi) - np.pi) < _TURN
    return int(fits.sum(axis=1).max())


def _paired(mine: Bits, theirs: Bits) -> tuple[npt.NDArray[np.intp], npt.NDArray[np.intp]]:
    """Corners that are each other's nearest, and clearly so."""
    differing = np.bitwise_count(mine[0][:, None] ^ theirs[0]).astype(np.uint16)
    for word in (1, 2, 3):
        differing += np.bitwise_count(mine[word][:, None] ^ theirs[word])
    every = np.arange(mine.shape[1])
    nearest, back = differing.argmin(axis=1), differing.argmin(axis=0)
    least = differing[every, nearest]
    differing[every, nearest] = np.iinfo(np.uint16).max
    clear = (back[nearest] == every) & (least <= _MAX_BITS) & (least < _MAX_SHARE * differing.min(axis=1))
    return every[clear], nearest[clear]
