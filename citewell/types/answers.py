"""Answers and their checked citations."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import Any

from citewell.types.chunks import OriginalPicture
from citewell.types.conversations import AnsweredBefore, Remembered
from citewell.types.json import JsonObject, JsonValue
from citewell.types.locators import Locator
from citewell.types.metadata import Provenance
from citewell.types.search import InferredFilter


class Verdict(StrEnum):
    """How far the cited chunk supports the sentence that cites it."""

    SUPPORTED = "supported"
    WEAK = "weak"
    UNSUPPORTED = "unsupported"


@dataclass(frozen=True, slots=True, kw_only=True)
class Citation:
    """An immutable pointer from `[n]` in an answer to its exact source.

    quote:   the span of the chunk that supports the sentence
    locator: where it is, narrowed to that span if its rectangles are known
    score:   how strong the support is, 0..1
    picture: the picture that the passage describes, if any
    """

    n: int
    chunk_id: str
    resource_id: str
    version: int
    filename: str
    locator: Locator
    label: str
    quote: str
    verdict: Verdict
    score: float
    provenance: Provenance = Provenance()
    picture: OriginalPicture | None = None

    @property
    def is_of_table(self) -> bool:
        """Whether it points to rows or cells of a table."""
        return self.locator.row is not None or self.locator.column is not None

    def to_json(self) -> dict[str, JsonValue]:
        """The public and stored form."""
        picture = {} if self.picture is None else {"image": self.picture.to_json()}
        return {
            "n": self.n,
            "chunk_id": self.chunk_id,
            "resource_id": self.resource_id,
            "version": self.version,
            "filename": self.filename,
            "locator": self.locator.to_json(),
            "label": self.label,
            "quote": self.quote,
            "verdict": self.verdict.value,
            "score": round(self.score, 4),
            **self.provenance.to_json(),
            **picture,
        }

    def emptied(self) -> Citation:
        """The citation with its place only, for a file that was deleted or is no longer shared."""
        return replace(self, quote="", provenance=Provenance(), picture=None)

    @staticmethod
    def from_json(data: Mapping[str, Any]) -> Citation:
        """The inverse of `to_json`."""
        picture = data.get("image")
        return Citation(
            n=data["n"],
            chunk_id=data["chunk_id"],
            resource_id=data["resource_id"],
            version=data["version"],
            filename=data["filename"],
            locator=Locator.from_json(data["locator"]),
            label=data["label"],
            quote=data["quote"],
            verdict=Verdict(data["verdict"]),
            score=data["score"],
            provenance=Provenance.from_json(data),
            picture=None if picture is None else OriginalPicture(picture["resource_id"], picture["blob"]),
        )


@dataclass(frozen=True, slots=True)
class AnswerPiece:
    """A piece of an answer: its text, and the ids of the chunks it cites."""

    text: str
    chunk_ids: tuple[str, ...] = ()


class NoAnswerReason(StrEnum):
    """Why a question has no answer."""

    NOTHING_IN_SCOPE = "nothing_in_scope"
    NOT_COMPUTED = "not_computed"
    OTHER_LANGUAGE = "other_language"
    NOT_MENTIONED = "not_mentioned"
    NOT_STATED = "not_stated"


@dataclass(frozen=True, slots=True)
class NoAnswer:
    """Why a question has no answer: a code, a sentence, and what would help."""

    reason: NoAnswerReason
    text: str
    hint: str

    def to_json(self) -> dict[str, JsonValue]:
        """As JSON."""
        return {"reason": self.reason.value, "text": self.text, "hint": self.hint}


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """An answer with `[n]` markers, its citations, and how it was made. Pass its `thread_id` to ask a follow-up.

    picture:    a chart of an answer computed over many rows, as a Vega-Lite 5 specification with its data inline
    confidence: 0..1. Without a chat model, the probability that the passages found hold the answer, or, if several readings of a table
                question were weighed, that the chosen one was meant. With a chat model, the share of its sentences whose citations are
                all supported. None if nothing was weighed: small talk, a table question with one reading, a picture, a model's refusal
    no_answer:  why no answer was found, and what would help
    inferred_filters: the filters read from the question
    notice:     what was unavailable for the answer, such as a reranker or index that was down, or a chat model without a key
    remembered: what it quotes from earlier conversations of the person who asks; no file supports it
    answered_before: the earlier answer that it is, if an equal question was answered before
    """

    text: str
    citations: tuple[Citation, ...]
    intent: str
    answered: bool
    trace: JsonObject = field(default_factory=dict[str, JsonValue])
    thread_id: str | None = None
    picture: JsonObject | None = None
    confidence: float | None = None
    no_answer: NoAnswer | None = None
    inferred_filters: tuple[InferredFilter, ...] = ()
    notice: str | None = None
    remembered: tuple[Remembered, ...] = ()
    answered_before: AnsweredBefore | None = None


@dataclass(frozen=True, slots=True)
class StatementRead:
    """A statement, and the one before it in its passage (or ""), to which its "it" or "there" may refer."""

    text: str
    before: str = ""


@dataclass(frozen=True, slots=True)
class AnswerSpan:
    """The most probable answer in a statement, `text[start:end]`. sure: the log-odds that the statement contains an answer."""

    sure: float
    start: int
    end: int
