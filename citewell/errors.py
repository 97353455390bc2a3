"""One exception tree. Each class has a stable `code`; its docstring is its default message. HTTP is not known here."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from citewell.types.json import JsonValue

_MAX_NAME_LENGTH = 80


def in_dollars(amount: float) -> str:
    """An amount in US dollars with two decimals, or as many as its first two digits need: `12.00`, `0.034`, `0.00001`."""
    decimals = 2 if amount == 0 else max(2, 1 - math.floor(math.log10(abs(amount))))
    whole, _, rest = f"{amount:,.{decimals}f}".partition(".")
    return f"{whole}.{rest.rstrip('0'):0<2}"


def named(value: object) -> str:
    """A value from a request, as an error message may repeat it: quoted, and no longer than a name."""
    return repr(cut(value)) if isinstance(value, str) else repr(value)[:_MAX_NAME_LENGTH]


def cut(name: str) -> str:
    """A name from a request, shortened to the longest that names can be."""
    return name if len(name) <= _MAX_NAME_LENGTH else name[: _MAX_NAME_LENGTH - 1] + "…"


class CitewellError(Exception):
    """Something went wrong in Citewell."""

    code = "internal"

    def __init__(self, message: str | None = None, **details: JsonValue) -> None:
        self.message = message or (type(self).__doc__ or "").strip()
        self.details: dict[str, JsonValue] = details
        super().__init__(self.message)


class InvalidInput(CitewellError):
    """The request is not valid."""

    code = "invalid_input"


class InvalidRequest(InvalidInput):
    """The request does not match what this address accepts. `fields` in the details names each problem and where it is."""

    code = "invalid_request"


class UnnamedProject(InvalidRequest):
    """The project name is empty. Give a project's id or name, or leave it out."""

    code = "unnamed_project"

    @classmethod
    def check(cls, project: str | None) -> None:
        """Raise if a project's id or name is given but empty."""
        if project is not None and not project.strip():
            raise cls


class TooManyParameters(InvalidInput):
    """The address has too many query parameters. Send fewer of them."""

    code = "too_many_parameters"


class EmptyFile(InvalidInput):
    """The file is empty. Choose a file that has content."""

    code = "empty_file"


class EmptyQuery(InvalidInput):
    """The query is empty. Write what you are looking for."""

    code = "empty_query"


class InvalidFilter(InvalidInput):
    """The filter names a field, an operator or a value that is not allowed."""

    code = "invalid_filter"


class InvalidMetadata(InvalidInput):
    """The metadata cannot be stored. `key` in the details names the key at fault."""

    code = "invalid_metadata"


class RangeNotSatisfiable(InvalidInput):
    """The file has no bytes in this range. `size` in the details is the file's size."""

    code = "range_not_satisfiable"


class InvalidCursor(InvalidInput):
    """This server did not issue this cursor. Start again without a cursor."""

    code = "invalid_cursor"


class IncompleteUpload(InvalidInput):
    """The upload was interrupted, and nothing was kept. Send the file again."""

    code = "incomplete_upload"


class Unauthorized(CitewellError):
    """The token is missing or not valid. Print one with `citewell token`, and send it as `Authorization: Bearer …`."""

    code = "unauthorized"


class WrongCredentials(Unauthorized):
    """Incorrect e-mail address or password."""

    code = "wrong_credentials"


class Forbidden(CitewellError):
    """You may not do this here. Ask an administrator, or the owner of the project."""

    code = "forbidden"


class ForeignRequest(CitewellError):
    """The request does not prove that Citewell's own page sent it. Reload the page, or send a token as `Authorization: Bearer …`."""

    code = "foreign_request"


class NotFound(CitewellError):
    """It does not exist, or you have no access to it."""

    code = "not_found"


class UnknownModel(NotFound):
    """This server has no such model. `GET /v1/models` lists the names it accepts."""

    code = "model_not_found"


class Conflict(CitewellError):
    """The request conflicts with the current state."""

    code = "conflict"


class VersionTaken(Conflict):
    """Another version of this file was uploaded at the same time. Send the file again."""


class LocalModelRefused(Conflict):
    """You cannot choose a local model here: the settings decide which model answers."""

    code = "local_model_refused"


class TooLarge(CitewellError):
    """The file is larger than this server accepts. Split it, or raise `CITEWELL_MAX_UPLOAD_BYTES`."""

    code = "too_large"


class FilesQuotaReached(TooLarge):
    """The file quota is used up. Delete files, or ask an administrator for a higher quota."""

    code = "quota_files"


class BytesQuotaReached(TooLarge):
    """The storage quota has no room for this file. Delete files, or ask an administrator for a higher quota."""

    code = "quota_bytes"


class HeadTooLarge(CitewellError):
    """The request has too many header fields, or one of them is too long. Send fewer, and fewer cookies."""

    code = "head_too_large"


class RequestTimeout(CitewellError):
    """The request's body arrived too slowly, or not at all, and nothing was kept. Send it again."""

    code = "request_timeout"


class UnsupportedType(CitewellError):
    """Citewell cannot read this type of file. Send it without `strict` to store it unread."""

    code = "unsupported_type"


class RateLimited(CitewellError):
    """Too many requests. Wait for the time given in `retry_after`, then try again."""

    code = "rate_limited"

    def __init__(self, message: str | None = None, retry_after: float = 1.0, **details: JsonValue) -> None:
        super().__init__(message, retry_after=retry_after, **details)
        self.retry_after = retry_after


class QuestionsQuotaReached(RateLimited):
    """This month's questions are used up. Wait for the next month (UTC), or ask an administrator for a higher quota."""

    code = "quota_questions"


class Unavailable(CitewellError):
    """A service that this request needs is temporarily unavailable. Try again shortly."""

    code = "unavailable"


class DatabaseAway(Unavailable):
    """The database cannot be reached at present. Try again shortly."""


class UnreadableCopy(Unavailable):
    """The exact copy of this table cannot be read. Upload the file again."""


class DiskFull(CitewellError):
    """The server's disk is full. Free some space: accepted files are kept, and processing then resumes."""

    code = "disk_full"


class ConfigurationError(CitewellError):
    """The configuration is not valid. Run `citewell doctor`."""

    code = "configuration"


class MissingDependency(ConfigurationError):
    """An optional package is missing. Install the extra that the message names."""

    code = "missing_dependency"


class ProviderError(CitewellError):
    """A provider answered with an error."""

    code = "provider_error"


class ProviderAuthError(ProviderError):
    """The provider refused the key. Check the key in the configuration."""

    code = "provider_auth"


class ProviderQuotaSpent(ProviderError):
    """The provider's account has no credit left. Add credit there, or choose another provider; waiting work then continues."""

    code = "provider_quota"


class SpendingLimitReached(ProviderError):
    """This month's spending limit is reached. Raise `CITEWELL_MAX_SPEND`; waiting work then continues."""

    code = "spending_limit"


class SpendQuotaReached(SpendingLimitReached):
    """This owner's spending quota for the month is used up. Wait for the next month (UTC), or ask an administrator for a higher quota."""

    code = "quota_spend"


class CallLimitReached(ProviderError):
    """The configured calls or tokens per minute are used up. Try again in a minute, or raise the limit."""

    code = "call_limit"


class ProviderRateLimited(ProviderError):
    """The provider's rate limit is reached. Try again later."""

    code = "provider_rate_limited"

    def __init__(self, message: str | None = None, retry_after: float | None = None, **details: JsonValue) -> None:
        super().__init__(message, retry_after=retry_after, **details)
        self.retry_after = retry_after


class ProviderUnavailable(ProviderError):
    """The provider cannot be reached, or did not answer in time. Try again shortly."""

    code = "provider_unavailable"


class ProviderRejected(ProviderError):
    """The provider rejected the request. Trying again will not help."""

    code = "provider_rejected"


class ProviderModelGone(ProviderRejected):
    """The provider has no such model, or not for this key. Configure a model that it offers."""

    code = "provider_model"


class TextsRejected(ProviderRejected):
    """The provider rejected some of the texts and accepted the others. `indices` are the positions of the rejected texts in the request."""

    def __init__(self, message: str | None = None, indices: Sequence[int] = (), **details: JsonValue) -> None:
        super().__init__(message, **details)
        self.indices = tuple(indices)


class ExtractionError(CitewellError):
    """The file could not be read."""

    code = "extraction_failed"
    retryable = False


class CorruptFile(ExtractionError):
    """The file is damaged, or not of the type it claims. Open it in the program that made it, save it, and upload it again."""

    code = "corrupt_file"


class PasswordRequired(ExtractionError):
    """The file is encrypted. Upload it again with its password in the `password` field."""

    code = "password_required"


class WrongPassword(ExtractionError):
    """The password does not open the file. Upload it again with the right one."""

    code = "wrong_password"


class DamagedFile(ExtractionError):
    """The server's copy of this file is damaged or missing. Upload the file again."""

    code = "damaged_file"


class LimitExceeded(ExtractionError):
    """The file exceeds a limit that protects the server."""

    code = "limit_exceeded"


class ParserTimeout(ExtractionError):
    """Reading the file made no progress for too long."""

    code = "parser_timeout"


class ParserCrashed(ExtractionError):
    """The parser process died while reading the file."""

    code = "parser_crashed"
    retryable = True


class ParserOutOfMemory(ExtractionError):
    """Reading the file needs more memory than a parser may use. Split it, or raise `CITEWELL_PARSER_MEMORY_BYTES`."""

    code = "parser_out_of_memory"


class SourceProblem(CitewellError):
    """An entry of a synced source could not be imported. The sync continues, and the next run tries the entry again."""

    code = "source_problem"


class FrameMissing(SourceProblem):
    """The record's frame is missing. Put it into the folder, or correct the record."""

    code = "frame_missing"


class DownloadFailed(SourceProblem):
    """The file could not be downloaded completely. The next run tries again."""

    code = "download_failed"


class LeaseLost(CitewellError):
    """Another worker has taken over this job. This one must stop without writing."""

    code = "lease_lost"


class GaveUp(CitewellError):
    """The server stopped too often while processing this file. Reindex it, or upload it again."""

    code = "gave_up"


class Unexpected(CitewellError):
    """An unexpected error occurred. The server's log has the details."""

    code = "unexpected"


class DataFolderBusy(CitewellError):
    """Another process holds this data folder. Stop it, or use its HTTP API."""

    code = "data_folder_busy"


Kind = TypeVar("Kind", bound=CitewellError)


def from_code(
    code: str, message: str, details: Mapping[str, JsonValue] | None = None, *, among: type[Kind] = CitewellError
) -> Kind:
    """Rebuild an error that was raised elsewhere (in a turn, a parser or a server) from its code, message and details.

    A code without a class, such as one from a newer server, is kept on an error of the class `among`.
    """
    kind = _classes(among).get(code)
    error = (kind or among)(message)
    if kind is None:
        error.code = code
    error.details.update(details or {})
    wait = error.details.get("retry_after")
    if isinstance(error, RateLimited | ProviderRateLimited) and isinstance(wait, int | float):
        error.retry_after = float(wait)
    return error


def _classes(kind: type[Kind]) -> dict[str, type[Kind]]:
    """`kind` and its subclasses that define their own code, by code."""
    found = {code: below for sub in kind.__subclasses__() for code, below in _classes(sub).items()}
    return found | ({kind.code: kind} if "code" in vars(kind) else {})
