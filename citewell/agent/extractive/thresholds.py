"""Every number that the extractive answerer decides by. `docs/algorithms/answers.md` has a picture of the steps that use them."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class ExtractiveThresholds:
    """Thresholds of extractive answers. Similarities are cosines of the built-in model; other shares and scores are in 0..1.

    Measured: `embedded` and what decides whether there is an answer at all, on conversations with answerable and unanswerable turns (MTRAG;
    `benchmarks/conversations.py abstain`). Another sentence model needs values of its own for these. All others were set by hand on
    the development documents; `tests/agent/test_extractive.py` holds what they are for, `benchmarks/extraction.py` measures them together.

    Which statements are judged:
    embedded:            statements whose similarity is computed: those that hold most of the question's terms. With 12 in place of 24,
                         neither answers nor refusals changed measurably
    rank_cost:           share of the question's terms that each place further down the search results counts as much as
    heading_share:       what a term counts that is only above the statement (heading, file name, table header); 1 in it

    The score of a statement:
    similarity_weight:   of its similarity to the question
    coverage_weight:     of the share of the question's terms that it holds, rare ones counting more
    expected_weight:     of holding the kind of thing asked for (a number, a date, a person …)
    asking:              factor for a statement that is a question itself
    fragment:            factor for one of fewer than `fragment_words` words, or with a web address: headings, references
    fragment_words:      words
    outside_range:       factor for ranges none of which holds the question's number ("1 to 30 days" for day 45)
    row_base, row_label: a table row's factor is `row_base` + `row_label` · share of one of its cells that the question names

    Which of them answer:
    max_sentences:       statements in an answer; `max_facts` where one fact is asked for
    close, close_fact:   share of the best score from which further statements are added; `close_fact` where a fact is asked for
    within_reach:        share of the best score from which a statement that holds the expected kind of fact is preferred to better
                         ones that do not
    same_meaning:        similarity of two statements above which they say the same
    same_words:          share of the shorter one's terms from which two statements say the same
    counted_otherwise:   similarity from which a statement may say how many there are without naming what is counted

    Lists:
    list_characters:     characters of a list (heading and first items) that are compared with the question
    list_share:          share of the best statement's score from which a list is the answer
    list_answers:        similarity of a list from which it answers though no statement does

    Whether there is an answer at all:
    sentence_weight, terms_weight: confidence = `sentence_weight` · similarity of the nearest statement + `terms_weight` · largest share
                         of the question's terms in one statement
    refuse:              confidence below which there is no answer
    accept:              confidence from which there is one; one question in five lies between the two and gets a second look, for which
                         the first `whole_passages` passages are embedded whole: half of the similarity is then that of the nearest one
    second:              confidence from which there is an answer at second look
    whole_passages:      passages
    """

    embedded: int = 12
    rank_cost: float = 0.04
    heading_share: float = 0.5

    similarity_weight: float = 0.65
    coverage_weight: float = 0.25
    expected_weight: float = 0.1
    asking: float = 0.7
    fragment: float = 0.7
    fragment_words: int = 3
    outside_range: float = 0.8
    row_base: float = 0.85
    row_label: float = 0.15

    max_sentences: int = 3
    max_facts: int = 2
    close: float = 0.85
    close_fact: float = 0.92
    within_reach: float = 0.7
    same_meaning: float = 0.93
    same_words: float = 0.8
    counted_otherwise: float = 0.8

    list_characters: int = 600
    list_share: float = 0.75
    list_answers: float = 0.5

    sentence_weight: float = 0.9
    terms_weight: float = 0.1
    refuse: float = 0.40
    accept: float = 0.57
    second: float = 0.48
    whole_passages: int = 3


THRESHOLDS = ExtractiveThresholds()
