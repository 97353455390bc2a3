"""Trains the built-in scorer of readings and writes the files in `citewell/models/minilm-table-scorer`, on Python 3.11.

It needs the environment that `scripts/export_model.py` describes with Citewell's own packages added, the trained reader's weights, which
`scripts/train_reader.py` keeps, and a folder with the training split of WikiTableQuestions, as for `benchmarks/table_choice.py`:

    export/bin/pip install --require-hashes -r requirements/base.txt
    PYTHONHASHSEED=0 export/bin/python scripts/train_table_scorer.py READER_WEIGHTS.safetensors FOLDER

It reads the tables as uploads, which `--grids FILE` keeps for the next run, finds each question's likeliest answers, trains, for an hour
on two cores, and fits how the scores count. Tables with every fifth checksum are left out; of their questions is printed what
`benchmarks/table_choice.py` measures, without the scorer and with it.

`--weights FILE` keeps the trained weights, or joins and exports those that are there already. `--questions` and `--target` are for a
trial with few questions, which is written elsewhere.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import platform
import sys
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

import numpy as np
import onnx
import onnxruntime
import torch
from model_export import calibration
from model_export.graph import EncoderGraph
from model_export.quantise import quantised
from model_export.weights import PUBLISHED, WIDTH, Dense, arranged
from safetensors.numpy import load_file, save_file
from tokenizers import Tokenizer

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT), str(ROOT / "benchmarks")]

from scorer_training.candidates import Case, grids_of, of_part, read_cases  # noqa: E402
from scorer_training.joining import fit_joined, measured_alone, measured_joined  # noqa: E402
from scorer_training.network import MAX_INPUT_TOKENS, Input, ScorerNetwork, encode, scored, train  # noqa: E402

from citewell.types import ScoreWeights  # noqa: E402

TARGET = ROOT / "citewell/models/minilm-table-scorer"
TOKENIZER = ROOT / "citewell/models/all-MiniLM-L6-v2/tokenizer.json"
EPOCHS, RATE, DROPOUT, SEED = 3, 1e-4, 0.05, 2
_CALIBRATED_WITH, _COMPARED = slice(0, 4_000, 20), slice(10, 4_000, 40)  # questions
_PAIRS = 2  # of each


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("reader", type=Path, help="the trained reader's weights")
    parser.add_argument("folder", type=Path, help="folder with training.tsv and csv/")
    parser.add_argument("--grids", type=Path, help="a file for the tables; read where it exists")
    parser.add_argument("--weights", type=Path, help="a file for the trained weights; read where it exists")
    parser.add_argument("--target", type=Path, default=TARGET, help="folder for the model")
    parser.add_argument("--questions", type=int, help="so many questions, for a trial; without it all")
    arguments = parser.parse_args()
    if os.environ.get("PYTHONHASHSEED") != "0":
        parser.error("set PYTHONHASHSEED=0, without which readings come in another order on every run")
    cases = read_cases(arguments.folder, grids_of(arguments.folder, arguments.grids), arguments.questions)
    tokenizer = Tokenizer.from_file(str(TOKENIZER))
    tokenizer.no_padding()
    tokenizer.no_truncation()
    learned = encode(of_part(cases, "train"), tokenizer)
    print(f"{len(learned)} of {len(cases)} questions to learn from")
    reader = load_file(arguments.reader)
    network = trained(reader, learned, arguments.weights)
    weights = joined(network, cases, tokenizer)
    export(network, reader, learned, weights, arguments.target)


def trained(reader: dict[str, np.ndarray], inputs: Sequence[Input], kept: Path | None) -> ScorerNetwork:
    """The network, with the weights that are kept where there are any."""
    torch.manual_seed(SEED)
    network = ScorerNetwork(reader, DROPOUT)
    if kept is not None and kept.exists():
        network.load_state_dict({name: torch.from_numpy(value) for name, value in load_file(kept).items()})
        return network
    train(network, inputs, epochs=EPOCHS, rate=RATE, seed=SEED)
    if kept is not None:
        save_file({name: np.ascontiguousarray(v.numpy()) for name, v in network.state_dict().items()}, kept)
    return network


def joined(network: ScorerNetwork, cases: Sequence[Case], tokenizer: Tokenizer) -> ScoreWeights:
    """How its scores count, fitted to tables that it did not learn from; prints what that does to the tables that are left out."""
    tuned, held = of_part(cases, "tune"), of_part(cases, "held")
    weights = fit_joined(tuned, scored(network, encode(tuned, tokenizer)))
    found = measured_joined(held, scored(network, encode(held, tokenizer)), weights)
    print(json.dumps({"joined": asdict(weights), "without": measured_alone(held), "with": found}))
    return weights


def export(
    network: ScorerNetwork,
    reader: dict[str, np.ndarray],
    inputs: Sequence[Input],
    weights: ScoreWeights,
    target: Path,
) -> None:
    """The int8 graph, compared with the float32 one, how its scores count, and where it comes from."""
    encoder = arranged(network.body.trained(reader))
    weight, bias = (getattr(network.body.head, name).detach().numpy() for name in ("weight", "bias"))
    head = Dense("head", weight.T.copy(), bias)
    chosen, others = (
        [pair for one in inputs[part] for pair in one.pairs[:_PAIRS]] for part in (_CALIBRATED_WITH, _COMPARED)
    )
    layers = quantised(encoder.blocks, calibration.collect(encoder, chosen))
    model = EncoderGraph(encoder, layers, head).build()
    compare(EncoderGraph(encoder, head=head).build(), model, others)
    target.mkdir(parents=True, exist_ok=True)
    onnx.save(model, target / "model.onnx")
    manifest = {
        "model": "minilm-table-scorer",
        "license": "Apache-2.0",
        "base": "sentence-transformers/all-MiniLM-L6-v2 by way of minilm-reader",
        "dimensions": WIDTH,
        "max_tokens": MAX_INPUT_TOKENS,
        "inputs": PUBLISHED,
        "trained_on": "WikiTableQuestions (training split)",
        "questions": len(inputs),
        "made_with": {
            "onnx": onnx.__version__,
            "onnxruntime": onnxruntime.__version__,
            "python": platform.python_version(),
        },
        "joined": asdict(weights),
        "outputs": {"model.onnx": hashlib.sha256((target / "model.onnx").read_bytes()).hexdigest()},
    }
    (target / "manifest.json").write_text(json.dumps(manifest, indent=2) + "\n", encoding="utf-8")


def compare(exact: onnx.ModelProto, small: onnx.ModelProto, pairs: Sequence[Sequence[int]]) -> None:
    """Print how far the int8 graph's logits are from the float32 one's, and how far these are from one another."""
    sessions = [
        onnxruntime.InferenceSession(m.SerializeToString(), providers=["CPUExecutionProvider"]) for m in (exact, small)
    ]
    expected, found = (
        np.array([np.asarray(s.run(["answer_logits"], {"input_ids": np.array([ids])})[0])[0, 0, 0] for ids in pairs])
        for s in sessions
    )
    apart = float(np.abs(expected - found).mean())
    print(f"mean difference of logits {apart:.3f}; their standard deviation {float(expected.std()):.3f}")


if __name__ == "__main__":
    main()
