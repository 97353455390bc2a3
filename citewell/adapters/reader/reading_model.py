"""The reading model: one multilingual encoder that reads messages, statements and tables, in ONNX Runtime, without a key or a download.

It was trained from multilingual-e5-small (Wang et al., "Multilingual E5 Text Embeddings", 2024) by `scripts/train_reading_model.py`. Its word
vectors, 250,037 of 384 numbers in 4 bits, are mapped into memory, so that only those of words that occur are read.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING
from weakref import WeakValueDictionary

import numpy as np
import numpy.typing as npt
from citewell_multilingual import FOLDER
from pydantic import BaseModel, ConfigDict, ValidationError

from citewell.adapters.embedder.builtin_model import Pieces, check_file, open_session
from citewell.errors import ConfigurationError
from citewell.ports import FloatMatrix

if TYPE_CHECKING:
    import onnxruntime
    import sentencepiece

START, END = 0, 2
"""The tokens before a text, and after each part of it."""
MAX_CHARACTERS_PER_TOKEN = 32
_BLOCK = 32  # numbers of a word vector that share a scale


class _Manifest(BaseModel):
    """What the files are, as `scripts/train_reading_model.py` writes it."""

    model_config = ConfigDict(extra="ignore")

    words: int
    dimensions: int
    outputs: dict[str, str]


class ReadingModel:
    """The model in a folder, which is loaded on first use. Thread-safe.

    Raises `ConfigurationError` where a file is missing or damaged.
    """

    def __init__(self, folder: Path, manifest: _Manifest) -> None:
        self._folder = folder
        self._manifest = manifest
        self._loading = threading.Lock()
        self._processor: sentencepiece.SentencePieceProcessor | None = None
        self._session: onnxruntime.InferenceSession | None = None
        self._words: _WordVectors | None = None

    @classmethod
    def open(cls, folder: Path = FOLDER) -> ReadingModel:
        """The model in `folder`; concurrent users share one. Reads its manifest."""
        model = _in_use.get(folder)
        if model is None:
            model = _in_use[folder] = cls.read(folder)
        return model

    @classmethod
    def read(cls, folder: Path) -> ReadingModel:
        """The model in `folder`, shared with nobody."""
        try:
            manifest = _Manifest.model_validate_json((folder / "manifest.json").read_bytes())
        except (OSError, ValidationError) as error:
            raise ConfigurationError(f"The reading model in {folder} is incomplete. Reinstall Citewell.") from error
        return cls(folder, manifest)

    @property
    def dimensions(self) -> int:
        """Numbers of a word vector."""
        return self._manifest.dimensions

    def hash_of(self, name: str) -> str:
        """The SHA-256 of a file of the model, in hexadecimal, as its manifest has it."""
        try:
            return self._manifest.outputs[name]
        except KeyError:
            raise ConfigurationError(f"{self._folder / name} is missing. Reinstall Citewell.") from None

    def file(self, name: str) -> bytes:
        """A file of the model, compared with its manifest."""
        return check_file(self._folder, name, self._manifest.outputs)

    def words(self, ids: Sequence[int]) -> FloatMatrix:
        """The vectors of some tokens before any context, shape (tokens, dimensions)."""
        with self._loading:
            if self._words is None:
                self.file("words.bin")
                self._words = _WordVectors(self._folder / "words.bin", self._manifest.words, self._manifest.dimensions)
            words = self._words
        return words.of(ids)

    def tokens(self, text: str, limit: int) -> Pieces:
        """At most `limit` tokens of a text, from its start."""
        with self._loading:
            if self._processor is None:
                import sentencepiece

                self._processor = sentencepiece.SentencePieceProcessor(model_proto=self.file("sentencepiece.model"))
            processor = self._processor
        text = text[: limit * MAX_CHARACTERS_PER_TOKEN].encode("utf-8", "replace").decode()
        found = processor.encode(text, return_type="offset_mapping")
        spans = [_trimmed(text, start, end) for start, end in found["offsets"][:limit]]
        return Pieces(list(found["ids"][:limit]), spans)

    def logits(self, ids: Sequence[int]) -> FloatMatrix:
        """The outputs for each token of one text, shape (tokens, outputs). Takes 0.2 ms a token; call it in a thread."""
        return self._run("logits", ids)

    def vector(self, ids: Sequence[int]) -> FloatMatrix:
        """The unit vector of a question, shape (384,): near the built-in embedder's vectors of English passages that answer it."""
        return self._run("vector", ids)

    def _run(self, output: str, ids: Sequence[int]) -> FloatMatrix:
        with self._loading:
            if self._session is None:
                self._session = open_session(self.file("reader.onnx"))
            session = self._session
        (found,) = session.run([output], {"words": self.words(ids)[None]})
        return np.asarray(found, np.float32)[0]


class _WordVectors:
    """Rows of 4-bit numbers, two to a byte, the lower one first, and a scale for each `_BLOCK` of them."""

    def __init__(self, path: Path, words: int, dimensions: int) -> None:
        packed = dimensions // 2
        self._packed = np.memmap(path, np.uint8, "r", 0, (words, packed))
        self._scales = np.memmap(path, np.float16, "r", words * packed, (words, dimensions // _BLOCK))

    def of(self, ids: Sequence[int]) -> npt.NDArray[np.float32]:
        """The vectors of some words, shape (words, dimensions)."""
        packed = self._packed[list(ids)]
        numbers = np.stack((packed & 15, packed >> 4), axis=-1).astype(np.float32) - 8
        blocks = numbers.reshape(len(packed), -1, _BLOCK)
        return (blocks * self._scales[list(ids)].astype(np.float32)[..., None]).reshape(len(packed), -1)


def _trimmed(text: str, start: int, end: int) -> tuple[int, int]:
    """A piece without the spaces before it."""
    while start < end and text[start].isspace():
        start += 1
    return start, end


_in_use: WeakValueDictionary[Path, ReadingModel] = WeakValueDictionary()
"""Open models by folder."""
