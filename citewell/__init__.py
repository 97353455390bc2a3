"""Citewell: answers from your own files that show exactly where they stand."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from citewell.library import Citewell

__all__ = ["Citewell"]


def __getattr__(name: str) -> object:
    """`Citewell` is imported when first asked for, so that a parser process, which imports this package, stays small."""
    if name == "Citewell":
        return importlib.import_module("citewell.library").Citewell
    raise AttributeError(name)
