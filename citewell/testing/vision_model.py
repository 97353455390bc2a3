"""The conformance suite of the `VisionModel` port.

Subclass `VisionModelConformance` and define the fixture `scripted`, as in `citewell.testing.chat_model`: a function that takes the
provider's answers, one per request, and returns a model that talks to that provider.
"""

from __future__ import annotations

import asyncio
import io
from collections.abc import Callable
from typing import TypeAlias

import pytest
from PIL import Image

from citewell.errors import ProviderAuthError, ProviderError, ProviderRateLimited, ProviderRejected, ProviderUnavailable
from citewell.ports import ImageInput, VisionModel, close_connections
from citewell.ports.metering import MeteredVision, tallied
from citewell.testing.chat_model import MALFORMED, ODD, ScriptedAnswer

ScriptedVision: TypeAlias = Callable[..., VisionModel]
PROMPT = "Describe what is shown."


def picture(kind: str = "PNG", side: int = 64) -> ImageInput:
    """A picture of one colour."""
    file = io.BytesIO()
    Image.new("RGB", (side, side), "navy").save(file, kind)
    return ImageInput(file.getvalue(), f"image/{kind.lower()}")


class VisionModelConformance:
    """Tests that every vision model must pass."""

    @pytest.fixture
    def scripted(self) -> ScriptedVision:
        """Override: `scripted(*answers)` is a model whose provider gives these answers, and then repeats the last one."""
        raise AssertionError("Define the fixture `scripted`.")

    @pytest.mark.parametrize("kind", ["PNG", "JPEG", "WEBP"])
    async def test_a_picture_is_described(self, scripted: ScriptedVision, kind: str) -> None:
        model = scripted(ScriptedAnswer(text="\n A bar chart of four quarters. "))
        assert await model.describe(picture(kind), PROMPT) == "A bar chart of four quarters."

    async def test_a_large_picture_is_described(self, scripted: ScriptedVision) -> None:
        model = scripted(ScriptedAnswer(text="A navy field."))
        assert await model.describe(picture(side=1_568), PROMPT) == "A navy field."

    @pytest.mark.parametrize("text", ODD)
    async def test_any_text_is_asked_and_answered(self, scripted: ScriptedVision, text: str) -> None:
        assert await scripted(ScriptedAnswer(text=text)).describe(picture(), text) == text.strip()

    @pytest.mark.parametrize(
        ("status", "error"),
        [
            (400, ProviderRejected),
            (401, ProviderAuthError),
            (429, ProviderRateLimited),
            (500, ProviderUnavailable),
            (503, ProviderUnavailable),
        ],
    )
    async def test_status_codes_are_our_errors(
        self, scripted: ScriptedVision, status: int, error: type[ProviderError]
    ) -> None:
        with pytest.raises(error):
            await scripted(ScriptedAnswer(status=status)).describe(picture(), PROMPT)

    @pytest.mark.parametrize("body", MALFORMED)
    async def test_an_answer_that_is_not_as_documented_is_an_error(self, scripted: ScriptedVision, body: bytes) -> None:
        with pytest.raises(ProviderError):
            await scripted(ScriptedAnswer(body=body)).describe(picture(), PROMPT)

    async def test_a_description_that_breaks_off_is_an_error(self, scripted: ScriptedVision) -> None:
        with pytest.raises(ProviderUnavailable):
            await scripted(ScriptedAnswer(text="A bar chart.", breaks_off=True)).describe(picture(), PROMPT)

    async def test_a_refusal_is_an_error(self, scripted: ScriptedVision) -> None:
        with pytest.raises(ProviderRejected):
            await scripted(ScriptedAnswer(text="I cannot.", refuses=True)).describe(picture(), PROMPT)

    async def test_it_can_be_cancelled_and_used_again(self, scripted: ScriptedVision) -> None:
        model = scripted(ScriptedAnswer(text="Too late.", pause=30.0), ScriptedAnswer(text="A chart."))
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(model.describe(picture(), PROMPT), 0.3)
        assert await model.describe(picture(), PROMPT) == "A chart."

    async def test_pictures_described_at_once_do_not_mix(self, scripted: ScriptedVision) -> None:
        model = scripted(ScriptedAnswer(text="A navy field.", pause=0.02))
        found = await asyncio.gather(*(model.describe(picture(), PROMPT) for _ in range(4)))
        assert set(found) == {"A navy field."}

    async def test_what_it_costs_is_counted(self, scripted: ScriptedVision) -> None:
        model = scripted(ScriptedAnswer(text="A bar chart of four quarters."))
        with tallied() as tally:
            await MeteredVision(model, "somebody").describe(picture(), PROMPT)
        [spent] = tally.of("vision")
        assert (spent.model, spent.units) == (model.model, 1)
        assert spent.input_tokens > 0
        assert spent.output_tokens > 0

    async def test_it_can_be_closed_and_used_again(self, scripted: ScriptedVision) -> None:
        model = scripted(ScriptedAnswer(text="A chart."))
        for _ in range(2):
            assert await model.describe(picture(), PROMPT) == "A chart."
            await close_connections(model)
