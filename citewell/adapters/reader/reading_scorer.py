"""The built-in scorer of readings: a small model in ONNX Runtime that reads a question beside what a reading of it asks for and answers.

`scripts/train_table_scorer.py` made the model; `docs/algorithms/tables.md` has what it is good for.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from pydantic import BaseModel, ConfigDict, ValidationError

from citewell.adapters.embedder.builtin_model import MODEL_FOLDER, BuiltinModel
from citewell.errors import ConfigurationError
from citewell.types import ScoreWeights

SCORER_FOLDER = MODEL_FOLDER.parent / "minilm-table-scorer"
MAX_QUESTION_TOKENS = 36
MAX_ANSWER_TOKENS = 16
_CLS, _SEP = 101, 102


class _Joined(BaseModel):
    model_config = ConfigDict(extra="forbid")

    logit: float
    prior: float
    nothing: float
    another: float


class _Manifest(BaseModel):
    """What `manifest.json` says beside what `BuiltinModel` reads."""

    model_config = ConfigDict(extra="ignore")

    joined: _Joined


class BuiltinReadingScorer:
    """Implements `citewell.agent.interface.ReadingScorer`, for English. What is longer than the model reads is cut."""

    def __init__(self, model: BuiltinModel, words: BuiltinModel, weights: ScoreWeights) -> None:
        """`words`: the model whose tokenizer this one reads with."""
        self._model = model
        self._words = words
        self._weights = weights

    @classmethod
    def load(cls, folder: Path = SCORER_FOLDER) -> BuiltinReadingScorer:
        """The model in `folder`, which is read when it is first used; `ConfigurationError` where its manifest is missing."""
        model = BuiltinModel.open(folder)
        try:
            manifest = _Manifest.model_validate_json((folder / "manifest.json").read_bytes())
        except (OSError, ValidationError) as error:
            raise ConfigurationError(f"The built-in model in {folder} is incomplete. Reinstall Citewell.") from error
        return cls(model, BuiltinModel.open(), ScoreWeights(**manifest.joined.model_dump()))

    @property
    def weights(self) -> ScoreWeights:
        """See `ReadingScorer.weights`."""
        return self._weights

    def score(self, question: str, readings: Sequence[tuple[str, str]]) -> list[float]:
        """See `ReadingScorer.score`."""
        pieces = self._words.tokenizer.pieces
        asked = pieces(question).ids[:MAX_QUESTION_TOKENS]
        inputs = [
            self._input(asked, pieces(asks).ids, pieces(f"= {answer}").ids if answer else [])
            for asks, answer in readings
        ]
        scores = [0.0] * len(inputs)
        by_length: dict[int, list[int]] = {}
        for number, ids in enumerate(inputs):
            by_length.setdefault(len(ids), []).append(number)
        for numbers in by_length.values():
            logits = self._model.answer_logits([inputs[number] for number in numbers])
            for number, logit in zip(numbers, logits[:, 0, 0], strict=True):
                scores[number] = float(logit)
        return scores

    def _input(self, asked: Sequence[int], asks: Sequence[int], answer: Sequence[int]) -> list[int]:
        answer = answer[:MAX_ANSWER_TOKENS]
        room = self._model.max_tokens - 3 - len(asked) - len(answer)
        return [_CLS, *asked, _SEP, *asks[:room], *answer, _SEP]
