"""OpenDocument texts and presentations, part by part."""

from __future__ import annotations

from tests.extract.documents.office import package

NAMES = "office text table draw style presentation manifest fo svg xlink dc meta loext"
NAMESPACES = " ".join(f'xmlns:{name}="urn:{name}"' for name in NAMES.split())
TEXT, SLIDES = "application/vnd.oasis.opendocument.text", "application/vnd.oasis.opendocument.presentation"
STYLES = """<office:automatic-styles>
<text:list-style style:name="Numbers"><text:list-level-style-number text:level="1" style:num-format="1" style:num-suffix="."/>
<text:list-level-style-number text:level="2" style:num-format="a" style:num-suffix=")" text:display-levels="2"/></text:list-style>
<text:list-style style:name="Dots"><text:list-level-style-bullet text:level="1"/></text:list-style>
<style:style style:name="NewPage"><style:paragraph-properties fo:break-before="page"/></style:style>
</office:automatic-styles>"""
META = f"<office:document-meta {NAMESPACES}><office:meta><dc:title>Report</dc:title><meta:initial-creator>Ann</meta:initial-creator><dc:language>fr-FR</dc:language></office:meta></office:document-meta>"


def document(body: str, mime_type: str = TEXT, parts: dict[str, str | bytes] | None = None) -> bytes:
    kind = "presentation" if mime_type == SLIDES else "text"
    content = f"<office:document-content {NAMESPACES}>{STYLES}<office:body><office:{kind}>{body}</office:{kind}></office:body></office:document-content>"
    return package({"mimetype": mime_type, "content.xml": content, "meta.xml": META, **(parts or {})})
