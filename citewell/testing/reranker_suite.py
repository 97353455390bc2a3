"""The conformance suites of the `Reranker` port.

Subclass `RerankerConformance` and define the fixture `reranker`; for one that calls a provider, subclass `RemoteRerankerConformance`
and define `scripted`, as in `citewell.testing.embedder_suite`.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import TypeAlias

import pytest

from citewell.errors import (
    ProviderAuthError,
    ProviderError,
    ProviderModelGone,
    ProviderRateLimited,
    ProviderRejected,
    ProviderUnavailable,
)
from citewell.metering import MeteredReranker, tallied
from citewell.ports import Reranker
from citewell.testing.embedder_suite import ScriptedFault

QUERY = "when is a loan due"
DOCUMENTS = ("The canteen opens at noon.", "A loan is due after four weeks.", "Opening hours of the library.")
ODD = ("", " ", "\u0000", "北京大学图书馆", "👩‍👩‍👧 family", "half \ud83d a pair")

ScriptedReranker: TypeAlias = Callable[..., Reranker]


class RerankerConformance:
    """What every reranker does."""

    @pytest.fixture
    def reranker(self) -> Reranker:
        """Override: the reranker."""
        raise AssertionError("Define the fixture `reranker`.")

    async def test_the_text_that_answers_comes_first(self, reranker: Reranker) -> None:
        ranked = await reranker.rerank(QUERY, DOCUMENTS, len(DOCUMENTS))
        assert ranked[0].index == 1
        assert {one.index for one in ranked} == {0, 1, 2}
        assert [one.score for one in ranked] == sorted((one.score for one in ranked), reverse=True)

    async def test_no_more_come_back_than_were_asked_for(self, reranker: Reranker) -> None:
        assert [one.index for one in await reranker.rerank(QUERY, DOCUMENTS, 1)] == [1]
        assert len(await reranker.rerank(QUERY, DOCUMENTS, 50)) == len(DOCUMENTS)

    async def test_nothing_is_ranked_as_nothing(self, reranker: Reranker) -> None:
        assert await reranker.rerank(QUERY, [], 5) == []

    async def test_any_strings_are_ranked(self, reranker: Reranker) -> None:
        assert len(await reranker.rerank("北京 \ud83d", ODD, len(ODD))) == len(ODD)

    async def test_calls_at_once_do_not_mix(self, reranker: Reranker) -> None:
        turned = DOCUMENTS[::-1]
        first, second = await asyncio.gather(
            reranker.rerank(QUERY, DOCUMENTS, 1), reranker.rerank(QUERY, (*turned, "And more."), 1)
        )
        assert (first[0].index, second[0].index) == (1, 1)

    def test_it_has_a_name(self, reranker: Reranker) -> None:
        assert reranker.model


class RemoteRerankerConformance(RerankerConformance):
    """What every reranker does that calls a provider."""

    @pytest.fixture
    def scripted(self) -> ScriptedReranker:
        """Override: `scripted(*faults)` is a reranker whose provider fails so, one request after the other."""
        raise AssertionError("Define the fixture `scripted`.")

    @pytest.fixture
    def reranker(self, scripted: ScriptedReranker) -> Reranker:
        """One whose provider answers as it should."""
        return scripted()

    @pytest.mark.parametrize(
        ("status", "message", "error"),
        [
            (400, "scripted", ProviderRejected),
            (401, "scripted", ProviderAuthError),
            (404, "The model `m` does not exist", ProviderModelGone),
            (429, "scripted", ProviderRateLimited),
            (500, "scripted", ProviderUnavailable),
        ],
    )
    async def test_errors_are_ours(
        self, scripted: ScriptedReranker, status: int, message: str, error: type[ProviderError]
    ) -> None:
        with pytest.raises(error):
            await scripted(ScriptedFault(status=status, message=message)).rerank(QUERY, DOCUMENTS, 3)

    @pytest.mark.parametrize("body", [b"<html>", b"[]", b"{}", b'{"data": [], "results": [], "usage": {}}'])
    async def test_an_answer_that_is_not_as_documented_is_an_error(
        self, scripted: ScriptedReranker, body: bytes
    ) -> None:
        with pytest.raises(ProviderUnavailable):
            await scripted(ScriptedFault(body=body)).rerank(QUERY, DOCUMENTS, 3)

    async def test_what_it_costs_is_counted(self, scripted: ScriptedReranker) -> None:
        with tallied() as tally:
            await MeteredReranker(scripted(), "somebody").rerank(QUERY, DOCUMENTS, 3)
        [spent] = tally.of("rerank")
        assert (spent.units, spent.input_tokens > 0) == (1, True)
