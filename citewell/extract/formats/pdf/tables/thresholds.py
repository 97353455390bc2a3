"""All thresholds for finding and reading tables, as one value."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class AlignedThresholds:
    """Thresholds for finding tables without lines; an em is the larger font size of the rows compared.

    Set on the tables of ICDAR 2013 (`benchmarks/tables.py`) and by hand on the development documents.

    singles:              one-piece lines (wrapped cells, group headings) allowed between two rows
    row_distance:         ems between the baselines of neighboring lines of one table
    label:                characters of the longest cell without figures, and of the longest line between two rows
    header_lines:         lines above the first row that may be the header
    header_distance:      ems between their baselines
    caption_rows:         rows above the table searched for a caption
    heading_size:         font size, relative to the row below, at which a line between rows is a heading; after it,
                          edges must agree
    rows_compared:        rows above with which a row's columns are compared
    bridging:             share of pieces over two pieces of the other row at which two rows do not share columns
    bridged_rows:         share of the rows compared with which a row may not share columns
    same_edge:            points within which the starts, ends or centers of two pieces agree
    agreeing:             share of pieces whose edges must agree after a heading
    multi_share:          least share of rows with several pieces in a table
    leaders:              share of rows with dot leaders at which two columns are a table of contents
    captioned_filled:     least share of filled positions in a table with a caption
    figures:              share of figures at which few rows suffice:
    figures_filled:       then the least share of filled positions,
    figures_rows:         the fewest rows in three or more columns,
    figures_rows_of_two:  and the fewest rows in two
    cell_length:          mean characters per piece beyond which only figures or a caption indicate a table
    wide:                 columns at which short texts are a table with
    wide_filled:          this share of filled positions and
    wide_figures:         this share of figures
    long_rows:            rows with several pieces at which three columns are a table with
    long_filled:          this share of filled positions and
    long_figures:         this share of figures
    """

    singles: int = 3
    row_distance: float = 3.2
    label: int = 60
    header_lines: int = 4
    header_distance: float = 2.0
    caption_rows: int = 4
    heading_size: float = 1.1
    rows_compared: int = 4
    bridging: float = 0.34
    bridged_rows: float = 0.5
    same_edge: float = 3.0
    agreeing: float = 0.7
    multi_share: float = 0.4
    leaders: float = 0.5
    captioned_filled: float = 0.5
    figures: float = 0.4
    figures_filled: float = 0.6
    figures_rows: int = 3
    figures_rows_of_two: int = 4
    cell_length: int = 18
    wide: int = 4
    wide_filled: float = 0.85
    wide_figures: float = 0.15
    long_rows: int = 5
    long_filled: float = 0.7
    long_figures: float = 0.1


@dataclass(frozen=True, slots=True, kw_only=True)
class DetectThresholds:
    """Thresholds for whether to look for tables at all.

    This quick check only saves time: `evidence` weighs what passes it. Set on the tables of ICDAR 2013
    (`benchmarks/tables.py`) and by hand on the development documents.

    min_drawn:  lines and areas drawn on a page at which tables are looked for
    min_rows:   rows with short runs side by side at which they are looked for on a page without drawing
    max_run:    characters of the longest run that may be a cell
    row_step:   points within which baselines count as one row in this check
    margin:     points by which the center of a word may lie outside a table's area and still belong to it
    """

    min_drawn: int = 2
    min_rows: int = 2
    max_run: int = 34
    row_step: float = 3.0
    margin: float = 2.0


@dataclass(frozen=True, slots=True, kw_only=True)
class EvidenceThresholds:
    """Thresholds for telling tables from lookalikes.

    Set on the tables of ICDAR 2013 (`benchmarks/tables.py`) and by hand on the development documents.

    long_piece:    characters beyond which a piece is a line of running text
    sparse:        share of filled positions below which cells are labels on a drawing
    counted_span:  most positions that a merged cell counts as; otherwise a title over everything would fill a drawing
    layout_text:   mean characters per cell beyond which a grid is page layout
    code_figures:  share of figures below which cells in a monospaced font are code
    small:         positions of the largest table in which only one row or column need be filled, if completely
    dense:         share of rows with text in a dense column, and share of such columns (at least two), in a table
                   without lines: the axes of a chart have fewer
    """

    long_piece: int = 34
    sparse: float = 0.25
    counted_span: int = 3
    layout_text: int = 300
    code_figures: float = 0.2
    small: int = 4
    dense: float = 0.4


@dataclass(frozen=True, slots=True, kw_only=True)
class ExtentThresholds:
    """Thresholds for finding a table's first and last row; an em is the row's font size, a pitch the table's median
    baseline distance.

    Set on the tables of ICDAR 2013 (`benchmarks/tables.py`) and on statements in annual reports.

    figures:          share of figures at which a table is numeric; other tables keep the extent found
    title_rows:       rows of titles that may be above the area
    title_distance:   ems between their baselines
    first_distance:   ems from the lowest of them to the row below
    group_rows:       group labels allowed between the titles and the area, or between the area and more rows
    group_length:     characters of the longest group label
    over_labels:      share of a title that may lie over the label column
    row_distance:     pitches to a row below the area that belongs to it
    filled:           share of the numeric columns that such a row must fill
    note_distance:    pitches at which a last line without figures is a note, and one without a label a page number
    centred:          ems by which a title of the whole table may miss the table's center
    max_rows:         rows examined on either side of an area
    """

    figures: float = 0.5
    title_rows: int = 6
    title_distance: float = 2.2
    first_distance: float = 3.0
    group_rows: int = 3
    group_length: int = 90
    over_labels: float = 0.3
    row_distance: float = 1.6
    filled: float = 0.5
    note_distance: float = 1.3
    centred: float = 2.0
    max_rows: int = 24


@dataclass(frozen=True, slots=True, kw_only=True)
class FrameThresholds:
    """Thresholds for finding tables between horizontal lines. A band is the text between two successive lines.

    Set on the tables of ICDAR 2013 (`benchmarks/tables.py`) and by hand on the development documents.

    join:           points between pieces of one line: lines are often drawn column by column
    min_length:     points of the shortest line that frames a table
    same_edge:      points by which the ends of a table's lines may differ
    short_band:     rows of a short band, as in tables with a line every few rows
    short_bands:    short bands at which text in columns is a table even without figures or short labels
    figures:        share of figures at which a band in columns is a table
    figures_share:  share of its rows that must have several pieces
    labels_share:   the same for a band of labels
    some_figures:   share of figures at which a band of labels is a table
    label_length:   or mean characters per piece up to which it is one
    prose:          share of rows of running text at which a band ends the table
    caption_reach:  points left of the lines at which the caption of another table may end
    overlap:        share of an area inside a larger one at which it is dropped
    """

    join: float = 26.0
    min_length: float = 60.0
    same_edge: float = 6.0
    short_band: int = 7
    short_bands: int = 3
    figures: float = 0.5
    figures_share: float = 0.3
    labels_share: float = 0.5
    some_figures: float = 0.3
    label_length: float = 24
    prose: float = 0.5
    caption_reach: float = 150.0
    overlap: float = 0.3


@dataclass(frozen=True, slots=True, kw_only=True)
class HeaderThresholds:
    """Thresholds for reading header rows; an em is the row's font size.

    Set on the tables of ICDAR 2013 (`benchmarks/tables.py`) and by hand on the development documents.

    underline:        title heights within which a line below underlines it
    underline_slack:  points by which the line may miss the title's center
    astray:           title heights by which it may miss the ends and the center of its own line below
    full_line:        share of the table's width at which a line belongs to the table, not to a title
    overlap:          common share of the narrower of title and column at which the title is over that column
    word_gap:         ems between words at the edge of two columns at which they are two titles
    fit:              ems by which the parts of a title may miss the left, right or center of their columns to be
                      separate titles
    centred:          ems by which a title may miss the center of the columns below it
    wall_slack:       points by which words may reach over a line or an edge between columns
    between:          ems by which a line between two titles may overlap them
    line_gap:         ems between two lines of one title
    """

    underline: float = 0.9
    underline_slack: float = 3.0
    astray: float = 2.5
    full_line: float = 0.9
    overlap: float = 0.3
    word_gap: float = 0.45
    fit: float = 0.4
    centred: float = 0.8
    wall_slack: float = 1.0
    between: float = 0.4
    line_gap: float = 1.5


@dataclass(frozen=True, slots=True, kw_only=True)
class JoinThresholds:
    """Thresholds for joining tables across page breaks. Set by hand on the development documents; see
    `tests/extract/pdf/test_tables.py` for the cases.

    foot_zone:            share of the page height at the bottom in which text is a footer, not page content
    head_zone:            the same at the top
    max_notes:            short lines (notes, page numbers, “continued”) allowed between the parts
    max_note_characters:  characters of the longest of them
    same_column:          points by which columns of the two parts may miss each other
    same_width:           share by which the widths of the two parts may differ
    min_width_slack:      points by which they may always differ
    edge:                 points by which text may reach over the edge of the table and still be outside
    max_pages:            pages of the longest table: they are held in memory together
    """

    foot_zone: float = 0.12
    head_zone: float = 0.15
    max_notes: int = 3
    max_note_characters: int = 70
    same_column: float = 9.0
    same_width: float = 0.1
    min_width_slack: float = 36.0
    edge: float = 2.0
    max_pages: int = 200


@dataclass(frozen=True, slots=True, kw_only=True)
class LatticeThresholds:
    """Thresholds for reading a grid of ruling lines.

    Set on the tables of ICDAR 2013 (`benchmarks/tables.py`) and by hand on the development documents.

    border:      share of a grid square's side that a line must cover to be its border: lower values split merged cells,
                 higher ones join cells with broken borders
    min_cell:    points of the smallest row or column; smaller ones are double lines
    min_filled:  fewest cells with text; grids with fewer are frames or drawings
    contained:   share of an area inside a larger one at which it is shading
    in_grid:     share of an area inside a drawn grid at which its edges do not count as lines
    max_fills:   areas beyond which they are a picture, and none counts
    slack:       points by which words may reach over a column's edge when a merged cell is split by its text
    text_rows:   rows with several pieces, and columns, at which the text inside one grid row is its own table
    text_share:  share of those rows among the lines of text, and of figures among their pieces, at which it is
    """

    border: float = 0.6
    min_cell: float = 4.0
    min_filled: int = 3
    contained: float = 0.9
    in_grid: float = 0.5
    max_fills: int = 600
    slack: float = 1.0
    text_rows: int = 2
    text_share: float = 0.5


@dataclass(frozen=True, slots=True, kw_only=True)
class RuleThresholds:
    """Thresholds for joining drawn lines, in points. Set by hand on the development documents and checked on ICDAR 2013
    (`benchmarks/tables.py`).

    snap:    within which parallel lines are one (double lines, the two edges of a thin area, neighboring cells'
             borders), and within which a line meets another
    join:    gap between two pieces of one line
    inside:  share (not points) of a line's length inside an area at which it belongs to the area
    """

    snap: float = 3.5
    join: float = 3.0
    inside: float = 0.5


@dataclass(frozen=True, slots=True, kw_only=True)
class StreamThresholds:
    """Thresholds for reading rows and columns from aligned text; an em is the row's font size, a pitch the table's
    median baseline distance.

    Set on the tables of ICDAR 2013 (`benchmarks/tables.py`) and by hand on the development documents.

    wall:           share of the table's height that a vertical line must cover to separate columns
    full_rule:      share of the table's width that a full horizontal line covers
    edge:           share of the width by which it may stop short of either side
    header_rows:    lines of the longest header
    header_share:   share of the table's lines above a line at which it no longer closes the header
    overlap:        common share of the narrower of piece and column at which the piece is in that column
    figure_inset:   points before its column at which a figure that starts a new cell may begin
    interlaced:     ems by which a label between two rows overlaps each of them
    ruled_rows:     rows separated by lines at which lines define the rows,
    ruled_share:    if they are this share of the lines of text,
    ruled_lines:    and none has more lines of text than this
    wrapped_pitch:  pitches beyond which a line does not continue the row above
    tight_pitch:    pitches up to which an indented label continues the one above: wrapped lines are set tighter than
                    rows
    label_indent:   ems by which it is indented
    """

    wall: float = 0.6
    full_rule: float = 0.7
    edge: float = 0.04
    header_rows: int = 12
    header_share: float = 0.75
    overlap: float = 0.3
    figure_inset: float = 2.0
    interlaced: float = 0.15
    ruled_rows: int = 3
    ruled_share: float = 0.4
    ruled_lines: int = 6
    wrapped_pitch: float = 1.3
    tight_pitch: float = 0.93
    label_indent: float = 0.5


@dataclass(frozen=True, slots=True, kw_only=True)
class TextGridThresholds:
    """Thresholds for cutting rows into pieces and finding columns; an em is the font size.

    Set on the tables of ICDAR 2013 (`benchmarks/tables.py`) and by hand on the development documents.

    gap:              ems between words at which they are two pieces: lower values cut cells at wide spaces, higher ones
                      join cells of narrow columns
    trailing_gap:     ems by which a percent sign may follow its number
    noise:            share of rows that may cross the strip between two columns
    narrowest_strip:  ems between two columns of figures that are a mere space apart
    filled:           share of rows with words on both sides required to split such columns
    figures:          share of figures required on either side
    min_rows:         rows with several words required
    slack:            points by which words may reach over the edge of a column or over a line
    wall_inset:       points inside a column at which a vertical line cuts it
    """

    gap: float = 0.85
    trailing_gap: float = 1.6
    noise: float = 0.08
    narrowest_strip: float = 0.25
    filled: float = 0.6
    figures: float = 0.7
    min_rows: int = 3
    slack: float = 1.0
    wall_inset: float = 2.0


@dataclass(frozen=True, slots=True, kw_only=True)
class TitleThresholds:
    """Thresholds for finding a table's title; an em is the larger font size of the two lines compared. Set by hand on
    annual reports.

    max_lines:   lines of the longest title
    distance:    ems between the baselines of two lines, and from the last to the table's first row
    width:       share of the table's width that a title in regular type may take: wider lines are text
    characters:  characters of the longest line
    """

    max_lines: int = 5
    distance: float = 2.6
    width: float = 0.75
    characters: int = 140


@dataclass(frozen=True, slots=True, kw_only=True)
class PdfTableThresholds:
    """The thresholds of each step."""

    aligned: AlignedThresholds = AlignedThresholds()
    detect: DetectThresholds = DetectThresholds()
    evidence: EvidenceThresholds = EvidenceThresholds()
    extent: ExtentThresholds = ExtentThresholds()
    frames: FrameThresholds = FrameThresholds()
    header: HeaderThresholds = HeaderThresholds()
    join: JoinThresholds = JoinThresholds()
    lattice: LatticeThresholds = LatticeThresholds()
    rules: RuleThresholds = RuleThresholds()
    stream: StreamThresholds = StreamThresholds()
    text_grid: TextGridThresholds = TextGridThresholds()
    titles: TitleThresholds = TitleThresholds()


THRESHOLDS = PdfTableThresholds()
