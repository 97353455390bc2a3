"""HTTP schemas for model servers on this machine."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from citewell.features.schemas import RequestBody, Schema


class LocalModelIn(RequestBody):
    """The model to use: a server's name and one of its models, as `GET /local-model` lists them."""

    server: str = Field(min_length=1, max_length=200)
    model: str = Field(min_length=1, max_length=200)


class LocalModelOut(Schema):
    """A model of a server on this machine."""

    server: str
    model: str


class ConnectedModelOut(Schema):
    """The chat model that writes answers, and how it is asked.

    profile: `full` (it has tools, and decides what to look up) or `small` (Citewell looks up, the model words the answer);
    told: what its examination says of it; empty for a vendor's model, or before it was examined
    """

    model: str
    profile: Literal["full", "small"]
    told: str = ""


class LocalServerOut(Schema):
    """A model server running on this machine, and its models."""

    server: str
    models: list[str]


class LocalModels(Schema):
    """The chosen model, and the available ones.

    state: `off` if no local model can be chosen (`reason` says why), `none` if none is chosen, `used` while the chosen one writes the
    answers, `silent` if the chosen one did not respond when Citewell started: answers are extracted until it is chosen again.
    connected: the model that writes answers now, also where the settings name it.
    """

    state: Literal["off", "none", "used", "silent"]
    reason: str = ""
    chosen: LocalModelOut | None = None
    connected: ConnectedModelOut | None = None
    servers: list[LocalServerOut]
