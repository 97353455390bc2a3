"""Do stored rectangles hold the text of their chunks? PDFs through the HTTP API, then PDFium alone reads inside the rectangles.

    python benchmarks/locators.py FOLDER [FOLDER…] [--chunks 1000] [--seed 1] [--show 20]

Of the chunks of all PDFs below the folders, some are drawn at random. The text that PDFium finds inside each of a chunk's rectangles
(`FPDFText_GetBoundedText`: every character that touches it), one after the other, is compared with the chunk's text.

equal:  without white space and hyphens (one at a line's end may or may not belong to the word)
words:  without hyphens, white space folded to single spaces, rectangles joined by one (by none after a line's hyphen)

Table chunks are compared without Markdown's signs, and their repeated header counts where it stands. What no text layer has is left
out: chunks with text from OCR, form fields or comments.
"""

from __future__ import annotations

import argparse
import json
import random
import re
import tempfile
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

import httpx
import pypdfium2
import server

_BESIDE_THE_TEXT = {"form_field", "comment", "image"}
_HYPHENS = "\ufffe\x02\u00ad\u2010-"
_HYPHEN = re.compile(rf"[{_HYPHENS}]")
_LINE_HYPHEN = re.compile(rf"\S[{_HYPHENS}]\s*$")
_IGNORED = re.compile(rf"[\s{_HYPHENS}]+")
_MARKDOWN_RULE = re.compile(r"^\|( --- \|)+$", re.MULTILINE)
_MARKDOWN_BAR = re.compile(r"(?<!\\)\|")


@dataclass(frozen=True)
class Drawn:
    """A chunk and the file that it is of."""

    path: Path
    chunk: dict


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folders", type=Path, nargs="+")
    parser.add_argument("--chunks", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--show", type=int, default=0, help="print so many of the chunks that differ")
    options = parser.parse_args()
    found = chunks_of(sorted(path for folder in options.folders for path in folder.rglob("*.pdf")))
    random.Random(options.seed).shuffle(found)
    print(json.dumps(measure(found[: options.chunks], options.show)))


def chunks_of(paths: Iterable[Path]) -> list[Drawn]:
    """All chunks of these files whose text is of the text layer."""
    found: list[Drawn] = []
    with tempfile.TemporaryDirectory(prefix="citewell-bench-") as scratch, server.serving(Path(scratch) / "data") as up:
        client = up.client()
        for path in paths:
            resource = server.add_file(client, path)
            beside = {
                element["id"]
                for element in listed(client, resource["id"], "elements")
                if element["type"] in _BESIDE_THE_TEXT or "confidence" in element
            }
            found += [
                Drawn(path, chunk)
                for chunk in listed(client, resource["id"], "chunks")
                if not any(piece["element_id"] in beside for piece in chunk["pieces"])
            ]
    return found


def listed(client: httpx.Client, resource_id: str, what: str) -> Iterator[dict]:
    cursor: str | None = ""
    while cursor is not None:
        query = {"limit": 500} | ({"cursor": cursor} if cursor else {})
        page = client.get(f"/resources/{resource_id}/{what}", params=query).raise_for_status().json()
        yield from page[what]
        cursor = page["next_cursor"]


def measure(drawn: Iterable[Drawn], show: int = 0) -> dict[str, dict[str, float]]:
    """Shares per type of chunk."""
    counts: dict[str, Counter[str]] = defaultdict(Counter)
    for item in sorted(drawn, key=lambda item: (item.path, item.chunk["ordinal"])):
        kind, text = item.chunk["type"], shown_text(item.chunk)
        inside = texts_inside(item.path, item.chunk["locator"].get("boxes", ()))
        equal = plain("".join(inside)) == plain(text)
        counts[kind].update(chunks=1, equal=equal, words=unhyphened(joined(inside)) == unhyphened(folded(text)))
        if not equal and sum(count["chunks"] - count["equal"] for count in counts.values()) <= show:
            print(f"{item.path.name}, pages {item.chunk['locator'].get('pages')}\n  {folded(text)}\n  {joined(inside)}")
    return {
        kind: {"chunks": count["chunks"]}
        | {share: round(count[share] / count["chunks"], 4) for share in ("equal", "words")}
        for kind, count in sorted(counts.items())
    }


def shown_text(chunk: dict) -> str:
    """The chunk's text as it stands on the page."""
    if chunk["type"] != "table":
        return chunk["text"]
    return _MARKDOWN_BAR.sub(" ", _MARKDOWN_RULE.sub("", chunk["text"])).replace("\\|", "|")


def plain(text: str) -> str:
    return _IGNORED.sub("", text)


def folded(text: str) -> str:
    return " ".join(text.split())


def unhyphened(text: str) -> str:
    return folded(_HYPHEN.sub("", text))


def joined(inside: Iterable[str]) -> str:
    out = ""
    for text in map(folded, inside):
        out = f"{out}{text}" if _LINE_HYPHEN.search(out) else f"{out} {text}"
    return folded(out)


def texts_inside(path: Path, boxes: Iterable[dict]) -> list[str]:
    """What PDFium finds inside each rectangle of the pages as they are shown."""
    found: list[str] = []
    for box in boxes:
        page, textpage = opened(path, box["page"])
        found.append(textpage.get_text_bounded(*in_user_space(page, box)))
    return found


@lru_cache(maxsize=8)
def opened(path: Path, number: int) -> tuple[pypdfium2.PdfPage, pypdfium2.PdfTextPage]:
    page = pypdfium2.PdfDocument(path)[number - 1]
    return page, page.get_textpage()


def in_user_space(page: pypdfium2.PdfPage, box: dict) -> tuple[float, float, float, float]:
    """left, bottom, right, top in the file's own coordinates, the page being turned and cropped."""
    left, bottom, right, top = page.get_bbox()
    x0, y0, x1, y1 = box["x0"], box["y0"], box["x1"], box["y1"]
    return {
        0: (left + x0, top - y1, left + x1, top - y0),
        90: (left + y0, bottom + x0, left + y1, bottom + x1),
        180: (right - x1, bottom + y0, right - x0, bottom + y1),
        270: (right - y1, top - x1, right - y0, top - x0),
    }[page.get_rotation()]


if __name__ == "__main__":
    main()
