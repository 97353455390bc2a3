"""The built-in reranker: late interaction over the built-in model's token vectors, without a key or a download.

Khattab and Zaharia, "ColBERT: Efficient and Effective Passage Search via Contextualized Late Interaction over BERT", 2020;
here with a model trained for whole sentences rather than for late interaction.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Sequence

import numpy as np

from citewell.adapters.embedder.builtin import BuiltinEmbedder
from citewell.ports import FloatMatrix, Reranked, TokenEmbedder
from citewell.settings import BuiltinRerank

MODEL = "late-interaction"
_REMEMBERED = 256


class LateInteractionReranker:
    """Scores a document by its best match for each query token: the mean of the greatest cosines.

    Caches the token vectors of recent documents, because a conversation keeps finding the same ones.
    """

    model = MODEL

    def __init__(self, embedder: TokenEmbedder) -> None:
        self._embedder = embedder
        self._remembered: OrderedDict[str, FloatMatrix] = OrderedDict()

    async def rerank(self, query: str, documents: Sequence[str], top_k: int) -> list[Reranked]:
        """At most `top_k` documents, best first; scores in -1..1, ties in input order."""
        asked = (await self._embedder.token_vectors([query], "query"))[0]
        vectors = await self._vectors(documents)
        scored = [Reranked(index, _interaction(asked, found)) for index, found in enumerate(vectors)]
        return sorted(scored, key=lambda item: (-item.score, item.index))[: max(0, top_k)]

    async def _vectors(self, documents: Sequence[str]) -> list[FloatMatrix]:
        known = {text: self._remembered[text] for text in set(documents) if text in self._remembered}
        new = list(dict.fromkeys(text for text in documents if text not in known))
        if new:
            known |= dict(zip(new, await self._embedder.token_vectors(new, "query"), strict=True))
        for text in known:
            self._remembered[text] = known[text]
            self._remembered.move_to_end(text)
        while len(self._remembered) > _REMEMBERED:
            self._remembered.popitem(last=False)
        return [known[text] for text in documents]


def build(settings: BuiltinRerank) -> LateInteractionReranker:
    """Build the built-in reranker, with its own built-in embedder."""
    return LateInteractionReranker(BuiltinEmbedder.load())


def _interaction(query: FloatMatrix, document: FloatMatrix) -> float:
    if not len(query) or not len(document):
        return -1.0
    return float(np.mean((query @ document.T).max(axis=1)))
