"""OpenAI's embeddings API, and every compatible endpoint (Ollama, vLLM, LM Studio, TEI), through OpenAI's package.

Limits: OpenAI's OpenAPI document of August 2026, `CreateEmbeddingRequest`.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

import httpx2
import openai

from citewell.adapters.bounded import BOUNDED
from citewell.adapters.chat import errors
from citewell.adapters.embedder.counting import ApproximateTokenizer
from citewell.adapters.embedder.remote import ChosenModel, ModelFacts, choose, ordered, sendable, unit_rows
from citewell.adapters.http import SECONDS, WHOLE_SECONDS, malformed, too_slow
from citewell.adapters.keys import require_key
from citewell.errors import CitewellError
from citewell.ports import CallLimits, FloatMatrix, TextKind
from citewell.settings import OpenAIEmbedding

USUAL_MODEL = "text-embedding-3-small"
ADDRESS = "https://api.openai.com/v1"
LIMITS = CallLimits(texts=2_048, tokens=300_000)
_READ = 8_192
MODELS = {
    USUAL_MODEL: ModelFacts(dimensions=1_536, max_tokens=_READ, call_tokens=LIMITS.tokens, any_below=True),
    "text-embedding-3-large": ModelFacts(dimensions=3_072, max_tokens=_READ, call_tokens=LIMITS.tokens, any_below=True),
    "text-embedding-ada-002": ModelFacts(dimensions=1_536, max_tokens=_READ, call_tokens=LIMITS.tokens),
}
# Self-hosted servers accept fewer texts at once: TEI 32 by default, the others as memory allows.
COMPATIBLE_LIMITS = CallLimits(texts=32, tokens=16_384)


class OpenAIEmbedder:
    """Implements `citewell.ports.RemoteEmbedder`. These models embed documents and queries alike. Does not retry."""

    def __init__(self, model: ChosenModel, key: str, address: str = ADDRESS, *, is_compatible: bool = False) -> None:
        """is_compatible: a server that may lack OpenAI's `base64` encoding, so vectors are requested as numbers."""
        self.fingerprint = model.fingerprint
        self.max_tokens = model.max_tokens
        self.limits = model.limits
        self.tokenizer = ApproximateTokenizer()
        self._model = model
        self._encoding = "float" if is_compatible else "base64"
        self._client = openai.AsyncOpenAI(
            api_key=key, base_url=address, max_retries=0, timeout=SECONDS, http_client=_connections()
        )

    async def embed(self, texts: Sequence[str], kind: TextKind = "document") -> FloatMatrix:
        """As `citewell.ports.Embedder.embed`."""
        if not texts:
            return unit_rows([], self.fingerprint.dimensions)
        try:
            async with asyncio.timeout(WHOLE_SECONDS):
                answer = await self._client.embeddings.create(
                    input=[sendable(text) for text in texts],
                    model=self._model.name,
                    dimensions=self._model.asked_dimensions or openai.omit,
                    encoding_format="float" if self._encoding == "float" else openai.omit,
                )
        except TimeoutError:
            raise too_slow(WHOLE_SECONDS) from None
        except (openai.OpenAIError, httpx2.HTTPError, httpx2.StreamError, ValueError) as error:
            raise _ours(error) from error
        # Compatible servers omit fields that the package's types require.
        data = getattr(answer, "data", None)
        rows = ordered([(item.index, item.embedding) for item in data or ()], len(texts))
        return unit_rows(rows, self.fingerprint.dimensions)

    async def close(self) -> None:
        """As `citewell.ports.RemoteEmbedder.close`."""
        await self._client.close()
        self._client = self._client.copy(http_client=_connections())


def _connections() -> openai.DefaultAsyncHttpxClient:
    return openai.DefaultAsyncHttpxClient(timeout=SECONDS, event_hooks=BOUNDED)


def _ours(error: Exception) -> CitewellError:
    if isinstance(error, openai.APIStatusError):
        return errors.from_status_error(error)
    if isinstance(error, openai.APIConnectionError | httpx2.HTTPError | httpx2.StreamError):
        return errors.connection_failed(error)
    return malformed(str(error)[:200]) if isinstance(error, ValueError) else errors.other(error)


def build(settings: OpenAIEmbedding) -> OpenAIEmbedder:
    """Build the embedder. Raises `ConfigurationError` without a key, or for an unknown model or vector length."""
    own = settings.base_url is not None
    model = choose(settings, MODELS, None if own else USUAL_MODEL, COMPATIBLE_LIMITS if own else LIMITS)
    if own and settings.api_key is None:
        return OpenAIEmbedder(model, "none", settings.base_url or ADDRESS, is_compatible=True)
    key = require_key(settings, "OPENAI_API_KEY, or CITEWELL_EMBEDDING_BASE_URL for another endpoint")
    return OpenAIEmbedder(model, key, settings.base_url or ADDRESS, is_compatible=own)
