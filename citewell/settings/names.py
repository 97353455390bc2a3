"""The names of settings: which one supplies a value, and which are unknown, empty or without effect."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from citewell.errors import ConfigurationError
from citewell.system.environment import NO_SETTINGS, PREFIX
from citewell.text.spelling import suggestion
from citewell.types import JsonObject

# For these, an empty value never means "not set", under any name: that would leave the server open.
_NEVER_EMPTY = frozenset({"auth_secret", "session_secret", "jwt_jwks_url", "oidc_domains"})
_MAY_BE_EMPTY = frozenset({"blob_prefix", "compare_model"})


@dataclass(frozen=True)
class Names:
    """A setting's keyword in code, and its variables; the first that is set wins."""

    keyword: str
    variables: tuple[str, ...]


def named(keyword: str, *others: str) -> Names:
    """`load_settings(keyword=…)`, `CITEWELL_<KEYWORD>`, and the names that other tools use for the same thing."""
    return Names(keyword, (f"{PREFIX}{keyword.upper()}", *others))


# Other tools' names that are read only with certain values of another setting.
READ_WITH: Mapping[str, tuple[str, tuple[str, ...]]] = {
    "OPENAI_MODEL": ("chat_provider", ("openai", "none")),
    "OPENAI_EMBEDDING_MODEL": ("embedding_provider", ("openai",)),
    "PINECONE_EMBED_MODEL": ("embedding_provider", ("pinecone", "store")),
    "PINECONE_RERANK_MODEL": ("rerank_provider", ("pinecone",)),
}
# The default reranker for each embedder: see `_follow_embedder`.
_RERANKERS: Mapping[str, str] = {
    "voyage": "voyage",
    "pinecone": "pinecone",
    "store": "pinecone",
    "fastembed": "fastembed",
}
# A store that is not named is the one that has an address here. REDIS_URL is no such address: other programs set it too.
_ADDRESSES: Mapping[str, tuple[str, ...]] = {
    "qdrant": ("CITEWELL_QDRANT_URL", "QDRANT_URL", "CITEWELL_QDRANT_HOST", "QDRANT_HOST"),
    "pgvector": ("CITEWELL_PGVECTOR_URL", "PGVECTOR_URL", "SUPABASE_DB_URL"),
    "redis": ("CITEWELL_REDIS_URL",),
    "pinecone": ("CITEWELL_PINECONE_INDEX", "PINECONE_INDEX", "PINECONE_INDEX_NAME"),
}
# Pinecone's models belong to a store at Pinecone, which has the texts anyway.
_HOSTED: Mapping[str, str] = {"embedding_provider": "PINECONE_EMBED_MODEL", "rerank_provider": "PINECONE_RERANK_MODEL"}
# Names that similar systems read but Citewell does not, with what to do instead.
NOT_READ: Mapping[str, str] = {
    "DATABASE_URL": "other programs set it too; use CITEWELL_DATABASE_URL for the database",
    "FILE_TTL": "other programs set it too; use CITEWELL_FILE_TTL for how many hours files are kept",
    "PINECONE_HOST": "Citewell has one index per model and gets their hosts from Pinecone; use PINECONE_INDEX for the prefix of their names",
    "MAX_TOP_K": "a search returns at most 100 passages and a tool at most 30",
    "SUPABASE_URL": "Citewell connects to Supabase's Postgres directly; set CITEWELL_PGVECTOR_URL (or SUPABASE_DB_URL) to the database's connection string",
    "SUPABASE_KEY": "Citewell connects to Supabase's Postgres directly; set CITEWELL_PGVECTOR_URL (or SUPABASE_DB_URL) to the database's connection string",
}


@dataclass(slots=True)
class Given:
    """What was set: values by field, the name that supplied each, and notes on settings without effect."""

    values: dict[str, object] = field(default_factory=dict[str, object])
    names: dict[str, str] = field(default_factory=dict[str, str])
    notes: list[str] = field(default_factory=list[str])


def check_names(variables: Iterable[str], known: Iterable[str], where: str) -> None:
    """Raise `ConfigurationError` for a name that begins with `CITEWELL_` but is not a setting. where: where it was found."""
    ours = {name for name in known if name.startswith(PREFIX)}
    for name in sorted(set(map(str.upper, variables))):
        if name.startswith(PREFIX) and name not in ours and not name.startswith(NO_SETTINGS):
            # Compared without the common prefix, which would make any two names similar.
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
    """The value of each field that was set: in code, or under the first of its names that has a value.

    Raises `ConfigurationError` for an empty value under one of Citewell's names; under another tool's name it counts as not set.
    """
    given = Given()
    for name, value in overrides.items():
        _refuse_empty(name, f"`{name}`", value)
        given.values[name], given.names[name] = value, f"`{name}` ({fields[name][0]})"
    for kind, names in fields.items():
        if kind not in given.values:
            _choose(given, kind, names, variables)
    _follow_addresses(given)
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
            given.notes.append(f"{name} has no effect, because {given.names[kind]} is set.")


def _follow_addresses(given: Given) -> None:
    """Choose the vector store whose address is set, if it is the only one, and the models that it hosts."""
    names = set(given.names.values())
    told = {store: next((name for name in known if name in names), "") for store, known in _ADDRESSES.items()}
    if "pinecone_api_key" not in given.values:
        told["pinecone"] = ""
    found = [(store, name) for store, name in told.items() if name]
    if "vector_store" not in given.values and len(found) == 1:
        [(store, name)] = found
        given.values["vector_store"], given.names["vector_store"] = store, name
        given.notes.append(
            f"{name} is set, so vectors are kept in {store}. For the built-in store, set VECTOR_STORE=edge."
        )
    if given.values.get("vector_store") != "pinecone" or "pinecone_api_key" not in given.values:
        return
    for chooser, name in _HOSTED.items():
        if name in names and chooser not in given.values:
            given.values[chooser], given.names[chooser] = "pinecone", name


def _follow_embedder(given: Given) -> None:
    """A reranking model without a provider belongs to the embedder's provider: the built-in reranker has no choice of models, and this provider
    gets the passages anyway. With a custom address for the embedder, this holds only if the reranker has a custom address too.
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
    """Replace a value from another provider's variable by that of the next name."""
    for name, (condition, wanted) in READ_WITH.items():
        value = given.values.get(condition, defaults[condition])
        if value in wanted or not variables.get(name, "").strip():
            continue
        chooser = _shown(given, condition, fields)
        advice = "" if condition in given.names else f" To use it, set {plain_name(fields[condition])}={wanted[0]}."
        given.notes.append(f"{name} has no effect, because {chooser} is {value!r}.{advice}")
        kind = next(kind for kind, names in fields.items() if name in names)
        if given.names.get(kind) == name:
            del given.values[kind], given.names[kind]
            _choose(given, kind, [other for other in fields[kind] if _is_read(other, given, defaults)], variables)


def _is_read(name: str, given: Given, defaults: JsonObject) -> bool:
    condition, wanted = READ_WITH.get(name, ("", ()))
    return not condition or given.values.get(condition, defaults[condition]) in wanted


def plain_name(names: Sequence[str]) -> str:
    """The name of a setting that other tools read too, if there is one."""
    return names[:2][-1]


def _shown(given: Given, kind: str, fields: Mapping[str, Sequence[str]]) -> str:
    return given.names.get(kind, fields[kind][0])


def _refuse_empty(kind: str, name: str, value: object) -> None:
    if isinstance(value, str) and not value.strip() and kind not in _MAY_BE_EMPTY:
        raise ConfigurationError(f"{name} is empty. Set a value, or remove it.")
