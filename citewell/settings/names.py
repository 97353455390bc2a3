"""The names of settings: which one gives a setting its value, and which are unknown, empty or without effect."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from citewell.errors import ConfigurationError
from citewell.system.environment import NO_SETTINGS, PREFIX
from citewell.text.spelling import suggestion
from citewell.types import JsonObject

# For these an empty value does not mean "as if it were not there", whatever its name: it would leave the door open.
_NEVER_EMPTY = frozenset({"auth_secret", "session_secret", "jwt_jwks_url", "oidc_domains"})
_MAY_BE_EMPTY = frozenset({"blob_prefix", "compare_model"})


@dataclass(frozen=True)
class Names:
    """A setting's keyword in code, and the variables that give its value, the first that is set winning."""

    keyword: str
    variables: tuple[str, ...]


def named(keyword: str, *others: str) -> Names:
    """`load_settings(keyword=…)`, `CITEWELL_<KEYWORD>`, and the names that other tools use for the same thing."""
    return Names(keyword, (f"{PREFIX}{keyword.upper()}", *others))


# Names of other tools that only mean something with certain values of another setting.
READ_WITH: Mapping[str, tuple[str, tuple[str, ...]]] = {
    "OPENAI_MODEL": ("chat_provider", ("openai", "none")),
    "OPENAI_EMBEDDING_MODEL": ("embedding_provider", ("openai",)),
    "PINECONE_EMBED_MODEL": ("embedding_provider", ("pinecone", "store")),
    "PINECONE_RERANK_MODEL": ("rerank_provider", ("pinecone",)),
}
# Who ranks where it is not set, by who embeds: see `_follow_embedder`.
_RERANKERS: Mapping[str, str] = {
    "voyage": "voyage",
    "pinecone": "pinecone",
    "store": "pinecone",
    "fastembed": "fastembed",
}
# Names that similar systems read and Citewell does not, with what to do instead.
NOT_READ: Mapping[str, str] = {
    "DATABASE_URL": "other programs set it, too; CITEWELL_DATABASE_URL names the database",
    "FILE_TTL": "other programs set it, too; CITEWELL_TELEGRAM_FILE_TTL says how long files sent to the Telegram bot are kept",
    "PINECONE_HOST": "Citewell has an index of its own for each model, whose hosts Pinecone tells it; PINECONE_INDEX begins their names",
    "MAX_TOP_K": "a search returns at most 100 passages and a tool at most 30",
    "FILES_API_TTL_HOURS": "files are kept until they are deleted, those sent to the Telegram bot for CITEWELL_TELEGRAM_FILE_TTL hours where that is set",
    "SUPABASE_URL": "Citewell speaks to Supabase's Postgres itself: CITEWELL_PGVECTOR_URL (or SUPABASE_DB_URL) takes the database's connection string",
    "SUPABASE_KEY": "Citewell speaks to Supabase's Postgres itself: CITEWELL_PGVECTOR_URL (or SUPABASE_DB_URL) takes the database's connection string",
}


@dataclass(slots=True)
class Given:
    """What was set: values by field, the name that gave each, and what was set to no effect."""

    values: dict[str, object] = field(default_factory=dict[str, object])
    names: dict[str, str] = field(default_factory=dict[str, str])
    notes: list[str] = field(default_factory=list[str])


def check_names(variables: Iterable[str], known: Iterable[str], where: str) -> None:
    """Raise `ConfigurationError` for a name that begins with `CITEWELL_` and is not a setting; `where` says where it was found."""
    ours = {name for name in known if name.startswith(PREFIX)}
    for name in sorted(set(map(str.upper, variables))):
        if name.startswith(PREFIX) and name not in ours and not name.startswith(NO_SETTINGS):
            # Compared without what all of them begin with, which would make any two of them look alike.
            advice = _suggested(name, ours)
            raise ConfigurationError(f"There is no setting {name} (set in {where}). {advice}")


def _suggested(name: str, ours: Iterable[str]) -> str:
    advice = suggestion(name.removeprefix(PREFIX), [one.removeprefix(PREFIX) for one in ours], "")
    if advice.startswith("Did you mean "):
        return advice.replace("Did you mean ", f"Did you mean {PREFIX}", 1)
    return "All settings are listed in docs/configuration.md."


def check_overrides(overrides: Iterable[str], known: Iterable[str]) -> None:
    """Raise `ConfigurationError` for a setting given in code that does not exist."""
    names = set(known)
    for name in overrides:
        if name not in names:
            raise ConfigurationError(f"There is no setting `{name}`. {suggestion(name, names)}")


def gather(
    fields: Mapping[str, Sequence[str]],
    defaults: JsonObject,
    variables: Mapping[str, str],
    overrides: Mapping[str, object],
) -> Given:
    """The value of each field that was set: in code, else under the first of its names that has one.

    Raises `ConfigurationError` for an empty value under one of Citewell's names; under another tool's name it counts as not set.
    """
    given = Given()
    for name, value in overrides.items():
        _refuse_empty(name, f"`{name}`", value)
        given.values[name], given.names[name] = value, f"`{name}` ({fields[name][0]})"
    for kind, names in fields.items():
        if kind not in given.values:
            _choose(given, kind, names, variables)
    _follow_embedder(given)
    _drop_foreign(given, fields, defaults, variables)
    given.notes += [
        f"{name} is not read: {why}."
        for name, why in NOT_READ.items()
        if variables.get(name) and f"{PREFIX}{name}" not in variables
    ]
    return given


def _choose(given: Given, kind: str, names: Sequence[str], variables: Mapping[str, str]) -> None:
    for name in names:
        if name not in variables:
            continue
        value = variables[name]
        if name.startswith(PREFIX) or kind in _NEVER_EMPTY:
            _refuse_empty(kind, name, value)
        if not value.strip() and kind not in _MAY_BE_EMPTY:
            continue
        if kind not in given.values:
            given.values[kind], given.names[kind] = value, name
        elif value != given.values[kind] and name not in READ_WITH:
            given.notes.append(f"{name} has no effect, since {given.names[kind]} is set.")


def _follow_embedder(given: Given) -> None:
    """A reranking model without a provider is one of the embedder's: the built-in reranker has no models to choose from, and nobody is sent
    passages who would not have them anyway. An embedder at an address of its own says nothing of who ranks, unless a reranker has one, too.
    """
    name, provider = given.names.get("rerank_model"), _RERANKERS.get(str(given.values.get("embedding_provider")))
    if name is None or provider is None or "rerank_provider" in given.values:
        return
    if "embedding_base_url" in given.values and "rerank_base_url" not in given.values:
        return
    if name not in READ_WITH or provider in READ_WITH[name][1]:
        given.values["rerank_provider"] = provider


def _drop_foreign(
    given: Given, fields: Mapping[str, Sequence[str]], defaults: JsonObject, variables: Mapping[str, str]
) -> None:
    """Replace what another provider's variable gave by what the next name gives."""
    for name, (condition, wanted) in READ_WITH.items():
        value = given.values.get(condition, defaults[condition])
        if value in wanted or not variables.get(name, "").strip():
            continue
        given.notes.append(f"{name} has no effect, since {_shown(given, condition, fields)} is {value!r}.")
        kind = next(kind for kind, names in fields.items() if name in names)
        if given.names.get(kind) == name:
            del given.values[kind], given.names[kind]
            _choose(given, kind, [other for other in fields[kind] if _is_read(other, given, defaults)], variables)


def _is_read(name: str, given: Given, defaults: JsonObject) -> bool:
    condition, wanted = READ_WITH.get(name, ("", ()))
    return not condition or given.values.get(condition, defaults[condition]) in wanted


def _shown(given: Given, kind: str, fields: Mapping[str, Sequence[str]]) -> str:
    return given.names.get(kind, fields[kind][0])


def _refuse_empty(kind: str, name: str, value: object) -> None:
    if isinstance(value, str) and not value.strip() and kind not in _MAY_BE_EMPTY:
        raise ConfigurationError(f"{name} is empty. Set a value, or remove it.")
