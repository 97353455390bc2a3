"""How near texts are to a question: token by token where the embedder gives vectors of tokens, as wholes where it does not.

Khattab and Zaharia, "ColBERT: Efficient and Effective Passage Search via Contextualized Late Interaction over BERT", 2020.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from citewell.ports import Embedder, EmbedderWrapper, FloatMatrix, TokenEmbedder
from citewell.ports.metering import spend
from citewell.retrieve.options import traits_of
from citewell.types import Usage

_REMEMBERED = 256


@dataclass(frozen=True, slots=True)
class Nearness:
    """How near a text is to a question.

    similarity: cosine of the two as wholes
    interaction: mean over the question's tokens of the greatest cosine with a token of the text; the similarity without tokens
    vector:     unit vector of the text
    by_token:   the greatest cosine of each of the question's tokens; empty without tokens
    """

    similarity: float
    interaction: float
    vector: FloatMatrix
    by_token: FloatMatrix

    def of_tokens(self, first: int, last: int) -> float:
        """The interaction of the question's tokens first..last, last excluded; of the whole question where it has none of them."""
        part = self.by_token[first:last]
        return float(part.mean()) if len(part) else self.interaction


async def similarities(embedder: Embedder, question: str, texts: Sequence[str]) -> list[float] | None:
    """How near each text is to the question, on the scale of the built-in English model; None of a model for which it is not known."""
    traits = traits_of(embedder.fingerprint)
    if not texts or traits.scale is None:
        return None
    asked = (await embedder.embed([question], "query"))[0]
    scaled = [traits.similarity(float(vector @ asked)) for vector in await embedder.embed(list(texts), "document")]
    return [value for value in scaled if value is not None]


class NearnessMeter:
    """Measures texts against a question in one pass of the model. Token vectors of the texts seen last are remembered, as one
    conversation keeps finding the same ones."""

    def __init__(self, embedder: Embedder) -> None:
        self._embedder = embedder
        self._remembered: OrderedDict[str, FloatMatrix] = OrderedDict()

    async def measure(self, question: str, texts: Sequence[str]) -> list[Nearness]:
        """One value per text, in the order given."""
        embedder: Embedder | TokenEmbedder = self._embedder
        while isinstance(embedder, EmbedderWrapper):
            embedder = embedder.inner
        if isinstance(embedder, TokenEmbedder):
            return await self._by_tokens(embedder, question, texts)
        vectors = await self._embedder.embed([*texts, question], "query")
        none = np.empty(0, np.float32)
        return [Nearness(float(v @ vectors[-1]), float(v @ vectors[-1]), v, none) for v in vectors[:-1]]

    async def _by_tokens(self, embedder: TokenEmbedder, question: str, texts: Sequence[str]) -> list[Nearness]:
        asked, *found = await self._token_vectors(embedder, [question, *texts])
        whole = _whole(asked)
        measured: list[Nearness] = []
        for tokens in found:
            vector = _whole(tokens)
            by_token = (asked @ tokens.T).max(axis=1) if len(asked) and len(tokens) else np.zeros(1, np.float32)
            measured.append(Nearness(float(vector @ whole), float(by_token.mean()), vector, by_token))
        return measured

    async def _token_vectors(self, embedder: TokenEmbedder, texts: Sequence[str]) -> list[FloatMatrix]:
        fingerprint = self._embedder.fingerprint
        key = str(fingerprint)
        known = {text: self._remembered[key + text] for text in set(texts) if key + text in self._remembered}
        new = [text for text in dict.fromkeys(texts) if text not in known]
        if new:
            known |= dict(zip(new, await embedder.token_vectors(new, "query"), strict=True))
            tokens = sum(len(known[text]) for text in new)
            spend(
                Usage(
                    kind="embedding",
                    provider=fingerprint.provider,
                    model=fingerprint.model,
                    input_tokens=tokens,
                    units=len(new),
                )
            )
        for text, vectors in known.items():
            self._remembered[key + text] = vectors
            self._remembered.move_to_end(key + text)
        while len(self._remembered) > _REMEMBERED:
            self._remembered.popitem(last=False)
        return [known[text] for text in texts]


def _whole(tokens: FloatMatrix) -> FloatMatrix:
    """The unit vector in the direction of the mean of a text's tokens."""
    mean = tokens.mean(axis=0) if len(tokens) else np.zeros(tokens.shape[-1], np.float32)
    return np.asarray(mean / (np.linalg.norm(mean) or 1.0), np.float32)
