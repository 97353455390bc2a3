"""Quotes earlier conversations of the person who asks, apart from what files say.

A message that leans on them gets what they say beside the files' answer; any other only where the files have none and they do.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, date, datetime, tzinfo

from citewell.agent.citations.claims import plain_sentences
from citewell.agent.citations.safe_text import safe_text
from citewell.agent.extractive.answerer import ExtractiveAnswerer
from citewell.agent.interface import Conversations
from citewell.agent.spoken import says_no_answer
from citewell.agent.turn.state import Recalled, TurnState
from citewell.agent.understand.recollection import Leaning, read_leaning
from citewell.ports import Embedder
from citewell.retrieve.conversations import MAX_CHARACTERS, FoundExchange, Recollection
from citewell.retrieve.reading import zone_of
from citewell.text.analysis import analyze
from citewell.types import Chunk, ChunkType, Hit, Locator, Scores
from citewell.types.conversations import Exchange, Remembered

MAX_FOUND = 8
MAX_QUOTED = 2
"""Conversations that an answer about a topic quotes."""
MAX_LISTED = 5
"""Questions that an answer about a time lists."""
MAX_SENTENCES = 2
MIN_NEAR, MIN_COVERED = 0.45, 0.5
"""Cosine, or share of the topic's terms, from which an exchange is about the topic of a message that leans on conversations.

Measured on questions about 14 statements and about others: the nearest statement is at 0.46 to 0.81 in the same language, another at most at 0.39."""
MIN_CONFIDENCE = 0.6
"""From which an exchange answers a message that does not lean on any, and that the files do not answer."""


class EarlierConversations:
    """Finds and quotes exchanges. Nothing is found for a turn of somebody who has not allowed it."""

    def __init__(self, conversations: Conversations, answerer: ExtractiveAnswerer, embedder: Embedder) -> None:
        self._conversations = conversations
        self._answerer = answerer
        self._embedder = embedder

    async def begin(self, turn: TurnState) -> None:
        """Look for what the message leans on, before it is answered."""
        if turn.request.remembers is None:
            return
        today = datetime.now(_zone(turn)).date()
        leaning = read_leaning(turn.request.message, today)
        if leaning is None:
            return
        with turn.timed("remember"):
            turn.recalled = Recalled(await self._leant_on(turn, leaning, today), leaning)

    async def add(self, turn: TurnState) -> None:
        """Add to the turn's answer what earlier conversations say; in place of a refusal, where the files have no answer."""
        assert turn.answer is not None
        if turn.request.remembers is None:
            return
        refused = not turn.answer.answered or turn.intent.kind == "general_conversation"
        if turn.recalled is None and not turn.answer.answered:
            with turn.timed("remember"):
                turn.recalled = Recalled(await self._answering(turn))
        if turn.recalled is None or not turn.recalled.quotes:
            return
        block = told(turn.recalled.quotes)
        if refused:
            turn.restart()
            turn.say(block)
            text, answered = block, True
        else:
            turn.say(f"\n\n{block}")
            text, answered = f"{turn.answer.text}\n\n{block}", turn.answer.answered
        turn.answer = replace(turn.answer, text=text, answered=answered, remembered=turn.recalled.quotes)
        if refused:
            assert turn.draft is not None
            turn.draft = replace(turn.draft, nearest=())
            turn.answer = replace(turn.answer, citations=(), confidence=None, no_answer=None)

    async def _leant_on(self, turn: TurnState, leaning: Leaning, today: date) -> tuple[Remembered, ...]:
        zone = _zone(turn)

        def then(one: Exchange) -> bool:
            return leaning.covers(datetime.fromtimestamp(one.asked_at, zone).replace(tzinfo=None))

        if not analyze(leaning.topic, query=True):
            recent = [one for one in await self._conversations.recent(_asked(turn, "")) if then(one)]
            listed = [one for one in recent if _says_something(one, today)][:MAX_LISTED]
            return tuple(_quote(one, "you", one.said, zone, today) for one in reversed(listed))
        found = await self._conversations.search(_asked(turn, leaning.topic), MAX_FOUND)
        about = [one for one in found if one.covered >= MIN_COVERED or (one.near or 0.0) >= MIN_NEAR]
        about = [one for one in about if then(one.exchange)] or about
        return await self._quoted(leaning.topic, about, today, zone)

    async def _answering(self, turn: TurnState) -> tuple[Remembered, ...]:
        """What answers the question of a message that leans on none."""
        found = await self._conversations.search(_asked(turn, turn.question), MAX_FOUND)
        by_id = {one.exchange.message_id: one for one in found}
        hits = [_hit(one) for one in found if _sides(one.exchange)]
        if not hits:
            return ()
        extract = await self._answerer.answer(turn.question, hits)
        if not extract.answered or extract.confidence < MIN_CONFIDENCE:
            return ()
        best = [by_id[source.hit.chunk.id] for source in extract.sources][:1]
        zone = _zone(turn)
        return await self._quoted(turn.question, best, datetime.now(zone).date(), zone)

    async def _quoted(
        self, topic: str, found: Sequence[FoundExchange], today: date, zone: tzinfo
    ) -> tuple[Remembered, ...]:
        """The sentences of each exchange that are nearest to the topic."""
        quotes: list[Remembered] = []
        for one in found:
            sides = _sides(one.exchange)
            if len(quotes) == MAX_QUOTED or not sides:
                continue
            sentences = [(side, sentence) for side, said in sides for sentence in said]
            vectors = await self._embedder.embed([topic, *(sentence for _, sentence in sentences)], "query")
            near = (vectors[1:] @ vectors[0]).tolist()
            best = max(range(len(near)), key=near.__getitem__)
            side = sentences[best][0]
            said = next(said for name, said in sides if name == side)
            place = said.index(sentences[best][1])
            first = max(0, min(place, len(said) - MAX_SENTENCES))
            quote = " ".join(said[first : first + MAX_SENTENCES])
            found_one = _quote(one.exchange, side, quote, zone, today)
            if all(found_one.quote != known.quote for known in quotes):
                quotes.append(found_one)
        return tuple(quotes)


def told(quotes: Sequence[Remembered]) -> str:
    """The quotes as an answer says them, each with its conversation."""
    return "\n\n".join(f"From your {one.label}{_how(one)}: “{safe_text(one.quote)}”" for one in quotes)


def _how(quote: Remembered) -> str:
    if quote.said_by == "you":
        return ", you asked" if quote.quote == quote.about and quote.quote.endswith("?") else ", in your words"
    return f" (“{safe_text(quote.about)}”)"


def label_of(asked_at: float, today: date, zone: tzinfo) -> str:
    """The name of a conversation: `chat of 12 November`, with the year if it was another one."""
    day = datetime.fromtimestamp(asked_at, zone)
    return f"chat of {day.day} {day:%B}" + (f" {day.year}" if day.year != today.year else "")


def _asked(turn: TurnState, query: str) -> Recollection:
    request = turn.request
    assert request.remembers is not None
    return Recollection(
        owner_id=request.remembers.owner_id,
        query=query,
        thread_id=request.remembers.thread_id,
        projects=None if request.kept_to is None else tuple(request.kept_to),
        scope=request.scope,
    )


def _zone(turn: TurnState) -> tzinfo:
    name = turn.request.options.time_zone
    return zone_of(name) if name else UTC


def _sides(exchange: Exchange) -> list[tuple[str, list[str]]]:
    """What can be quoted: what the person stated, and what the answer says."""
    sides = [("you", [one for one in plain_sentences(exchange.said[:MAX_CHARACTERS]) if not one.endswith("?")])]
    if exchange.answered and not says_no_answer(exchange.answer):
        sides.append(("citewell", plain_sentences(exchange.answer[:MAX_CHARACTERS])))
    return [(side, said) for side, said in sides if said]


def _says_something(exchange: Exchange, today: date) -> bool:
    """Whether a message is about something, and does not ask about conversations."""
    asks = exchange.said.rstrip().endswith("?") and read_leaning(exchange.said, today) is not None
    return bool(analyze(exchange.said, query=True)) and not asks


def _quote(exchange: Exchange, side: str, quote: str, zone: tzinfo, today: date) -> Remembered:
    by_person = side == "you" or exchange.answer_id is None
    return Remembered(
        thread_id=exchange.thread_id,
        message_id=exchange.message_id if by_person else exchange.answer_id or exchange.message_id,
        label=label_of(exchange.asked_at, today, zone),
        quote=_short(quote),
        said_by="you" if by_person else "citewell",
        about=_short(exchange.said),
        said_at=exchange.asked_at,
    )


def _hit(found: FoundExchange) -> Hit:
    """An exchange as a passage, for what judges whether passages answer."""
    text = "\n".join(" ".join(said) for _, said in _sides(found.exchange))
    chunk = Chunk(
        id=found.exchange.message_id,
        owner_id="",
        resource_id=found.exchange.thread_id,
        version=1,
        ordinal=0,
        type=ChunkType.TEXT,
        text=text,
        locator=Locator(),
    )
    return Hit(chunk=chunk, filename="", score=found.score, scores=Scores(dense=found.near))


def _short(text: str, most: int = 300) -> str:
    flat = " ".join(text.split())
    return flat if len(flat) <= most else f"{flat[: most - 1].rstrip()}…"
