"""A message that asks several questions: each is a turn of its own, and the answer says which of them the files do not answer."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from citewell.agent.citations.safe_text import safe_text
from citewell.agent.interface import AgentEvent, Source
from citewell.agent.spoken import NO_ANSWER_TO, spoken
from citewell.agent.turn.state import Draft, SourceBook, TurnState
from citewell.agent.understand.question import read_question
from citewell.text.language import detect_language

# "how does it compare to the targets?": what it is compared with is looked up; what it is, the question before has asked.
_COMPARES = re.compile(
    r"\Ahow (?:do|does|did|would) (?:it|that|this|they|these|those) compare (?:to|with|against) |\Awie (?:verhält|schneidet) (?:es|er|sie|das)"
    r" (?:sich )?(?:im vergleich )?(?:zu|mit) ",
    re.I,
)
_WORD = re.compile(r"[\w'’-]+")
_MARKER = re.compile(r"\[(\d{1,3})\]")


@dataclass(frozen=True, slots=True)
class AskedPart:
    """One of the questions, as written; `asked`: with the words of the ones before it that say what they are about."""

    written: str
    asked: str


def parts_of(turn: TurnState) -> list[AskedPart]:
    """The questions that a message asks, if there are several and none leans on the thread."""
    message = turn.request.message
    if turn.question != message.strip() or turn.request.history:
        return []
    found: list[AskedPart] = []
    for part in read_question(message).parts:
        written = part.question.text.strip()
        # The model tells of pieces of words.
        ends = [(start, end) for start, end in turn.read.content if end <= len(part.before)]
        words = [
            word[0]
            for word in _WORD.finditer(message)
            if any(word.start() < end and start < word.end() for start, end in ends)
        ]
        known = written.lower()
        about = " ".join(dict.fromkeys(word for word in words if word.lower() not in known))
        asked = _COMPARES.sub("What are ", written)
        found.append(AskedPart(written, f"{asked} ({about})" if found and about else written))
    return found


def turn_of(turn: TurnState, part: AskedPart) -> TurnState:
    """A turn for one part. It tells nobody anything."""
    return TurnState(
        request=replace(turn.request, message=part.asked),
        emit=_nobody,
        tally=turn.tally,
        intent=turn.intent,
        question=part.asked,
        queries=(part.asked,),
        inferred=turn.inferred,
    )


def joined(parts: Sequence[AskedPart], drafts: Sequence[Draft]) -> Draft | None:
    """The answers one after the other, with what is not answered; None where nothing is, or all is said by one."""
    answered = [draft for draft in drafts if draft.answered]
    all_say_the_same = len(answered) == len(drafts) and len({draft.text for draft in drafts}) == 1
    if not answered or all_say_the_same:
        return None
    book = SourceBook()
    texts: list[str] = []
    for part, draft in zip(parts, drafts, strict=True):
        if not draft.answered:
            written = safe_text(part.written.rstrip("?؟？"))
            texts.append(spoken(NO_ANSWER_TO, detect_language(part.written), part=written))
            continue
        texts.append(_renumbered(draft, book.add([source.hit for source in draft.sources])))
    confidences = [draft.confidence for draft in answered if draft.confidence is not None]
    return Draft(
        "\n\n".join(dict.fromkeys(texts)),
        True,
        book.sources,
        confidence=min(confidences, default=None),
        computed=all(draft.computed for draft in answered),
    )


def _renumbered(draft: Draft, sources: Sequence[Source]) -> str:
    """The text with the numbers that its sources have among all."""
    new = {old.n: source.n for old, source in zip(draft.sources, sources, strict=True)}
    return _MARKER.sub(lambda marker: f"[{new.get(int(marker[1]), marker[1])}]", draft.text)


def _nobody(event: AgentEvent) -> None:
    pass
