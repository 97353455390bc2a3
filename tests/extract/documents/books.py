"""An EPUB, part by part."""

from __future__ import annotations

from tests.extract.documents.office import package, picture

CONTAINER = '<container><rootfiles><rootfile full-path="OPS/book.opf"/></rootfiles></container>'
OPF = """<package xmlns:dc="http://purl.org/dc/elements/1.1/"><metadata><dc:title>My book</dc:title><dc:creator>Ann</dc:creator><dc:language>de</dc:language></metadata>
<manifest><item id="n" href="nav.xhtml" media-type="application/xhtml+xml" properties="nav"/><item id="b" href="text/two%20b.xhtml" media-type="application/xhtml+xml"/>
<item id="a" href="text/one.xhtml" media-type="application/xhtml+xml"/><item id="p" href="img/map.png" media-type="image/png"/><item id="m" href="text/gone.xhtml" media-type="application/xhtml+xml"/></manifest>
<spine><itemref idref="n"/><itemref idref="a"/><itemref idref="b"/><itemref idref="m"/></spine></package>"""
NAV = '<html><body><nav><ol><li><a href="text/one.xhtml#x">Chapter One</a></li><li><a href="text/two%20b.xhtml">Chapter Two</a></li></ol></nav></body></html>'


def book(**changes: str | bytes | None) -> bytes:
    parts: dict[str, str | bytes | None] = {
        "mimetype": "application/epub+zip",
        "META-INF/container.xml": CONTAINER,
        "OPS/book.opf": OPF,
        "OPS/nav.xhtml": NAV,
        "OPS/text/one.xhtml": '<html><body><h1>The first</h1><p>Words &amp; more.</p><img src="../img/map.png" alt="A map"/></body></html>',
        "OPS/text/two b.xhtml": "<html><body><p>No heading here.</p></body></html>",
        "OPS/img/map.png": picture(40),
        **changes,
    }
    return package({name: content for name, content in parts.items() if content is not None})
