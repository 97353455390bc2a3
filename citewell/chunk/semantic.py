"""The `semantic` strategy: cuts where the meaning of neighbouring sentences parts."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import numpy as np
import numpy.typing as npt

from citewell.chunk.atoms import Atom, atoms_of, divide
from citewell.chunk.config import ChunkConfig
from citewell.chunk.context import ContextLine
from citewell.chunk.flow import Cut, Flow
from citewell.chunk.packing import overlap_start, pack
from citewell.chunk.tokenizing import SentenceEmbedder, Tokenizer

_SPREAD = 1.0
"""Sentences part where their distance exceeds the mean distance by this many standard deviations."""
_LEAST_TOKENS = 32


def cut_semantically(
    flow: Flow, config: ChunkConfig, tokenizer: Tokenizer, context: ContextLine, embed: SentenceEmbedder
) -> list[Cut]:
    """Cuts of a flow: topics first; a topic that is longer than a chunk is divided as `tokens` would."""
    used = max((context.of(headings)[1] for headings in {part.headings for part in flow.parts}), default=0)
    limit = min(config.effective_size, config.token_budget - used)
    overlap = min(config.effective_overlap, limit // 2)
    units = divide(flow, atoms_of(flow, tokenizer), limit - overlap, tokenizer)
    edges = [0, *_partings(units, _distances(flow, units, embed)), len(units)]
    cuts: list[Cut] = []
    for topic, topic_end in pairwise(edges):
        for first, after in pack(units[topic:topic_end], limit - overlap):
            start = overlap_start(flow, units, topic + first, overlap, 0, tokenizer)
            cuts.append(Cut(start, units[topic + after - 1].end, flow.headings_at(start)))
    return cuts


def _distances(flow: Flow, units: Sequence[Atom], embed: SentenceEmbedder) -> npt.NDArray[np.float32]:
    """Cosine distance across each gap, shape (len(units) - 1,); each side is the mean of two sentences, which evens out short ones."""
    if len(units) < 2:
        return np.zeros(0, dtype=np.float32)
    vectors = embed([flow.text[unit.start : unit.end] for unit in units])
    before = vectors.copy()
    before[1:] += vectors[:-1]
    after = vectors.copy()
    after[:-1] += vectors[1:]
    left, right = _unit(before[:-1]), _unit(after[1:])
    return (1.0 - np.einsum("ij,ij->i", left, right)).astype(np.float32)


def _unit(rows: npt.NDArray[np.float32]) -> npt.NDArray[np.float32]:
    return rows / np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), 1e-9)


def _partings(units: Sequence[Atom], distances: npt.NDArray[np.float32]) -> list[int]:
    """Indexes of the units that begin a topic; a topic has at least `_LEAST_TOKENS` tokens."""
    if not distances.size:
        return []
    threshold = float(distances.mean() + _SPREAD * distances.std())
    found: list[int] = []
    tokens = 0
    rest = sum(unit.tokens for unit in units)
    for index, distance in enumerate(distances, start=1):
        tokens += units[index - 1].tokens
        rest -= units[index - 1].tokens
        if distance > threshold and tokens >= _LEAST_TOKENS and rest >= _LEAST_TOKENS:
            found.append(index)
            tokens = 0
    return found
