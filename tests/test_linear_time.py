"""What reads text that users, files or models wrote takes time in proportion to it: 64 kB of any shape in 100 ms.

Every public function with a text among its parameters is fed, so that a new one cannot be forgotten.
"""

from __future__ import annotations

import asyncio
import gc
import importlib
import inspect
import json
import pkgutil
import re
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from types import ModuleType
from typing import cast

import pytest

from citewell.agent.citations import check as citations
from citewell.agent.citations import claims, numbers, writer
from citewell.agent.citations.forms import without_source_list
from citewell.agent.citations.grammar import Grammar, grammar_of
from citewell.agent.citations.matching import find_match, surrounding_sentences
from citewell.agent.citations.phrases import read_words, stem
from citewell.agent.citations.support import containment, find_objections, locate_claim
from citewell.agent.citations.wording import compare_wording, is_quoted
from citewell.agent.extractive import answerer as extractive
from citewell.agent.extractive import asked_above, lists, refusal, trimming
from citewell.agent.extractive.thresholds import THRESHOLDS as EXTRACTIVE
from citewell.agent.interface import PastMessage, Source
from citewell.agent.model.window import alternating
from citewell.agent.statements import Statement, cut_statements
from citewell.agent.tables.language import generic, links, named_file, wording
from citewell.agent.tables.language import sentences as sentences_of_tables
from citewell.agent.tables.language.cells import figures_in, grid_of
from citewell.agent.tables.language.exchange import exchanged
from citewell.agent.tables.lookup.asked import read_lookup
from citewell.agent.tables.lookup.find import known_rows, named_rows
from citewell.agent.tables.lookup.fiscal import read_calendar
from citewell.agent.tables.lookup.glossary import LINES
from citewell.agent.tables.lookup.measures import find_measure
from citewell.agent.tables.lookup.periods import column_period
from citewell.agent.tables.lookup.sheet import PageTable
from citewell.agent.tables.meaning import view
from citewell.agent.tables.meaning.follow_up import continued, may_continue
from citewell.agent.tables.meaning.meaning import Meaning
from citewell.agent.tables.meaning.mentions import mentions
from citewell.agent.tables.meaning.nearest import description
from citewell.agent.tables.meaning.reader import KnownTable, read_table, view_of
from citewell.agent.tables.meaning.view import shown_values
from citewell.agent.tables.picture import dimension, moments, request
from citewell.agent.tables.query.compile import compile_query
from citewell.agent.tables.query.typed import ColumnRef, Comparator, RowCondition, TableQuery
from citewell.agent.tables.run import engine, results, totals
from citewell.agent.understand import question, recollection, rephrase, titles, topics
from citewell.agent.understand.intent import intent_of
from citewell.agent.understand.numbered import called_otherwise, numbered, numbers_of
from citewell.agent.whole.kinds import KINDS, items_of
from citewell.agent.whole.people import names_of_organisations, names_of_people
from citewell.agent.whole.request import read_request
from citewell.chunk import chunk_elements
from citewell.chunk.config import ChunkConfig, Strategy
from citewell.errors import InvalidInput
from citewell.features.suggestions.candidates import Candidate, Origin, is_answered
from citewell.features.suggestions.facts import fact_questions
from citewell.features.suggestions.headings import heading_questions
from citewell.features.suggestions.tables import table_questions
from citewell.ingest.chunking import chunk_title
from citewell.ingest.describe import describe_picture
from citewell.ports import ChatMessage
from citewell.ports.points import index_point
from citewell.retrieve import conversations
from citewell.retrieve.diversity import without_near_duplicates
from citewell.retrieve.modelquery import parse_answer
from citewell.retrieve.periods import periods
from citewell.retrieve.reading import Stated, reading_of, semantic_part, zone_of
from citewell.retrieve.selfquery import read_by_rules
from citewell.retrieve.stated import stated_dates, stated_metadata, stated_tags
from citewell.storage.cursors import decode_cursor
from citewell.text import analysis, sparse, tokens
from citewell.text.central import sums_up
from citewell.text.correction import Speller, words_of
from citewell.text.meanings import are_opposites, is_noun, is_word, mean_the_same
from citewell.text.spelling import nearest, suggestion
from citewell.types import (
    ChunkType,
    Condition,
    Element,
    ElementType,
    FileFacts,
    Locator,
    Operator,
    StoredChunk,
    TableColumn,
    TableInfo,
)
from citewell.types.conversations import Exchange
from citewell.types.message_reading import Act, MessageRead
from citewell.types.table_reading import RowOperation
from tests.agent.fakes import WordEmbedder, WordTokenizer, hit
from tests.agent.tables.meaning.says import Says
from tests.retrieve.queries_with_filters import CONTEXT

pytestmark = pytest.mark.full

SIZE = 64_000  # bytes of UTF-8
SECONDS = 0.1  # of CPU time
_PACKAGES = ("text", "agent", "retrieve", "chunk", "ports.points", "features.suggestions", "ingest.names")
Reader = Callable[[str], object]

UNITS = {
    "dots": ".", "dotted": "a.b.c.", "words": "a ", "letters": "a", "digits": "1", "numbers": "1 ", "money": "$1,000 ",
    "versions": "1.2.3", "commas": "1,", "lines": "\n", "indented": " \n", "spaces": " ", "tabs": "\t", "brackets": "(",
    "markers": "[1]", "open markers": "[1, ", "quotes": '"', "guillemets": "«", "apostrophes": "a'", "dashes": "-", "bars": "|", "underscores": "_",
    "rows": "| a | b |\n", "items": "- a\n", "steps": "Step 1 a\n", "ideographs": "日本", "thai": "ไทย", "marks": "a\u0301\u0323",
    "emoji": "😀", "negations": "not ", "conjunctions": "one hundred and ", "entities": "&a<", "emphasis": "*_`",
    "exclamations": "!", "addresses": "https://a.b/c?d=e ", "files": "a.pdf ", "places": "on page 3 ", "dates": "2024-01-31 ",
    "politeness": "so thanks ", "requests": "how do i ", "sentences": "The fee is 5,000 in 2024. ",
}  # fmt: skip
# Files are cut, and answers checked, in threads; what a model says comes in pieces, each of which is a step of its own.
UNHURRIED = {
    "agent.whole.kinds.items_of": 5,  # all kinds of items, one after the other
    "chunk.": 10,
    "agent.citations.phrases.": 5,
    "agent.citations.support.judge_paraphrase": 5,
    "agent.citations.wording.": 5,
    "agent.citations.writer.": 10,
}
SHAPES = {name: unit * (SIZE // len(unit.encode()) + 1) for name, unit in UNITS.items()} | {
    "unsorted marks": "a" + "\u0301" * (SIZE // 4) + "\u0323" * (SIZE // 4),
    "distinct words": " ".join(f"word{n}x" for n in range(SIZE // 8)),
    "one column of many rows": "|" + "a|" * (SIZE // 8) + "\n" + "|a|\n" * (SIZE // 8),
}

_TABLE = TableInfo(
    id="t0",
    resource_id="r1",
    version=1,
    filename="Loans.xlsx",
    name="Loans",
    sheet="Loans",
    columns=(TableColumn("Branch", "text"), TableColumn("Amount (GHS)", "number"), TableColumn("Date", "date")),
    rows=20,
)
_WORDS = links.table_words(_TABLE, {"Branch": ("Accra", "Kumasi", "a", "on page")})
_MEANING = Meaning(
    operation=RowOperation.COUNT, roles={}, conditions=(RowCondition(ColumnRef("Branch"), Comparator.EQ, "Accra"),)
)
_GRID = grid_of(_TABLE, [(("a", "1", "2"), 2), (("a", "1 b", "2 b"), 3)], ())
_GRAMMAR = cast(Grammar, grammar_of("en"))
_POLICY = "The loan limit is 5,000 a year. It is not for everybody. Step 1: ask at the branch."
_EMBEDDER = WordEmbedder()
_CHECKER = citations.CitationChecker(_EMBEDDER)
_ANSWERER = extractive.ExtractiveAnswerer(_EMBEDDER)


_KNOWN = KnownTable(_WORDS, _TABLE.columns[0], _GRID)
_SAYS = Says(RowOperation.COUNT)


def _known(text: str) -> KnownTable:
    grid = grid_of(_TABLE, [((text, "1", "2"), 2), (("a", text, text), 3)], ())
    return KnownTable(_WORDS, _TABLE.columns[0], grid)


def _expecting(attempt: Reader) -> Reader:
    """The same, content with a refusal."""

    def reader(text: str) -> object:
        try:
            return attempt(text)
        except InvalidInput as error:
            return error

    return reader


def _part(text: str) -> str:
    """A quarter: no message, answer or passage is as long as the whole, and much is done with each."""
    return text[: len(text) // 4]


def _said(text: str, piece: int) -> str:
    sources = (Source(1, hit(_POLICY)),)
    answer = writer.AnswerWriter(lambda _: None, lambda: sources)
    for start in range(0, len(text), piece):
        answer.write(text[start : start + piece])
    return answer.finish()


def _checked(answer: str, source: str) -> object:
    return asyncio.run(_CHECKER.check("ada", answer, [Source(1, hit(source)), Source(2, hit(_POLICY))]))


def _extracted(asked: str, source: str) -> object:
    return asyncio.run(_ANSWERER.answer(asked, [hit(source)]))


def _chunked(text: str, strategy: Strategy) -> object:
    element = Element(id="e0", type=ElementType.PARAGRAPH, text=text, locator=Locator())
    config = ChunkConfig(strategy=strategy, max_tokens=256)
    return list(chunk_elements([element], config, WordTokenizer(), "title"))


def _page_table(text: str) -> PageTable:
    """A table whose title, header, label and figure are the text."""
    grid = (("", text), (text, text))
    element = Element(
        id="e0",
        type=ElementType.TABLE,
        text="",
        locator=Locator(page=1, headings=(text,)),
        grid=grid,
        header_rows=1,
        metadata={"title": text, "unit": text},
    )
    return PageTable(text, "r1", 1, element)


def _asked_before(text: str) -> list[PastMessage]:
    return [PastMessage("user", text), PastMessage("assistant", text)]


def _exchange(said: str) -> Exchange:
    return Exchange(message_id="m1", thread_id="t1", said=said, answer=said, scope={}, asked_at=0)


# What the text is fed to, by the function that reads it; several ways in are told apart after a colon.
READERS: dict[str, Reader] = {
    "text.analysis.term_groups": lambda t: list(analysis.term_groups(t, "de")),
    "text.analysis.token_groups": lambda t: analysis.token_groups(t, "en", True),
    "text.analysis.pair_terms": lambda t: list(analysis.pair_terms(t.split(), "vi")),
    "text.sparse.sparse_document:context": lambda t: sparse.sparse_document("a", t),
    "text.sparse.code_terms": lambda t: sparse.code_terms(t),
    "text.tokens.tokens": lambda t: list(tokens.tokens(t)),
    "text.tokens.composed": lambda t: tokens.composed(t, "NFKC"),
    "agent.statements.cut_statements": lambda t: cut_statements([hit(t)]),
    "agent.statements.cut_statements:row": lambda t: cut_statements([hit(t, type=ChunkType.ROW)]),
    "agent.tables.language.generic.asks_of_a_kind": lambda t: generic.asks_of_a_kind(t),
    "agent.citations.claims.keep_known": lambda t: claims.keep_known(t, frozenset({1})),
    "agent.tables.meaning.mentions.mentions": lambda t: mentions(t),
    "agent.tables.meaning.reader.view_of": lambda t: view_of(t, _KNOWN),
    "agent.tables.meaning.reader.view_of:values": lambda t: view_of("in Accra in 2024", _known(t)),
    "agent.tables.meaning.reader.read_table": lambda t: read_table(_SAYS, t, _KNOWN),
    "agent.tables.meaning.view.named_whole": lambda t: view.named_whole(t, ["Accra", t[:40], *t.split()]),
    "agent.tables.meaning.view.shown_values": lambda t: shown_values(t, [f"Accra {n}" for n in range(20)]),
    "agent.tables.meaning.view.shown_values:values": lambda t: shown_values("in 2024", [t[:900], *t.split()]),
    "agent.tables.meaning.nearest.description": lambda t: description(t, [(t, [t])]),
    "agent.tables.language.cells.figures_in": lambda t: figures_in([t, *t.split()], 1),
    "agent.tables.language.sentences.row_sentence": lambda t: sentences_of_tables.row_sentence([(t, t), ("a", t)]),
    "agent.citations.forms.without_source_list": lambda t: without_source_list(f"{t}\n[1] a.txt", [Source(1, hit(t))]),
    "agent.citations.forms.without_source_list:lines": lambda t: without_source_list(
        f"a\n{t}x-\n[1] {hit(t).filename}", [Source(1, hit(t))]
    ),
    "agent.understand.intent.intent_of": lambda t: intent_of(t, MessageRead({Act.SUMMARY: 1.0}), _asked_before(t)),
    "types.message_reading.content_of": lambda t: MessageRead(
        {}, content=tuple(zip(range(len(t)), range(1, len(t)), strict=False))
    ).content_of(t),
    "agent.extractive.refusal.explain:question": lambda t: refusal.explain(t, [hit(_POLICY)]),
    "agent.extractive.refusal.explain:passages": lambda t: refusal.explain("what are the steps of the loan?", [hit(t)]),
    "agent.extractive.asked_above.find_section": lambda t: asked_above.find_section(
        "Who may not borrow?", [hit(t)], EXTRACTIVE
    ),
    "agent.extractive.asked_above.find_section:question": lambda t: asked_above.find_section(
        t, [hit(_POLICY)], EXTRACTIVE
    ),
    "agent.understand.titles.as_written": lambda t: titles.as_written(t, [t]),
    "agent.extractive.lists.find_named_list": lambda t: lists.find_named_list(
        question.read_question("What are the steps?"), [hit(t, headings=("Steps",))]
    ),
    "agent.extractive.lists.announced_items": lambda t: lists.announced_items(
        Statement(hit(f"It is:\n{t}"), 0, 0, 6, "It is:", ""), [hit(t)]
    ),
    "agent.extractive.lists.find_item_groups": lambda t: lists.find_item_groups([hit(t)]),
    "agent.extractive.lists.find_steps": lambda t: lists.find_steps(
        question.read_question("list the steps"), [hit(t)], cut_statements([hit(_POLICY)])
    ),
    "agent.citations.matching.find_match:claim": lambda t: find_match(t, _POLICY),
    "agent.citations.matching.find_match:passage": lambda t: find_match(
        "the loan is a 1 5,000 and not on page 3 of this year", t
    ),
    "agent.citations.matching.find_match:both": lambda t: find_match(t, t[9:] + "zz"),
    "agent.citations.matching.surrounding_sentences": lambda t: surrounding_sentences(t, 10, 20),
    "agent.citations.numbers.find_missing_figures": lambda t: numbers.find_missing_figures(t, "7 8"),
    "agent.citations.numbers.find_missing_figures:source": lambda t: numbers.find_missing_figures("7 8", t),
    "agent.extractive.trimming.trim": lambda t: trimming.trim(question.read_question("How many boats?"), t),
    "agent.understand.rephrase.rephrase": lambda t: rephrase.rephrase(
        t, _asked_before("What is the loan limit?"), frozenset([t])
    ),
    "agent.understand.rephrase.rephrase:history": lambda t: rephrase.rephrase(
        "and for others?", _asked_before(t), frozenset(["and for others?"])
    ),
    "agent.understand.recollection.read_leaning": lambda t: recollection.read_leaning(t, CONTEXT.today),
    "retrieve.conversations.coverage": lambda t: conversations.coverage(t, [_exchange("the loan is due")]),
    "retrieve.conversations.coverage:answer": lambda t: conversations.coverage("the loan in Accra", [_exchange(t)]),
    "agent.understand.topics.find_topic_terms": lambda t: topics.find_topic_terms(t, _asked_before(t), 3),
    "agent.citations.support.locate_claim": lambda t: locate_claim(t, hit(_POLICY)),
    "agent.citations.support.find_objections": lambda t: find_objections(t, [_POLICY]),
    "agent.citations.support.find_objections:evidence": lambda t: find_objections('the "amount of some" 5', [t]),
    "agent.citations.wording.compare_wording": lambda t: compare_wording(t, [_POLICY], _POLICY),
    "agent.citations.wording.compare_wording:source": lambda t: compare_wording("The loan is not 5,000.", [t], t),
    "agent.citations.wording.is_quoted": lambda t: is_quoted(t, _POLICY),
    "agent.citations.wording.is_quoted:source": lambda t: is_quoted("the loan", t),
    "agent.citations.phrases.read_words": lambda t: read_words(t, "en", _GRAMMAR),
    "agent.citations.phrases.stem": lambda t: stem(t, "en"),
    "text.meanings.are_opposites": lambda t: are_opposites(t, "red"),
    "text.meanings.is_noun": is_noun,
    "text.meanings.is_word": is_word,
    "text.meanings.mean_the_same": lambda t: mean_the_same(t, "red"),
    "agent.citations.support.containment": lambda t: containment("the loan", t),
    "agent.citations.support.judge_paraphrase:answer": lambda t: _checked(f"{_part(t)} [1]", _POLICY),
    "agent.citations.support.judge_paraphrase:source": lambda t: _checked(
        'It is "5,000 a year for" A Name [1].', _part(t)
    ),
    "agent.extractive.answerer.score:source": lambda t: _extracted("what are the steps of the loan?", t),
    "agent.extractive.answerer.score:question": lambda t: _extracted(_part(t), _POLICY),
    "agent.understand.question.meets_expectation": lambda t: question.read_question("when is it?").meets_expectation(t),
    "agent.citations.writer.write": lambda t: _said(t, SIZE),
    "agent.citations.writer.write:pieces": lambda t: _said(_part(t), 8),
    "agent.tables.language.wording.find_phrase": lambda t: list(
        wording.find_phrase(wording.words(t)[:1_000], "more than")
    ),
    "agent.tables.language.links.table_words": lambda t: links.table_words(_TABLE, {"Branch": (t, t[:900], t[:800])}),
    "agent.tables.language.named_file.of_named_file": lambda t: named_file.of_named_file(t, [_TABLE]),
    "agent.tables.language.named_file.of_named_file:named": lambda t: named_file.of_named_file(
        t, [replace(_TABLE, filename=f"{t[:200]}.csv")]
    ),
    "agent.tables.language.links.names_of_table": lambda t: links.names_of_table(replace(_TABLE, name=t)),
    "agent.tables.language.links.is_coded": lambda t: links.is_coded((t, t[:900])),
    "agent.tables.language.sentences.figure": lambda t: (
        sentences_of_tables.figure(5, t),
        sentences_of_tables.figure(t, "a (kg)"),
    ),
    "agent.tables.language.links.column_mentions": lambda t: links.column_mentions(
        wording.words("the total of a"), replace(_TABLE, columns=(TableColumn(t, "text"),))
    ),
    "agent.tables.lookup.asked.read_lookup:longest": lambda t: read_lookup(t[:600]),
    "agent.tables.lookup.find.named_rows": lambda t: named_rows([_page_table(t)], ["a"], ["b"]),
    "agent.tables.lookup.find.known_rows": lambda t: known_rows([_page_table(t)], LINES[0], ["b"]),
    "agent.tables.lookup.measures.find_measure": lambda t: find_measure([_page_table(t)], ("a", "loan")),
    "agent.tables.lookup.periods.column_period": lambda t: column_period(t, t),
    "agent.tables.picture.dimension.find_dimensions": lambda t: dimension.find_dimensions(t, _TABLE),
    "agent.tables.picture.dimension.find_dimensions:longest": lambda t: dimension.find_dimensions(t[:900], _TABLE),
    "agent.tables.picture.moments.moments": lambda t: moments.moments([t]),
    "agent.tables.language.exchange.exchanged": lambda t: exchanged(t, t, _WORDS),
    "agent.tables.language.exchange.exchanged:longest": lambda t: exchanged(t[:900], t[:900], _WORDS),
    "agent.understand.numbered.numbered": lambda t: list(numbered(t, "en")),
    "agent.understand.numbered.numbers_of": lambda t: numbers_of(t, "en"),
    "agent.understand.numbered.called_otherwise": lambda t: called_otherwise({"house": frozenset("A")}, t, "en"),
    "text.central.sums_up": sums_up,
    "agent.tables.meaning.follow_up.continued": lambda t: continued(_MEANING, t, _WORDS, {}),
    "agent.tables.meaning.follow_up.may_continue": lambda t: may_continue(t, _WORDS),
    "agent.tables.meaning.follow_up.may_continue:longest": lambda t: may_continue(t[:900], _WORDS),
    "agent.tables.meaning.follow_up.continued:longest": lambda t: continued(_MEANING, t[:900], _WORDS, {}),
    "agent.tables.lookup.fiscal.read_calendar": lambda t: read_calendar(1, [], [t]),
    "agent.tables.picture.request.read_request:longest": lambda t: request.read_request(t[:900]),
    "agent.tables.query.compile.compile_query": _expecting(
        lambda t: compile_query(
            TableQuery(source=t, conditions=(RowCondition(ColumnRef("Amount (GHS)"), Comparator.EQ, t),)), _TABLE
        )
    ),
    "agent.tables.run.engine.find_table": _expecting(lambda t: engine.find_table([_TABLE], t)),
    "agent.tables.run.results.shown": results.shown,
    "agent.tables.run.totals.holds_subtotals": lambda t: totals.holds_subtotals({"Branch": [t]}, 0),
    "agent.model.window.alternating": lambda t: alternating([ChatMessage(role="user", content=t)] * 2),
    "retrieve.diversity.without_near_duplicates": lambda t: without_near_duplicates([hit(t), hit(t)], 0.5),
    "retrieve.reading.reading_of": lambda t: reading_of(
        t, [Stated(0, len(t), "sheet", Condition("sheet", Operator.EQ, t[: len(t) // 2]))] * 2, [t]
    ),
    "retrieve.modelquery.parse_answer": _expecting(lambda t: parse_answer(t, t, CONTEXT)),
    "retrieve.modelquery.parse_answer:long": lambda t: parse_answer(
        json.dumps(
            {"conditions": [{"field": "sheet", "operator": "eq", "values": ["a"], "words": _part(t)}], "semantic": t}
        ),
        t,
        CONTEXT,
    ),
    "retrieve.periods.periods": lambda t: list(periods(t, CONTEXT.today)),
    "retrieve.reading.semantic_part": lambda t: semantic_part(
        t, [Stated(1, 2, "page", Condition("page", Operator.EQ, 1))]
    ),
    "retrieve.selfquery.read_by_rules": lambda t: read_by_rules(t, CONTEXT),
    "retrieve.stated.stated_tags": lambda t: list(stated_tags(t, CONTEXT)),
    "retrieve.stated.stated_metadata": lambda t: list(stated_metadata(t, CONTEXT)),
    "retrieve.stated.stated_dates": lambda t: list(stated_dates(t, CONTEXT, [])),
    "retrieve.reading.zone_of": _expecting(zone_of),
    "features.suggestions.facts.fact_questions": lambda t: fact_questions([t, f"The {t}"]),
    "features.suggestions.headings.heading_questions": lambda t: heading_questions([t, t], "en"),
    "features.suggestions.candidates.is_answered": lambda t: is_answered(Candidate(Origin.FACT, (t,), t), ()),
    "features.suggestions.tables.table_questions": lambda t: table_questions(
        [{"columns": [{"name": t, "dtype": "integer", "sum": 1, "distinct": 2}], "row_count": 20}]
    ),
    "text.correction.words_of": lambda t: words_of([t]),
    "text.correction.correct:question": lambda t: Speller(dict).correct(t, {"compost", "collected"}),
    "text.correction.correct:texts": lambda t: Speller(dict).correct("compsot", words_of([t])),
    "text.spelling.nearest": lambda t: nearest(t, ["top_k", "query"]),
    "text.spelling.suggestion": lambda t: suggestion(t, ["top_k", "query"]),
    "ports.points.index_point": lambda t: index_point(
        hit("a").chunk, None, FileFacts(filename=t, stated={"date": t, "tags": t}, metadata={"k": t, t: "v"})
    ),
    "agent.whole.kinds.items_of": lambda t: [items_of(StoredChunk(hit(t).chunk, "a.txt"), kind, ()) for kind in KINDS],
    "agent.whole.kinds.items_of:terms": lambda t: items_of(StoredChunk(hit(t).chunk, "a.txt"), KINDS[0], ("word",)),
    "agent.whole.people.names_of_organisations": lambda t: list(names_of_organisations(t)),
    "agent.whole.people.names_of_people": lambda t: list(names_of_people(t)),
    "agent.whole.request.read_request": lambda t: read_request(t, MessageRead({Act.SUMMARY: 1.0}), []),
    "ingest.describe.describe_picture": lambda t: describe_picture(t, {"exif": {"Make": t}}),
    "ingest.chunking.chunk_title": lambda t: chunk_title(t, t),
    "storage.cursors.decode_cursor": _expecting(lambda t: decode_cursor(t, str)),
    **{
        f"chunk.chunker.chunk_elements:{strategy}": lambda t, s=strategy: _chunked(t, s)
        for strategy in (Strategy.SECTIONS, Strategy.RECURSIVE, Strategy.CHARACTERS)
    },
}
# They take ids, names of ours, or lists that were made of text by a function that is fed.
NO_READERS = {
    "agent.extractive.answerer.choose", "agent.extractive.confidence.gather", "agent.model.prompts.earlier_prompt", "agent.model.prompts.question_prompt", "agent.model.prompts.system_prompt",
    "agent.citations.check.with_references", "agent.tables.language.links.value_mentions", "agent.tables.language.phrasing.phrase",
    "agent.tables.run.results.result_text", "agent.tables.run.results.row_hits", "agent.turn.tools.search_call",
    "agent.turn.arguments.check_arguments", "agent.turn.arguments.integer_argument", "agent.turn.arguments.text_argument", "agent.turn.arguments.texts_argument",
    "agent.citations.alignment.align", "agent.citations.grammar.grammar_of", "agent.citations.support.with_differences",
    "agent.citations.support.with_objections", "agent.citations.support.judge_paraphrase", "ports.points.pulled", "retrieve.context.merge_neighbours",
    "retrieve.diversity.maximal_marginal_relevance", "retrieve.evaluate.normalised_gain", "retrieve.feedback.pulls_of",
    "retrieve.filters.build_filter", "retrieve.fusion.in_places_of", "retrieve.fusion.judged_by_words", "retrieve.fusion.led_by", "retrieve.fusion.ordered", "chunk.flow.locate", "chunk.tables.row_headings",
    "chunk.sections.cut_sections", "agent.citations.places.narrow_locator", "agent.citations.places.locate_pieces", "agent.graph.with_references",
    "agent.tables.run.totals.find_total_rows", "agent.tables.language.found_rows.found_rows", "agent.tables.language.found_rows.whole_rows", "agent.tables.language.dates.time_span", "agent.tables.language.amounts.column_of_unit", "agent.tables.lookup.answer.compose_part", "agent.tables.lookup.answer.compose_rows",
    "agent.tables.language.sentences.as_cell", "agent.tables.language.amounts.currencies_beside",
    "agent.tables.language.sentences.joined", "agent.tables.language.sentences.marked", "agent.tables.language.sentences.highest",
    "agent.tables.lookup.answer.compose", "agent.tables.lookup.answer.compose_cell", "agent.tables.lookup.asked.known_names",
    "agent.tables.lookup.asked.without_operations",
    "agent.tables.language.result_words.cited_lines", "agent.tables.lookup.answer.cells_hit", "agent.tables.lookup.pages.answer_from_pages",
    "agent.tables.meaning.meaning.meanings", "agent.tables.meaning.meaning.passes_over_year",
    "agent.spoken.language_named", "agent.spoken.spoken", "agent.whole.reading.matching", "text.central.central_sentences",
    "ports.points.metadata_field", "ports.points.metadata_path", "text.spelling.advice",
}  # fmt: skip


def _modules() -> Iterator[ModuleType]:
    for package in _PACKAGES:
        module = importlib.import_module(f"citewell.{package}")
        yield module
        for found in pkgutil.walk_packages(getattr(module, "__path__", ()), f"{module.__name__}."):
            yield importlib.import_module(found.name)


def _public_readers() -> Iterator[tuple[str, Callable[..., object], bool]]:
    """Public functions with a text among their parameters, and whether texts are all they need."""
    for module in _modules():
        for name, value in vars(module).items():
            if name.startswith("_") or value is None or getattr(value, "__module__", "") != module.__name__:
                continue
            plain = inspect.unwrap(value) if callable(value) else value
            if not inspect.isfunction(plain) or inspect.iscoroutinefunction(plain):
                continue
            kinds = [p.annotation for p in inspect.signature(plain).parameters.values() if p.default is p.empty]
            if any("str" in str(kind).replace("Strategy", "") for kind in kinds):
                alone = all(kind == "str" for kind in kinds)
                yield f"{module.__name__.removeprefix('citewell.')}.{name}", value, alone


def _fed() -> dict[str, Reader]:
    alone = {name: value for name, value, only_texts in _public_readers() if only_texts}
    own = {name: _with_all(value) for name, value in alone.items() if name not in READERS}
    return own | READERS


def _with_all(function: Callable[..., object]) -> Reader:
    wanted = [p for p in inspect.signature(function).parameters.values() if p.default is p.empty]
    return lambda text: function(*[text] * len(wanted))


FED = _fed()


def test_every_public_function_that_takes_text_is_fed_or_known_not_to_read_it() -> None:
    fed = {name.partition(":")[0] for name in FED}
    assert {name for name, _, _ in _public_readers()} <= fed | NO_READERS


@pytest.mark.parametrize("name", FED)
def test_sixty_four_kilobytes_of_any_shape_are_read_in_a_tenth_of_a_second(name: str) -> None:
    limit = SECONDS * next((times for start, times in UNHURRIED.items() if name.startswith(start)), 1)
    slow = {shape: spent for shape, text in SHAPES.items() if (spent := _spent(FED[name], text, limit)) > limit}
    assert not slow, f"{name}: CPU seconds by shape: {slow}"


def _spent(reader: Reader, text: str, limit: float) -> float:
    """CPU seconds of an idle machine that the whole text takes.

    Small parts of it tell when that is far from the limit, however it grows. What comes near the limit is measured several times,
    each beside the machine's own pace, which other programs change from one second to the next. What is a little above it passes
    where four times the text takes about four times as long: processors differ by more than that, in ways that one pace does not tell.
    """
    least = [_once(reader, _cut(text, size)) for size in (SIZE // 16, SIZE // 4)]
    square = (least[1] - 4 * least[0]) / 12  # the part of the second that grows with the square of the size
    expected = 4 * least[1] + 192 * max(square, 0.0)
    if not limit <= expected < limit * 40:
        return expected
    whole = quarter = expected
    for _ in range(6):
        pace = _pace()
        quarter = min(quarter, _once(reader, _cut(text, SIZE // 4)) / pace)
        whole = min(whole, _once(reader, _cut(text, SIZE)) / pace)
        if whole <= limit:
            return whole
    return limit if whole <= limit * 3 and whole <= quarter * 6 else whole  # a slower machine, and no more than that


def _pace() -> float:
    """How much slower this machine is now than an idle core, which finds a word 1,000 times in 0.18 ms."""
    text = "a " * 32_000
    spent = min(_once(lambda t: [None for _ in re.finditer(r"\w+", t)], text) for _ in range(3))
    return min(max(1.0, spent / 0.006), 4.0)


def _once(reader: Reader, text: str) -> float:
    """CPU seconds without the collector of garbage, which now and then looks at all that the other tests have left."""
    gc.disable()
    try:
        begin = time.process_time()
        reader(text)
        return time.process_time() - begin
    finally:
        gc.enable()


def _cut(text: str, size: int) -> str:
    return text.encode()[:size].decode(errors="ignore")
