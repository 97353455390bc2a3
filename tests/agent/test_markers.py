"""Every `[n]` of a checked answer is a citation of ours and every citation has its `[n]`, whatever the text and its sources hold."""

from __future__ import annotations

import re

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from citewell.agent.citations.bracketed import MarkerReader, escape_markers, space_markers
from citewell.agent.citations.check import CheckedAnswer, CitationChecker
from citewell.agent.citations.claims import claims, keep_known, marked_numbers
from citewell.agent.citations.writer import AnswerWriter
from citewell.agent.extractive.thresholds import ExtractiveThresholds
from citewell.agent.graph import Assistant
from citewell.agent.interface import Done, Source, TextDelta, TurnRequest
from citewell.types import Verdict
from tests.agent.fakes import StoredElements, WordEmbedder, WordSearcher, hit
from tests.depth import examples

PAPER = hit("Attention has been shown [1, 2] to help [12]. Depth matters less than people think [3].", resource="paper")
README = hit(
    "Read the first argument with args[0] and the second with args[1]. See [2] for details.", resource="readme"
)
GARDEN = hit("Tomatoes need six hours of sun a day. Water them in the evening.", resource="garden")
SOURCES = tuple(Source(n, found) for n, found in enumerate((PAPER, README, GARDEN), start=1))
KNOWN = frozenset({1, 2, 3})

MARKED = re.compile(r"\[(\d+(?:[ \t]*[,;][ \t]*\d+)*)\]")
_PARTS = st.sampled_from(
    [
        *("Attention helps", " Water them.", "A", " b", ". ", ", ", "! ", "。", " ", "  ", "\n", "\n\n", "\t", "\r\n", "\u2028"),
        *(" [1]", "[1]", "[2]", " [3]", "[0]", " [999]", "[12345]", "[1][2]", "[1, 2]", " [3; 9]", "[1-3]", "[0-9]", "[2019–2021]"),
        *("[^1]", "[^1]: ", r"\[1\]", "[ 1 ]", "[", "]", "[1", "1]", "[[1]]", "[1](http://x.y)", "![1](x.png)", "[x][1]", "[1]: http://x", "[١]"),
        *("`", "``", "```", "```python\n", "~~~\n", "```\n", "```markdown\n", "args", "> ", "- ", "1. ", "# ", "| ", " |", "|---|", "**", "*", '"', "“", "”"),
        *("<", "a href", "https:", "//x", "www", ".x", "!", "\\", "&#91;", "Attention has been shown [1, 2] to help [12]", "See [2] for details"),
    ]
)  # fmt: skip
ANY_TEXT = st.lists(_PARTS | st.text(alphabet="[]0123,`\\ \n!ab.", max_size=6), max_size=14).map("".join)


@pytest.fixture
def checker() -> CitationChecker:
    return CitationChecker(WordEmbedder(), StoredElements({}))


def numbers(checked: CheckedAnswer) -> list[int]:
    return [citation.n for citation in checked.citations]


def markers(text: str) -> set[int]:
    """What a client that knows nothing of Markdown takes for citations."""
    return {int(n) for match in MARKED.finditer(text) for n in re.findall(r"\d+", match[1])}


@pytest.mark.parametrize(
    ("answer", "cited"),
    [
        ("Alpha rose [1] Beta fell. [2] Gamma stood. [3]", [1, 2, 3]),
        ("Alpha [1] Beta. [2] Gamma [3] and Delta. [1] End.", [1, 2, 3]),
        ("One [1] two. [2]\n- Three [3] four. [1] Five. [2]", [1, 2, 3]),
        ("[1]\n[2] Two.\n\n[3]", [1, 2, 3]),
        ("| Fee | Due |\n|---|---|\n| 5 [1] | daily [2] |\n| 6 | never | [3]", [1, 2, 3]),
    ],
)
async def test_no_citation_is_lost_where_a_line_cites_and_goes_on(
    checker: CitationChecker, answer: str, cited: list[int]
) -> None:
    assert sorted(numbers(await checker.check("ada", answer, SOURCES))) == cited


def test_what_stands_between_two_citations_is_a_claim_of_its_own() -> None:
    found = claims("Rates fell [1] Prices rose. [2] Wages stood still. [3]")
    assert [(c.text, c.numbers) for c in found] == [
        ("Rates fell", (1,)),
        ("Prices rose.", (2,)),
        ("Wages stood still.", (3,)),
    ]


def test_a_marker_on_a_line_of_its_own_belongs_to_the_words_before_it() -> None:
    found = claims("Fees are due daily.\n\n[1]\n[2]\nNobody pays on Sundays. [3]")
    assert [(c.text, c.numbers) for c in found] == [
        ("Fees are due daily.", (1, 2)),
        ("Nobody pays on Sundays.", (3,)),
    ]


@settings(max_examples=examples(400), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(ANY_TEXT)
async def test_markers_and_citations_agree_in_any_text(checker: CitationChecker, answer: str) -> None:
    checked = await checker.check("ada", answer, SOURCES)
    assert sorted(numbers(checked)) == sorted(markers(checked.text))
    assert set(marked_numbers(checked.text)) == set(numbers(checked))
    again = await checker.check("ada", checked.text, SOURCES, settled=True)
    assert again.text == checked.text
    assert again.citations == checked.citations


@settings(max_examples=examples(400), deadline=None)
@given(ANY_TEXT, st.integers(min_value=1, max_value=9), st.booleans())
def test_a_text_that_comes_in_pieces_is_said_as_the_whole_would_be(text: str, size: int, own: bool) -> None:
    def said(pieces: list[str]) -> str:
        out: list[str] = []

        def emit(delta: TextDelta) -> None:
            out.append(delta.text)

        writer = AnswerWriter(emit, lambda: SOURCES if own else SOURCES[1:])
        for piece in pieces:
            writer.write(piece)
        assert writer.finish() == "".join(out)
        return writer.text

    assert said([text[i : i + size] for i in range(0, len(text), size)]) == said([text])


@settings(max_examples=examples(300), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(ANY_TEXT, st.integers(min_value=1, max_value=9))
async def test_what_was_said_is_what_is_checked(checker: CitationChecker, text: str, size: int) -> None:
    writer = AnswerWriter(lambda _: None, lambda: SOURCES)
    for i in range(0, len(text), size):
        writer.write(text[i : i + size])
    said = writer.finish()
    assert (await checker.check("ada", said, SOURCES, settled=True)).text == said


@settings(deadline=None)
@given(ANY_TEXT)
def test_the_text_of_a_file_never_looks_like_a_citation(text: str) -> None:
    assert not markers(escape_markers(text))
    assert not markers(space_markers(text))
    assert escape_markers(escape_markers(text)) == escape_markers(text)
    assert space_markers(space_markers(text)) == space_markers(text)
    assert keep_known(f"{escape_markers(text)}\n\nIt helps [1].", KNOWN)[0].endswith("It helps [1].")


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("Attention has been shown [1, 2] to help [12].", "Attention has been shown (1, 2) to help (12)."),
        ("It helps.[3][4]", "It helps.(3)(4)"),
        ("Read it with args[0] or rows[1][2].", "Read it with args[ 0 ] or rows[ 1 ][ 2 ]."),
        ("ports: [8080, 8081]", "ports: [ 8080, 8081 ]"),
        ("a footnote [^1] and an escape \\[2\\]", "a footnote (1) and an escape (2)"),
        ("the digits [0-9] and the years [2019–2021]", "the digits [0-9] and the years (2019–2021)"),
        ("call `f(x)[0]` twice", "call `f(x)[ 0 ]` twice"),
        ("a stray ` sign and ``` three", "a stray ' sign and ''' three"),
    ],
)
def test_a_files_own_numbers_are_shown_apart_from_ours(text: str, shown: str) -> None:
    assert escape_markers(text) == shown


@pytest.mark.parametrize(
    ("answer", "text", "cited"),
    [
        (
            'The paper says "Attention has been shown [1, 2] to help [12]." [1]',
            'The paper says "Attention has been shown (1, 2) to help (12)." [1]',
            [1],
        ),
        ("As it says, see [2] for details [2].", "As it says, see (2) for details [2].", [2]),
        (
            "Depth matters less than people think [3]. [1]",
            "Depth matters less than people think (3). [1]",
            [1],
        ),
        ("Depth matters less than people think [1].", "Depth matters less than people think [1].", [1]),
        ("Tomatoes need six hours of sun a day [3].", "Tomatoes need six hours of sun a day [3].", [3]),
        (
            "Read the first argument with args[0] [2] and the second with args[1] [2].",
            "Read the first argument with args[ 0 ] [2] and the second with args[ 1 ] [2].",
            [2],
        ),
    ],
)
async def test_numbers_that_a_model_copies_from_a_source_are_the_sources(
    checker: CitationChecker, answer: str, text: str, cited: list[int]
) -> None:
    checked = await checker.check("ada", answer, SOURCES)
    assert checked.text == text
    assert numbers(checked) == cited
    assert {citation.verdict for citation in checked.citations} == {Verdict.SUPPORTED}


@pytest.mark.parametrize(
    ("answer", "text"),
    [
        ("Yes [0]. No [999][1].", "Yes. No [1]."),
        ("All of it [1-3].", "All of it [1][2][3]."),
        ("Some of it [2–5].", "Some of it [2][3]."),
        ("Digits [0-9] stay [1].", "Digits [0-9] stay [1]."),
        ("As a footnote [^2] or escaped \\[3\\].", "As a footnote [2] or escaped [3]."),
        ("A link [1](http://x.y/z) too.", "A link [1] (http: //x.y/z) too."),
        ("In code `args[1]` and args[0] [2].", "In code `args[ 1 ]` and args[ 0 ] [2]."),
        ("```python\nx = a[1]\n```\nSo it goes [1].", "```python\nx = a[ 1 ]\n```\nSo it goes [1]."),
        ("```\nx = a[1]\n``` [1]\nSo it goes.", "```\nx = a[ 1 ]\n```\n[1]\nSo it goes."),
        ("```markdown\nIt helps [1].\n```", "```markdown\nIt helps [1].\n```"),
        ("A stray ` sign [1].\nNext ` line [2].", "A stray ` sign [1].\nNext ` line [2]."),
        ("One\n[9]\ntwo [1]", "One\n\ntwo [1]"),
        ("The case [2019] of [123456] files [1].", "The case of (123456) files [1]."),
    ],
)
def test_markers_in_every_form(answer: str, text: str) -> None:
    writer = AnswerWriter(lambda _: None, lambda: SOURCES[:1] + tuple(Source(n, GARDEN) for n in (2, 3)))
    writer.write(answer)
    assert writer.finish() == text


def test_a_removed_marker_neither_joins_words_nor_makes_a_tag() -> None:
    writer = AnswerWriter(lambda _: None, lambda: ())
    writer.write("one[9]two <[9]img src=x> https:[9]//x.y www[9].x.y")
    said = writer.finish()
    assert "one two" in said
    assert not any(bad in said for bad in ("<img", "https://", "www.x"))


def test_citations_that_come_beside_the_text_stay_out_of_code() -> None:
    writer = AnswerWriter(lambda _: None, lambda: SOURCES)
    writer.write("Set it so:\n```yaml\nports: [8080]\n```")
    writer.cite(2)
    writer.write("\nThen ")
    writer.write("start.")
    writer.cite(1)
    assert writer.finish() == "Set it so:\n```yaml\nports: [ 8080 ]\n```\n[2]\nThen start. [1]"


def test_a_citation_in_the_middle_of_code_waits_for_its_end() -> None:
    writer = AnswerWriter(lambda _: None, lambda: SOURCES)
    writer.write("```\na = 1\n")
    writer.cite(1)
    writer.write("b = 2\n```\nDone.")
    assert writer.finish() == "```\na = 1\nb = 2\n```\n[1]\nDone."
    open_to_the_end = AnswerWriter(lambda _: None, lambda: SOURCES)
    open_to_the_end.write("```\na = 1")
    open_to_the_end.cite(1)
    assert open_to_the_end.finish() == "```\na = 1\n```\n[1]"


def test_a_reader_lets_text_through_as_soon_as_it_is_decided() -> None:
    reader = MarkerReader(lambda: KNOWN)
    assert reader.read("Tomatoes need sun [1") == "Tomatoes need sun"
    assert reader.read("] and water.") == " [1] and water."


@settings(max_examples=examples(150), deadline=None)
@given(st.lists(ANY_TEXT, min_size=1, max_size=4), st.booleans())
async def test_an_extracted_answer_cites_what_it_says_whatever_the_files_hold(texts: list[str], as_list: bool) -> None:
    mark = "- " if as_list else ""
    hits = [
        hit(f"{mark}The harbour gate {text} closes at nine.\n{mark}The harbour crane {text} stops.", resource=f"r{i}")
        for i, text in enumerate(texts)
    ]
    assistant = Assistant(WordSearcher(hits), WordEmbedder(), thresholds=ExtractiveThresholds(answer=0.0))
    question = "List the harbour rules." if as_list else "When does the harbour gate close?"
    request = TurnRequest(owner_id="ada", message=question, references=True)
    events = [event async for event in assistant.run(request)]
    done = events[-1]
    assert isinstance(done, Done)
    assert done.answer.answered
    assert sorted(numbers_of(done)) == sorted(markers(done.answer.text)) != []
    said = "".join(event.text for event in events if isinstance(event, TextDelta))
    assert said == done.answer.text


def numbers_of(done: Done) -> list[int]:
    return [citation.n for citation in done.answer.citations]
