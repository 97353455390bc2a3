"""Messages and mailboxes: header fields, bodies, attachments."""

from __future__ import annotations

import base64
import struct
from email.message import EmailMessage
from pathlib import Path

import pytest

from citewell.errors import CorruptFile
from citewell.extract.core.sink import Sink
from citewell.extract.formats.mail import msg
from citewell.extract.formats.mail.compressed_rtf import decompressed, wrapped_html
from citewell.extract.formats.mail.reader import split_mailbox
from citewell.types import ElementType, ExtractOptions
from tests.extract.documents.compound import Tree, compound_file
from tests.extract.documents.office import picture
from tests.extract.documents.outlook import attachment, outlook, wide
from tests.extract.documents.reading import Reading, read, read_bytes


def message(subject: str = "Quarterly figures") -> EmailMessage:
    out = EmailMessage()
    out["From"] = "Ann Müller <ann@example.com>"
    out["To"] = "Bob <bob@example.com>, carl@example.com"
    out["Date"] = "Fri, 01 May 2026 10:00:00 +0000"
    out["Subject"] = subject
    return out


def test_header_fields_come_first_and_as_metadata(tmp_path: Path) -> None:
    mail = message("Größe")
    mail.set_content("Hello Bob,\n\nthe numbers are attached.\n")
    reading = read_bytes(tmp_path, "a.eml", mail.as_bytes())
    assert [(e.type, e.text) for e in reading.elements] == [
        (ElementType.TITLE, "Größe"),
        (
            ElementType.PARAGRAPH,
            "From: Ann Müller <ann@example.com>\nTo: Bob <bob@example.com>, carl@example.com\nDate: Fri, 01 May 2026 10:00:00 +0000\nSubject: Größe",
        ),
        (ElementType.PARAGRAPH, "Hello Bob,"),
        (ElementType.PARAGRAPH, "the numbers are attached."),
    ]
    assert reading.summary.metadata["from"] == "Ann Müller <ann@example.com>"
    assert reading.elements[-1].locator.headings == ("Größe",)


def test_of_two_bodies_the_one_in_html_is_read_where_it_says_as_much(tmp_path: Path) -> None:
    mail = message()
    mail.set_content("Prices: tea 5")
    mail.add_alternative(
        "<p>Prices:</p><table><tr><th>Item</th><th>Price</th></tr><tr><td>Tea</td><td>5</td></tr></table>",
        subtype="html",
    )
    reading = read_bytes(tmp_path, "a.eml", mail.as_bytes())
    assert reading.of(ElementType.TABLE)[0].grid == (("Item", "Price"), ("Tea", "5"))
    poor = message()
    poor.set_content("A long and complete text that the other part lacks.")
    poor.add_alternative("<p>See text.</p>", subtype="html")
    assert (
        read_bytes(tmp_path, "b.eml", poor.as_bytes()).elements[-1].text
        == "A long and complete text that the other part lacks."
    )


def test_attachments_and_forwarded_messages_become_children(tmp_path: Path) -> None:
    mail, inner = message(), message("Inner one")
    inner.set_content("inside")
    mail.set_content("outside")
    mail.add_attachment(b"%PDF-1.7", maintype="application", subtype="pdf", filename="Größe.pdf")
    mail.add_attachment("plain notes", filename="../../notes.txt")
    mail.add_attachment(inner)
    mail.add_attachment(b"", maintype="application", subtype="octet-stream", filename="empty.bin")
    reading = read_bytes(tmp_path, "a.eml", mail.as_bytes())
    assert reading.child("Größe.pdf") == b"%PDF-1.7"
    assert b"plain notes" in reading.child("notes.txt")
    assert b"inside" in reading.child("Inner one.eml")
    assert "inside" not in reading.text
    assert all(child.locator.headings == ("Quarterly figures",) for child in reading.summary.children)


def test_pictures_shown_in_the_body_are_images_of_the_message(tmp_path: Path) -> None:
    mail = message()
    mail.set_content("text")
    mail.add_alternative('<p>See <img src="cid:x"></p>', subtype="html")
    page = mail.get_body(("html",))
    assert isinstance(page, EmailMessage)
    page.add_related(picture(40), "image", "png", cid="<x>")
    reading = read_bytes(tmp_path, "a.eml", mail.as_bytes())
    assert reading.of(ElementType.IMAGE)[0].blob is not None
    assert not reading.summary.children


def test_a_picture_that_the_body_does_not_show_is_an_attachment(tmp_path: Path) -> None:
    mail = message()
    mail.set_content("text")
    mail.add_attachment(picture(40), "image", "png", cid="<y>", disposition="inline", filename="photo.png")
    reading = read_bytes(tmp_path, "a.eml", mail.as_bytes())
    assert reading.child("photo.png").startswith(b"\x89PNG")


def test_the_pictures_of_a_saved_web_page_are_found_by_their_location(tmp_path: Path) -> None:
    png = base64.b64encode(picture(40)).decode()
    raw = (
        'From: <Saved>\r\nSubject: Page\r\nMIME-Version: 1.0\r\nContent-Type: multipart/related; boundary="b"\r\n\r\n--b\r\nContent-Type: text/html\r\n\r\n'
        '<h1>Saved</h1><img src="https://example.com/x.png">\r\n--b\r\nContent-Type: image/png\r\nContent-Location: https://example.com/x.png\r\n'
        f"Content-Transfer-Encoding: base64\r\n\r\n{png}\r\n--b--\r\n"
    )
    reading = read_bytes(tmp_path, "page.mht", raw)
    assert reading.texts(ElementType.TITLE) == ["Page", "Saved"]
    assert reading.of(ElementType.IMAGE)[0].blob is not None


@pytest.mark.parametrize("charset", ["iso-8859-1", "koi8-r", "shift_jis", "utf-8", "no-such-charset"])
def test_bodies_in_their_declared_charset(charset: str, tmp_path: Path) -> None:
    text = {"koi8-r": "Привет из Москвы", "shift_jis": "日本語の本文です", "iso-8859-1": "Größe überall"}.get(
        charset, "Żółć i ąę"
    )
    real = "utf-8" if charset == "no-such-charset" else charset
    head = f"From: a@example.com\r\nTo: b@example.com\r\nSubject: x\r\nContent-Type: text/plain; charset={charset}\r\nContent-Transfer-Encoding: 8bit\r\n\r\n"
    reading = read_bytes(tmp_path, "a.eml", head.encode() + text.encode(real))
    assert reading.elements[-1].text == text


@pytest.mark.parametrize(
    "raw",
    [
        b"Subject: =?utf-8?b?!!!?= =?x-unknown?q?abc?=\r\nFrom: \xff\xfe <<<>>>\r\nTo: a\r\n\r\nBody text\r\n",
        b"From: a@b.c\r\nTo: x\r\nSubject: s\r\nContent-Type: multipart/mixed; boundary=b\r\n\r\n--b\r\n\r\nBody text\r\n",
        b"From: a@b.c\r\nTo: x\r\nSubject: s\r\nContent-Type: text/plain\r\nContent-Transfer-Encoding: base64\r\n\r\nQm9keSB0ZXh0!!!\r\n",
        b"From: a@b.c\r\nTo: x\r\nSubject: s\r\nContent-Type: multipart/\r\n\r\nBody text\r\n",
    ],
)
def test_damaged_messages_still_give_their_text(raw: bytes, tmp_path: Path) -> None:
    assert "Body text" in read_bytes(tmp_path, "a.eml", raw).text


def test_a_message_nested_beyond_reason_is_refused_or_read_but_never_crashes(tmp_path: Path) -> None:
    raw = b"From: a@b.c\r\nTo: x\r\nSubject: s\r\n"
    for depth in range(3_000):
        raw += b"Content-Type: multipart/mixed; boundary=b%d\r\n\r\n--b%d\r\n" % (depth, depth)
    with pytest.raises(CorruptFile):
        read_bytes(tmp_path, "a.eml", raw)


def test_an_encrypted_message_says_so(tmp_path: Path) -> None:
    raw = b"From: a@b.c\r\nTo: x\r\nSubject: s\r\nContent-Type: application/pkcs7-mime; name=smime.p7m\r\nContent-Transfer-Encoding: base64\r\n\r\nAAAA\r\n"
    assert "S/MIME" in read_bytes(tmp_path, "a.eml", raw).notes()


def test_each_message_of_a_mailbox_is_a_unit(tmp_path: Path) -> None:
    first, second = message("One"), message("Two")
    first.set_content("alpha\n\n>From the start\n")
    second.set_content("beta\n")
    box = b"".join(
        b"From ann@example.com Fri May  1 10:00:00 2026\n" + mail.as_bytes() + b"\n" for mail in (first, second)
    )
    path = tmp_path / "a.mbox"
    path.write_bytes(box)
    assert len(list(split_mailbox(path))) == 2
    reading = read(path)
    assert [(u.unit, u.number, u.name) for u in reading.summary.coverage.units] == [
        ("message", 1, "One"),
        ("message", 2, "Two"),
    ]
    assert "From the start" in reading.texts()
    assert reading.elements[-1].locator.headings == ("Two",)
    assert reading.summary.metadata["messages"] == 2


def read_msg(folder: Path, tree: dict[str, bytes | Tree]) -> Reading:
    return read_bytes(folder, "a.msg", compound_file(tree))


def test_an_outlook_message_gives_fields_body_and_attachments(tmp_path: Path) -> None:
    sent = struct.pack("<Q", (1_777_629_600 + 11_644_473_600) * 10_000_000)
    inner = outlook({"0037001F": wide("Inner: one"), "1000001F": wide("inner text"), "0C1A001F": wide("Zoë")}, head=24)
    tree = outlook(
        {
            "0037001F": wide("Offer"),
            "0C1A001F": wide("Ann"),
            "0C1F001F": wide("ann@example.com"),
            "0E04001F": wide("Bob"),
            "1000001F": wide("Dear Bob,\r\n\r\nplease see the offer."),
            "__attach_version1.0_#00000000": attachment("offer.pdf", b"%PDF-1.7"),
            "__attach_version1.0_#00000001": outlook({"3001001F": wide("x"), "3701000D": inner}, head=8),
        },
        {0x0039: sent},
    )
    reading = read_msg(tmp_path, tree)
    assert [child.filename for child in reading.summary.children] == ["offer.pdf", "Inner: one.eml"]
    assert reading.texts() == [
        "Offer",
        "From: Ann <ann@example.com>\nTo: Bob\nDate: 2026-05-01T10:00:00+00:00\nSubject: Offer",
        "Dear Bob,",
        "please see the offer.",
    ]
    assert reading.child("offer.pdf") == b"%PDF-1.7"
    nested = read_bytes(tmp_path, "inner.eml", reading.child("Inner: one.eml"))
    assert "inner text" in nested.text
    assert nested.summary.metadata["from"] == "Zoë"


def test_an_outlook_message_with_an_html_body_in_a_code_page(tmp_path: Path) -> None:
    html = '<html><head><meta charset="windows-1251"></head><body><h1>Привет</h1></body></html>'.encode("cp1251")
    assert "Привет" in read_msg(tmp_path, outlook({"0037001E": b"s", "10130102": html})).texts(ElementType.TITLE)


def test_narrow_properties_use_the_message_code_page(tmp_path: Path) -> None:
    tree = outlook({"0037001E": "見積書".encode("cp932"), "1000001E": b"x"}, {0x3FFD: struct.pack("<II", 932, 0)})
    assert read_msg(tmp_path, tree).texts()[0] == "見積書"


def compressed(rtf: bytes) -> bytes:
    """RTF in the uncompressed variant of the compressed form."""
    return struct.pack("<IIII", len(rtf) + 12, len(rtf), 0x414C454D, 0) + rtf


def test_a_body_that_is_only_there_as_rtf_is_read(tmp_path: Path) -> None:
    plain = rb"{\rtf1\ansi\ansicpg1252 First \b line\b0\par Second}"
    wrapped = rb"{\rtf1\ansi\ansicpg1252\fromhtml1 {\*\htmltag <p>}\htmlrtf {\htmlrtf0 Gr\'f6\u8364?\htmlrtf }\htmlrtf0 {\*\htmltag </p><ul><li>}item{\*\htmltag </li></ul>}}"
    assert read_msg(tmp_path, outlook({"0037001F": wide("s"), "10090102": compressed(plain)})).texts()[-2:] == [
        "First line",
        "Second",
    ]
    assert wrapped_html(wrapped) == "<p>Grö€</p><ul><li>item</li></ul>"
    assert wrapped_html(plain) is None


def test_compressed_rtf_of_the_specification_is_unpacked() -> None:
    example = bytes.fromhex(
        "2d0000002b0000004c5a4675f1c5c7a703000a007263706731323542320af32068656c090020627705b06c647d0a800fa0"
    )
    assert decompressed(example) == b"{\\rtf1\\ansi\\ansicpg1252\\pard hello world}\r\n"
    with pytest.raises(ValueError, match="unknown kind"):
        decompressed(b"\0" * 16)


def test_a_damaged_outlook_message_is_refused(tmp_path: Path) -> None:
    whole = compound_file(outlook({"0037001F": wide("Offer"), "1000001F": wide("text" * 3000)}))
    path = tmp_path / "a.msg"
    path.write_bytes(whole[:700])
    with Sink(tmp_path, ExtractOptions()) as sink, pytest.raises(CorruptFile):
        msg.extract(path, sink)
