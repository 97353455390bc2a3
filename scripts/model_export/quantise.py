"""Int8 for one matrix product: smoothed activations, per-channel weights, no overflow on any processor.

Activations. Each input channel is multiplied by a factor, which the weights take back (Xiao et al. 2023, "SmoothQuant",
equation 4), so that a few wild channels do not eat the 8 bits of all others. Then one step serves the whole tensor, found by
calibration; only after the activation function, where single tokens reach a hundred times the usual, each token has a step of
its own. Either way a vector depends on its own text alone. With dynamic quantisation per tensor it does not: one step is
shared by all texts that happen to be in a batch, and the same text gets different vectors in different company.

Weights. One step per output channel. Processors without VNNI instructions multiply bytes and add two neighbouring products in
16 bits, so the step is as small as lets no two neighbours overflow there; all processors then compute the same integers.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from model_export.weights import Array, Block, Dense

Integers = npt.NDArray[np.int8]

LARGEST, LARGEST_ACTIVATION, LARGEST_PAIR = 127, 255, 127
SMOOTHING = tuple(round(0.4 + 0.05 * n, 2) for n in range(13))
ZERO_POINTS = (16, 32, 64, 96, 128)
_TINY = 1e-6


@dataclass(frozen=True, slots=True)
class Samples:
    """What calibration saw at a layer's input: some rows, and the range of every channel over all rows."""

    rows: Array
    low: Array
    high: Array


@dataclass(frozen=True, slots=True)
class QuantisedDense:
    """x becomes round(x * factor / step) + zero_point as uint8; its product with `weight` times `scale * step`, plus `bias`, is y.

    `step` is 1 with static quantisation. With `least_step` set, each row has its own: what its largest entry needs to reach
    255, or `least_step`, which the lowest entry needs to stay above 0.
    """

    name: str
    factor: Array
    zero_point: int
    weight: Integers
    scale: Array
    bias: Array
    least_step: float | None = None

    def apply(self, rows: Array) -> Array:
        """What the graph computes, in NumPy."""
        scaled = rows * self.factor
        step: Array | float = 1.0
        if self.least_step is not None:
            most = scaled.max(axis=1, keepdims=True) / (LARGEST_ACTIVATION - self.zero_point)
            step = np.maximum(most, self.least_step)
        integers = np.clip(np.rint(scaled / step) + self.zero_point, 0, LARGEST_ACTIVATION) - self.zero_point
        return (integers @ self.weight.astype(np.float32)) * self.scale * step + self.bias


def rows_of(table: Array) -> tuple[Integers, Array]:
    """A table that is only looked up: integers, and the step of each row, shape (rows, 1)."""
    step = np.maximum(np.abs(table).max(axis=1, keepdims=True), _TINY) / LARGEST
    return np.rint(table / step).astype(np.int8), step.astype(np.float32)


def columns(weight: Array) -> tuple[Integers, Array]:
    """A factor of a product: integers, and the step of each column.

    Bytes a, b of activations and v, w of weights give a*v + b*w in [-32768, 32767] if the positive, and the negative, of two
    neighbours sum to 128 at most; 127 leaves room for rounding.
    """
    pairs = weight.reshape(weight.shape[0] // 2, 2, weight.shape[1])
    positive, negative = np.maximum(pairs, 0).sum(axis=1), np.maximum(-pairs, 0).sum(axis=1)
    pair = np.maximum(positive, negative).max(axis=0)
    step = np.maximum(np.maximum(np.abs(weight).max(axis=0) / LARGEST, pair / LARGEST_PAIR), _TINY)
    return np.rint(weight / step).astype(np.int8), step.astype(np.float32)


def quantise(dense: Dense, samples: Samples, by_row: bool) -> tuple[QuantisedDense, float]:
    """The form that errs least on the samples, and the squared error that remains, as a share of each row's size."""
    exact = samples.rows @ dense.weight + dense.bias
    size = np.square(exact - dense.bias).sum(axis=1)

    def error(candidate: QuantisedDense) -> float:
        return float((np.square(exact - candidate.apply(samples.rows)).sum(axis=1) / size).mean())

    best = min(_candidates(dense, samples, by_row), key=error)
    # The mean error moves into the bias, where it costs nothing.
    offset = (exact - best.apply(samples.rows)).mean(axis=0)
    centred = replace(best, bias=(best.bias + offset).astype(np.float32))
    best = min((best, centred), key=error)
    return best, error(best)


def quantised(blocks: Iterable[Block], samples: Mapping[str, Samples]) -> dict[str, QuantisedDense]:
    """All dense layers of the blocks, by name; prints what each loses."""
    layers: dict[str, QuantisedDense] = {}
    for block in blocks:
        for dense in block.dense:
            layers[dense.name], error = quantise(dense, samples[dense.name], by_row=dense is block.down)
            print(f"{dense.name:32} relative squared error {error:.2e}")
    return layers


def _candidates(dense: Dense, samples: Samples, by_row: bool) -> Iterator[QuantisedDense]:
    reach = np.maximum(np.maximum(np.abs(samples.low), np.abs(samples.high)), _TINY)
    strength = np.maximum(np.abs(dense.weight).max(axis=1), _TINY)
    for smoothing in SMOOTHING:
        factor = strength ** (1 - smoothing) / reach**smoothing
        low, high = float((samples.low * factor).min()), float((samples.high * factor).max())
        if by_row:
            for zero_point in ZERO_POINTS:
                yield _quantised(dense, factor, zero_point, least_step=-low / zero_point)
        else:
            step = (high - low) / LARGEST_ACTIVATION
            yield _quantised(dense, factor / step, round(-low / step), least_step=None)


def _quantised(dense: Dense, factor: Array, zero_point: int, least_step: float | None) -> QuantisedDense:
    factor = factor.astype(np.float32)
    weight, scale = columns(dense.weight / factor[:, None])
    return QuantisedDense(dense.name, factor, zero_point, weight, scale, dense.bias, least_step)
