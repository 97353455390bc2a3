"""Pictures are described by the vision model that the settings name, once; descriptions are elements, chunks and part of the report."""

from __future__ import annotations

import asyncio
import io
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from PIL import Image
from reportlab.lib.utils import ImageReader
from reportlab.pdfgen.canvas import Canvas

from citewell.adapters import registry
from citewell.composition import Services, open_services
from citewell.errors import ProviderAuthError, ProviderError, ProviderRejected, ProviderUnavailable
from citewell.ports import Embedder, ImageInput
from citewell.settings import EmbeddingSettings, VisionSettings, load_settings
from citewell.testing.embedder import HashEmbedder
from citewell.types import AskedOptions, Chunk, ChunkType, ElementType, Resource, Status
from tests.extract.pdf.drawing import Draw, lines, pdf, prose

pytestmark = pytest.mark.slow(15)


class ColourModel:
    """A vision model that names the picture's colour; fails as often as it is told to, and rejects one colour when told to."""

    model = "colours-1"

    def __init__(self) -> None:
        self.asked: list[ImageInput] = []
        self.failures: list[Exception] = []
        self.rejected = ""

    async def describe(self, image: ImageInput, prompt: str) -> str:
        self.asked.append(image)
        if self.failures:
            raise self.failures.pop(0)
        picture = Image.open(io.BytesIO(image.data))
        red, _, blue = picture.convert("RGB").resize((1, 1)).getpixel((0, 0))  # type: ignore[misc]
        colour = "crimson" if red > blue else "turquoise"
        if colour == self.rejected:
            raise ProviderRejected("The picture breaks a rule.")
        return f"A photograph of noise that is mostly {colour}."


@pytest.fixture
def model(monkeypatch: pytest.MonkeyPatch) -> ColourModel:
    seen = ColourModel()

    def vision(settings: VisionSettings) -> ColourModel | None:
        return seen if settings.provider == "openai" else None

    def embedder(settings: EmbeddingSettings) -> Embedder:
        return HashEmbedder("default", 64)

    monkeypatch.setenv("OPENAI_API_KEY", "of the model")
    monkeypatch.setattr(registry, "build_vision_model", vision)
    monkeypatch.setattr(registry, "build_embedder", embedder)
    return seen


def shaded(grain: Image.Image, most: int) -> Image.Image:
    return grain.point([value * most // 255 for value in range(256)])


def noise(red: int, blue: int) -> Image.Image:
    grain = Image.effect_noise((400, 300), 90)
    return Image.merge("RGB", (shaded(grain, red), grain, shaded(grain, blue)))


def document(pairs: int = 1) -> bytes:
    def page(picture: Image.Image) -> Draw:
        def draw(canvas: Canvas) -> None:
            lines(canvas, 60, 60, prose(6))
            canvas.drawImage(ImageReader(picture), 100, 300, 200, 150)

        return draw

    return pdf(*(page(noise(*shades)) for _ in range(pairs) for shades in ((255, 60), (60, 255))))


async def added(services: Services, data: bytes, name: str, multimodal: bool = True) -> Resource:
    async def pieces() -> AsyncIterator[bytes]:
        yield data

    file = await services.resources.capture.spool(pieces())
    options = AskedOptions(multimodal=multimodal)
    resource, _ = await services.resources.upload(services.local_owner, file, name, options=options)
    async with asyncio.timeout(60):
        return await services.resources.wait(services.local_owner, resource.id)


async def pictures(services: Services, resource: Resource) -> list[Chunk]:
    found, _ = await services.contents.content.chunks_page(resource.id, 100)
    return [chunk for chunk in found if chunk.type is ChunkType.IMAGE]


async def test_descriptions_become_chunks_that_cite_page_and_rectangle_of_their_picture(
    tmp_path: Path, model: ColourModel
) -> None:
    async with open_services(load_settings(data=tmp_path, ocr=False, vision_provider="openai")) as services:
        resource = await added(services, document(), "report.pdf")
        assert resource.status is Status.INDEXED
        first, second = await pictures(services, resource)
        assert "crimson" in first.text
        assert "turquoise" in second.text
        assert [chunk.locator.page for chunk in (first, second)] == [1, 2]
        stored = await services.search.chunks.load(services.local_owner, [first.id, second.id])
        shown = [stored[chunk.id].picture for chunk in (first, second)]
        assert [picture and picture.blob for picture in shown] == ["image-1.png", "image-2.png"]
        assert shown[0] is not None
        assert shown[0].resource_id == resource.id
        (box,) = first.locator.boxes
        assert (box.x0, box.x1) == pytest.approx((100, 300), abs=1)
        elements = [e async for batch in services.contents.content.iterate_elements(resource.id, 1) for e in batch]
        described = {e.id: e for e in elements if "describes" in e.metadata}
        assert [piece.element_id for piece in (*first.pieces, *second.pieces)] == list(described)
        originals = {e.id for e in elements if e.type is ElementType.IMAGE and e.id not in described}
        assert {str(e.metadata["describes"]) for e in described.values()} == originals
        assert resource.coverage is not None
        assert resource.coverage.elements == len(elements)
        assert resource.coverage.characters == sum(len(e.text) for e in elements)
        assert resource.coverage.characters == sum(unit.characters for unit in resource.coverage.units)
        assert {image.mime_type for image in model.asked} == {"image/jpeg"}


@pytest.mark.full
async def test_pictures_are_described_when_a_known_file_is_sent_again_with_that_wish(
    tmp_path: Path, model: ColourModel
) -> None:
    async with open_services(load_settings(data=tmp_path, ocr=False, vision_provider="openai")) as services:
        content = document()
        plain = await added(services, content, "report.pdf", multimodal=False)
        assert await pictures(services, plain) == []
        described = await added(services, content, "report.pdf")
        assert described.id == plain.id
        assert ["crimson" in chunk.text for chunk in await pictures(services, described)] == [True, False]
        asked = len(model.asked)
        await added(services, content, "report.pdf")
        assert len(model.asked) == asked, "nothing is described that is described already"
        again = await added(services, content, "report.pdf", multimodal=False)
        assert await pictures(services, again) == []


@pytest.mark.full
async def test_nothing_is_described_twice(tmp_path: Path, model: ColourModel) -> None:
    async with open_services(load_settings(data=tmp_path, ocr=False, vision_provider="openai")) as services:
        resource = await added(services, document(), "report.pdf")
        before = await pictures(services, resource)
        await services.resources.reindex(services.local_owner, resource.id)
        again = await services.resources.wait(services.local_owner, resource.id)
        assert len(model.asked) == 2
        assert [chunk.id for chunk in await pictures(services, again)] == [chunk.id for chunk in before]
        assert again.coverage == resource.coverage


@pytest.mark.full
async def test_a_photo_without_text_is_found_by_what_it_shows(tmp_path: Path, model: ColourModel) -> None:
    async with open_services(load_settings(data=tmp_path, ocr=False, vision_provider="openai")) as services:
        buffer = io.BytesIO()
        noise(255, 60).save(buffer, "TIFF")
        resource = await added(services, buffer.getvalue(), "photo.tif")
        assert resource.status is Status.DESCRIBED
        assert any("crimson" in chunk.text for chunk in await pictures(services, resource))


@pytest.mark.full
async def test_a_picture_that_nothing_described_is_not_described(tmp_path: Path, model: ColourModel) -> None:
    buffer = io.BytesIO()
    noise(255, 60).save(buffer, "TIFF")
    async with open_services(load_settings(data=tmp_path, ocr=False, vision_provider="openai")) as services:
        unasked = await added(services, buffer.getvalue(), "photo.tif", multimodal=False)
        assert (unasked.status, model.asked) == (Status.INDEXED, [])
        model.rejected = "turquoise"
        buffer = io.BytesIO()
        noise(60, 255).save(buffer, "TIFF")
        refused = await added(services, buffer.getvalue(), "other.tif")
        assert (refused.status, refused.error_stage) == (Status.PARTIAL, "description")
        assert refused.error_message == "The picture breaks a rule."
        model.rejected = ""
        await services.resources.reindex(services.local_owner, refused.id)
        again = await services.resources.wait(services.local_owner, refused.id)
        assert (again.status, again.error_stage) == (Status.DESCRIBED, None)
        assert again.summary is not None
        assert "turquoise" in again.summary


@pytest.mark.full
async def test_a_rejected_picture_is_a_warning_and_the_others_are_described(tmp_path: Path, model: ColourModel) -> None:
    model.rejected = "crimson"
    async with open_services(load_settings(data=tmp_path, ocr=False, vision_provider="openai")) as services:
        resource = await added(services, document(), "report.pdf")
        assert [chunk.locator.page for chunk in await pictures(services, resource)] == [2]
        assert resource.coverage is not None
        assert resource.coverage.warnings == (
            "Descriptions of pictures: one is missing (p. 1): The picture breaks a rule.",
        )


@pytest.mark.full
async def test_a_provider_that_stays_away_costs_the_descriptions_only(tmp_path: Path, model: ColourModel) -> None:
    model.failures = [ProviderUnavailable("Nobody answers.")] * 10
    async with open_services(
        load_settings(data=tmp_path, ocr=False, vision_provider="openai", max_attempts=1)
    ) as services:
        resource = await added(services, document(), "report.pdf")
        assert resource.status is Status.INDEXED
        assert resource.chunk_count > 0
        assert resource.coverage is not None
        assert len(resource.coverage.warnings) == 2
        model.failures = []
        await services.resources.reindex(services.local_owner, resource.id)
        again = await services.resources.wait(services.local_owner, resource.id)
        assert len(await pictures(services, again)) == 2
        assert again.coverage is not None
        assert again.coverage.warnings == ()


@pytest.mark.full
@pytest.mark.parametrize(
    ("error", "asked", "missing"),
    [(ProviderAuthError, 4, 4), (ProviderRejected, 8, 0)],
    ids=["a-refused-key", "refused-pictures"],
)
async def test_a_provider_that_answers_nobody_is_not_asked_for_every_picture(
    tmp_path: Path, model: ColourModel, error: type[ProviderError], asked: int, missing: int
) -> None:
    model.failures = [error("Not now.") for _ in range(20)]
    async with open_services(load_settings(data=tmp_path, ocr=False, vision_provider="openai")) as services:
        resource = await added(services, document(4), "report.pdf")
        assert len(model.asked) == asked
        assert resource.coverage is not None
        said = [one for one in resource.coverage.warnings if "more are missing" in one]
        assert [f"{missing} more" in one for one in said] == ([True] if missing else [])
        model.failures = []
        await services.resources.reindex(services.local_owner, resource.id)
        async with asyncio.timeout(60):
            resource = await services.resources.wait(services.local_owner, resource.id)
        assert len(await pictures(services, resource)) == 8


@pytest.mark.full
async def test_a_provider_that_comes_back_is_asked_again(tmp_path: Path, model: ColourModel) -> None:
    model.failures = [ProviderUnavailable("Nobody answers.")]
    async with open_services(load_settings(data=tmp_path, ocr=False, vision_provider="openai")) as services:
        resource = await added(services, document(), "report.pdf")
        assert len(await pictures(services, resource)) == 2
        assert resource.coverage is not None
        assert resource.coverage.warnings == ()


@pytest.mark.full
async def test_without_a_model_pictures_are_kept_and_the_report_says_so(tmp_path: Path, model: ColourModel) -> None:
    async with open_services(load_settings(data=tmp_path, ocr=False)) as services:
        resource = await added(services, document(), "report.pdf")
        assert model.asked == []
        assert resource.coverage is not None
        assert "no vision model is configured" in resource.coverage.warnings[0]
        kinds = {blob.kind for blob in await services.contents.content.blobs(resource.id, 1)}
        assert "image" in kinds


@pytest.mark.full
async def test_pictures_are_not_described_unasked(tmp_path: Path, model: ColourModel) -> None:
    async with open_services(load_settings(data=tmp_path, ocr=False, vision_provider="openai")) as services:
        resource = await added(services, document(), "report.pdf", multimodal=False)
        assert model.asked == []
        assert resource.coverage is not None
        assert resource.coverage.warnings == ()
