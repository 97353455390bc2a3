"""Questions as vectors in the space of the index: the built-in embedder's vectors of their English wordings and of passages that answer.

Reimers and Gurevych, "Making Monolingual Sentence Embeddings Multilingual using Knowledge Distillation", 2020, with the passages besides, among
which each question is to find its own (van den Oord et al., "Representation Learning with Contrastive Predictive Coding", 2018).
"""

from __future__ import annotations

import random
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional

from citewell.adapters.embedder.builtin_model import BuiltinModel
from reading_training.own import Document
from reading_training.published import Example

_SHARPNESS = 20.0
_OF_STYLES, _OF_NEARNESS = 0.5, 4.0
_PASSAGE_CHARACTERS = 700
_TEXTS = 32


@dataclass(frozen=True, slots=True)
class VectorTokens:
    """A question in any wording; the English one, and a passage that answers, or ""."""

    ids: list[int]
    english: str
    passage: str


class Targets:
    """The built-in embedder's vectors, each computed once."""

    def __init__(self) -> None:
        self._model = BuiltinModel.open()
        self._known: dict[str, np.ndarray] = {}

    def add(self, texts: Iterable[str]) -> None:
        """Compute those that are new."""
        new = [text for text in dict.fromkeys(texts) if text and text not in self._known]
        by_length: dict[int, list[tuple[str, list[int]]]] = defaultdict(list)
        for text, ids in zip(new, self._model.tokenizer.ids(new), strict=True):
            by_length[len(ids)].append((text, ids))
        for alike in by_length.values():
            for start in range(0, len(alike), _TEXTS):
                part = alike[start : start + _TEXTS]
                vectors = self._model.sentence_vectors([ids for _, ids in part])
                self._known.update((text, vector) for (text, _), vector in zip(part, vectors, strict=True))

    def of(self, texts: Sequence[str]) -> Tensor:
        """Shape (texts, 384)."""
        return torch.from_numpy(np.stack([self._known[text] for text in texts]))


def wordings(documents: Sequence[Document], source: random.Random) -> Iterator[tuple[str, str, str]]:
    """For each question of English documents a wording in English and one in another language, the plain English one, and a passage."""
    for document in documents:
        passages, places = _passages(document.statements)
        for asked in document.questions:
            passage = passages[places[source.choice(list(asked.answers))]] if asked.answers else ""
            for wording in (source.choice(asked.own), *(source.sample(asked.others, 1) if asked.others else ())):
                yield wording, asked.own[0], passage


def published_ones(examples: Sequence[Example]) -> Iterator[tuple[str, str, str]]:
    """Questions with the statement that answers and the one before it."""
    for one in examples:
        if one.answer is not None:
            yield one.question, one.question, f"{one.before} {one.statement}".strip()


def loss_of_vectors(vectors: Tensor, batch: Sequence[VectorTokens], targets: Targets) -> Tensor:
    """vectors: shape (texts, 384), of unit length."""
    english = targets.of([one.english for one in batch])
    total = _OF_STYLES * _told_apart(vectors, english, [one.english for one in batch])
    total = total + _OF_NEARNESS * (1 - (vectors * english).sum(-1)).sum()
    answered = [row for row, one in enumerate(batch) if one.passage]
    if len(answered) > 1:
        passages = [batch[row].passage for row in answered]
        total = total + _told_apart(vectors[answered], targets.of(passages), passages)
    return total


def _told_apart(vectors: Tensor, targets: Tensor, texts: Sequence[str]) -> Tensor:
    """Cross entropy of choosing one's own among all targets of the batch; another wording's equal one does not count."""
    same = torch.tensor([[a == b and i != j for j, b in enumerate(texts)] for i, a in enumerate(texts)])
    logits = (_SHARPNESS * vectors @ targets.T).masked_fill(same, -1e4)
    return functional.cross_entropy(logits, torch.arange(len(texts)), reduction="sum")


def _passages(statements: Sequence[tuple[str, str]]) -> tuple[list[str], list[int]]:
    """Passages of some statements each, and for each statement the number of its passage."""
    passages, places, size = [""], [], 0
    for text, _ in statements:
        if size and size + len(text) > _PASSAGE_CHARACTERS:
            passages.append("")
            size = 0
        passages[-1] = f"{passages[-1]} {text}".strip()
        places.append(len(passages) - 1)
        size += len(text)
    return passages, places
