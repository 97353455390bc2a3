"""Classifies paragraphs: heading with its level, list item, caption, footnote, code or plain text."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from citewell.extract.formats.pdf.lines import MARKER, Line
from citewell.extract.formats.pdf.paragraphs import BULLET, opens_item
from citewell.types import ElementType

_CAPTION = re.compile(
    r"^(?:fig(?:ure|\.)?|table|exhibit|chart|graph|box|plate|scheme|listing|algorithm|abb(?:ildung|\.)|tab(?:elle|\.)"
    r"|tableau|figura|tabla|tabela|图|圖|表|図|그림|표|рис(?:унок|\.)|таблица)\s*"
    r"(?:[A-Z]{0,3}[-.]?\d+(?:[-.–]\d+)*[a-z]?|[IVX]+)(?P<after>\s*[.:：—–|-]\s|\s+|$)",
    re.IGNORECASE,
)
_NUMBERED = re.compile(
    r"^(?:\d{1,2}(?:\.\d{1,2}){0,4}\.?|[A-Z]\.|[IVX]{1,5}\.|(?:chapter|section|part|appendix|article)\s+\w+)\s",
    re.IGNORECASE,
)
_FOOTNOTE = re.compile(r"^(?:\d{1,3}|[*†‡§¶]{1,3}|[a-z])(?:[.)]?\s|(?=[A-Z“\"]))")
_LETTERS = re.compile(r"[^\W\d_]")
_SPACES = re.compile(r"\s+")


@dataclass(frozen=True, slots=True, kw_only=True)
class StructureThresholds:
    """Thresholds for telling headings, captions, footnotes, lists and code from text. The body size is the document's
    most used font size.

    Set by hand on the development documents. No benchmark covers headings; see `tests/extract/pdf/test_text.py` for the
    cases.

    larger:                  ratio to the body size at which a paragraph is a heading: lower values mistake emphasized
                             text for headings, higher ones miss the lowest headings
    size_step:               points of size that separate two heading levels
    smaller:                 ratio to the body size up to which text is small, like captions and footnotes
    same:                    ratio to the body size at which bold text or capitals may be a heading
    max_heading_characters:  characters of the longest heading
    max_heading_lines:       lines of the longest heading
    max_bold_characters:     characters of the longest heading marked only by weight or capitals
    max_bold_lines:          its lines
    min_heading_letters:     fewest letters of a heading
    letter_share:            least share of letters in a heading marked by size; fewer: a number, a formula or a price
    min_capitals:            fewest letters of a heading marked only by capitals
    max_heading_level:       lowest level of a heading
    max_caption_characters:  characters of the longest caption
    caption_lines:           lines of a caption recognized only by its wording
    footnote_zone:           share of the page height below which footnotes begin
    code_marks:              share of brackets, operators and the like at which monospaced text is code
    min_code_characters:     characters of the shortest listing
    listing_gap:             ems between the baselines of two blocks of one listing: at most one empty line between them
    item_indent:             ems of indentation per list level
    max_item_level:          lowest level of a list item
    sample_pages:            pages, spread over the document, sampled for the body size and the ranks of heading sizes
    """

    larger: float = 1.15
    size_step: float = 0.4
    smaller: float = 0.93
    same: float = 0.95
    max_heading_characters: int = 220
    max_heading_lines: int = 4
    max_bold_characters: int = 140
    max_bold_lines: int = 3
    min_heading_letters: int = 2
    letter_share: float = 0.4
    min_capitals: int = 5
    max_heading_level: int = 6
    max_caption_characters: int = 500
    caption_lines: int = 2
    footnote_zone: float = 0.5
    code_marks: float = 0.04
    min_code_characters: int = 4
    listing_gap: float = 3.0
    item_indent: float = 2.0
    max_item_level: int = 6
    sample_pages: int = 12


THRESHOLDS = StructureThresholds()


@dataclass(frozen=True, slots=True)
class Survey:
    """Type sizes of the document: its body size, and the ranks of its heading sizes.

    outline maps (page, folded title) to the depth of a bookmark (1 = top).
    """

    body_size: float = 10.0
    body_bold: bool = False
    sizes: tuple[float, ...] = ()
    outline: Mapping[tuple[int, str], int] = field(default_factory=dict[tuple[int, str], int])

    def level(self, size: float) -> int:
        """Returns a font size's heading level: 1 for the largest; bold at body size ranks after all larger ones."""
        larger = sum(1 for known in self.sizes if known > size + THRESHOLDS.size_step)
        return min(THRESHOLDS.max_heading_level, larger + 1)


@dataclass(frozen=True, slots=True)
class Block:
    """A paragraph and its kind. `level` is a heading's level or a list item's depth."""

    type: ElementType
    lines: Sequence[Line]
    level: int | None = None


def fold_title(text: str) -> str:
    """Normalizes a title for comparison: no case, no white space, no punctuation at its ends."""
    return _SPACES.sub("", text).strip(".:").casefold()


def survey(pages: Iterable[Iterable[Line]], outline: Mapping[tuple[int, str], int]) -> Survey:
    """Surveys sizes, weighted by their characters, from the lines of sample pages, the first page first.

    Sizes used only on the first of several pages (a cover) rank no headings.
    """
    weights: Counter[tuple[float, bool]] = Counter()
    later: set[float] = set()
    count = 0
    for count, lines in enumerate(pages, start=1):
        for line in lines:
            # By characters, not lines, so that many short headings and cells do not outweigh the text.
            weights[line.size, line.bold] += line.characters
            if count > 1:
                later.add(line.size)
    if not weights:
        return Survey(outline=outline)
    by_size: Counter[float] = Counter()
    for (size, _), weight in weights.items():
        by_size[size] += weight
    body = by_size.most_common(1)[0][0]
    bold = weights[body, True] > weights[body, False]
    ranked = sorted(
        (size for size in by_size if size >= THRESHOLDS.larger * body and (count == 1 or size in later)), reverse=True
    )
    ranks: list[float] = []
    for size in ranked:
        if not ranks or ranks[-1] - size > THRESHOLDS.size_step:
            ranks.append(size)
    return Survey(body, bold, tuple(ranks), outline)


def classify(groups: Sequence[Sequence[Line]], page: int, page_height: float, known: Survey) -> list[Block]:
    """Returns the blocks of one column's paragraphs."""
    left = min((line.x0 for group in groups for line in group), default=0.0)
    blocks: list[Block] = []
    for group in groups:
        block = _block(group, page, page_height, left, known)
        if blocks and _is_one_listing(blocks[-1], block):
            block = Block(ElementType.CODE, [*blocks.pop().lines, *block.lines])
        blocks.append(block)
    return blocks


def _is_one_listing(above: Block, below: Block) -> bool:
    """Whether a block right below in the listing's font, at most one empty line apart, belongs to it."""
    if above.type is not ElementType.CODE or not all(word.style.mono for line in below.lines for word in line.words):
        return False
    return below.lines[0].baseline - above.lines[-1].baseline <= THRESHOLDS.listing_gap * below.lines[0].size


def _block(lines: Sequence[Line], page: int, page_height: float, left: float, known: Survey) -> Block:
    text = " ".join(line.text for line in lines)
    # A title in the author's outline is a heading, whatever it looks like.
    depth = known.outline.get((page, fold_title(text)))
    if depth is not None:
        return Block(ElementType.TITLE, lines, min(THRESHOLDS.max_heading_level, depth))
    if _is_caption(text, lines, known):
        return Block(ElementType.CAPTION, lines)
    if _is_code(lines):
        return Block(ElementType.CODE, lines)
    level = _heading_level(text, lines, known)
    if level is not None:
        return Block(ElementType.TITLE, lines, level)
    if _is_footnote(text, lines, page_height, known):
        return Block(ElementType.FOOTNOTE, lines)
    if opens_item(lines[0]):
        inset = (lines[0].x0 - left) / max(1.0, THRESHOLDS.item_indent * lines[0].size)
        return Block(ElementType.LIST_ITEM, lines, min(THRESHOLDS.max_item_level, 1 + max(0, round(inset))))
    return Block(ElementType.PARAGRAPH, lines)


def _is_caption(text: str, lines: Sequence[Line], known: Survey) -> bool:
    match = _CAPTION.match(text)
    if not match or len(text) > THRESHOLDS.max_caption_characters:
        return False
    # “Table 3: Rates” is a caption; “Table 3 shows that rates …” is a sentence, unless type or brevity sets it apart.
    if match["after"].strip() or match.end() == len(text):
        return True
    first = lines[0].words[0].style
    set_apart = first.bold or first.italic or lines[0].size < THRESHOLDS.smaller * known.body_size
    return (set_apart and not known.body_bold) or (
        len(lines) <= THRESHOLDS.caption_lines
        and text[match.end() : match.end() + 1].isupper()
        and not text.endswith(".")
    )


def _is_code(lines: Sequence[Line]) -> bool:
    words = [word for line in lines for word in line.words]
    if not all(word.style.mono for word in words):
        return False
    text = " ".join(line.text for line in lines)
    marks = sum(text.count(mark) for mark in "{}()[];=<>_#/\\|$&")
    return marks >= THRESHOLDS.code_marks * len(text) and len(text) >= THRESHOLDS.min_code_characters


def _heading_level(text: str, lines: Sequence[Line], known: Survey) -> int | None:
    letters = len(_LETTERS.findall(text))
    if (
        letters < THRESHOLDS.min_heading_letters
        or len(lines) > THRESHOLDS.max_heading_lines
        or len(text) > THRESHOLDS.max_heading_characters
        or text.endswith((",", ";"))
        # A unit or a remark in parentheses is not a heading.
        or (text.startswith("(") and text.find(")") == len(text) - 1)
    ):
        return None
    # Entries of a table of contents are set like the headings that they name.
    if BULLET.match(lines[0].words[0].text) or text.count(". . .") or "....." in text:
        return None
    size = max(line.size for line in lines)
    if size >= THRESHOLDS.larger * known.body_size and letters >= THRESHOLDS.letter_share * len(text.replace(" ", "")):
        return known.level(size)
    if (
        len(lines) > THRESHOLDS.max_bold_lines
        or len(text) > THRESHOLDS.max_bold_characters
        or size < THRESHOLDS.same * known.body_size
    ):
        return None
    ends_sentence = text.endswith((".", "!", "?", "。")) and not _NUMBERED.match(text)
    below_all = min(THRESHOLDS.max_heading_level, len(known.sizes) + 1)
    if not known.body_bold and all(word.style.bold for line in lines for word in line.words) and not ends_sentence:
        return below_all
    if (
        len(lines) == 1
        and text.isupper()
        and letters >= THRESHOLDS.min_capitals
        and not ends_sentence
        and not text.endswith(":")
    ):
        return below_all
    return None


def _is_footnote(text: str, lines: Sequence[Line], page_height: float, known: Survey) -> bool:
    if lines[0].size > THRESHOLDS.smaller * known.body_size or lines[0].y0 < THRESHOLDS.footnote_zone * page_height:
        return False
    return _FOOTNOTE.match(text) is not None and MARKER.match(lines[0].words[0].text) is None
