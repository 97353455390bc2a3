"""What is known of a chat model: how it is asked, and what an examination of it showed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from citewell.types.json import JsonObject

MIN_FULL_WINDOW = 4_096
"""Tokens of context from which rules, tools, ten short passages and an answer fit."""
MAX_FULL_SECONDS = 60.0
"""Seconds for an answer with tools, above which the small profile is quicker by more than it loses."""
SMALL_PROMPT_TOKENS, FULL_PROMPT_TOKENS, USUAL_ANSWER_TOKENS = 1_000, 2_400, 60
"""What an answer takes in each profile, measured on the sample files: everything that is sent for it, and what comes back."""


class ChatProfile(StrEnum):
    """How a chat model is asked.

    FULL:  it has tools, and decides what to look up
    SMALL: Citewell looks up; the model words the answer from five passages in one call, and Citewell puts the citations
    """

    FULL = "full"
    SMALL = "small"


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelExamination:
    """What your own chat model was found to do.

    calls_tools: whether it calls a tool when told to, in the form that the API has for calls
    cites:       whether it puts `[n]` after what it takes from a source
    reads, writes: tokens a second; 0 where it could not be measured
    window:      tokens of context, where the server says so; None where it does not
    """

    calls_tools: bool
    cites: bool
    reads: float = 0.0
    writes: float = 0.0
    window: int | None = None

    @property
    def profile(self) -> ChatProfile:
        """The profile that suits the model on its machine."""
        can = self.calls_tools and self.cites and (self.window is None or self.window >= MIN_FULL_WINDOW)
        quick = self.seconds_for(ChatProfile.FULL) <= MAX_FULL_SECONDS
        return ChatProfile.FULL if can and quick else ChatProfile.SMALL

    def seconds_for(self, profile: ChatProfile) -> float:
        """About how long an answer takes."""
        prompt = FULL_PROMPT_TOKENS if profile is ChatProfile.FULL else SMALL_PROMPT_TOKENS
        reading = prompt / self.reads if self.reads else 0.0
        return reading + (USUAL_ANSWER_TOKENS / self.writes if self.writes else 0.0)

    def told(self, profile: ChatProfile) -> str:
        """What a user should know of the model, in a sentence or two."""
        seconds = max(1, round(self.seconds_for(profile)))
        faults = [
            *([] if self.calls_tools else ["calls no tools"]),
            *([] if self.cites else ["puts no citations"]),
            *([f"has a context of {self.window:,} tokens"] if self.window and self.window < MIN_FULL_WINDOW else []),
        ]
        why = f" It {' and '.join(faults)}: Citewell looks up, and puts the citations." if faults else ""
        return f"About {seconds} {'second' if seconds == 1 else 'seconds'} an answer on this machine.{why}"

    def to_json(self) -> JsonObject:
        """The stored form."""
        return {
            "calls_tools": self.calls_tools,
            "cites": self.cites,
            "reads": round(self.reads, 2),
            "writes": round(self.writes, 2),
            "window": self.window,
        }

    @staticmethod
    def from_json(data: Mapping[str, Any]) -> ModelExamination:
        """The inverse of `to_json`; raises `KeyError`, `TypeError` or `ValueError` for anything else."""
        window = data["window"]
        return ModelExamination(
            calls_tools=bool(data["calls_tools"]),
            cites=bool(data["cites"]),
            reads=float(data["reads"]),
            writes=float(data["writes"]),
            window=None if window is None else int(window),
        )
