"""Pictures are embedded themselves where the embedder takes them, and found by a text query, through the vendor's contract."""

from __future__ import annotations

import io
from collections.abc import Iterator
from pathlib import Path

import pytest
from PIL import Image, ImageChops
from reportlab.lib.utils import ImageReader
from reportlab.pdfgen.canvas import Canvas

from citewell.composition import Services, open_services
from citewell.settings import Settings, load_settings
from citewell.types import SearchRequest, Status
from tests.contract_servers import voyage as contract
from tests.contract_servers.faults import Fault, Faults
from tests.contract_servers.serving import serving
from tests.contract_servers.voyage import VoyageServer
from tests.extract.pdf.drawing import HEIGHT, WIDTH, Draw, lines, pdf, prose
from tests.extract.scanning import scan
from tests.ingest.test_vision import added, pictures, shaded

pytestmark = [pytest.mark.full, pytest.mark.slow(15)]
REFUSED = "Picture in report.pdf, p. 2."
COLOURS = ("red", "green", "blue")


def shade(colour: str) -> Image.Image:
    """A picture without words that is mostly of one colour."""
    grain = Image.effect_noise((400, 300), 90)
    return Image.merge("RGB", tuple(grain if name == colour else shaded(grain, 60) for name in COLOURS))


def document() -> bytes:
    """One page for each colour: some prose, and a picture."""

    def page(picture: Image.Image) -> Draw:
        def draw(canvas: Canvas) -> None:
            lines(canvas, 60, 60, prose(6))
            canvas.drawImage(ImageReader(picture), 100, 300, 200, 150)

        return draw

    return pdf(*(page(shade(colour)) for colour in COLOURS))


@pytest.fixture
def voyage() -> Iterator[tuple[VoyageServer, str]]:
    server = VoyageServer()
    with serving(server.app) as address:
        yield server, f"{address}/v1"


def scanned() -> bytes:
    """One page for each colour: a scan of a line of text, on paper of that colour."""

    def page(colour: str) -> Draw:
        paper = Image.new("RGB", (900, 1_200), {"red": "#ffb0b0", "green": "#b0ffb0", "blue": "#b0b0ff"}[colour])
        text = scan(["Minutes of the meeting"])
        sheet = paper.copy()
        sheet.paste(ImageChops.multiply(paper.crop((0, 0, *text.size)), text), (0, 0))

        def draw(canvas: Canvas) -> None:
            canvas.drawImage(ImageReader(sheet), 0, 0, WIDTH, HEIGHT)

        return draw

    return pdf(*map(page, COLOURS))


def settings(
    data: Path, address: str, model: str = "voyage-multimodal-3.5", *, ocr: bool = False, pages: str = "scans"
) -> Settings:
    return load_settings(
        data=data,
        ocr=ocr,
        page_pictures=pages,
        embedding_provider="voyage",
        embedding_base_url=address,
        embedding_model=model,
        voyage_api_key=contract.KEY,
    )


async def pages_found(services: Services, query: str) -> list[int | None]:
    request = SearchRequest(owner_id=services.local_owner, query=query)
    return [hit.chunk.locator.page for hit in (await services.search.search(request)).hits]


def sent_pictures(server: VoyageServer) -> int:
    inputs = [one for body in server.requests for one in body.get("inputs", ())]
    return sum(part["type"] == "image_base64" for one in inputs for part in one["content"])


async def test_a_picture_in_a_document_is_found_by_a_text_that_says_what_it_shows(
    voyage: tuple[VoyageServer, str], tmp_path: Path
) -> None:
    server, address = voyage
    async with open_services(settings(tmp_path, address)) as services:
        resource = await added(services, document(), "report.pdf")
        assert resource.status is Status.INDEXED
        assert resource.coverage is not None
        assert resource.coverage.warnings == ()
        assert sent_pictures(server) == len(COLOURS)
        for page, colour in enumerate(COLOURS, 1):
            assert (await pages_found(services, colour))[0] == page
        shown = await pictures(services, resource)
        assert [chunk.locator.page for chunk in shown] == [1, 2, 3]
        assert all(chunk.locator.boxes for chunk in shown)


async def test_a_photo_is_found_by_what_it_shows_and_embedded_once(
    voyage: tuple[VoyageServer, str], tmp_path: Path
) -> None:
    server, address = voyage
    async with open_services(settings(tmp_path, address, "voyage-multimodal-3")) as services:
        for name in ("first.png", "second.png"):
            file = io.BytesIO()
            shade("blue" if name == "first.png" else "red").save(file, "PNG")
            done = await added(services, file.getvalue(), name)
            assert done.status is Status.INDEXED
        found = await services.search.search(SearchRequest(owner_id=services.local_owner, query="blue"))
        assert found.hits[0].filename == "first.png"
        before = sent_pictures(server)
        await services.resources.reindex(services.local_owner, done.id)
        await services.resources.wait(services.local_owner, done.id)
        assert sent_pictures(server) == before == 2


async def test_a_scanned_page_is_found_by_a_text_that_says_what_it_shows(
    voyage: tuple[VoyageServer, str], tmp_path: Path
) -> None:
    server, address = voyage
    async with open_services(settings(tmp_path, address, ocr=True)) as services:
        resource = await added(services, scanned(), "minutes.pdf")
        assert (resource.status, resource.error_code) == (Status.INDEXED, None)
        assert sent_pictures(server) == len(COLOURS)
        for page, colour in enumerate(COLOURS, 1):
            hits = (await services.search.search(SearchRequest(owner_id=services.local_owner, query=colour))).hits
            assert hits[0].chunk.text == f"Page {page} of minutes.pdf, as a picture."
            assert hits[0].chunk.locator.page == page
            assert hits[0].picture is not None
        before = sent_pictures(server)
        await services.resources.reindex(services.local_owner, resource.id)
        await services.resources.wait(services.local_owner, resource.id)
        assert sent_pictures(server) == before, "the cache knows them by their hashes"


async def test_the_setting_says_which_pages_become_pictures(voyage: tuple[VoyageServer, str], tmp_path: Path) -> None:
    server, address = voyage
    text = pdf(lambda canvas: lines(canvas, 60, 60, prose(6)), lambda canvas: None)
    for pages, sent in (("none", 0), ("scans", 0), ("all", 1)):
        before = sent_pictures(server)
        async with open_services(settings(tmp_path / pages, address, pages=pages)) as services:
            await added(services, text, "report.pdf")
        assert sent_pictures(server) - before == sent, pages


async def test_pictures_are_not_sent_unasked_nor_by_a_model_of_words(
    voyage: tuple[VoyageServer, str], tmp_path: Path
) -> None:
    server, address = voyage
    async with open_services(settings(tmp_path / "a", address)) as services:
        await added(services, document(), "report.pdf", multimodal=False)
    async with open_services(settings(tmp_path / "b", address, "voyage-4")) as services:
        done = await added(services, document(), "report.pdf")
        assert await pictures(services, done) == []
    assert sent_pictures(server) == 0


async def test_a_picture_that_is_refused_is_found_by_its_words_and_a_busy_provider_is_asked_again(
    voyage: tuple[VoyageServer, str], tmp_path: Path
) -> None:
    server, address = voyage
    server.forbidden = {f"{REFUSED} green"}
    server.trouble = Faults(Fault(status=429, retry_after="0"), Fault(status=500))
    async with open_services(settings(tmp_path, address)) as services:
        resource = await added(services, document(), "report.pdf")
        assert (resource.status, resource.error_code) == (Status.INDEXED, None)
        assert (await pages_found(services, "red"))[0] == 1
        assert REFUSED in server.embedded, "without its picture"
        assert 2 in await pages_found(services, "picture page")
