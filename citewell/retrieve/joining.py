"""Fuses the hits of a query's two legs, here or in the index's process."""

from __future__ import annotations

from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass

from citewell.retrieve.feedback import pulls_of
from citewell.retrieve.fusion import convex, distribution_based, hybrid, judged_by_words, ordered, reciprocal_rank
from citewell.retrieve.options import FusionMethod
from citewell.types import ScoredId, scored

ACROSS_WEIGHT = 0.8
"""The dense leg's least share where passage and question are in different languages, which have few words in common (decision 0034)."""


@dataclass(frozen=True, slots=True)
class Joining:
    """How a query's two lists are fused, and which hits pull its vector. Implements `citewell.ports.second_pass.Pulling`.

    weight:          of the dense leg, 0 to 1
    typical_spread:  see `hybrid`
    feedback_chunks: how many of the best hits pull the query's vector; feedback_weight: how far
    lexical:         the hits of the lexical leg
    unseen:          ids without vectors yet, which the dense leg cannot find
    foreign:         ids of hits in another language than the question's, with a model that reads both
    """

    method: FusionMethod
    weight: float
    typical_spread: float
    feedback_chunks: int
    feedback_weight: float
    lexical: Sequence[ScoredId]
    unseen: AbstractSet[str]
    foreign: AbstractSet[str] = frozenset()

    def fuse(self, dense: Sequence[ScoredId]) -> list[ScoredId]:
        """The fused list, best first."""
        fused = self.summed(dense)
        return judged_by_words(fused, self.unseen, 1.0 - self.weight) if dense and self.unseen else fused

    def pulls(self, dense: Sequence[ScoredId]) -> tuple[tuple[str, float], ...]:
        """See `Pulling.pulls`; none without feedback."""
        best = self.fuse(dense)[: self.feedback_chunks] if self.feedback_chunks else []
        return pulls_of(best, self.feedback_weight) if best else ()

    def summed(self, dense: Sequence[ScoredId]) -> list[ScoredId]:
        """Like `fuse`, as if every chunk had a vector."""
        fused = self._weighted(dense, self.weight)
        if not self.foreign or not 0.0 < self.weight < ACROSS_WEIGHT:
            return fused
        across = dict(self._weighted(dense, ACROSS_WEIGHT))
        return ordered({key: across[key] if key in self.foreign else score for key, score in fused})

    def _weighted(self, dense: Sequence[ScoredId], weight: float) -> list[ScoredId]:
        shares = [weight, 1.0 - weight]
        match self.method:
            case FusionMethod.HYBRID:
                return hybrid(dense, self.lexical, weight, self.typical_spread)
            case FusionMethod.CONVEX:
                return convex([dense, self.lexical], shares)
            case FusionMethod.DISTRIBUTION:
                return distribution_based([dense, self.lexical], shares)
            case FusionMethod.RECIPROCAL_RANK:
                return reciprocal_rank([dense, self.lexical], shares)

    def __reduce__(self) -> tuple[object, ...]:
        # Send plain tuples: each named tuple would be pickled with the name of its type.
        how = (self.method, self.weight, self.typical_spread, self.feedback_chunks, self.feedback_weight)
        return _received, (type(self), *how, tuple(zip(*self.lexical, strict=True)), self.unseen, self.foreign)


def _received(
    kind: type[Joining],
    method: FusionMethod,
    weight: float,
    typical_spread: float,
    feedback_chunks: int,
    feedback_weight: float,
    ids_and_scores: Sequence[Sequence[str | float]],
    unseen: AbstractSet[str],
    foreign: AbstractSet[str],
) -> Joining:
    lexical = scored(zip(*ids_and_scores, strict=True))
    return kind(method, weight, typical_spread, feedback_chunks, feedback_weight, lexical, unseen, foreign)
