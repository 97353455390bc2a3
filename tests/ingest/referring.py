"""Files of many formats that refer to an address."""

from __future__ import annotations

from collections.abc import Callable

from reportlab.pdfgen.canvas import Canvas

from tests.extract.documents.office import docx, paragraph
from tests.extract.pdf.drawing import pdf

_LINKED = '<w:r><w:drawing><a:graphic><a:graphicData><pic:pic><pic:blipFill><a:blip r:link="rId9"/></pic:blipFill></pic:pic></a:graphicData></a:graphic></w:drawing></w:r>'


def _pdf(url: str) -> bytes:
    def page(canvas: Canvas) -> None:
        canvas.drawString(60, 700, "Text")
        canvas.linkURL(url, (60, 690, 200, 710))

    return pdf(page)


REFERRING: dict[str, Callable[[str], bytes]] = {
    "page.html": lambda url: (
        f'<html><head><link rel="stylesheet" href="{url}"><base href="{url}"></head><body><img src="{url}">'
        f'<iframe src="{url}"></iframe><object data="{url}"></object><p>Text</p><script src="{url}"></script></body></html>'
    ).encode(),
    "entity.xml": lambda url: f'<!DOCTYPE a [<!ENTITY x SYSTEM "{url}">]><a>Text &x;</a>'.encode(),
    "remote.xml": lambda url: f'<!DOCTYPE a SYSTEM "{url}"><a>Text</a>'.encode(),
    "include.xml": lambda url: (
        f'<a xmlns:xi="http://www.w3.org/2001/XInclude">Text<xi:include href="{url}"/></a>'.encode()
    ),
    "drawing.svg": lambda url: (
        f'<?xml-stylesheet href="{url}"?><svg xmlns="http://www.w3.org/2000/svg" '
        f'xmlns:xlink="http://www.w3.org/1999/xlink"><image xlink:href="{url}"/><use xlink:href="{url}#a"/>'
        f"<style>@import url({url});</style><text>Text</text></svg>"
    ).encode(),
    "letter.docx": lambda url: docx(
        paragraph(inner=_LINKED) + paragraph("Text"), relationships={"rId9": ("image", url)}
    ),
    "message.eml": lambda url: (
        f'From: a@example.org\nContent-Type: text/html\n\n<p>Text</p><img src="{url}">'
        f'<link rel="stylesheet" href="{url}">'
    ).encode(),
    "notes.md": lambda url: f"Text\n\n![picture]({url})\n\n[ref]: {url}\n".encode(),
    "old.rtf": lambda url: rf'{{\rtf1 Text {{\field{{\*\fldinst INCLUDEPICTURE "{url}"}}{{\fldrslt x}}}}}}'.encode(),
    "paper.pdf": _pdf,
    "book.ipynb": lambda url: (
        f'{{"cells":[{{"cell_type":"markdown","metadata":{{}},"source":["![x]({url}) Text"]}}],'
        f'"metadata":{{}},"nbformat":4,"nbformat_minor":5}}'
    ).encode(),
}
