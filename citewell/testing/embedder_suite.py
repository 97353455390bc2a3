"""The conformance suites of the `Embedder` port.

Subclass `EmbedderConformance` and define the fixture `embedder`. For one that calls a provider, subclass `RemoteEmbedderConformance`
instead and define the fixture `scripted`: a function from what the provider shall do, request by request, to an embedder that talks to
that provider; after these it answers as it should.

    class TestMyEmbedder(RemoteEmbedderConformance):
        @pytest.fixture
        def scripted(self):
            return lambda *faults: MyEmbedder(provider_that_fails(faults))
"""

from __future__ import annotations

import asyncio
import io
from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
import pytest
from PIL import Image

from citewell.errors import (
    ProviderAuthError,
    ProviderError,
    ProviderModelGone,
    ProviderQuotaSpent,
    ProviderRateLimited,
    ProviderRejected,
    ProviderUnavailable,
)
from citewell.ports import Embedder, ImageInput, Pictured, RemoteEmbedder, multimodal
from citewell.ports.metering import MeteredEmbedder, tallied

TEXTS = ("The library lends books.", "A loan is due after four weeks.", "Ein Buch kostet 12,50 €.")
_COLOURS = ("red", "lime", "blue")
ODD = (
    "",
    " ",
    "\n",
    "\u0000",
    "naïve café",
    "北京大学图书馆",
    "مكتبة",
    "👩‍👩‍👧 family",
    "half \ud83d a pair",
    "e\u0301" * 40,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class ScriptedFault:
    """What the provider shall do with one request: an HTTP error with these words, an answer of these bytes, or a pause in seconds."""

    status: int = 200
    message: str = "scripted"
    retry_after: str | None = None
    body: bytes | None = None
    pause: float = 0.0


ScriptedEmbedder: TypeAlias = Callable[..., RemoteEmbedder]


class EmbedderConformance:
    """What every embedder does."""

    @pytest.fixture
    def embedder(self) -> Embedder:
        """Override: the embedder."""
        raise AssertionError("Define the fixture `embedder`.")

    async def test_rows_are_unit_vectors_of_the_declared_length(self, embedder: Embedder) -> None:
        for kind in ("document", "query"):
            vectors = await embedder.embed(TEXTS, kind)
            assert vectors.shape == (len(TEXTS), embedder.fingerprint.dimensions)
            assert vectors.dtype == np.float32
            assert np.allclose(np.linalg.norm(vectors, axis=1), 1.0, atol=1e-4)

    async def test_rows_are_in_the_order_of_the_texts(self, embedder: Embedder) -> None:
        forward, backward = await embedder.embed(TEXTS), await embedder.embed(TEXTS[::-1])
        assert np.allclose(forward, backward[::-1], atol=1e-3)

    async def test_different_texts_have_different_vectors(self, embedder: Embedder) -> None:
        vectors = await embedder.embed(TEXTS)
        assert float((vectors @ vectors.T - np.eye(len(TEXTS))).max()) < 0.99

    async def test_nothing_gives_nothing(self, embedder: Embedder) -> None:
        assert (await embedder.embed([])).shape == (0, embedder.fingerprint.dimensions)

    async def test_any_string_has_a_vector(self, embedder: Embedder) -> None:
        vectors = await embedder.embed(ODD)
        assert np.isfinite(vectors).all()
        assert np.allclose(np.linalg.norm(vectors, axis=1), 1.0, atol=1e-4)

    async def test_a_text_of_any_length_has_a_vector(self, embedder: Embedder) -> None:
        assert len(await embedder.embed(["word " * 10_000])) == 1

    async def test_calls_at_once_do_not_mix(self, embedder: Embedder) -> None:
        alone = [await embedder.embed([text]) for text in TEXTS]
        together = await asyncio.gather(*(embedder.embed([text]) for text in TEXTS))
        assert np.allclose(np.concatenate(alone), np.concatenate(together), atol=1e-3)

    def test_its_fingerprint_tells_the_vectors_apart(self, embedder: Embedder) -> None:
        name = embedder.fingerprint
        assert name.provider
        assert name.model
        assert str(name.dimensions) in str(name)

    def test_its_tokens_are_counted_and_placed(self, embedder: Embedder) -> None:
        text = "The library lends 1,250 books."
        spans = embedder.tokenizer.offsets(text)
        assert embedder.tokenizer.count([text, ""]) == [len(spans), 0]
        assert all(0 <= start < end <= len(text) for start, end in spans)
        assert embedder.max_tokens >= 64


class MultimodalEmbedderConformance:
    """What every embedder does besides that declares `MULTIMODAL`; add it to the other suite's bases."""

    async def test_pictures_have_unit_vectors_in_their_order(self, embedder: Embedder) -> None:
        seeing = multimodal(embedder)
        assert seeing is not None
        pictures = [Pictured(_plain(colour)) for colour in _COLOURS]
        forward, backward = await seeing.embed_pictures(pictures), await seeing.embed_pictures(pictures[::-1])
        assert forward.shape == (len(pictures), embedder.fingerprint.dimensions)
        assert np.allclose(np.linalg.norm(forward, axis=1), 1.0, atol=1e-4)
        assert np.allclose(forward, backward[::-1], atol=1e-3)
        assert float((forward @ forward.T - np.eye(len(pictures))).max()) < 0.99

    async def test_words_beside_a_picture_change_its_vector(self, embedder: Embedder) -> None:
        seeing = multimodal(embedder)
        assert seeing is not None
        bare, told = await seeing.embed_pictures([Pictured(_plain("red")), Pictured(_plain("red"), TEXTS[0])])
        assert float(bare @ told) < 0.999

    async def test_no_pictures_have_no_vectors(self, embedder: Embedder) -> None:
        seeing = multimodal(embedder)
        assert seeing is not None
        assert (await seeing.embed_pictures([])).shape == (0, embedder.fingerprint.dimensions)

    async def test_pictures_are_metered(self, embedder: Embedder) -> None:
        with tallied() as tally:
            await MeteredEmbedder(embedder).embed_pictures([Pictured(_plain("red")), Pictured(_plain("blue"))])
        [spent] = tally.of("embedding")
        assert (spent.units, spent.input_tokens > 0) == (2, True)


def _plain(colour: str) -> ImageInput:
    file = io.BytesIO()
    Image.new("RGB", (96, 64), colour).save(file, "PNG")
    return ImageInput(file.getvalue(), "image/png")


class RemoteEmbedderConformance(EmbedderConformance):
    """What every embedder does that calls a provider."""

    @pytest.fixture
    def scripted(self) -> ScriptedEmbedder:
        """Override: `scripted(*faults)` is an embedder whose provider fails so, one request after the other."""
        raise AssertionError("Define the fixture `scripted`.")

    @pytest.fixture
    def embedder(self, scripted: ScriptedEmbedder) -> Embedder:
        """One whose provider answers as it should."""
        return scripted()

    def test_it_says_how_much_one_call_may_hold(self, scripted: ScriptedEmbedder) -> None:
        limits = scripted().limits
        assert limits.texts >= 1
        assert limits.tokens >= scripted().max_tokens or limits.texts > 1

    async def test_a_call_at_its_limit_is_taken(self, scripted: ScriptedEmbedder) -> None:
        embedder = scripted()
        count = min(embedder.limits.texts, 2_100)
        assert len(await embedder.embed([f"text {n}" for n in range(count)])) == count

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
        self, scripted: ScriptedEmbedder, status: int, message: str, error: type[ProviderError]
    ) -> None:
        with pytest.raises(error):
            await scripted(ScriptedFault(status=status, message=message)).embed(TEXTS)

    async def test_the_wait_that_the_provider_asks_for_is_told(self, scripted: ScriptedEmbedder) -> None:
        with pytest.raises(ProviderRateLimited) as raised:
            await scripted(ScriptedFault(status=429, retry_after="7")).embed(TEXTS)
        assert raised.value.retry_after == 7.0

    @pytest.mark.parametrize(
        "body", [b"<html>", b"[]", b"{}", b'{"data": [], "usage": {}}', b'{"data": null}', b'"no"']
    )
    async def test_an_answer_that_is_not_as_documented_is_an_error(
        self, scripted: ScriptedEmbedder, body: bytes
    ) -> None:
        with pytest.raises(ProviderUnavailable):
            await scripted(ScriptedFault(body=body)).embed(TEXTS)

    async def test_it_can_be_cancelled_and_used_again(self, scripted: ScriptedEmbedder) -> None:
        embedder = scripted(ScriptedFault(pause=30.0))
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(embedder.embed(TEXTS), 0.2)
        assert len(await embedder.embed(TEXTS)) == len(TEXTS)

    async def test_queries_are_counted_too(self, scripted: ScriptedEmbedder) -> None:
        with tallied() as tally:
            await MeteredEmbedder(scripted()).embed(TEXTS[:1], "query")
        [spent] = tally.of("embedding")
        assert (spent.units, spent.input_tokens > 0) == (1, True)

    async def test_what_the_provider_charges_is_counted(self, scripted: ScriptedEmbedder) -> None:
        embedder = scripted()
        with tallied() as tally:
            await MeteredEmbedder(embedder).embed(TEXTS)
        [spent] = tally.of("embedding")
        assert (spent.provider, spent.model) == (embedder.fingerprint.provider, embedder.fingerprint.model)
        assert (spent.units, spent.input_tokens > 0) == (len(TEXTS), True)
