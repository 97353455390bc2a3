"""Citewell: answers from your own files that point to the exact source."""

from __future__ import annotations

import importlib
import os
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from citewell.errors import (
        BytesQuotaReached,
        CallLimitReached,
        CitewellError,
        ConfigurationError,
        Conflict,
        CorruptFile,
        DamagedFile,
        DataFolderBusy,
        DiskFull,
        DownloadFailed,
        EmptyFile,
        EmptyQuery,
        ExtractionError,
        FilesQuotaReached,
        Forbidden,
        ForeignRequest,
        FrameMissing,
        GaveUp,
        HeadTooLarge,
        IncompleteUpload,
        InvalidCursor,
        InvalidFilter,
        InvalidInput,
        InvalidMetadata,
        InvalidRequest,
        LeaseLost,
        LimitExceeded,
        LocalModelRefused,
        MissingDependency,
        NotFound,
        ParserCrashed,
        ParserOutOfMemory,
        ParserTimeout,
        PasswordRequired,
        ProviderAuthError,
        ProviderError,
        ProviderModelGone,
        ProviderQuotaSpent,
        ProviderRateLimited,
        ProviderRejected,
        ProviderUnavailable,
        QuestionsQuotaReached,
        RangeNotSatisfiable,
        RateLimited,
        RequestTimeout,
        SourceProblem,
        SpendingLimitReached,
        SpendQuotaReached,
        TooLarge,
        TooManyParameters,
        Unauthorized,
        Unavailable,
        Unexpected,
        UnknownModel,
        UnnamedProject,
        UnsupportedType,
        WrongCredentials,
        WrongPassword,
    )
    from citewell.library import AnswerStream, AsyncAnswerStream, AsyncCitewell, Citewell
    from citewell.types import Answer, Citation, Hit, RerankLimits, Resource

__all__ = [
    "Answer",
    "AnswerStream",
    "AsyncAnswerStream",
    "AsyncCitewell",
    "BytesQuotaReached",
    "CallLimitReached",
    "Citation",
    "Citewell",
    "CitewellError",
    "ConfigurationError",
    "Conflict",
    "CorruptFile",
    "DamagedFile",
    "DataFolderBusy",
    "DiskFull",
    "DownloadFailed",
    "EmptyFile",
    "EmptyQuery",
    "ExtractionError",
    "FilesQuotaReached",
    "Forbidden",
    "ForeignRequest",
    "FrameMissing",
    "GaveUp",
    "HeadTooLarge",
    "Hit",
    "IncompleteUpload",
    "InvalidCursor",
    "InvalidFilter",
    "InvalidInput",
    "InvalidMetadata",
    "InvalidRequest",
    "LeaseLost",
    "LimitExceeded",
    "LocalModelRefused",
    "MissingDependency",
    "NotFound",
    "ParserCrashed",
    "ParserOutOfMemory",
    "ParserTimeout",
    "PasswordRequired",
    "ProviderAuthError",
    "ProviderError",
    "ProviderModelGone",
    "ProviderQuotaSpent",
    "ProviderRateLimited",
    "ProviderRejected",
    "ProviderUnavailable",
    "QuestionsQuotaReached",
    "RangeNotSatisfiable",
    "RateLimited",
    "RequestTimeout",
    "RerankLimits",
    "Resource",
    "SourceProblem",
    "SpendQuotaReached",
    "SpendingLimitReached",
    "TooLarge",
    "TooManyParameters",
    "Unauthorized",
    "Unavailable",
    "Unexpected",
    "UnknownModel",
    "UnnamedProject",
    "UnsupportedType",
    "WrongCredentials",
    "WrongPassword",
]

# Since 1.31, ONNX Runtime sends telemetry unless this is set before its import. Nothing leaves this machine unasked.
os.environ["ORT_DISABLE_TELEMETRY"] = "1"

_ELSEWHERE = {
    "AnswerStream": "citewell.library",
    "AsyncAnswerStream": "citewell.library",
    "AsyncCitewell": "citewell.library",
    "Citewell": "citewell.library",
    "Answer": "citewell.types",
    "Citation": "citewell.types",
    "Hit": "citewell.types",
    "RerankLimits": "citewell.types",
    "Resource": "citewell.types",
}


def __getattr__(name: str) -> object:
    """Import names on first use, so that a parser process, which imports this package, stays small."""
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(_ELSEWHERE.get(name, "citewell.errors")), name)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
