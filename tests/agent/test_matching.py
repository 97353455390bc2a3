"""Where a passage has a claim's words: the stretch, and how much of the claim it holds in order."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from citewell.agent.citations import matching
from citewell.agent.citations.matching import Match, find_match, quoted_spans, surrounding_sentences, words

_FEW_WORDS = st.lists(st.sampled_from("abcde"), max_size=30)


def _longest_common(one: list[str], other: list[str]) -> int:
    """The textbook's table."""
    row = [0] * (len(other) + 1)
    for left in one:
        before = row
        row = [0]
        for place, right in enumerate(other):
            row.append(before[place] + 1 if left == right else max(row[-1], before[place + 1]))
    return row[-1]


@given(_FEW_WORDS, _FEW_WORDS)
def test_the_common_subsequence_is_as_long_as_the_textbook_says(one: list[str], other: list[str]) -> None:
    assert matching._common_subsequence(one, other) == _longest_common(one, other)


def test_words_are_folded_and_keep_their_places_and_decimals() -> None:
    text = "Straße: 2.5% (GHS 5,000)."
    assert [(w.text, text[w.start : w.end]) for w in words(text)] == [
        ("strasse", "Straße"), ("2.5", "2.5"), ("ghs", "GHS"), ("5,000", "5,000"),
    ]  # fmt: skip


def test_a_quotation_has_eight_characters_or_more() -> None:
    assert quoted_spans('He said "too short" and "short", „nicht mehr als das“ and «au moins huit».') == [
        "too short",
        "nicht mehr als das",
        "au moins huit",
    ]


def test_words_that_stand_there_are_found_at_their_first_place_and_only_as_whole_words() -> None:
    passage = "The shop is open. A shopping list. The shop is open again."
    found = find_match("the SHOP, is open", passage)
    assert found == Match(0, 16, 1.0)
    assert passage[found.start : found.end] == "The shop is open"
    assert find_match("shop", "shopping") == Match(0, 0, 0.0)
    assert find_match("list", passage) == Match(passage.index("list"), passage.index("list") + 4, 1.0)


def test_nothing_is_found_in_nothing_or_without_a_common_word() -> None:
    for claim, passage in (("", "a b"), ("a b", ""), ("?!", "a b"), ("x y", "a b")):
        assert find_match(claim, passage) == Match(0, 0, 0.0)


def test_the_share_of_a_near_match_is_that_of_the_words_in_order() -> None:
    passage = "Nothing here. The red lamp hangs over the green door today. Nothing there."
    found = find_match("the red lamp stands over the door", passage)
    assert passage[found.start : found.end] == "The red lamp hangs over the green door"
    assert found.ratio == 6 / 7


def test_of_two_stretches_that_hold_as_much_the_first_counts() -> None:
    passage = "red lamp old. " + "x " * 60 + "red lamp new."
    found = find_match("red lamp blue", passage)
    assert (found.start, found.end, found.ratio) == (0, 8, 2 / 3)


def test_a_long_claim_is_found_in_parts_from_the_first_place_to_the_last() -> None:
    wanted = [f"w{n}" for n in range(250)]
    have = [word for n, word in enumerate(wanted) if n % 5]  # 80 of each 100 words
    passage = "before it " + " ".join(have) + " after it"
    found = find_match(" ".join(wanted), passage)
    assert found.ratio == 0.8
    assert passage[found.start : found.end] == " ".join(have)


def test_what_goes_beyond_five_parts_of_a_claim_counts_as_missing() -> None:
    wanted = [f"w{n}" for n in range(600)]
    passage = " ".join([*wanted[:300], "between", *wanted[300:]])
    found = find_match(" ".join(wanted), passage)
    assert found.ratio == 500 / 600


def test_parts_that_are_nowhere_count_as_missing() -> None:
    wanted = [f"w{n}" for n in range(101)]
    assert find_match(" ".join(wanted), "something else").ratio == 0.0
    assert find_match(" ".join(wanted), "x w100 y") == Match(2, 6, 1 / 101)


def test_many_equal_words_are_aligned_as_few_are() -> None:
    """More pairs of equal words than are aligned one by one."""
    claim = " ".join(["the lamp and the door"] * 12) + " end"
    passage = "start " + " ".join(["the lamp and a the door"] * 12)
    found = find_match(claim, passage)
    assert found.ratio == 60 / 61
    assert passage[found.start : found.end] == passage[len("start ") :]


def test_the_sentences_around_a_stretch_are_whole() -> None:
    passage = "One is here. Two is there. Three is gone."
    assert surrounding_sentences(passage, 14, 16) == (13, 26)
    assert surrounding_sentences(passage, 11, 14) == (0, 26)
    assert surrounding_sentences("", 3, 5) == (3, 5)


@given(st.sampled_from(["วันจันทร์", "खुलती है", "e\u0301te\u0301", "שָׁלוֹם", "கோவில்"]))
def test_a_match_ends_after_the_last_combining_mark(words_of: str) -> None:
    passage = f"abc {words_of}. xyz"
    found = find_match(words_of, passage)
    assert passage[found.start : found.end] == words_of
