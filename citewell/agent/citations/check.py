"""Checks an answer's `[n]`: each must name a passage of this turn that supports the words before it."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace

from citewell.agent.citations.claims import Claim, claims, count_sentences, keep_known
from citewell.agent.citations.markdown import neutralise
from citewell.agent.citations.matching import Match
from citewell.agent.citations.places import narrow_locator, with_rows_of
from citewell.agent.citations.safe_text import safe_text
from citewell.agent.citations.support import (
    THRESHOLDS,
    CitedText,
    Support,
    evidence_text,
    find_objections,
    judge_paraphrase,
    locate_claim,
    read_passages,
    with_differences,
    with_objections,
)
from citewell.agent.citations.wording import Differences, compare_wording, is_quoted
from citewell.agent.citations.writer import AnswerWriter
from citewell.agent.interface import ElementLookup, Source
from citewell.agent.offload import offload
from citewell.ports import Embedder, FloatMatrix
from citewell.system.source_lines import only_page, page_lines
from citewell.text.analysis import analyze
from citewell.types import Chunk, ChunkType, Citation, Element, Hit, Locator, Scores, Verdict

MIN_TERMS = 2
_SEEN = "the model was shown the picture, with which words cannot be compared"
_ELSEWHERE = "another source of this turn states it, this one does not"


@dataclass(frozen=True, slots=True)
class CheckedAnswer:
    """An answer safe to show, its citations, the numbers that named nothing, and what speaks against which citation.

    held: share of the answer's sentences that cite something, and whose every citation is supported; 0..1
    """

    text: str
    citations: tuple[Citation, ...]
    removed: tuple[int, ...]
    reasons: Mapping[int, tuple[str, ...]]
    held: float = 0.0


class CitationChecker:
    """Checks answers against the passages they cite."""

    def __init__(self, embedder: Embedder, elements: ElementLookup | None = None) -> None:
        self._embedder = embedder
        self._elements = elements

    async def check(
        self,
        owner_id: str,
        answer: str,
        sources: Sequence[Source],
        *,
        settled: bool = False,
        seen: Collection[int] = (),
        computed: bool = False,
    ) -> CheckedAnswer:
        """One citation per number used, with the weakest verdict of the claims that cite it.

        Numbers outside `sources` are removed from the text, and what it copies of a source's own is set apart, unless that has
        been done (`settled`). A claim with several numbers is judged against the passages together. Of a passage whose picture the
        model has `seen`, what the words do not support is weakly supported: words cannot tell whether the picture shows it.
        What a query `computed` over the rows that are cited is supported by them, in whatever words it is told.
        """
        removed: Sequence[int] = ()
        if not settled:
            characters = len(answer) + sum(len(source.hit.chunk.text) for source in sources)
            answer, removed = await offload(characters, _settled, answer, sources)
        known = frozenset(source.n for source in sources)
        text, unknown = await offload(len(answer), _said, answer, known)
        removed = tuple(dict.fromkeys((*removed, *unknown)))
        found = await offload(len(text), claims, text)
        by_number = {source.n: source.hit for source in sources}
        judges = _computed(found, by_number) if computed else await self._judge(found, by_number)
        each = [_with_seen(one, seen) for one in judges]
        judged = _weakest(each)
        citations: list[Citation] = []
        reasons: dict[int, tuple[str, ...]] = {}
        for n, support in judged.items():
            stated = " ".join(dict.fromkeys(claim.text for claim in found if n in claim.numbers))
            rest = dict.fromkeys((one[n].start, one[n].end) for one in each if n in one and one[n] is not support)
            citations.append(await self._cite(owner_id, n, by_number[n], support, stated, rest))
            if support.reasons:
                reasons[n] = support.reasons
        held = await offload(len(text), _share_held, text, found, each)
        return CheckedAnswer(text, tuple(citations), removed, reasons, held)

    async def supports(self, sentences: Sequence[str], texts: Sequence[str]) -> bool:
        """Whether each of these sentences is supported by one of the texts, such as earlier messages, as a citation of it would be.

        A sentence of fewer than `MIN_TERMS` terms ("Yes.") says too little to be told from what it refers to: none supports it.
        """
        if not texts or any(len(set(analyze(sentence))) < MIN_TERMS for sentence in sentences):
            return False
        hits = {n: _text_hit(n, text) for n, text in enumerate(texts, start=1)}
        judged = await self._judge([Claim(one, one, tuple(hits)) for one in sentences], hits)
        return all(any(support.verdict is Verdict.SUPPORTED for support in each.values()) for each in judged)

    def has_figures_of(self, sentences: Sequence[str], texts: Sequence[str]) -> bool:
        """Whether the texts together hold every figure and quotation of these sentences."""
        return not any(find_objections(sentence, texts) for sentence in sentences)

    async def _judge(self, found: Sequence[Claim], hits: Mapping[int, Hit]) -> list[dict[int, Support]]:
        """Per claim the support of each number that it cites. What a source states word by word costs no embedding.

        What an answer repeats is judged once.
        """
        once = list(dict.fromkeys(found))
        characters = _characters(once, hits)
        matches = await offload(characters, _stated, once, hits)
        open_claims = [i for i, each in enumerate(matches) if any(m.ratio < THRESHOLDS.verbatim for m in each.values())]
        close = await self._compare([once[i] for i in open_claims], hits) if open_claims else []
        by_claim = dict(zip(open_claims, close, strict=True))
        judged = await offload(characters, _judged, once, hits, matches, by_claim)
        judged = await self._with_wording(once, hits, matches, judged)
        by_words = dict(zip(once, judged, strict=True))
        return [by_words[claim] for claim in found]

    async def _compare(self, claims: Sequence[Claim], hits: Mapping[int, Hit]) -> list[dict[int, Support]]:
        """Per claim the support of each number that it cites, in the light of what the other sources say."""
        numbers = list(hits)
        passages = dict(zip(numbers, await read_passages(self._embedder, [hits[n] for n in numbers]), strict=True))
        vectors = await self._embedder.embed([claim.text for claim in claims], "query")
        return await offload(_characters(claims, hits), _supports, claims, vectors, passages, hits)

    async def _with_wording(
        self,
        claims: Sequence[Claim],
        hits: Mapping[int, Hit],
        matches: Sequence[Mapping[int, Match]],
        judged: Sequence[Mapping[int, Support]],
    ) -> list[dict[int, Support]]:
        """The support of claims in the light of the words that they change, add or leave out; quotations are taken as they are."""
        found = await offload(_characters(claims, hits), _differences, claims, hits, matches)
        asked = [one.replacements if _may_hold(each, one) else () for each, one in zip(judged, found, strict=True)]
        texts = [claim.text for claim, some in zip(claims, asked, strict=True) if some]
        texts += [one.restored for some in asked for one in some]
        vectors = iter(await self._embedder.embed(texts, "query") if texts else ())
        own = {claim.text: next(vectors) for claim, some in zip(claims, asked, strict=True) if some}
        out: list[dict[int, Support]] = []
        for claim, each, differences, some in zip(claims, judged, found, asked, strict=True):
            doubts = [
                f"the source has “{one.instead_of}” instead of “{one.said}”"
                for one in some
                if float(own[claim.text] @ next(vectors)) < THRESHOLDS.least_similar(one.are_nouns)
            ]
            out.append({n: with_differences(support, differences, doubts) for n, support in each.items()})
        return out

    async def _cite(
        self, owner_id: str, n: int, hit: Hit, support: Support, stated: str, rest: Collection[tuple[int, int]]
    ) -> Citation:
        """The citation of the passage that supports what is `stated`; its other sentences rest on these spans of it."""
        elements: Mapping[str, Element] = {}
        chunk = hit.chunk
        if self._elements is not None and chunk.pieces:
            ids = [piece.element_id for piece in chunk.pieces]
            elements = await self._elements.elements(owner_id, chunk.resource_id, chunk.version, ids)
        characters = len(stated) * max(1, len(elements)) + len(chunk.text) * len(rest)
        locator = await offload(characters, _place, chunk, support, elements, stated, rest)
        return Citation(
            n=n,
            chunk_id=chunk.id,
            resource_id=chunk.resource_id,
            version=chunk.version,
            filename=hit.filename,
            locator=locator,
            label=locator.label(hit.filename),
            quote=chunk.text[support.start : support.end],
            verdict=support.verdict,
            score=support.score,
            provenance=hit.provenance,
            picture=hit.picture,
        )


def _said(answer: str, known: frozenset[int]) -> tuple[str, tuple[int, ...]]:
    return keep_known(neutralise(answer), known)


def _place(
    chunk: Chunk, support: Support, elements: Mapping[str, Element], stated: str, rest: Collection[tuple[int, int]]
) -> Locator:
    locator = narrow_locator(chunk, support.start, support.end, elements, stated)
    if not elements or locator.row is None:
        return locator
    return with_rows_of(locator, [narrow_locator(chunk, start, end, elements) for start, end in rest])


def _computed(found: Sequence[Claim], hits: Mapping[int, Hit]) -> list[dict[int, Support]]:
    return [{n: Support(Verdict.SUPPORTED, 1.0, 0, len(hits[n].chunk.text)) for n in claim.numbers} for claim in found]


def _with_seen(judged: Mapping[int, Support], seen: Collection[int]) -> dict[int, Support]:
    return {
        n: replace(support, verdict=Verdict.WEAK, reasons=(*support.reasons, _SEEN))
        if n in seen and support.verdict is Verdict.UNSUPPORTED
        else support
        for n, support in judged.items()
    }


def _text_hit(n: int, text: str) -> Hit:
    """A text that is no file's, to hold claims against."""
    chunk = Chunk(
        id=str(n), owner_id="", resource_id="", version=0, ordinal=n, type=ChunkType.TEXT, text=text, locator=Locator()
    )
    return Hit(chunk=chunk, filename="", score=0.0, scores=Scores())


def with_references(text: str, citations: Sequence[Citation]) -> str:
    """The answer followed by `References`: `[1] Loan Policy.pdf (p. 3)`, and pages of one file on one line."""
    places = [(c.n, (c.resource_id, c.version), c.filename, only_page(c.locator.to_json()), c.label) for c in citations]
    lines = [f"{''.join(f'[{n}]' for n in numbers)} {safe_text(label)}" for numbers, label in page_lines(places)]
    return "\n".join([text, "", "References", *lines])


def _settled(answer: str, sources: Sequence[Source]) -> tuple[str, Sequence[int]]:
    """The answer as a `Speaker` would have said it, and the numbers in it that name nothing."""
    writer = AnswerWriter(lambda _: None, lambda: sources)
    writer.write(answer)
    return writer.finish(), writer.removed


def _characters(claims: Sequence[Claim], hits: Mapping[int, Hit]) -> int:
    """Characters that are read in comparing all claims with the passages."""
    return len(claims) * sum(len(hit.chunk.text) for hit in hits.values())


def _stated(claims: Sequence[Claim], hits: Mapping[int, Hit]) -> list[dict[int, Match]]:
    return [{n: locate_claim(claim.text, hits[n]) for n in claim.numbers} for claim in claims]


def _supports(
    claims: Sequence[Claim], vectors: FloatMatrix, passages: Mapping[int, CitedText], hits: Mapping[int, Hit]
) -> list[dict[int, Support]]:
    out: list[dict[int, Support]] = []
    for claim, vector in zip(claims, vectors, strict=True):
        each = {n: _support(claim.text, vector, passages[n], hits[n]) for n in hits}
        best_other = max((s.score for n, s in each.items() if n not in claim.numbers), default=0.0)
        best_cited = max(each[n].score for n in claim.numbers)
        elsewhere = best_other - best_cited > THRESHOLDS.swap_margin
        out.append({n: with_objections(each[n], (_ELSEWHERE,)) if elsewhere else each[n] for n in claim.numbers})
    return out


def _judged(
    claims: Sequence[Claim],
    hits: Mapping[int, Hit],
    matches: Sequence[Mapping[int, Match]],
    by_claim: Mapping[int, Mapping[int, Support]],
) -> list[dict[int, Support]]:
    """Per claim the support of each of its numbers, in the light of what speaks against it."""
    judged: list[dict[int, Support]] = []
    for index, claim in enumerate(claims):
        reasons = find_objections(claim.text, [evidence_text(hits[n]) for n in claim.numbers])
        each: dict[int, Support] = {}
        for n, match in matches[index].items():
            support = _verbatim(match) if match.ratio >= THRESHOLDS.verbatim else by_claim[index][n]
            each[n] = with_objections(support, reasons) if reasons else support
        judged.append(each)
    return judged


def _differences(
    claims: Sequence[Claim], hits: Mapping[int, Hit], matches: Sequence[Mapping[int, Match]]
) -> list[Differences]:
    """How each claim differs from the passages that it cites."""
    out: list[Differences] = []
    for claim, each in zip(claims, matches, strict=True):
        texts = [match.shown or hits[n].chunk.text for n, match in each.items()]
        quoted = any(
            match.ratio >= THRESHOLDS.verbatim and is_quoted(claim.text, text)
            for match, text in zip(each.values(), texts, strict=True)
        )
        evidence = "\n".join(evidence_text(hits[n]) for n in each)
        out.append(Differences() if quoted else compare_wording(claim.text, texts, evidence))
    return out


def _may_hold(each: Mapping[int, Support], differences: Differences) -> bool:
    """Whether nothing yet speaks against a claim."""
    supported = any(support.verdict is Verdict.SUPPORTED for support in each.values())
    return supported and not (differences.contradictions or differences.doubts)


def _weakest(judged: Sequence[Mapping[int, Support]]) -> dict[int, Support]:
    """Per number the weakest support of its claims."""
    weakest: dict[int, Support] = {}
    for each in judged:
        for n, support in each.items():
            if n not in weakest or support.score < weakest[n].score:
                weakest[n] = support
    return weakest


def _share_held(answer: str, claims: Sequence[Claim], judged: Sequence[Mapping[int, Support]]) -> float:
    cited = {claim.sentence for claim in claims}
    failed = {
        claim.sentence
        for claim, each in zip(claims, judged, strict=True)
        if any(support.verdict is not Verdict.SUPPORTED for support in each.values())
    }
    return min(1.0, len(cited - failed) / max(1, count_sentences(answer)))


def _support(claim: str, vector: FloatMatrix, passage: CitedText, hit: Hit) -> Support:
    match = locate_claim(claim, hit)
    return _verbatim(match) if match.ratio >= THRESHOLDS.verbatim else judge_paraphrase(claim, vector, passage, match)


def _verbatim(match: Match) -> Support:
    return Support(Verdict.SUPPORTED, match.ratio, match.start, match.end)
