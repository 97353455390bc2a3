"""What the dense layers see: their inputs over English prose and over random tokens of the whole vocabulary.

The prose is the help text that comes with Python (`pydoc_data.topics`); random tokens reach the words, scripts and symbols
that it does not have. Nothing of any evaluation is in it. The manifest records the hash of the token sequences.
"""

from __future__ import annotations

import hashlib
import pydoc_data.topics
from collections.abc import Iterator, Sequence

import numpy as np
import onnx
import onnxruntime
from onnx import TensorProto, helper
from tokenizers import Tokenizer

from model_export.graph import EncoderGraph
from model_export.quantise import Samples
from model_export.weights import MAX_TOKENS, Array, Weights

_PARAGRAPHS, _RANDOM_SEQUENCES, _ROWS_PER_TEXT = 240, 80, 4
_FIRST, _LAST, _CLS, _SEP = 999, 30521, 101, 102


def sequences(tokenizer: Tokenizer) -> list[list[int]]:
    """Token ids of the calibration texts, the same on every run of one Python version."""
    random = np.random.default_rng(20)
    sections = "\n\n".join(pydoc_data.topics.topics[name] for name in sorted(pydoc_data.topics.topics)).split("\n\n")
    paragraphs = [" ".join(section.split()) for section in sections if len(section) > 40]
    chosen = random.choice(len(paragraphs), _PARAGRAPHS, replace=False)
    prose = [tokenizer.encode(paragraphs[int(index)]).ids for index in chosen]
    lengths = random.integers(2, MAX_TOKENS - 2, _RANDOM_SEQUENCES)
    noise = [[_CLS, *random.integers(_FIRST, _LAST + 1, int(length)).tolist(), _SEP] for length in lengths]
    return prose + noise


def digest(token_ids: Sequence[Sequence[int]]) -> str:
    """SHA-256 of the sequences."""
    return hashlib.sha256(repr([list(ids) for ids in token_ids]).encode()).hexdigest()


def collect(weights: Weights, token_ids: Sequence[Sequence[int]]) -> dict[str, Samples]:
    """Samples of every dense layer's input in the float32 model, by the layer's name."""
    graph = EncoderGraph(weights)
    model = graph.build()
    watched = graph.dense_inputs
    model.graph.output.extend(helper.make_tensor_value_info(x, TensorProto.FLOAT, None) for x in watched.values())
    random = np.random.default_rng(21)
    rows: dict[str, list[Array]] = {name: [] for name in watched}
    ranges: dict[str, tuple[Array, Array]] = {}
    for inputs in _runs(model, list(watched.values()), token_ids):
        for name, states in zip(watched, inputs, strict=True):
            low, high = states.min(axis=0), states.max(axis=0)
            known = ranges.get(name, (low, high))
            ranges[name] = np.minimum(low, known[0]), np.maximum(high, known[1])
            rows[name].append(states[random.integers(0, len(states), _ROWS_PER_TEXT)])
    return {name: Samples(np.concatenate(rows[name]), *ranges[name]) for name in watched}


def _runs(model: onnx.ModelProto, outputs: list[str], token_ids: Sequence[Sequence[int]]) -> Iterator[list[Array]]:
    session = onnxruntime.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
    for ids in token_ids:
        yield [np.asarray(states)[0] for states in session.run(outputs, {"input_ids": np.array([ids], np.int64)})]
