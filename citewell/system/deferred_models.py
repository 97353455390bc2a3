"""Deferred building of Pydantic models, for a faster import."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager


@contextmanager
def defer_model_build() -> Generator[None]:
    """Defers building the validators of models defined in this block until first use.

    Used to import FastAPI, whose own models are needed only for the OpenAPI document and take a thirtieth of the
    startup.
    """
    from pydantic import BaseModel

    # All models inherit this configuration; there is no other way to reach a library's models.
    BaseModel.model_config["defer_build"] = True
    try:
        yield
    finally:
        del BaseModel.model_config["defer_build"]
