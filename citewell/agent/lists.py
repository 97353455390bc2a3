"""List questions: all items of the list that answers, in order, across pages."""

from __future__ import annotations

import re
from collections.abc import Sequence

from citewell.agent.candidates import Candidate
from citewell.agent.question import Question
from citewell.text.analysis import analyze
from citewell.types import Hit

_STEP = re.compile(r"^\s*(?:step|stage|phase|part|schritt|étape|paso)\s+(\d{1,2})\b\s*[:.–—-]?\s*", re.I)
_ITEM = re.compile(r"^\s*(?:[-*•‣▪◦]|\(?\d{1,2}[.)]|\(?[a-z][.)])\s+\S")


def list_items(question: Question, hits: Sequence[Hit], best: Sequence[Candidate]) -> list[Candidate]:
    """Items in reading order, of the file that the best candidates stand in; [] when it has no such list.

    Numbered steps (`Step 3: …`, in headings or lines) are gathered across the whole file; bulleted and numbered lines only
    from the passages under the headings of the best candidates.
    """
    if not best:
        return []
    resource = best[0].hit.chunk.resource_id
    ours = sorted((h for h in hits if h.chunk.resource_id == resource), key=lambda h: h.chunk.ordinal)
    steps = _steps(question, ours)
    if len(steps) >= 2:
        return steps
    headings = {b.hit.chunk.locator.headings for b in best if b.hit.chunk.resource_id == resource}
    near = [h for h in ours if h.chunk.locator.headings in headings]
    return [item for hit in near for item in _lines(hit)]


def _steps(question: Question, hits: Sequence[Hit]) -> list[Candidate]:
    """One candidate per step number, the first place each stands at."""
    found: dict[int, Candidate] = {}
    if not question.wants_steps:
        return []
    for hit in hits:
        for heading in hit.chunk.locator.headings:
            match = _STEP.match(heading)
            if match:
                found.setdefault(int(match[1]), _heading_candidate(hit, heading, match.end()))
        for start, line in _each_line(hit):
            match = _STEP.match(line)
            if match and _matches(question, hit):
                text = " ".join(line[match.end() :].split())
                found.setdefault(int(match[1]), Candidate(hit, 0, start, start + len(line), text, ""))
    return [found[number] for number in sorted(found)]


def _heading_candidate(hit: Hit, heading: str, start: int) -> Candidate:
    return Candidate(hit, 0, 0, len(hit.chunk.text), heading[start:].strip(), heading)


def _lines(hit: Hit) -> list[Candidate]:
    return [
        Candidate(hit, 0, start, start + len(line), " ".join(line.split()), "")
        for start, line in _each_line(hit)
        if _ITEM.match(line)
    ]


def _each_line(hit: Hit) -> list[tuple[int, str]]:
    out: list[tuple[int, str]] = []
    position = 0
    for line in hit.chunk.text.splitlines(keepends=True):
        out.append((position, line.rstrip("\n")))
        position += len(line)
    return out


def _matches(question: Question, hit: Hit) -> bool:
    text = " ".join((hit.chunk.context, *hit.chunk.locator.headings, hit.chunk.text))
    return bool(set(question.terms) & set(analyze(text, question.language)))
