"""Wrappers of models pass on everything that they do not change."""

from __future__ import annotations

from collections.abc import Sequence

from citewell.ports import ImageInput, Reranked, Reranker, RerankerWrapper, VisionModel, VisionModelWrapper


class _Model:
    model = "plain"

    def __init__(self) -> None:
        self.closed = 0

    async def rerank(self, query: str, documents: Sequence[str], top_k: int) -> list[Reranked]:
        return [Reranked(index, float(len(query))) for index in range(len(documents))][:top_k]

    async def describe(self, image: ImageInput, prompt: str) -> str:
        return f"{image.mime_type}: {prompt}"

    async def close(self) -> None:
        self.closed += 1


async def test_a_wrapper_of_a_reranker_is_one() -> None:
    inner = _Model()
    wrapper = RerankerWrapper(inner)
    assert isinstance(wrapper, Reranker)
    assert wrapper.model == "plain"
    assert await wrapper.rerank("abc", ["x", "y", "z"], 2) == [Reranked(0, 3.0), Reranked(1, 3.0)]
    await wrapper.close()
    assert inner.closed == 1


async def test_a_wrapper_of_a_vision_model_is_one() -> None:
    inner = _Model()
    wrapper = VisionModelWrapper(inner)
    assert isinstance(wrapper, VisionModel)
    assert wrapper.model == "plain"
    assert await wrapper.describe(ImageInput(b"", "image/png"), "what is it?") == "image/png: what is it?"
    await wrapper.close()
    assert inner.closed == 1
