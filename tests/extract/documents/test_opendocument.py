"""OpenDocument texts and presentations, encrypted ones too."""

from __future__ import annotations

import base64
import hashlib
import os
import zlib
from pathlib import Path

import pytest
from cryptography.hazmat.decrepit.ciphers.algorithms import Blowfish
from cryptography.hazmat.decrepit.ciphers.modes import CFB
from cryptography.hazmat.primitives.ciphers import Cipher
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.ciphers.algorithms import AES
from cryptography.hazmat.primitives.ciphers.modes import CBC
from cryptography.hazmat.primitives.kdf.argon2 import Argon2id

from citewell.errors import CorruptFile, LimitExceeded, PasswordRequired, WrongPassword
from citewell.types import ElementType
from tests.extract.documents.office import package, picture
from tests.extract.documents.opendocument import NAMESPACES, SLIDES, TEXT, document
from tests.extract.documents.reading import Reading, read_bytes


def read_odt(folder: Path, body: str, parts: dict[str, str | bytes] | None = None, **options: object) -> Reading:
    return read_bytes(folder, "a.odt", document(body, TEXT, parts), **options)


def test_headings_paragraphs_white_space_and_metadata(tmp_path: Path) -> None:
    body = (
        '<text:h text:outline-level="1">One</text:h><text:p>Some   <text:span>bold</text:span><text:s text:c="2"/>text<text:tab/>tab'
        "<text:line-break/>line\n folded</text:p><text:section><text:h text:outline-level='2'><text:number>1.1</text:number>Inner</text:h></text:section><text:p/>"
    )
    reading = read_odt(tmp_path, body)
    assert [(e.type.value, e.text, e.level) for e in reading.elements] == [
        ("title", "One", 1),
        ("paragraph", "Some bold  text\ttab\nline folded", None),
        ("title", "1.1 Inner", 2),
    ]
    assert reading.elements[1].locator.headings == ("One",)
    assert (reading.summary.metadata["title"], reading.summary.metadata["author"], reading.summary.language) == (
        "Report",
        "Ann",
        "fr",
    )


def test_lists_are_numbered_where_their_style_says_so(tmp_path: Path) -> None:
    def item(text: str, inner: str = "") -> str:
        return f"<text:list-item><text:p>{text}</text:p>{inner}</text:list-item>"

    nested = f"<text:list>{item('a')}{item('b')}</text:list>"
    body = f'<text:list text:style-name="Numbers">{item("one", nested)}{item("two")}</text:list><text:list text:style-name="Dots">{item("dot")}</text:list>'
    reading = read_odt(tmp_path, body)
    assert [(e.text, e.level) for e in reading.elements] == [
        ("1. one", 1),
        ("1.a) a", 2),
        ("1.b) b", 2),
        ("2. two", 1),
        ("dot", 1),
    ]


def test_tables_keep_spans_and_ignore_endless_repetition(tmp_path: Path) -> None:
    def cell(text: str, attributes: str = "") -> str:
        return f"<table:table-cell {attributes}><text:p>{text}</text:p></table:table-cell>"

    covered = "<table:covered-table-cell/>"
    body = f"""<table:table><table:table-header-rows><table:table-row>{cell("Wide", 'table:number-columns-spanned="2"')}{covered}{cell("C")}</table:table-row>
    </table:table-header-rows><table:table-row>{cell("tall", 'table:number-rows-spanned="2"')}{cell("x")}{cell("1")}</table:table-row>
    <table:table-row>{covered}{cell("y")}{cell("")}</table:table-row>
    <table:table-row table:number-rows-repeated="1048576"><table:table-cell table:number-columns-repeated="16384"/></table:table-row></table:table>"""
    table = read_odt(tmp_path, body).of(ElementType.TABLE)[0]
    assert table.grid == (("Wide", "Wide", "C"), ("tall", "x", "1"), ("tall", "y", ""))
    assert table.header_rows == 1
    assert '<th colspan="2">Wide</th>' in (table.html or "")
    assert '<td rowspan="2">tall</td>' in (table.html or "")


def test_notes_comments_links_changes_and_page_furniture(tmp_path: Path) -> None:
    styles = f"<office:document-styles {NAMESPACES}><style:master-page><style:header><text:p>Confidential</text:p></style:header><style:footer><text:p>Page 1</text:p></style:footer></style:master-page></office:document-styles>"
    body = (
        "<text:tracked-changes><text:changed-region><text:deletion><text:p>deleted</text:p></text:deletion></text:changed-region></text:tracked-changes>"
        '<text:p>Claim<text:note text:note-class="footnote"><text:note-citation>1</text:note-citation><text:note-body><text:p>A source.</text:p></text:note-body></text:note>'
        '<office:annotation><dc:creator>Bob</dc:creator><text:p>Really?</text:p></office:annotation> <text:a xlink:href="https://example.com/">goes</text:a> on.</text:p>'
    )
    reading = read_odt(tmp_path, body, {"styles.xml": styles})
    assert [(e.type.value, e.text) for e in reading.elements] == [
        ("header", "Confidential"),
        ("paragraph", "Claim goes on."),
        ("footnote", "A source."),
        ("comment", "Really?"),
        ("footer", "Page 1"),
    ]
    assert reading.elements[1].metadata["links"] == [{"text": "goes", "href": "https://example.com/"}]
    assert reading.elements[3].metadata == {"author": "Bob"}


def test_pictures_text_boxes_formulas_charts_and_embedded_files(tmp_path: Path) -> None:
    chart = f"<office:document-content {NAMESPACES}><office:body><office:chart><table:table><table:table-row><table:table-cell><text:p>k</text:p></table:table-cell><table:table-cell><text:p>v</text:p></table:table-cell></table:table-row><table:table-row><table:table-cell><text:p>Q1</text:p></table:table-cell><table:table-cell><text:p>5</text:p></table:table-cell></table:table-row></table:table></office:chart></office:body></office:document-content>"
    math = '<math xmlns="m"><semantics><mi>x</mi><annotation>x = 1</annotation></semantics></math>'
    frames = (
        '<draw:frame><svg:desc>A map</svg:desc><draw:image xlink:href="Pictures/1.png"/></draw:frame>'
        '<draw:frame><draw:image xlink:href="http://example.com/x.png"/></draw:frame>'
        "<draw:frame><draw:text-box><text:p>Boxed</text:p></draw:text-box></draw:frame>"
        '<draw:frame><draw:object xlink:href="./Object 1"/><draw:image xlink:href="Pictures/1.png"/></draw:frame>'
        '<draw:frame><draw:object xlink:href="./Object 2"/></draw:frame>'
        '<draw:frame><draw:object-ole xlink:href="./Object 3"/></draw:frame>'
    )
    parts: dict[str, str | bytes] = {
        "Pictures/1.png": picture(40),
        "Object 1/content.xml": chart,
        "Object 2/content.xml": math,
        "Object 3": b"ole data",
    }
    reading = read_odt(tmp_path, f"<text:p>See{frames}</text:p>", parts)
    assert [(e.type.value, e.text) for e in reading.elements] == [
        ("paragraph", "See"),
        ("image", "A map"),
        ("paragraph", "Boxed"),
        ("table", "| k | v |\n| --- | --- |\n| Q1 | 5 |"),
        ("paragraph", "x = 1"),
    ]
    assert reading.child("Object 3") == b"ole data"
    assert "not in the file" in reading.notes()


def test_page_breaks_noted_at_layout_tell_the_page(tmp_path: Path) -> None:
    body = '<text:p>one</text:p><text:p>begins<text:soft-page-break/> ends</text:p><text:p text:style-name="NewPage">three</text:p>'
    assert [(e.text, e.locator.page, e.locator.pages) for e in read_odt(tmp_path, body).elements] == [
        ("one", 1, ()),
        ("begins ends", 1, (1, 2)),
        ("three", 3, ()),
    ]


def test_slides_are_units_with_titles_first_and_notes_last(tmp_path: Path) -> None:
    def frame(text: str, kind: str = "", y: str = "1cm") -> str:
        return f'<draw:frame svg:y="{y}" svg:x="1cm"{f" presentation:class={chr(34)}{kind}{chr(34)}" if kind else ""}><draw:text-box><text:p>{text}</text:p></draw:text-box></draw:frame>'

    notes = f"<presentation:notes>{frame('Say hello.', 'notes')}{frame('3', 'page-number')}</presentation:notes>"
    slide = f"<draw:page>{frame('below', y='9cm')}{frame('above', y='3cm')}{frame('Plan', 'title', '5cm')}<draw:custom-shape svg:y='12cm'><text:p>shape</text:p></draw:custom-shape><draw:g>{frame('grouped')}</draw:g>{notes}</draw:page>"
    reading = read_bytes(tmp_path, "a.odp", document(slide + "<draw:page/>", SLIDES))
    assert [(e.type.value, e.text) for e in reading.elements] == [
        ("title", "Plan"),
        ("paragraph", "grouped"),
        ("paragraph", "above"),
        ("paragraph", "below"),
        ("paragraph", "shape"),
        ("note", "Say hello."),
    ]
    assert {e.locator.slide for e in reading.elements} == {1}
    assert [(u.unit, u.number, u.name) for u in reading.summary.coverage.units] == [
        ("slide", 1, "Plan"),
        ("slide", 2, None),
    ]


@pytest.mark.parametrize("content", [None, "<office", "<!DOCTYPE a [<!ENTITY x 'y'>]><a>&x;</a>"])
def test_damaged_or_hostile_content_is_refused(content: str | None, tmp_path: Path) -> None:
    data = package({"mimetype": TEXT, **({"content.xml": content} if content else {})})
    with pytest.raises(CorruptFile):
        read_bytes(tmp_path, "a.odt", data)


def encrypted(method: str, password: str = "tika") -> bytes:
    """An encrypted text, as the three generations of office programs write them."""
    content = f"<office:document-content {NAMESPACES}><office:body><office:text><text:p>The secret</text:p></office:text></office:body></office:document-content>".encode()
    squeezed = zlib.compressobj(9, zlib.DEFLATED, -15)
    whole = document("<text:p>The secret</text:p>") if method == "gcm" else content
    packed = squeezed.compress(whole) + squeezed.flush()
    salt, vector = os.urandom(16), os.urandom({"blowfish": 8, "aes": 16, "gcm": 12}[method])
    digest = hashlib.sha1 if method == "blowfish" else hashlib.sha256
    start = digest(password.encode()).digest()
    if method == "gcm":
        key = Argon2id(salt=salt, length=32, iterations=1, lanes=1, memory_cost=64).derive(start)
        data = vector + AESGCM(key).encrypt(vector, packed, None)
        algorithm, derivation, checksum = (
            "http://www.w3.org/2009/xmlenc11#aes256-gcm",
            'manifest:key-size="32" loext:argon2-iterations="1" loext:argon2-memory="64" loext:argon2-lanes="1"',
            "",
        )
    else:
        size = 16 if method == "blowfish" else 32
        key = hashlib.pbkdf2_hmac("sha1", start, salt, 1024, size)
        padding = 16 - len(packed) % 16
        cipher = Cipher(Blowfish(key), CFB(vector)) if method == "blowfish" else Cipher(AES(key), CBC(vector))
        encryptor = cipher.encryptor()
        data = (
            encryptor.update(packed if method == "blowfish" else packed + bytes([padding]) * padding)
            + encryptor.finalize()
        )
        algorithm = "Blowfish CFB" if method == "blowfish" else "http://www.w3.org/2001/04/xmlenc#aes256-cbc"
        derivation = f'manifest:key-size="{size}" manifest:iteration-count="1024"'
        name = "SHA1/1K" if method == "blowfish" else "urn:oasis:names:tc:opendocument:xmlns:manifest:1.0#sha256-1k"
        checksum = f'manifest:checksum-type="{name}" manifest:checksum="{_base64(digest(packed[:1024]).digest())}"'
    start_name = "SHA1" if method == "blowfish" else "http://www.w3.org/2001/04/xmlenc#sha256"
    member = "encrypted-package" if method == "gcm" else "content.xml"
    manifest = f"""<manifest:manifest {NAMESPACES}><manifest:file-entry manifest:full-path="/"/><manifest:file-entry manifest:full-path="{member}">
    <manifest:encryption-data {checksum}><manifest:algorithm manifest:algorithm-name="{algorithm}" manifest:initialisation-vector="{_base64(vector)}"/>
    <manifest:start-key-generation manifest:start-key-generation-name="{start_name}"/>
    <manifest:key-derivation manifest:key-derivation-name="PBKDF2" {derivation} manifest:salt="{_base64(salt)}"/></manifest:encryption-data></manifest:file-entry></manifest:manifest>"""
    return package({"mimetype": TEXT, "META-INF/manifest.xml": manifest, member: data})


def _base64(data: bytes) -> str:
    return base64.b64encode(data).decode()


@pytest.mark.parametrize("method", ["blowfish", "aes", "gcm"])
def test_an_encrypted_text_opens_with_its_password_only(method: str, tmp_path: Path) -> None:
    data = encrypted(method)
    with pytest.raises(PasswordRequired):
        read_bytes(tmp_path, "a.odt", data)
    with pytest.raises(WrongPassword):
        read_bytes(tmp_path, "b.odt", data, password="guess")
    reading = read_bytes(tmp_path, "c.odt", data, password="tika")
    assert reading.texts() == ["The secret"]
    assert not (reading.folder / "decrypted").exists()


def test_a_key_that_would_take_for_ever_to_derive_is_refused(tmp_path: Path) -> None:
    plain = encrypted("aes")
    manifest_at = plain.find(b'manifest:iteration-count="1024"')
    assert manifest_at < 0  # it is compressed, so the limit is tried through a manifest of its own
    manifest = f"""<manifest:manifest {NAMESPACES}><manifest:file-entry manifest:full-path="content.xml"><manifest:encryption-data>
    <manifest:algorithm manifest:algorithm-name="aes256-cbc" manifest:initialisation-vector="AAAA"/>
    <manifest:key-derivation manifest:iteration-count="4000000000" manifest:salt="AAAA"/></manifest:encryption-data></manifest:file-entry></manifest:manifest>"""
    data = package({"mimetype": TEXT, "META-INF/manifest.xml": manifest, "content.xml": b"x" * 32})
    with pytest.raises(LimitExceeded):
        read_bytes(tmp_path, "a.odt", data, password="x")
