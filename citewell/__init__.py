"""Citewell: answers from your own files that show exactly where they stand."""

from __future__ import annotations

import importlib
import os
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from citewell.library import Citewell

__all__ = ["Citewell"]

# ONNX Runtime reports its use to its maker since 1.31, and decides so when it is imported. Nothing leaves this machine unasked.
os.environ["ORT_DISABLE_TELEMETRY"] = "1"


def __getattr__(name: str) -> object:
    """`Citewell` is imported when first asked for, so that a parser process, which imports this package, stays small."""
    if name == "Citewell":
        return importlib.import_module("citewell.library").Citewell
    raise AttributeError(name)
