"""The built-in model on disk: its manifest, its tokenizer, and one ONNX Runtime session. Nothing is downloaded."""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING
from weakref import WeakValueDictionary

import numpy as np
from pydantic import BaseModel, ConfigDict, ValidationError

from citewell.errors import ConfigurationError
from citewell.ports import FloatMatrix, TextKind

if TYPE_CHECKING:
    import onnxruntime

    from citewell.adapters.embedder.builtin_tokenizer import WordPieceTokenizer

MODEL_NAME = "all-MiniLM-L6-v2"
MODEL_FOLDER = Path(__file__).resolve().parents[2] / "models" / MODEL_NAME


class _Manifest(BaseModel):
    """The part of `manifest.json` that matters at run time; `scripts/export_model.py` writes it."""

    model_config = ConfigDict(extra="ignore")

    dimensions: int
    max_tokens: int
    outputs: dict[str, str]


@dataclass(frozen=True, slots=True)
class Pieces:
    """The token ids of a text, and the character span of each, without special tokens."""

    ids: list[int]
    offsets: list[tuple[int, int]]


class BuiltinModel:
    """The model in `folder`; it and ONNX Runtime are loaded on first use.

    Thread-safe. Raises `ConfigurationError` if a file is missing or damaged.
    """

    name = MODEL_NAME
    is_english = True

    def __init__(self, folder: Path, dimensions: int, max_tokens: int, hashes: Mapping[str, str]) -> None:
        """`max_tokens`: tokens read per text, special tokens included; `hashes`: SHA-256 of each file in `folder`."""
        self.folder = folder
        self.dimensions = dimensions
        self.max_tokens = max_tokens
        self._hashes = hashes
        self._loading = threading.Lock()
        self._tokenizer: WordPieceTokenizer | None = None
        self._session: onnxruntime.InferenceSession | None = None

    @classmethod
    def open(cls, folder: Path = MODEL_FOLDER) -> BuiltinModel:
        """Open the model in `folder`; concurrent users share one instance. Reads its manifest."""
        model = _in_use.get(folder)
        if model is None:
            model = _in_use[folder] = cls._of_manifest(folder)
        return model

    @classmethod
    def _of_manifest(cls, folder: Path) -> BuiltinModel:
        try:
            manifest = _Manifest.model_validate_json((folder / "manifest.json").read_bytes())
        except (OSError, ValidationError) as error:
            raise ConfigurationError(f"The built-in model in {folder} is incomplete. Reinstall Citewell.") from error
        return cls(folder, manifest.dimensions, manifest.max_tokens, manifest.outputs)

    @property
    def revision(self) -> str:
        """The first 12 hex digits of the ONNX file's SHA-256."""
        return self._hashes["model.onnx"][:12]

    @property
    def tokenizer(self) -> WordPieceTokenizer:
        """The model's tokenizer."""
        with self._loading:
            if self._tokenizer is None:
                from citewell.adapters.embedder.builtin_tokenizer import WordPieceTokenizer

                self._tokenizer = WordPieceTokenizer(self._file("tokenizer.json").decode(), self.max_tokens)
            return self._tokenizer

    @property
    def session(self) -> onnxruntime.InferenceSession:
        """The session."""
        with self._loading:
            if self._session is None:
                self._session = open_session(self._file("model.onnx"))
            return self._session

    def ids(self, texts: Sequence[str], kind: TextKind) -> list[list[int]]:
        """Token ids as model input, the same of questions and passages."""
        return self.tokenizer.ids(texts)

    def sentence_vectors(self, token_ids: Sequence[Sequence[int]]) -> FloatMatrix:
        """Unit vectors, shape (texts, dimensions), for texts with equally many tokens."""
        return self._run("sentence", token_ids)

    def token_vectors(self, token_ids: Sequence[Sequence[int]]) -> FloatMatrix:
        """Contextual unit vectors of tokens, shape (texts, tokens, dimensions), for texts with equally many tokens."""
        return self._run("token_vectors", token_ids)

    def _run(self, output: str, token_ids: Sequence[Sequence[int]]) -> FloatMatrix:
        (result,) = self.session.run([output], {"input_ids": np.array(token_ids, np.int64)})
        return np.asarray(result, np.float32)

    def _file(self, name: str) -> bytes:
        return check_file(self.folder, name, self._hashes)


def open_session(model: bytes) -> onnxruntime.InferenceSession:
    """A session without threads: each run computes in the calling thread, and several may run at once."""
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    options.enable_mem_pattern = False
    options.log_severity_level = 3
    return onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])


def check_file(folder: Path, name: str, hashes: Mapping[str, str]) -> bytes:
    """The content of a file whose SHA-256 is known; `ConfigurationError` where it is missing or another."""
    try:
        data = (folder / name).read_bytes()
    except OSError as error:
        raise ConfigurationError(f"{folder / name} cannot be read. Reinstall Citewell.") from error
    if hashlib.sha256(data).hexdigest() != hashes.get(name):
        raise ConfigurationError(f"{folder / name} is damaged. Reinstall Citewell.")
    return data


_in_use: WeakValueDictionary[Path, BuiltinModel] = WeakValueDictionary()
"""Open models by folder."""
