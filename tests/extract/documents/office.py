"""Builds Word and PowerPoint files part by part, so that a test shows the markup it is about."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Mapping

from PIL import Image, ImageDraw

W = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"
R = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
NAMESPACES = (
    f'xmlns:w="{W}" xmlns:r="{R}" xmlns:m="http://schemas.openxmlformats.org/officeDocument/2006/math" '
    'xmlns:a="http://schemas.openxmlformats.org/drawingml/2006/main" xmlns:v="urn:schemas-microsoft-com:vml" '
    'xmlns:wp="http://schemas.openxmlformats.org/drawingml/2006/wordprocessingDrawing" '
    'xmlns:pic="http://schemas.openxmlformats.org/drawingml/2006/picture" xmlns:o="urn:schemas-microsoft-com:office:office" '
    'xmlns:c="http://schemas.openxmlformats.org/drawingml/2006/chart" '
    'xmlns:wps="http://schemas.microsoft.com/office/word/2010/wordprocessingShape" '
    'xmlns:mc="http://schemas.openxmlformats.org/markup-compatibility/2006"'
)
STYLES = f"""<w:styles {NAMESPACES}>
<w:style w:type="paragraph" w:default="1" w:styleId="Standard"><w:name w:val="Normal"/></w:style>
<w:style w:type="paragraph" w:styleId="berschrift1"><w:name w:val="heading 1"/></w:style>
<w:style w:type="paragraph" w:styleId="berschrift2"><w:name w:val="heading 2"/></w:style>
<w:style w:type="paragraph" w:styleId="Chapter"><w:name w:val="Chapter"/><w:basedOn w:val="berschrift1"/></w:style>
<w:style w:type="paragraph" w:styleId="Titel"><w:name w:val="Title"/></w:style>
<w:style w:type="paragraph" w:styleId="Beschriftung"><w:name w:val="caption"/></w:style>
<w:style w:type="paragraph" w:styleId="Loop"><w:name w:val="Loop"/><w:basedOn w:val="Loop"/></w:style>
</w:styles>"""


def paragraph(text: str = "", style: str = "", properties: str = "", inner: str = "") -> str:
    """One `w:p` with a run of text, or with the runs given as `inner`."""
    style_tag = f'<w:pStyle w:val="{style}"/>' if style else ""
    runs = inner or (f'<w:r><w:t xml:space="preserve">{text}</w:t></w:r>' if text else "")
    return f"<w:p><w:pPr>{style_tag}{properties}</w:pPr>{runs}</w:p>"


def blocks(*markup: str) -> str:
    """One after another."""
    return "".join(markup)


def table(*rows: str) -> str:
    return f"<w:tbl>{''.join(rows)}</w:tbl>"


def row(*cells: str, properties: str = "") -> str:
    """A row of `cell`s; a text alone is a cell with one paragraph."""
    inside = "".join(text if text.startswith("<w:tc>") else cell(paragraph(text)) for text in cells)
    return f"<w:tr>{f'<w:trPr>{properties}</w:trPr>' if properties else ''}{inside}</w:tr>"


def cell(*paragraphs: str, properties: str = "") -> str:
    return f"<w:tc>{f'<w:tcPr>{properties}</w:tcPr>' if properties else ''}{''.join(paragraphs)}</w:tc>"


def run(text: str) -> str:
    return f'<w:r><w:t xml:space="preserve">{text}</w:t></w:r>'


def docx(
    body: str,
    parts: Mapping[str, str | bytes] | None = None,
    relationships: Mapping[str, tuple[str, str]] | None = None,
    strict: bool = False,
) -> bytes:
    """A DOCX whose document has this body. `relationships`: id → (kind, target); `parts` stand below `word/`."""
    document = f"<w:document {NAMESPACES}><w:body>{body}</w:body></w:document>"
    base = "http://purl.oclc.org/ooxml/officeDocument/relationships" if strict else R
    if strict:
        document = document.replace(W, "http://purl.oclc.org/ooxml/wordprocessingml/main").replace(R, base)
    links = {"rStyles": ("styles", "styles.xml"), **(relationships or {})}
    return package(
        {
            "[Content_Types].xml": '<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types"/>',
            "_rels/.rels": relationships_part(
                {"r1": ("officeDocument", "word/document.xml"), "r2": ("core-properties", "docProps/core.xml")}, base
            ),
            "docProps/core.xml": '<c:coreProperties xmlns:c="c" xmlns:dc="http://purl.org/dc/elements/1.1/"><dc:title>Report</dc:title>'
            "<dc:creator>Ann</dc:creator></c:coreProperties>",
            "word/document.xml": document,
            "word/_rels/document.xml.rels": relationships_part(links, base),
            "word/styles.xml": STYLES,
            **{f"word/{name}": content for name, content in (parts or {}).items()},
        }
    )


def with_extended_properties(file: bytes, properties: str) -> bytes:
    """The same file, whose extended properties (`docProps/app.xml`) are these elements."""
    with zipfile.ZipFile(io.BytesIO(file)) as given:
        parts = {name: given.read(name).decode() for name in given.namelist()}
    link = f'<Relationship Id="rApp" Type="{R}/extended-properties" Target="docProps/app.xml"/></Relationships>'
    parts["_rels/.rels"] = parts["_rels/.rels"].replace("</Relationships>", link)
    parts["docProps/app.xml"] = f'<Properties xmlns="p">{properties}</Properties>'
    return package(parts)


def relationships_part(links: Mapping[str, tuple[str, str]], base: str = R) -> str:
    entries = "".join(
        f'<Relationship Id="{key}" Type="{base}/{kind}" Target="{target}"{" TargetMode=" + chr(34) + "External" + chr(34) if ":" in target else ""}/>'
        for key, (kind, target) in links.items()
    )
    return (
        f'<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">{entries}</Relationships>'
    )


def package(parts: Mapping[str, str | bytes]) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as out:
        for name, content in parts.items():
            out.writestr(name, content)
    return buffer.getvalue()


def picture(kilobytes: int = 40, text: str = "") -> bytes:
    """A PNG of about this size: noise, or white with a line of text (then small)."""
    if text:
        image = Image.new("RGB", (900, 120), "white")
        ImageDraw.Draw(image).text((20, 30), text, fill="black", font_size=48)
    else:
        side = int((kilobytes * 1024 / 3) ** 0.5) + 1
        image = Image.effect_noise((side, side), 80).convert("RGB")
        channels = [Image.effect_noise((side, side), 80) for _ in range(3)]
        image = Image.merge("RGB", channels)
    buffer = io.BytesIO()
    image.save(buffer, "PNG")
    return buffer.getvalue()


def chart(title: str, categories: list[str], series: Mapping[str, list[float]]) -> str:
    """A bar chart part with cached values."""
    a = "http://schemas.openxmlformats.org/drawingml/2006/main"
    labels = "".join(f'<c:pt idx="{i}"><c:v>{name}</c:v></c:pt>' for i, name in enumerate(categories))
    entries = "".join(
        f"<c:ser><c:tx><c:strRef><c:strCache><c:pt idx='0'><c:v>{name}</c:v></c:pt></c:strCache></c:strRef></c:tx>"
        f"<c:cat><c:strRef><c:strCache>{labels}</c:strCache></c:strRef></c:cat><c:val><c:numRef><c:numCache>"
        + "".join(f'<c:pt idx="{i}"><c:v>{value}</c:v></c:pt>' for i, value in enumerate(values))
        + "</c:numCache></c:numRef></c:val></c:ser>"
        for name, values in series.items()
    )
    return (
        f'<c:chartSpace xmlns:c="http://schemas.openxmlformats.org/drawingml/2006/chart" xmlns:a="{a}"><c:chart><c:title><c:tx><c:rich>'
        f"<a:p><a:r><a:t>{title}</a:t></a:r></a:p></c:rich></c:tx></c:title><c:plotArea><c:barChart>{entries}</c:barChart></c:plotArea>"
        "</c:chart></c:chartSpace>"
    )


NUMBERING = f"""<w:numbering {NAMESPACES}>
<w:abstractNum w:abstractNumId="0">
<w:lvl w:ilvl="0"><w:start w:val="1"/><w:numFmt w:val="decimal"/><w:lvlText w:val="%1."/></w:lvl>
<w:lvl w:ilvl="1"><w:start w:val="1"/><w:numFmt w:val="lowerLetter"/><w:lvlText w:val="%1.%2)"/></w:lvl></w:abstractNum>
<w:abstractNum w:abstractNumId="1"><w:lvl w:ilvl="0"><w:numFmt w:val="bullet"/><w:lvlText w:val="•"/></w:lvl></w:abstractNum>
<w:num w:numId="1"><w:abstractNumId w:val="0"/></w:num>
<w:num w:numId="2"><w:abstractNumId w:val="1"/></w:num>
<w:num w:numId="3"><w:abstractNumId w:val="0"/><w:lvlOverride w:ilvl="0"><w:startOverride w:val="7"/></w:lvlOverride></w:num>
</w:numbering>"""


def numbered(text: str, number: int, level: int = 0, style: str = "") -> str:
    return paragraph(text, style, f'<w:numPr><w:ilvl w:val="{level}"/><w:numId w:val="{number}"/></w:numPr>')


def drawing(inner: str, description: str = "") -> str:
    return f'<w:r><w:drawing><wp:inline><wp:docPr id="1" name="x" descr="{description}"/>{inner}</wp:inline></w:drawing></w:r>'


def blip(identifier: str) -> str:
    return f'<pic:pic><pic:blipFill><a:blip r:embed="{identifier}"/></pic:blipFill></pic:pic>'
