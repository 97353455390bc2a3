"""Every number that the extractive answerer decides by. `docs/algorithms/answers.md` has a picture of the steps that use them."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class ExtractiveThresholds:
    """Thresholds of extractive answers. Similarities are cosines of the built-in model; other shares and scores are in 0..1.

    Trained: the weights of the score (a log-linear choice among the statements of the passages found) and those of the confidence (a logistic
    regression), as `docs/algorithms/answers.md` describes. Another sentence model needs weights of its own. All others were set by
    hand on the development documents; `tests/agent/test_extractive.py` holds what they are for, `benchmarks/extraction.py` measures
    them together.

    Which statements are judged:
    embedded:            statements whose similarity is computed: those that hold most of the question's terms. With 12 in place of 24,
                         neither answers nor refusals changed measurably
    worded:              share of the question's terms in the statement that holds most of them, below which the words tell little:
    unworded:            statements that are then judged besides, those of the passages found first
    rank_cost:           share of the question's terms that each place further down the search results counts as much as
    heading_share:       what a term counts that is only above the statement (heading, file name, table header); 1 in it

    The score of a statement, a sum of shares that add up to 1:
    interaction_weight:  of its similarity to the question token by token (`citewell.agent.extractive.interaction`)
    passage_weight:      of the similarity of its passage
    around_weight:       of the share of the question's terms that it holds together with the statement before it, rare ones counting more
    coverage_weight:     of the share that it holds itself, or that is written above it
    expected_weight:     of holding the kind of thing asked for (a number, a date, a person …)
    read_weight:         of the probability that the reader gives it, where there is one; the score counts the rest
    read_scale:          what the reader's log-odds are multiplied by to be that probability
    part_weight:         what its score for one part of a question of several parts counts beside the one for the whole
    asking:              factor for a statement that is a question, repeats the one asked and says nothing else, or announces what is not there
    announcing_words:    words of a statement that ends in a colon from which it says something besides
    fragment:            factor for one of fewer than `fragment_words` words, with a web address, or that is a headline
    fragment_words:      words
    outside_range:       factor for ranges none of which holds the question's number ("1 to 30 days" for day 45)
    row_base, row_label: a table row's factor is `row_base` + `row_label` · share of one of its cells that the question names

    Which of them answer:
    max_sentences:       statements in an answer; `max_for_fact` where one fact is asked for, such as a number or a name
    close:               share of the best score from which further statements are added;
                         `close_reason` where a reason is asked for, which takes more than one sentence to say
    adds:                share of the first statement's similarity token by token that a further one has itself; what has less owes its score
                         to its passage and neighbours
    within_reach:        share of the best score from which a statement that holds the expected kind of fact is preferred to better
                         ones that do not
    part_reach:          share of the best score for a further part of a question from which a statement that was not given yet answers it
    same_meaning:        similarity of two statements above which they say the same
    same_words:          share of the shorter one's terms from which two statements say the same
    counted_otherwise:   similarity from which a statement may say how many there are without naming what is counted

    How a sentence is shortened (`citewell.agent.extractive.trimming`); in words:
    kept_words, cut_words: that are left of it, and that are left out, at least
    joined_words:        of what follows "and" after a comma, up to which it is a further item of a list
    read_certain:        probability of the reader's answer from which what follows its clause is left out

    Lists:
    list_characters:     characters of a list (heading and first items) that are compared with the question
    list_share:          share of the best statement's score from which a list is the answer
    list_similarity, list_terms: weights of a list's similarity to the question, and of the share of its terms, in the list's score
    picture_share:       share of the best score from which a further picture is one of those asked for
    list_answers:        similarity of a list from which it answers though no statement does

    Whether there is an answer at all: a logistic regression over what `citewell.agent.extractive.confidence` gathers.
    score_sure, passage_sure, own_sure, held_sure, agreed_sure, whether_sure: weights of the evidence
    sure:                its constant
    read_sure, first_sure, row_sure, nearness_sure, best_sure, rank_sure, sure_read: the same where a reader has read the statements: weights of its
                         log-odds (at most `read_most` either way) of the statement it is surest of and of the best one, of this one being a row,
                         of the nearness to the message, of the score without the reader, and of the place of its passage (at most `rank_most`), and the constant. Fitted on questions
                         on documents and tables that the reader did not learn from, asked of a library of 108 such files
    answer_read:         confidence from which there is an answer then
    answer:              confidence from which there is an answer; low, since to refuse what could be answered is the worse mistake where
                         the answer shows its source
    """

    embedded: int = 12
    worded: float = 0.5
    unworded: int = 24
    rank_cost: float = 0.04
    heading_share: float = 0.5

    interaction_weight: float = 0.39
    passage_weight: float = 0.30
    around_weight: float = 0.14
    coverage_weight: float = 0.12
    expected_weight: float = 0.05
    read_weight: float = 0.25
    read_scale: float = 0.3
    part_weight: float = 0.5
    asking: float = 0.7
    announcing_words: int = 12
    fragment: float = 0.7
    fragment_words: int = 3
    outside_range: float = 0.8
    row_base: float = 0.85
    row_label: float = 0.15

    max_sentences: int = 3
    max_for_fact: int = 2
    close: float = 0.92
    close_reason: float = 0.9
    adds: float = 0.85
    within_reach: float = 0.7
    part_reach: float = 0.6
    same_meaning: float = 0.93
    same_words: float = 0.8
    counted_otherwise: float = 0.8

    kept_words: int = 6
    cut_words: int = 3
    joined_words: int = 6
    read_certain: float = 0.5

    list_characters: int = 600
    list_similarity: float = 0.65
    list_terms: float = 0.25
    list_share: float = 0.75
    list_answers: float = 0.5
    picture_share: float = 0.9

    score_sure: float = 4.0
    passage_sure: float = 6.7
    own_sure: float = 7.5
    held_sure: float = 3.6
    agreed_sure: float = 0.3
    whether_sure: float = -1.5
    sure: float = -11.2
    answer: float = 0.18
    read_sure: float = 0.075
    first_sure: float = 0.125
    row_sure: float = 1.9
    nearness_sure: float = 5.2
    best_sure: float = 4.0
    rank_sure: float = -0.33
    rank_most: int = 8
    sure_read: float = -5.85
    read_most: float = 13.0
    answer_read: float = 0.22


THRESHOLDS = ExtractiveThresholds()
