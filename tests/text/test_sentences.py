"""Sentence boundaries: across scripts, around abbreviations, without losing a character."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from citewell.text.sentences import sentence_spans, sentences


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("One. Two! Three? Four", ["One.", "Two!", "Three?", "Four"]),
        ("Dr. Smith paid 5.2 million to J. R. Jones.", ["Dr. Smith paid 5.2 million to J. R. Jones."]),
        ("See Fig. 3 and Sec. 2.1. Then stop.", ["See Fig. 3 and Sec. 2.1.", "Then stop."]),
        ("In Brown v. Board of Education the court agreed.", ["In Brown v. Board of Education the court agreed."]),
        ("It was built c. 1850 by B.B. King. It stands.", ["It was built c. 1850 by B.B. King.", "It stands."]),
        ("The police of Washington, D.C. Police said so.", ["The police of Washington, D.C. Police said so."]),
        ("It moved to the U.S. The firm grew.", ["It moved to the U.S.", "The firm grew."]),
        (
            "They took vitamin C. It helped, e.g. The Lancet said.",
            ["They took vitamin C.", "It helped, e.g. The Lancet said."],
        ),
        ("The answer is no. In May it changed.", ["The answer is no.", "In May it changed."]),
        ("Solve it for x. Then stop.", ["Solve it for x.", "Then stop."]),
        ("Das gilt z.B. für Kredite. Es gilt immer.", ["Das gilt z.B. für Kredite.", "Es gilt immer."]),
        (
            "Die Wohnung im 2. Obergeschoss ist frei. Sie hat Bad.",
            ["Die Wohnung im 2. Obergeschoss ist frei.", "Sie hat Bad."],
        ),
        ("Sie beginnt am 3. Mai. Am 1. und 2. Juni ist zu.", ["Sie beginnt am 3. Mai.", "Am 1. und 2. Juni ist zu."]),
        ("Siehe Nr. 5 und § 3 Abs. 2 Satz 1. Das gilt.", ["Siehe Nr. 5 und § 3 Abs. 2 Satz 1.", "Das gilt."]),
        ("Das XIX. Jahrhundert endet. Ab 1. Januar gilt es.", ["Das XIX. Jahrhundert endet.", "Ab 1. Januar gilt es."]),
        ("Es sind 5. Danach kam er als 3. Er blieb.", ["Es sind 5.", "Danach kam er als 3.", "Er blieb."]),
        ("There were 12. May we go? I am 3. Mary is 5.", ["There were 12.", "May we go?", "I am 3.", "Mary is 5."]),
        ("Le 1er étage, n° 3. Le 2e aussi.", ["Le 1er étage, n° 3.", "Le 2e aussi."]),
        ("El piso n.º 3 de EE. UU. se vende.", ["El piso n.º 3 de EE. UU. se vende."]),
        ("Mødet er den 3. maj kl. 10. Alle kommer.", ["Mødet er den 3. maj kl. 10.", "Alle kommer."]),
        ("Is it so? he asked.", ["Is it so? he asked."]),
        ("He said “No.” Then he left.", ["He said “No.”", "Then he left."]),
        ("版权所有。保留所有权利！好吗？是", ["版权所有。", "保留所有权利！", "好吗？", "是"]),
        ("これはペンです。「はい。」彼は言った。", ["これはペンです。", "「はい。」", "彼は言った。"]),
        ("यह पहला है। यह दूसरा है।", ["यह पहला है।", "यह दूसरा है।"]),
        ("هل هذا صحيح؟ نعم.", ["هل هذا صحيح؟", "نعم."]),
        ("Heading\n\nA paragraph", ["Heading", "A paragraph"]),
        ("Steps:\n- first\n- second\n1. third", ["Steps:", "- first", "- second", "1. third"]),
        ("a line\nthat wraps", ["a line\nthat wraps"]),
        ("", []),
        (" \n ", []),
    ],
)
def test_sentences_end_where_people_end_them(text: str, expected: list[str]) -> None:
    assert sentences(text) == expected


@given(st.text(alphabet=st.sampled_from('ab AB.!?。।\n12"”)-•'), max_size=60))
def test_spans_are_in_order_apart_trimmed_and_leave_out_only_white_space(text: str) -> None:
    spans = sentence_spans(text)
    last = 0
    for start, end in spans:
        assert last <= start < end <= len(text)
        assert not text[last:start].strip()
        assert text[start:end] == text[start:end].strip()
        last = end
    assert not text[last:].strip()
