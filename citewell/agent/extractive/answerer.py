"""Answers without a model: the sentences that answer, the best first, without repetition, each with its citation."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from citewell.agent.citations.safe_text import safe_text
from citewell.agent.extractive.asked_above import find_section
from citewell.agent.extractive.confidence import gather, is_answered, weigh
from citewell.agent.extractive.headings import after_its_lead, under_its_heading
from citewell.agent.extractive.lists import (
    MAX_ITEMS,
    announced_items,
    find_item_groups,
    find_named_items,
    find_named_list,
    find_steps,
    whole_procedure,
)
from citewell.agent.extractive.numbered import about_the_number
from citewell.agent.extractive.pictures import count_pictures, every_picture, find_pictures
from citewell.agent.extractive.polarity import actual_or_planned, agreeing
from citewell.agent.extractive.roles import holding_the_office
from citewell.agent.extractive.scoring import ScoredStatement, StatementScorer, say_the_same
from citewell.agent.extractive.thresholds import THRESHOLDS, ExtractiveThresholds
from citewell.agent.extractive.trimming import trim
from citewell.agent.interface import AnswerReader, Source
from citewell.agent.offload import offload
from citewell.agent.spoken import NO_ANSWER, spoken
from citewell.agent.statements import Statement
from citewell.agent.understand.question import (
    FACTS,
    Expectation,
    Question,
    asks_whether,
    read_question,
    wants_list,
    without_request,
)
from citewell.agent.understand.titles import as_written
from citewell.ports import Embedder
from citewell.ports.points import in_parts
from citewell.text.analysis import analyze
from citewell.types import Hit

_MORE_PICTURES = (
    "\n\nThese are the first {}; there may be more. Name a file, a project or a date to see those that are left out."
)
_MORE_ITEMS = "\n\nThese are the first {} of {}."
_BULLET = re.compile(r"^(?:[-*•‣▪]\s+|\(?\d{1,3}[.)]\s+)")


@dataclass(frozen=True, slots=True)
class Extract:
    """An answer made of source sentences. `confidence` is the answerability of the question; `embedded` counts texts embedded."""

    parts: tuple[str, ...]
    sources: tuple[Source, ...]
    answered: bool
    confidence: float
    embedded: int

    @property
    def text(self) -> str:
        """The whole answer."""
        return "".join(self.parts)


def _with_more_pictures(extract: Extract, shown: int, hits: Sequence[Hit], cut_off: bool) -> Extract:
    """The list, and a hint if there may be more pictures than the passages are of."""
    if not cut_off or shown < count_pictures(hits):
        return extract
    return replace(extract, parts=(*extract.parts, _MORE_PICTURES.format(shown)))


class ExtractiveAnswerer:
    """Picks the statements of given passages that answer a question, or says that they hold no answer."""

    def __init__(
        self,
        embedder: Embedder,
        thresholds: ExtractiveThresholds = THRESHOLDS,
        reader: AnswerReader | None = None,
        across: Embedder | None = None,
    ) -> None:
        """reader: tells better than similarity and words which statement answers, and with which words.

        across: a model of many languages, which compares a question with statements in another.
        """
        self._thresholds = thresholds
        self._scorer = StatementScorer(embedder, thresholds, reader, across)

    async def answer(
        self,
        question_text: str,
        hits: Sequence[Hit],
        more: Sequence[Hit] = (),
        *,
        message: str = "",
        pictures: bool = False,
        cut_off: bool = False,
    ) -> Extract:
        """The answer from `hits`; `answered` is False when they hold none. The items of a list, and pictures, may also be in `more`.

        message:  what was asked as it was written, where the question adds words of the thread behind it.
        pictures: whether the pictures that fit are asked for, each of them.
        cut_off:  whether there may be more passages than these.
        """
        passages = [hit.chunk.text for hit in hits]
        question_text, message = as_written(question_text, passages), as_written(message, passages)
        own = message if message and question_text.startswith(message) else question_text
        asked = without_request(question_text)
        own = own[len(question_text) - len(asked) :] or asked
        question = await offload(len(asked), read_question, asked)
        if wants_list(question_text):  # which the request may say that is cut off
            question = replace(question, wants_list=True)
        scored = await self._scorer.score(question, hits, len(own), read=not pictures)
        scored = self._scorer.keep_counts(question, scored)
        scored = holding_the_office(
            question, actual_or_planned(question, agreeing(question, about_the_number(question, scored))), hits
        )
        confidence, answerable = 0.0, False
        if scored:
            characters = len(own) + sum(len(hit.chunk.text) for hit in hits)
            evidence = await offload(characters, gather, question, own, scored, hits)
            confidence, answerable = weigh(evidence, self._thresholds), is_answered(evidence, self._thresholds)
        embedded = len(scored)
        around = [*hits, *more]
        scored = self._without_announcements(scored, around)
        answerable = answerable and bool(scored)
        if question.wants_list:
            items, strength = await self._list(question, around, scored)
            if len(items) >= 2 and (answerable or strength >= self._thresholds.list_answers):
                return self._compose(items, max(confidence, strength), embedded, as_list=True)
        if answerable and pictures:
            judged = list(scored)
            for part in in_parts(more, len(hits)):  # of a longer list no more statements would be embedded
                judged += await self._scorer.score(question, part, len(own), read=False)
            found = find_pictures(judged, around, self._thresholds)
            if found:
                extract = self._compose(found, confidence, len(judged), as_list=len(found) > 1)
                return _with_more_pictures(extract, len(found), around, cut_off)
        if not answerable:
            return Extract((spoken(NO_ANSWER, question.language),), number_hits(hits[:3]), False, confidence, embedded)
        section = [] if question.parts else find_section(asked, hits, self._thresholds)
        listed: list[Statement] = []
        if not section and not question.parts:
            listed = whole_procedure(question, scored[0].statement) or find_named_items(question, hits)
        shown = section or listed or self._statements(question, scored, around)
        return self._compose(shown, confidence, embedded, as_list=bool(listed))

    def list_pictures(self, hits: Sequence[Hit], *, cut_off: bool) -> Extract | None:
        """Every picture of these passages, for a question that only filters them; None if they are of none."""
        found = every_picture(hits)
        if not found:
            return None
        return _with_more_pictures(self._compose(found, 1.0, 0, as_list=len(found) > 1), len(found), hits, cut_off)

    def _without_announcements(self, scored: Sequence[ScoredStatement], hits: Sequence[Hit]) -> list[ScoredStatement]:
        """The statements, best first, without those that only announce what is not there; a whole sentence that does counts less."""
        kept: list[ScoredStatement] = []
        for one in scored:
            if announced_items(one.statement, hits) != []:
                kept.append(one)
            elif len(one.statement.shown.split()) >= self._thresholds.announcing_words:
                kept.append(replace(one, score=one.score * self._thresholds.asking))
        return sorted(kept, key=lambda s: s.score, reverse=True)

    def _statements(
        self, question: Question, scored: Sequence[ScoredStatement], hits: Sequence[Hit]
    ) -> list[Statement]:
        """The statements chosen, as they are shown, each with the items that it announces."""
        chosen = choose(question, scored, self._thresholds)
        if _are_rows_of_one_table(chosen):
            chosen.sort(key=lambda s: s.statement.start)
        shown: list[Statement] = []
        announced = {id(one): announced_items(one.statement, hits) or [] for one in chosen}
        places = {(item.hit.chunk.id, item.start) for items in announced.values() for item in items}
        for scored_one in chosen:
            one = scored_one.statement
            if (one.hit.chunk.id, one.start) in places:
                continue
            short = one if one.row else replace(one, shown=trim(question, one.shown, scored_one.read, self._thresholds))
            led = after_its_lead(short)
            shown.append(led if led is not short else under_its_heading(question, short, first=not shown))
            shown += announced[id(scored_one)]
        return shown

    async def _list(
        self, question: Question, hits: Sequence[Hit], scored: Sequence[ScoredStatement]
    ) -> tuple[list[Statement], float]:
        """The items of the list that answers, and its similarity to the question.

        Numbered steps of the best file (whose similarity is that of its statements), else the list that the question names, else the one
        whose heading and items are nearest.
        """
        best = [s.statement for s in scored[:3]]
        if steps := find_steps(question, hits, best):
            return steps, (await self._nearness(question, [_text_of(steps)]))[0]
        if named := await offload(sum(len(hit.chunk.text) for hit in hits), find_named_list, question, hits):
            return named, self._thresholds.list_answers
        groups = find_item_groups(hits)
        if not groups or not scored:
            return [], 0.0
        limits = self._thresholds
        texts = [_text_of(group)[: limits.list_characters] for group in groups]
        near = await self._nearness(question, texts)
        terms = set(question.terms)
        named = [len(terms & set(analyze(text, question.language))) / max(1, len(terms)) for text in texts]
        scores = [
            limits.list_similarity * float(similarity) + limits.list_terms * share
            for similarity, share in zip(near, named, strict=True)
        ]
        top = max(range(len(groups)), key=lambda i: scores[i])
        return (groups[top] if scores[top] >= limits.list_share * scored[0].score else []), float(near[top])

    async def _nearness(self, question: Question, texts: Sequence[str]) -> list[float]:
        """The similarity of each text's beginning to the question."""
        return await self._scorer.nearness(question, [text[: self._thresholds.list_characters] for text in texts])

    def _compose(self, chosen: Sequence[Statement], best: float, embedded: int, *, as_list: bool) -> Extract:
        numbers: dict[tuple[str, int], int] = {}
        sources: list[Source] = []
        parts: list[str] = []
        for position, statement in enumerate(chosen[:MAX_ITEMS] if as_list else chosen):
            cited = _cited(statement)
            if cited not in numbers:
                numbers[cited] = len(numbers) + 1
                sources.append(Source(numbers[cited], statement.hit))
            text = safe_text(_BULLET.sub("", statement.shown))
            if as_list:
                space = "\n" if position else ""
                parts.append(f"{space}{position + 1}. {text} [{numbers[cited]}]")
            else:
                space = "" if not position else "\n- " if statement.item else _between(chosen[position - 1], statement)
                parts.append(f"{space}{text} [{numbers[cited]}]")
        if as_list and len(chosen) > MAX_ITEMS:
            parts.append(_MORE_ITEMS.format(MAX_ITEMS, len(chosen)))
        return Extract(tuple(parts), tuple(sources), True, best, embedded)


def _text_of(items: Sequence[Statement]) -> str:
    """A list in one line: the headings over it, and its items."""
    return " ".join((*items[0].hit.chunk.locator.headings, *(item.shown for item in items)))


def _cited(statement: Statement) -> tuple[str, int]:
    """What one number cites: a passage, or one paragraph of a passage that spans several pages, as each is on a page of its own."""
    chunk = statement.hit.chunk
    paragraph = chunk.text.count("\n\n", 0, statement.start) if len(chunk.locator.pages) > 1 else 0
    return chunk.id, paragraph


def _between(before: Statement, statement: Statement) -> str:
    """A new line after what is no sentence, or before a row; else a space."""
    return " " if before.is_ended and not (before.row or before.item or statement.row) else "\n"


def number_hits(hits: Sequence[Hit]) -> tuple[Source, ...]:
    """Hits as sources 1, 2, …"""
    return tuple(Source(n, hit) for n, hit in enumerate(hits, start=1))


def choose(
    question: Question, scored: Sequence[ScoredStatement], limits: ExtractiveThresholds = THRESHOLDS
) -> list[ScoredStatement]:
    """The statement that answers, the best for each further part of the question, and after it others nearly as good that say something else.

    Where a fact is asked for, one that holds such a fact is preferred, and others that hold one are compared with it. What owes its score to its passage and neighbours, and is itself
    less near to the question than the first, adds nothing.
    """
    first = _holding_the_fact(question, scored, limits)
    chosen = [first]
    chosen += _for_further_parts(question, scored, first, limits)
    close = limits.close_reason if question.expectation is Expectation.REASON else limits.close
    one_fact = question.expectation in FACTS and len(question.parts) < 2
    most = limits.max_for_fact if one_fact else limits.max_sentences
    most += first is not scored[0]
    for candidate in scored:
        if candidate.score < close * (first if candidate.expected else scored[0]).score:
            continue
        if len(chosen) >= most and (one_fact or not _are_rows_of_one_table([*chosen, candidate])):
            break
        if candidate.interaction < limits.adds * first.interaction or candidate.statement.shown.endswith("?"):
            continue
        if _says_it(first) and not _says_it(candidate) and candidate.read is not None:
            continue
        if one_fact and any(_give_the_same(candidate, other) for other in chosen):
            continue
        if all(candidate is not other and not say_the_same(candidate, other, limits) for other in chosen):
            chosen.append(candidate)
    chosen = _with_items_beside(first, chosen, scored)
    return _with_what_follows(question, scored, chosen) if asks_whether(question.text) else chosen


def _with_what_follows(
    question: Question, scored: Sequence[ScoredStatement], chosen: list[ScoredStatement]
) -> list[ScoredStatement]:
    """Of yes or no: after the first statement the sentence that follows it, where this has a word of the question that the first lacks.

    "The R7 supports WPA3. It does not support WEP."
    """
    first = chosen[0].statement
    lacking = set(question.terms) - set(analyze(first.shown, question.language))
    for one in scored:
        statement = one.statement
        between = first.hit.chunk.text[first.end : statement.start]
        follows = statement.hit.chunk.id == first.hit.chunk.id and statement.start >= first.end and not between.strip()
        if follows and not statement.row and lacking & set(analyze(statement.shown, question.language)):
            return [chosen[0], one, *(other for other in chosen[1:] if other is not one)]
    return chosen


def _with_items_beside(
    first: ScoredStatement, chosen: list[ScoredStatement], scored: Sequence[ScoredStatement]
) -> list[ScoredStatement]:
    """Where an item of a list answers, all items of the passage that do, in reading order."""
    if not (_is_item(first.statement) and _says_it(first)):
        return chosen
    of_passage = [one for one in scored if one.statement.hit.chunk.id == first.statement.hit.chunk.id]
    beside = [one for one in of_passage if _is_item(one.statement) and _says_it(one)]
    if len(beside) < 2:
        return chosen
    items = sorted(beside, key=lambda one: one.statement.start)[:MAX_ITEMS]
    return [*items, *(one for one in chosen if all(one is not item for item in items))]


def _is_item(statement: Statement) -> bool:
    return statement.item or _BULLET.match(statement.shown) is not None


def _says_it(one: ScoredStatement) -> bool:
    """Whether the reader holds it for likelier than not that the statement answers."""
    return one.read is not None and one.read.sure > 0


def _give_the_same(one: ScoredStatement, other: ScoredStatement) -> bool:
    """Whether the reader marks the same words in both as the answer."""
    if one.read is None or other.read is None:
        return False
    first, second = one.read.answer.lower(), other.read.answer.lower()
    return first in second or second in first


def _are_rows_of_one_table(scored: Sequence[ScoredStatement]) -> bool:
    """Whether all statements are rows of one table: of those that answer, none is left out for their number."""
    return len(scored) <= MAX_ITEMS and all(
        s.statement.row and s.statement.hit.chunk.id == scored[0].statement.hit.chunk.id for s in scored
    )


def _for_further_parts(
    question: Question, scored: Sequence[ScoredStatement], first: ScoredStatement, limits: ExtractiveThresholds
) -> list[ScoredStatement]:
    """For each part of the question after the first, the best statement not given yet, if it may answer the part."""
    chosen = [first]
    for number in range(1, len(question.parts)):
        holds = question.parts[number].question.meets_expectation
        others = [
            s
            for s in scored
            if holds(s.statement.shown) and all(s is not c and not say_the_same(s, c, limits) for c in chosen)
        ]
        best = max(
            others,
            key=lambda s: limits.part_weight * s.by_part[number] + (1 - limits.part_weight) * s.score,
            default=None,
        )
        most = max(s.by_part[number] for s in scored)
        if best is not None and best.by_part[number] >= limits.part_reach * most:
            chosen.append(best)
    return chosen[1:]


def _holding_the_fact(
    question: Question, scored: Sequence[ScoredStatement], limits: ExtractiveThresholds
) -> ScoredStatement:
    best = scored[0]
    if question.expectation not in FACTS or best.expected:
        return best
    within = (s for s in scored if s.expected and s.score >= limits.within_reach * best.score)
    return next(within, best)
