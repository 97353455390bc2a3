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
    ProviderQuotaSpent,
    ProviderRateLimited,
    ProviderRejected,
    ProviderUnavailable,
)
from citewell.ports import Reranker
from citewell.ports.metering import MeteredReranker, tallied
from citewell.testing.embedder_suite import ScriptedFault

QUERY = "when is a loan due"
DOCUMENTS = ("The canteen opens at noon.", "A loan is due after four weeks.", "Opening hours of the library.")
ODD = ("", " ", "\u0000", "北京大学图书馆", "👩‍👩‍👧 family", "half \ud83d a pair")

ScriptedReranker: TypeAlias = Callable[..., Reranker]


class RerankerConformance:
    """Tests that every reranker must pass."""

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

    async def test_texts_of_any_length_are_ranked(self, reranker: Reranker) -> None:
        long = ["word " * 10_000, DOCUMENTS[1] + " word" * 10_000, "x" * 50_000]
        assert {one.index for one in await reranker.rerank(QUERY, long, len(long))} == {0, 1, 2}

    async def test_calls_at_once_do_not_mix(self, reranker: Reranker) -> None:
        turned = DOCUMENTS[::-1]
        first, second = await asyncio.gather(
            reranker.rerank(QUERY, DOCUMENTS, 1), reranker.rerank(QUERY, (*turned, "And more."), 1)
        )
        assert (first[0].index, second[0].index) == (1, 1)

    def test_it_has_a_name(self, reranker: Reranker) -> None:
        assert reranker.model


class RemoteRerankerConformance(RerankerConformance):
    """Tests for rerankers that call a provider."""

    @pytest.fixture
    def scripted(self) -> ScriptedReranker:
        """Override: `scripted(*faults)` is a reranker whose provider fails with these faults, one per request."""
        raise AssertionError("Define the fixture `scripted`.")

    @pytest.fixture
    def reranker(self, scripted: ScriptedReranker) -> Reranker:
        """A reranker whose provider works."""
        return scripted()

    @pytest.mark.parametrize(
        ("status", "message", "error"),
        [
            (400, "scripted", ProviderRejected),
            (401, "scripted", ProviderAuthError),
            (403, "scripted", ProviderAuthError),
            (402, "scripted", ProviderQuotaSpent),
            (404, "The model `m` does not exist", ProviderModelGone),
            (408, "scripted", ProviderUnavailable),
            (429, "scripted", ProviderRateLimited),
            (429, "You exceeded your current quota.", ProviderQuotaSpent),
            (500, "scripted", ProviderUnavailable),
            (503, "scripted", ProviderUnavailable),
            (504, "scripted", ProviderUnavailable),
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

    async def test_the_wait_that_the_provider_asks_for_is_told(self, scripted: ScriptedReranker) -> None:
        with pytest.raises(ProviderRateLimited) as raised:
            await scripted(ScriptedFault(status=429, retry_after="7")).rerank(QUERY, DOCUMENTS, 3)
        assert raised.value.retry_after == 7.0

    async def test_more_documents_than_a_call_holds_are_ranked_as_far_as_it_goes(
        self, scripted: ScriptedReranker
    ) -> None:
        texts = [DOCUMENTS[1], *(f"text {n}" for n in range(1_500))]
        assert [one.index for one in await scripted().rerank(QUERY, texts, 1)] == [0]

    async def test_it_can_be_cancelled_and_used_again(self, scripted: ScriptedReranker) -> None:
        reranker = scripted(ScriptedFault(pause=30.0))
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(reranker.rerank(QUERY, DOCUMENTS, 3), 2.0)  # by then the server has the request
        assert len(await reranker.rerank(QUERY, DOCUMENTS, 3)) == 3

    async def test_what_it_costs_is_counted(self, scripted: ScriptedReranker) -> None:
        with tallied() as tally:
            await MeteredReranker(scripted(), "somebody").rerank(QUERY, DOCUMENTS, 3)
        [spent] = tally.of("rerank")
        assert (spent.units, spent.input_tokens > 0) == (1, True)
