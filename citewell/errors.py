"""One exception tree. Each class has a stable `code`; its docstring is its default message. HTTP is not known here."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from citewell.types.json import JsonValue

_MAX_NAME_LENGTH = 80


def named(value: object) -> str:
    """What somebody sent, as a message may repeat it: quoted, and no longer than a name."""
    return repr(cut(value)) if isinstance(value, str) else repr(value)[:_MAX_NAME_LENGTH]


def cut(name: str) -> str:
    """A name that somebody sent, no longer than names are."""
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
    """The request is not one that this address takes; `fields` in the details says what is wrong with which part of it."""

    code = "invalid_request"


class UnnamedProject(InvalidRequest):
    """The name of the project is empty. Give the id or name of a project, or leave it out."""

    code = "unnamed_project"

    @classmethod
    def check(cls, project: str | None) -> None:
        """Raise it for an id or name of a project that is given and empty."""
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
    """The metadata cannot be kept; `key` in the details names the key that is at fault."""

    code = "invalid_metadata"


class RangeNotSatisfiable(InvalidInput):
    """The file has no bytes in this range; `size` in the details says how many it has."""

    code = "range_not_satisfiable"


class InvalidCursor(InvalidInput):
    """The cursor is not one that this server gave out. Start again without a cursor."""

    code = "invalid_cursor"


class IncompleteUpload(InvalidInput):
    """The upload was interrupted. Nothing was kept; send the file again."""

    code = "incomplete_upload"


class Unauthorized(CitewellError):
    """The token is missing or not valid. Print one with `citewell token`, and send it as `Authorization: Bearer …`."""

    code = "unauthorized"


class WrongCredentials(Unauthorized):
    """The e-mail address or the password is wrong."""

    code = "wrong_credentials"


class Forbidden(CitewellError):
    """You may not do this here. Ask an administrator, or the owner of the project."""

    code = "forbidden"


class ForeignRequest(CitewellError):
    """The request does not prove that Citewell's own page sent it. Reload the page, or send a token as `Authorization: Bearer …`."""

    code = "foreign_request"


class NotFound(CitewellError):
    """It does not exist, or it is not yours."""

    code = "not_found"


class UnknownModel(NotFound):
    """There is no such model here. `GET /v1/models` lists the names to ask under."""

    code = "model_not_found"


class Conflict(CitewellError):
    """The request conflicts with the current state."""

    code = "conflict"


class VersionTaken(Conflict):
    """Another version of this file was made at the same time. Send the file again."""


class LocalModelRefused(Conflict):
    """No model of this machine can be chosen here: the settings decide which model answers."""

    code = "local_model_refused"


class TooLarge(CitewellError):
    """The file is larger than this server accepts. Split it, or raise `CITEWELL_MAX_UPLOAD_BYTES`."""

    code = "too_large"


class FilesQuotaReached(TooLarge):
    """The quota of files is used up. Delete some, or ask an administrator for a higher quota."""

    code = "quota_files"


class BytesQuotaReached(TooLarge):
    """The quota of bytes has no room for this. Delete files, or ask an administrator for a higher quota."""

    code = "quota_bytes"


class HeadTooLarge(CitewellError):
    """The request has too many header fields, or one of them is too long. Send fewer, and fewer cookies."""

    code = "head_too_large"


class RequestTimeout(CitewellError):
    """The body of the request arrived too slowly, or not at all. Nothing was kept; send it again."""

    code = "request_timeout"


class UnsupportedType(CitewellError):
    """There is no reader for this type of file. Send it without `strict` to have it stored unread."""

    code = "unsupported_type"


class RateLimited(CitewellError):
    """Too many requests. Wait for the time given in `retry_after`, then try again."""

    code = "rate_limited"

    def __init__(self, message: str | None = None, retry_after: float = 1.0, **details: JsonValue) -> None:
        super().__init__(message, retry_after=retry_after, **details)
        self.retry_after = retry_after


class QuestionsQuotaReached(RateLimited):
    """The questions of this month are used up. Wait for the next month (UTC), or ask an administrator for a higher quota."""

    code = "quota_questions"


class Unavailable(CitewellError):
    """A service that this request needs is temporarily unavailable. Try again shortly."""

    code = "unavailable"


class DatabaseAway(Unavailable):
    """The database cannot be reached at present. Try again shortly."""


class UnreadableCopy(Unavailable):
    """The exact copy of this table cannot be read. Upload the file again."""


class DiskFull(CitewellError):
    """The server's disk is full. Free some space; accepted files are kept, and processing resumes by itself."""

    code = "disk_full"


class ConfigurationError(CitewellError):
    """The configuration is not valid. See `citewell doctor`."""

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
    """The provider's account has no credit left. Add credit there, or choose another provider; work that waits goes on from where it stopped."""

    code = "provider_quota"


class SpendingLimitReached(ProviderError):
    """The spending limit of this month is reached. Raise `CITEWELL_MAX_SPEND`; work that waits goes on from where it stopped."""

    code = "spending_limit"


class SpendQuotaReached(SpendingLimitReached):
    """What models may cost this owner this month is used up. Wait for the next month (UTC), or ask an administrator for a higher quota."""

    code = "quota_spend"


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
    """The provider rejected the request itself; trying again will not help."""

    code = "provider_rejected"


class ProviderModelGone(ProviderRejected):
    """The provider has no such model, or not for this key. Set the name of a model that it offers."""

    code = "provider_model"


class TextsRejected(ProviderRejected):
    """The provider rejects some of the texts; all others were taken. `indices` are the places of the rejected ones in what was sent."""

    def __init__(self, message: str | None = None, indices: Sequence[int] = (), **details: JsonValue) -> None:
        super().__init__(message, **details)
        self.indices = tuple(indices)


class ExtractionError(CitewellError):
    """The file could not be read."""

    code = "extraction_failed"
    retryable = False


class CorruptFile(ExtractionError):
    """The file is damaged, or not what its type says. Open it in its own program and save it again."""

    code = "corrupt_file"


class PasswordRequired(ExtractionError):
    """The file is encrypted. Upload it again with its password in the `password` field."""

    code = "password_required"


class WrongPassword(ExtractionError):
    """The password does not open the file. Upload it again with the right one."""

    code = "wrong_password"


class DamagedFile(ExtractionError):
    """The bytes that the server keeps of this file are damaged or missing. Upload the file again."""

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
    """An entry of a synchronised source cannot be brought. It is reported, tried again with the next run, and stops no other."""

    code = "source_problem"


class FrameMissing(SourceProblem):
    """The record's frame is not there. Put it into the folder, or correct the record."""

    code = "frame_missing"


class DownloadFailed(SourceProblem):
    """The file could not be downloaded completely. The next run tries again."""

    code = "download_failed"


class LeaseLost(CitewellError):
    """Another worker has taken this job over; this one must stop without writing."""

    code = "lease_lost"


class GaveUp(CitewellError):
    """The server stopped too often while it worked on this file. Re-index it, or upload it again."""

    code = "gave_up"


class Unexpected(CitewellError):
    """An unexpected error, which the server's log describes."""

    code = "unexpected"


class DataFolderBusy(CitewellError):
    """Another process holds this data folder. Stop it, or use its HTTP API."""

    code = "data_folder_busy"


Kind = TypeVar("Kind", bound=CitewellError)


def from_code(
    code: str, message: str, details: Mapping[str, JsonValue] | None = None, *, among: type[Kind] = CitewellError
) -> Kind:
    """The error that a code, a message and details tell of, as it was raised elsewhere: in a turn, a parser or a server.

    A code that no class has (of a newer server, say) is kept, on an error of the class `among`.
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
    """`kind` and all classes derived from it that have a code of their own."""
    found = {code: below for sub in kind.__subclasses__() for code, below in _classes(sub).items()}
    return found | ({kind.code: kind} if "code" in vars(kind) else {})
