"""What is known of the chat model that answers: set by hand, found by its examination, and learned from what it refuses."""

from __future__ import annotations

from dataclasses import dataclass

from citewell.ports import Capability, ChatModel
from citewell.types.chat_models import MIN_FULL_WINDOW, ChatProfile, ModelExamination

MAX_SLOWER = 4.0
"""How many times the usual time of an answer your own model is waited for."""
MIN_SECONDS = 120.0
_MIN_WINDOW = 512


@dataclass(slots=True)
class KnownModel:
    """One chat model. All turns share it, and what one of them learns.

    chosen:      the profile set by hand; None leaves it to the examination
    is_own:      whether it runs at your own address: it is patient, and its answers are bounded
    examination: None until it was examined, or where nobody examines it
    window:      the tokens of context that it turned out to have; None while nothing speaks for a limit
    """

    chosen: ChatProfile | None = None
    is_own: bool = False
    examination: ModelExamination | None = None
    window: int | None = None

    def profile(self, model: ChatModel) -> ChatProfile:
        """How to ask it now: as chosen by hand, unless there is no room for that; a vendor's in full, your own as examined."""
        if self.context is not None and self.context < MIN_FULL_WINDOW:
            return ChatProfile.SMALL
        if self.chosen is not None:
            return self.chosen
        if not self.is_own:
            return ChatProfile.FULL
        has_tools = Capability.TOOLS in model.capabilities
        return self.examination.profile if has_tools and self.examination is not None else ChatProfile.SMALL

    @property
    def context(self) -> int | None:
        """Tokens that fit into a request with its answer; None where that is not known."""
        known = [one for one in (self.window, self.examination and self.examination.window) if one]
        return min(known, default=None)

    def told(self, model: ChatModel) -> str:
        """What a user should know of the model; empty before it was examined."""
        return "" if self.examination is None else self.examination.told(self.profile(model))

    def learn_examination(self, found: ModelExamination) -> None:
        """Note what an examination of the model found."""
        self.examination = found

    def learn_window(self, tokens: int) -> None:
        """Note that no more than so many tokens fit."""
        self.window = max(_MIN_WINDOW, min(tokens, self.context or tokens))

    def seconds(self, profile: ChatProfile, limit: float) -> float:
        """How long to wait for an answer, within `limit`."""
        if self.examination is None or not self.examination.reads:
            return limit
        return min(limit, max(MIN_SECONDS, MAX_SLOWER * self.examination.seconds_for(profile)))
