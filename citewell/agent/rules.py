"""A turn without a chat model: rules read the message, plan the table query or the search, and compose the answer."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from citewell.agent.citations.safe_text import safe_text
from citewell.agent.extractive.answerer import ExtractiveAnswerer, number_hits
from citewell.agent.extractive.refusal import explain, in_scope
from citewell.agent.interface import Source, TextDelta
from citewell.agent.offload import offload
from citewell.agent.statements import under_headings
from citewell.agent.tables.language.phrasing import phrase
from citewell.agent.tables.lookup.answer import LookupAnswer
from citewell.agent.tables.lookup.table_lookup import TableLookup
from citewell.agent.tables.picture.answer import answer_with_picture
from citewell.agent.tables.planner import Planned, Refused
from citewell.agent.tables.run.engine import TableResult, UnusableTable, faults_of
from citewell.agent.tables.run.results import row_hits
from citewell.agent.turn.parts import joined, parts_of, turn_of
from citewell.agent.turn.rows import quotable
from citewell.agent.turn.state import Draft, NextStep, ToolResult, TurnState
from citewell.agent.turn.steps import Planners, Step, first_calls, search_calls
from citewell.agent.turn.tools import MAX_TOP_K, Toolbox
from citewell.agent.understand.intent import TALK, Intent
from citewell.agent.understand.question import asks_for_any_picture, read_question, wants_pictures, without_request
from citewell.agent.understand.small_talk import reply
from citewell.agent.understand.thresholds import THRESHOLDS
from citewell.agent.understand.understanding import MessageReader, Understood
from citewell.text.correction import Speller, words_of
from citewell.types import ChunkType, Hit, Scores
from citewell.types.message_reading import Act

MAX_NEAREST = 3  # passages offered with a refusal


class RuleUnderstanding:
    """By what the model that reads messages says."""

    def __init__(self, reader: MessageReader) -> None:
        self._reader = reader

    async def read(self, turn: TurnState) -> Understood:
        """The intent; the message joined with what it refers to."""
        return await self._reader.read(turn.request)


class RuleAssistant:
    """Works without a chat model: a table query where the question is one for data; else one search, and cells of tables on
    pages or the sentences that answer.
    """

    def __init__(
        self,
        answerer: ExtractiveAnswerer,
        toolbox: Toolbox,
        planners: Planners | None = None,
        lookup: TableLookup | None = None,
        speller: Speller | None = None,
    ) -> None:
        self._answerer = answerer
        self._toolbox = toolbox
        self._planners = planners
        self._lookup = lookup
        self._speller = speller

    async def step(self, turn: TurnState) -> Step:
        """Small talk is replied to at once; for a question, the stage says what to do with the results so far."""
        if turn.intent.kind == "general_conversation":
            return _say(turn, Draft(reply(turn.intent.small_talk), answered=True))
        begins = turn.stage in (NextStep.LOOK_UP, NextStep.DECIDE)
        if begins and (draft := await self._from_parts(turn)) is not None:
            return _say(turn, draft)
        return await self._step_of(turn)

    async def _step_of(self, turn: TurnState) -> Step:
        """The next step of a question that is one."""
        match turn.stage:
            case NextStep.LOOK_UP | NextStep.DECIDE:
                return await first_calls(turn, self._toolbox, self._planners, _beside(turn), weighs=True)
            case NextStep.READ_ROWS:
                return await self._from_rows_or_pages(turn)
            case NextStep.READ_PASSAGES:
                hits = _found(turn)
                if await self._is_corrected(turn, hits):
                    return await search_calls(turn, _beside(turn))
                return await self._from_passages(turn, hits, _from_page(await self._look_up(turn, hits)))

    async def _from_parts(self, turn: TurnState) -> Draft | None:
        """The answers to the questions of a message that asks several; None where one answer says as much."""
        parts = parts_of(turn)
        if len(parts) < 2:
            return None
        drafts: list[Draft] = []
        for part in parts:
            of_part = turn_of(turn, part)
            while not isinstance(step := await self._step_of(of_part), Draft):
                for call in step:
                    of_part.results += (await self._toolbox.run(of_part, call),)
            turn.searches += of_part.searches
            turn.notices.update(of_part.notices)
            drafts.append(step)
        turn.note("parts", [part.asked for part in parts])
        return joined(parts, drafts)

    async def _from_rows_or_pages(self, turn: TurnState) -> Step:
        """The rows of the planned query, a table on a page, or the passages: whichever most likely answers."""
        planned, table = turn.table_plan, turn.results[-1]
        searched = any(result.call.name == "search_files" for result in turn.results)
        hits = _found(turn) if searched else []
        page = await self._look_up(turn, hits) if searched else None
        draft = _from_rows(turn, table)
        if isinstance(planned, Planned) and page is not None and page.chance > planned.confidence:
            draft = _from_page(page)
        if draft is not None:
            weighs = searched and draft.confidence is not None
            return await self._from_passages(turn, hits, draft) if weighs else _say(turn, draft)
        if not searched:
            return await search_calls(turn, _beside(turn))
        turn.stage = NextStep.READ_PASSAGES
        if await self._is_corrected(turn, hits):
            return await search_calls(turn, _beside(turn))
        return await self._from_passages(turn, hits, _from_page(page))

    async def _is_corrected(self, turn: TurnState, hits: Sequence[Hit]) -> bool:
        """Whether words of the question were misspelled, as the words of the passages found show; they are searched for again, once."""
        if self._speller is None or turn.corrected:
            return False
        asked = (turn.question, " ".join(turn.request.message.split()), turn.reduced, *turn.queries)
        characters = sum(len(hit.chunk.text) for hit in hits)
        question, message, reduced, *queries = await offload(characters, _corrected, self._speller, asked, hits)
        if question == turn.question:
            return False
        turn.note("corrected", question)
        turn.question, turn.corrected, turn.reduced, turn.queries = question, message, reduced, tuple(queries)
        turn.results = tuple(result for result in turn.results if result.call.name != "search_files")
        return True

    async def _look_up(self, turn: TurnState, hits: Sequence[Hit]) -> LookupAnswer | None:
        if self._lookup is None:
            return None
        files = [hit.chunk.resource_id for hit in hits if hit.chunk.type is ChunkType.TABLE]
        with turn.timed("look_up_tables"):
            return await self._lookup.answer(turn.request.owner_id, turn.sought, turn.request.scope, files)

    async def _from_passages(self, turn: TurnState, hits: Sequence[Hit], cells: Draft | None) -> Draft:
        """The statements that answer; the cells of tables where these are certain, or likelier to."""
        if cells is not None and cells.confidence is None:
            return _say(turn, cells)
        refused = turn.table_plan if isinstance(turn.table_plan, Refused) else None
        sought = turn.sought
        usable = quotable(await offload(len(sought), read_question, sought), hits)
        if isinstance(turn.table_plan, Planned) or (refused is not None and refused.computes):
            usable = [hit for hit in usable if hit.chunk.type not in (ChunkType.ROW, ChunkType.TABLE)]
        top_k = turn.request.top_k
        message = turn.corrected or " ".join(turn.request.message.split())
        own = turn.reduced or message
        pictures, cut_off = wants_pictures(message), len(hits) >= min(MAX_TOP_K, 3 * top_k)
        with turn.timed("extract"):
            extract = None
            if pictures and turn.reduced and asks_for_any_picture(turn.reduced):
                extract = self._answerer.list_pictures(usable, cut_off=cut_off)
            extract = extract or await self._answerer.answer(
                sought, usable[:top_k], usable[top_k:], message=own, pictures=pictures, cut_off=cut_off
            )
        likelier = cells is not None and (cells.confidence or 0.0) > extract.confidence * extract.answered
        if cells is not None and likelier and not (extract.answered and _continues_quotes(turn)):
            return _say(turn, cells)
        confidence = round(extract.confidence, 4)
        turn.note("confidence", confidence)
        if extract.answered:
            for part in extract.parts:
                turn.emit(TextDelta(part))
            return Draft(extract.text, True, extract.sources, confidence=confidence)
        if turn.read.acts.get(Act.HELP, 0.0) >= THRESHOLDS.small_talk:  # and no file says anything of it
            talk = turn.intent = Intent("general_conversation", turn.read.acts[Act.HELP], TALK[Act.HELP])
            return _say(turn, Draft(reply(talk.small_talk), answered=True))
        reason = refused.reason if refused else ""
        content = turn.read.content_of(turn.request.message).lower().split()
        characters = sum(len(hit.chunk.text) for hit in hits)
        why = await offload(characters, explain, without_request(own), hits, reason, content)
        why = in_scope(why, turn.request.scope, turn.request.message)
        text = f"{extract.text} {safe_text(why.text)}"
        return _say(
            turn,
            Draft(text, False, nearest=number_hits(hits[:MAX_NEAREST]), confidence=confidence, no_answer=why),
        )


def _continues_quotes(turn: TurnState) -> bool:
    """Whether the message leans on the thread, and what was answered last was quoted from text."""
    said = next((one for one in reversed(turn.request.history) if one.role == "assistant"), None)
    leans = turn.rephrased is not None and turn.rephrased.question != " ".join(turn.request.message.split())
    return leans and said is not None and said.quotes


def _found(turn: TurnState) -> list[Hit]:
    """The hits of the turn's searches, merged."""
    searches = [result for result in turn.results if result.call.name == "search_files"]
    found = [[source.hit for source in result.sources] for result in searches]
    beside = found.pop() if _beside(turn) else ()
    return merge_hits(found, MAX_TOP_K, beside)


def _from_page(page: LookupAnswer | None) -> Draft | None:
    """The cells of a table on a page; without a confidence where they are certain."""
    if page is None:
        return None
    confidence = round(page.chance, 4) if page.chance < 1.0 else None
    return Draft(page.text, True, number_hits(page.hits), confidence=confidence)


def _corrected(speller: Speller, texts: Sequence[str], hits: Sequence[Hit]) -> list[str]:
    """Each of the texts, corrected by the words of these passages."""
    words = words_of(f"{hit.filename} {under_headings(hit)}" for hit in hits)
    meant = {text: speller.correct(text, words) for text in set(texts)}
    return [meant[text] for text in texts]


def merge_hits(lists: Sequence[Sequence[Hit]], top_k: int, beside: Sequence[Hit] = ()) -> list[Hit]:
    """The hits of several searches by the sum of their scores, each list's scaled to 0..1.

    The last list counts more: its query says what the others leave to the thread. Hits of the search `beside` them count only where one of
    them has found them. A hit's similarity is the greatest that any of the searches has for it: what a message leaves unsaid is nearer to
    it with the words of the thread.
    """
    if len(lists) == 1 and not beside:
        return list(lists[0][:top_k])
    sums: dict[str, float] = {}
    hits: dict[str, Hit] = {}
    for number, found in enumerate(lists, start=1):
        weight = THRESHOLDS.topic_weight if number == len(lists) > 1 else 1.0
        for hit, share in _shares(found):
            hits.setdefault(hit.chunk.id, hit)
            sums[hit.chunk.id] = sums.get(hit.chunk.id, 0.0) + weight * share
    for hit, share in _shares(beside):
        if hit.chunk.id in sums:
            sums[hit.chunk.id] += share
    nearest: dict[str, Scores] = {}
    for hit in (hit for found in (*lists, beside) for hit in found):
        known = nearest.get(hit.chunk.id)
        if hit.scores.dense is not None and (known is None or hit.scores.dense > (known.dense or 0.0)):
            nearest[hit.chunk.id] = hit.scores
    best = sorted(sums, key=lambda c: -sums[c])[:top_k]
    return [replace(hits[c], scores=_with_nearness(hits[c].scores, nearest.get(c, Scores()))) for c in best]


def _with_nearness(scores: Scores, nearest: Scores) -> Scores:
    return replace(scores, dense=nearest.dense, similarity=nearest.similarity)


def _shares(found: Sequence[Hit]) -> list[tuple[Hit, float]]:
    """Each hit with its place between the worst, 0, and the best, 1."""
    low = min((hit.score for hit in found), default=0.0)
    spread = max((hit.score for hit in found), default=0.0) - low
    return [(hit, (hit.score - low) / spread if spread else 1.0) for hit in found]


def _beside(turn: TurnState) -> str:
    return turn.rephrased.beside if turn.rephrased is not None else ""


def _from_rows(turn: TurnState, result: ToolResult) -> Draft | None:
    """The picture or the figure that was planned, in words; None when the query failed, or its rows do not answer."""
    if result.table is None:
        return None
    try:
        with faults_of(result.table.table):
            return _from_picture(turn, result.table) or _from_table(turn.table_plan, result)
    except UnusableTable as error:
        turn.notices[error.notice] = None
        return None


def _from_table(planned: Planned | Refused | None, result: ToolResult) -> Draft | None:
    """The worded result, with its sources numbered from 1; None when its rows do not answer."""
    if not isinstance(planned, Planned) or result.table is None:
        return None
    sources = tuple(Source(n, source.hit) for n, source in enumerate(result.sources, start=1))
    text = phrase(planned.plan, result.table, planned.left_out, [source.n for source in sources])
    return Draft(text, True, sources, confidence=planned.confidence, computed=True) if text else None


def _from_picture(turn: TurnState, rows: TableResult) -> Draft | None:
    """A picture that was asked for, in words; None when none was, or its rows make none."""
    answer = None if turn.picture_plan is None else answer_with_picture(turn.picture_plan, rows)
    if answer is None:
        return None
    hits = row_hits(turn.request.owner_id, replace(rows, rows=answer.rows))
    return Draft(answer.text, True, tuple(Source(n, hit) for n, hit in enumerate(hits, start=1)), computed=True)


def _say(turn: TurnState, draft: Draft) -> Draft:
    turn.emit(TextDelta(draft.text))
    return draft
