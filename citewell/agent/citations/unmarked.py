"""Puts `[n]` behind sentences of a chat model that cite nothing although a passage states them: small models rarely cite."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from citewell.agent.citations.check import MIN_TERMS, CitationChecker
from citewell.agent.citations.claims import marked_numbers, plain_sentences
from citewell.agent.citations.support import locate_claim
from citewell.agent.interface import Source
from citewell.agent.offload import offload
from citewell.agent.spoken import says_no_answer
from citewell.ports import Embedder
from citewell.text.analysis import analyze
from citewell.text.sentences import sentence_spans
from citewell.types import Verdict

MAX_SENTENCES = 40
"""Sentences of one answer that are looked up. An answer with more is a list, whose rows say where they come from."""
_CANDIDATES = 3  # passages that share most words with a sentence, and are compared with it
_FENCE = re.compile(r"\s*(?:```|~~~)")
_NOT_PROSE = re.compile(r"\s*(?:[|#>]|\Z)")
_MARKED_AFTER = re.compile(r"\s*\[\d{1,4}\]")
_DIGIT = re.compile(r"\d")
_SAYS_NOTHING = ("?", "？", "؟", ":", "：")  # asks, or announces what follows


@dataclass(frozen=True, slots=True)
class _Sentence:
    """Words of an answer, and where they end in it."""

    text: str
    end: int


class UnmarkedSentences:
    """Finds the passage that states a sentence, by the judgement by which citations are checked."""

    def __init__(self, embedder: Embedder) -> None:
        self._checker = CitationChecker(embedder)

    async def mark(self, owner_id: str, answer: str, sources: Sequence[Source]) -> str:
        """The answer, with the number of the passage behind each unmarked sentence that one supports; of several, that which supports it best."""
        marks: list[tuple[int, int]] = []
        for sentence in list(_unmarked(answer))[:MAX_SENTENCES]:
            n = await self._stated_by(owner_id, sentence.text, sources)
            if n is not None:
                marks.append((sentence.end, n))
        for end, n in reversed(marks):
            answer = f"{answer[:end]} [{n}]{answer[end:]}"
        return answer

    async def _stated_by(self, owner_id: str, sentence: str, sources: Sequence[Source]) -> int | None:
        characters = sum(len(source.hit.chunk.text) for source in sources)
        near = await offload(characters, _nearest, sentence, sources)
        if not near:
            return None
        each = "\n".join(f"{sentence} [{source.n}]" for source in near)
        checked = await self._checker.check(owner_id, each, near, settled=True)
        found = {one.n: one.score for one in checked.citations if one.verdict is Verdict.SUPPORTED}
        return max(found, key=lambda n: found[n], default=None)


def _nearest(sentence: str, sources: Sequence[Source]) -> list[Source]:
    """The passages that hold most of the sentence's words in order, the best found first among equals."""
    ratios = {source.n: locate_claim(sentence, source.hit).ratio for source in sources}
    near = [source for source in sources if ratios[source.n] > 0.0]
    return sorted(near, key=lambda source: -ratios[source.n])[:_CANDIDATES]


def _unmarked(answer: str) -> Iterator[_Sentence]:
    """The sentences of prose that state something and have no marker in or after them."""
    start, in_code = 0, False
    for line in answer.split("\n"):
        if _FENCE.match(line):
            in_code = not in_code
        elif not in_code and not _NOT_PROSE.match(line):
            yield from _of_line(line, start)
        start += len(line) + 1


def _of_line(line: str, start: int) -> Iterator[_Sentence]:
    spans = sentence_spans(line)
    for at, (begin, end) in enumerate(spans):
        words = line[begin:end]
        following = line[spans[at + 1][0] : spans[at + 1][1]] if at + 1 < len(spans) else ""
        is_marked = bool(marked_numbers(words) or _MARKED_AFTER.match(following))
        plain = " ".join(plain_sentences(words))
        if is_marked or not _states(plain):
            continue
        yield _Sentence(plain, start + begin + len(words.rstrip()))


def _states(sentence: str) -> bool:
    """Whether it says enough to be found in a passage: two terms, or a figure."""
    if sentence.rstrip("* ").endswith(_SAYS_NOTHING) or says_no_answer(sentence):
        return False
    return len(set(analyze(sentence))) >= MIN_TERMS or bool(_DIGIT.search(sentence))
