"""Pydantic models that are made ready when they are first used."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager


@contextmanager
def defer_model_build() -> Generator[None]:
    """Models that are defined in the block get their validators with their first use.

    For importing FastAPI: its own models describe an API to those who ask for the description, and take a thirtieth of the start.
    """
    from pydantic import BaseModel

    # All models inherit this configuration, and nothing else reaches those of a library.
    BaseModel.model_config["defer_build"] = True
    try:
        yield
    finally:
        del BaseModel.model_config["defer_build"]
