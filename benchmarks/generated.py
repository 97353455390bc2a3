"""A library of any size to search in: real sentences in new orders, and vectors with the spread of a small model's.

Texts are English (the documentation inside installed Python packages), cut into passages of some 120 words. Vectors have 384
dimensions whose variances fall off as those of a small sentence model do, in clusters. Queries are a few words of a passage, and
a vector near that of one.
"""

from __future__ import annotations

import ast
import json
import random
import re
import sysconfig
import uuid
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import islice
from pathlib import Path

import numpy as np

from citewell.ports import FloatMatrix
from citewell.ports.points import index_point
from citewell.text.sparse import sparse_document
from citewell.types import Chunk, ChunkType, FileFacts, Locator, Point, SparseVector

DIMENSIONS = 384
OWNER = "benchmark"
CHUNKS_PER_RESOURCE = 100
WORDS_PER_PASSAGE = 120
DIFFERENT_PASSAGES = 50_000
_BLOCK = 50_000


def write_vectors(path: Path, count: int) -> None:
    """Unit vectors, float32, shape (count, 384), one cluster per about 200, as a file that can be mapped into memory."""
    draw = np.random.default_rng(count)
    spread = (np.arange(1, DIMENSIONS + 1) ** -0.4).astype(np.float32)
    centres = draw.normal(size=(max(1, count // 200), DIMENSIONS)).astype(np.float32)
    vectors = np.lib.format.open_memmap(path, mode="w+", dtype=np.float32, shape=(count, DIMENSIONS))
    for start in range(0, count, _BLOCK):
        size = min(_BLOCK, count - start)
        noise = draw.normal(size=(size, DIMENSIONS)).astype(np.float32)
        some = (centres[draw.integers(0, len(centres), size)] + noise) * spread
        vectors[start : start + size] = some / np.linalg.norm(some, axis=1, keepdims=True)
    vectors.flush()


def read_vectors(path: Path) -> FloatMatrix:
    """The vectors of such a file, in it rather than in memory."""
    return np.load(path, mmap_mode="r")


def write_sentences(path: Path, limit: int = 40_000) -> None:
    """Sentences from the docstrings of the standard library and of what is installed, as JSON."""
    found: dict[str, None] = {}
    for root in (sysconfig.get_path("stdlib"), sysconfig.get_path("purelib")):
        for source in sorted(Path(root).rglob("*.py")):
            if len(found) >= limit:
                break
            found |= dict.fromkeys(_docstring_sentences(source))
    path.write_text(json.dumps(list(found)), encoding="utf-8")


def passages(sentences: Sequence[str], seed: int) -> Iterator[str]:
    """Passages without end, from sentences in random order."""
    order = random.Random(seed)
    while True:
        words: list[str] = []
        while len(words) < WORDS_PER_PASSAGE:
            words += order.choice(sentences).split()
        yield " ".join(words)


def questions(sentences: Sequence[str], vectors: FloatMatrix, count: int) -> list[tuple[str, FloatMatrix]]:
    """Texts and vectors: eight words of a passage each, and a vector near one."""
    draw, texts, words = np.random.default_rng(7), passages(sentences, seed=1), random.Random(7)
    noise = 0.5 / np.sqrt(DIMENSIONS)
    found = []
    for number in range(count):
        passage = next(texts).split()
        start = words.randrange(max(1, len(passage) - 8))
        near = vectors[draw.integers(0, len(vectors))] + draw.normal(size=DIMENSIONS).astype(np.float32) * noise
        vector = (near / np.linalg.norm(near)).astype(np.float32)
        found.append((f"{' '.join(passage[start : start + 8])} {number}", vector))
    return found


def point(number: int, words: SparseVector, vector: FloatMatrix) -> Point:
    """What the index holds of chunk `number`."""
    return replace(
        index_point(chunk(number, ""), vector.tolist(), FileFacts(filename="doc.txt", language="en")), sparse=words
    )


def analysed(texts: Iterator[str], count: int) -> list[SparseVector]:
    """The words of so many passages; a library with more chunks has each several times."""
    return [sparse_document(text, language="en") for text in islice(texts, min(count, DIFFERENT_PASSAGES))]


def chunk(number: int, text: str) -> Chunk:
    return Chunk(
        id=chunk_id(number),
        owner_id=OWNER,
        resource_id=resource_of(number),
        version=1,
        ordinal=number % CHUNKS_PER_RESOURCE,
        type=ChunkType.TEXT,
        text=text,
        locator=Locator(),
    )


def chunk_id(number: int) -> str:
    return str(uuid.UUID(int=int(number)))


def resource_of(number: int) -> str:
    return f"resource-{int(number) // CHUNKS_PER_RESOURCE}"


def resource_of_id(chunk: str) -> str:
    return resource_of(uuid.UUID(chunk).int)


def thousandth(size: int) -> tuple[str, ...]:
    """Resources that together hold one chunk in a thousand, and at least one resource."""
    return tuple(f"resource-{7 * n}" for n in range(max(1, size // 1000 // CHUNKS_PER_RESOURCE)))


def nearest(
    vectors: FloatMatrix, asked: Sequence[FloatMatrix], admitted: Sequence[int] | None = None
) -> list[set[str]]:
    """The ids of the ten nearest by brute force, per query."""
    numbers = np.arange(len(vectors)) if admitted is None else np.asarray(admitted)
    queries = np.stack(asked)
    scores = np.empty((len(queries), len(numbers)), dtype=np.float32)
    for start in range(0, len(numbers), _BLOCK):
        some = numbers[start : start + _BLOCK]
        scores[:, start : start + _BLOCK] = queries @ np.asarray(vectors[some]).T
    best = np.argpartition(-scores, 10, axis=1)[:, :10]
    return [{chunk_id(numbers[place]) for place in row} for row in best]


def _docstring_sentences(path: Path) -> list[str]:
    try:
        tree = ast.parse(path.read_text(encoding="utf-8"))
    except (SyntaxError, ValueError, OSError):
        return []
    kinds = (ast.Module, ast.ClassDef, ast.FunctionDef)
    texts = [ast.get_docstring(node) or "" for node in ast.walk(tree) if isinstance(node, kinds)]
    sentences = [re.sub(r"\s+", " ", s).strip() for text in texts for s in re.split(r"(?<=[.!?])\s|\n\s*\n", text)]
    return [sentence for sentence in sentences if 5 <= len(sentence.split()) <= 60]
