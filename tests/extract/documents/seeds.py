"""Small valid files of each format, and ways to damage them: the raw material of the fuzz tests."""

from __future__ import annotations

import io
import json
import random
import struct
import zipfile
from email.message import EmailMessage

from tests.extract.documents.books import book
from tests.extract.documents.compound import compound_file
from tests.extract.documents.office import (
    NAMESPACES,
    NUMBERING,
    blip,
    cell,
    chart,
    docx,
    drawing,
    numbered,
    package,
    paragraph,
    picture,
    relationships_part,
    row,
    run,
    table,
)
from tests.extract.documents.office97 import (
    HEADING,
    NORMAL,
    Doc,
    modifier,
    plain,
    ppt,
    shape,
    styled,
    table_row,
    text_records,
)
from tests.extract.documents.opendocument import document
from tests.extract.documents.outlook import attachment, outlook, wide

A = "http://schemas.openxmlformats.org/drawingml/2006/main"
P = "http://schemas.openxmlformats.org/presentationml/2006/main"
MARKDOWN = """---
title: My notes
---
# Top

Some *text* with `code` and a [link](https://example.com "t").
Second line.

## Inner

- a
  - b
- [c](javascript:x)

3. x
4. y

| k | v |
|---|:-:|
| a | 1 |

```python
print("hi")
```

    indented

<div><p>In <b>HTML</b></p></div>

> quoted

Setext
======
last ![a picture](x.png)
"""
RTF_HEAD = (
    r"{\rtf1\ansi\ansicpg1252\deff0{\fonttbl{\f0 Arial;}{\f1\fcharset204 Times;}{\f2\fcharset2 Symbol;}{\f3\fcharset128 Mincho;}}"
    r"{\stylesheet{\s0 Normal;}{\s1\sbasedon0 heading 1;}{\s2\outlinelevel1 My own;}}"
    r"{\info{\title Report}{\author Ann}{\creatim\yr2026}}"
)


def _docx() -> bytes:
    merged = table(
        row(cell(paragraph("a"), properties='<w:gridSpan w:val="2"/>')),
        row("b", cell(paragraph("c"), properties='<w:vMerge w:val="restart"/>')),
    )
    equation = (
        "<m:oMath><m:f><m:num><m:r><m:t>1</m:t></m:r></m:num><m:den><m:r><m:t>2</m:t></m:r></m:den></m:f></m:oMath>"
    )
    body = (
        paragraph("Head", "berschrift1")
        + numbered("one", 1)
        + merged
        + paragraph(inner=run("x") + equation + '<w:r><w:footnoteReference w:id="2"/></w:r>')
    )
    body += paragraph(
        inner=drawing(blip("r1"), "alt") + drawing('<c:chart r:id="r3"/>') + '<w:r><w:br w:type="page"/></w:r>'
    )
    parts: dict[str, str | bytes] = {
        "numbering.xml": NUMBERING,
        "footnotes.xml": f'<w:footnotes {NAMESPACES}><w:footnote w:id="2">{paragraph("note")}</w:footnote></w:footnotes>',
        "media/1.png": picture(1),
        "charts/c.xml": chart("T", ["a"], {"s": [1]}),
    }
    links = {
        "rN": ("numbering", "numbering.xml"),
        "r2": ("footnotes", "footnotes.xml"),
        "r1": ("image", "media/1.png"),
        "r3": ("chart", "charts/c.xml"),
    }
    return docx(body, parts, links)


def _pptx() -> bytes:
    def text(words: str) -> str:
        return f"<p:txBody><a:p><a:pPr lvl='1'><a:buAutoNum type='arabicPeriod'/></a:pPr><a:r><a:t>{words}</a:t></a:r></a:p></p:txBody>"

    shapes = (
        f'<p:sp><p:nvSpPr><p:cNvPr id="1" name="t"/><p:nvPr><p:ph type="title"/></p:nvPr></p:nvSpPr><p:spPr/>{text("Title")}</p:sp>'
        f'<p:grpSp><p:sp><p:nvSpPr><p:nvPr/></p:nvSpPr><p:spPr><a:xfrm><a:off x="5" y="7"/></a:xfrm></p:spPr>{text("inner")}</p:sp></p:grpSp>'
        '<p:graphicFrame><a:graphic><a:graphicData><a:tbl><a:tr><a:tc gridSpan="2"><a:txBody/></a:tc><a:tc hMerge="1"/></a:tr></a:tbl></a:graphicData></a:graphic></p:graphicFrame>'
    )
    names = f'xmlns:p="{P}" xmlns:a="{A}" xmlns:r="http://schemas.openxmlformats.org/officeDocument/2006/relationships"'
    return package(
        {
            "[Content_Types].xml": "<Types/>",
            "_rels/.rels": relationships_part({"r1": ("officeDocument", "ppt/presentation.xml")}),
            "ppt/presentation.xml": f'<p:presentation {names}><p:sldIdLst><p:sldId id="256" r:id="r1"/></p:sldIdLst></p:presentation>',
            "ppt/_rels/presentation.xml.rels": relationships_part({"r1": ("slide", "slides/slide1.xml")}),
            "ppt/slides/slide1.xml": f"<p:sld {names}><p:cSld><p:spTree>{shapes}</p:spTree></p:cSld></p:sld>",
        }
    )


def _mail() -> bytes:
    mail = EmailMessage()
    mail["From"], mail["To"], mail["Subject"] = "Ann <a@example.com>", "b@example.com", "Größe"
    mail.set_content("plain body")
    mail.add_alternative("<table><tr><th>a</th></tr><tr><td>1</td></tr></table>", subtype="html")
    mail.add_attachment(b"data", maintype="application", subtype="pdf", filename="ü.pdf")
    return mail.as_bytes()


def _doc() -> bytes:
    return Doc(
        [
            styled("Head", HEADING),
            styled("one", NORMAL, modifier(0x460B, 1)),
            *table_row(["a", "b"], [0, 1000, 2000]),
            plain('Claim\x02 \x13 HYPERLINK "x" \x14y\x15'),
        ],
        footnotes=[(22, "\x02 note\r")],
        headers=[""] * 7 + ["head\r"],
        levels=[(0, "\x00.")],
        deleted=[(2, 3)],
    ).build()


def seeds() -> dict[str, bytes]:
    """A file per name; the extension tells the format."""
    html = "<html lang='en'><head><meta charset='utf-8'><title>T</title></head><body><h1>H</h1><p>a<br>b</p><ul><li>x</ul><table><tr><th colspan=2>k</th></tr><tr><td>1</td><td>2</td></tr></table></body></html>"
    notebook = {
        "cells": [
            {"cell_type": "markdown", "source": ["# a"]},
            {"cell_type": "code", "source": "x", "outputs": [{"text": ["1"]}]},
        ]
    }
    rtf = (
        RTF_HEAD
        + r"\pard\s1 One\par\trowd\cellx1000\cellx2000\pard\intbl a\cell b\cell\row\pard{\footnote n}\'e9\u233?{\field{\*\fldinst HYPERLINK x}{\fldrslt y}}\par}"
    )
    text_frame = '<draw:frame svg:y="1cm"><draw:text-box><text:p>x</text:p></draw:text-box></draw:frame>'
    odt = '<text:h text:outline-level="1">H</text:h><text:list text:style-name="Numbers"><text:list-item><text:p>x</text:p></text:list-item></text:list><table:table><table:table-row><table:table-cell table:number-columns-spanned="2"><text:p>a</text:p></table:table-cell></table:table-row></table:table>'
    slide = (
        text_records(0, "Title"),
        [shape(text_records(4, "words"), 5, 5), shape([struct.pack("<HHII", 0, 3998, 4, 0)], 1, 1)],
    )
    message = outlook(
        {
            "0037001F": wide("Subject"),
            "1000001F": wide("Body"),
            "__attach_version1.0_#00000000": attachment("a.txt", b"data"),
        }
    )
    return {
        "a.docx": _docx(),
        "a.pptx": _pptx(),
        "a.odt": document(odt),
        "a.odp": document(f"<draw:page>{text_frame}</draw:page>", "application/vnd.oasis.opendocument.presentation"),
        "a.epub": book(**{"OPS/img/map.png": picture(1)}),
        "a.doc": _doc(),
        "a.ppt": ppt([slide], notes={0: "note"}),
        "a.msg": compound_file(message),
        "a.rtf": rtf.encode("latin-1"),
        "a.eml": _mail(),
        "a.mbox": b"From x Fri May  1 10:00:00 2026\n" + _mail(),
        "a.html": html.encode(),
        "a.md": MARKDOWN.encode(),
        "a.xml": b'<?xml version="1.0"?><!DOCTYPE r [<!ENTITY e "x">]><r><title>T</title><a b="1">x</a><p>m <b>n</b> &e;</p></r>',
        "a.svg": b'<svg xmlns="http://www.w3.org/2000/svg"><title>T</title><g><text>x <tspan>y</tspan></text></g></svg>',
        "a.ipynb": json.dumps(notebook).encode(),
        "a.txt": "Größe überall\n\nnext".encode("latin-1"),
    }


def damaged(data: bytes, chance: random.Random) -> bytes:
    """The file with a few bytes changed, cut, repeated or moved; inside an archive, in one of its members."""
    if data.startswith(b"PK") and chance.random() < 0.8:
        return _damaged_member(data, chance)
    out = bytearray(data)
    for _ in range(chance.randint(1, 4)):
        _damage(out, chance)
    return bytes(out)


def _damaged_member(data: bytes, chance: random.Random) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(data)) as archive, zipfile.ZipFile(buffer, "w") as out:
        names = archive.namelist()
        chosen = chance.choice(names)
        for name in names:
            content = bytearray(archive.read(name))
            if name == chosen:
                for _ in range(chance.randint(1, 3)):
                    _damage(content, chance)
            if name != chosen or chance.random() < 0.95:
                out.writestr(name, bytes(content))
    return buffer.getvalue()


def _damage(data: bytearray, chance: random.Random) -> None:
    if not data:
        return
    at = chance.randrange(len(data))
    length = chance.choice((1, 1, 2, 4, 16, 100))
    kind = chance.randrange(6)
    if kind == 0:
        data[at] = chance.randrange(256)
    elif kind == 1:
        del data[at : at + length]
    elif kind == 2:
        data[at:at] = data[at : at + length]
    elif kind == 3:
        data[at : at + 4] = chance.choice((b"\xff\xff\xff\xff", b"\0\0\0\0", b"\x7f\xff\xff\xff", b"9999"))[
            : len(data[at : at + 4])
        ]
    elif kind == 4:
        other = chance.randrange(len(data))
        data[at:at] = data[other : other + length]
    else:
        del data[at:]
