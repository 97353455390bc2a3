"""From the environment, `.env` and code to `Settings` (see `docs/configuration.md`)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Annotated, Any, TypeVar, get_args

from pydantic import BaseModel, ConfigDict, SecretStr, ValidationError, create_model

from citewell.errors import ConfigurationError
from citewell.settings.base import SettingsGroup, declared, hints, names_in
from citewell.settings.blobs import blob_problems
from citewell.settings.chat import AnthropicChat
from citewell.settings.groups import Settings
from citewell.settings.names import READ_WITH, Given, check_names, check_overrides, gather, plain_name
from citewell.settings.secrets import secret_problems
from citewell.settings.values import (
    BlobBackend,
    ChatProvider,
    EmbeddingProvider,
    LocalIsBuiltin,
    RerankProvider,
    VectorStore,
)
from citewell.system.environment import default_data_folder, read_environment
from citewell.text.spelling import nearest
from citewell.types.chunking import Strategy, chunk_sizes, measured_in_characters

AnyGroup = TypeVar("AnyGroup", bound=SettingsGroup)
# A provider's name is checked against all known ones; then its class is looked up in the group's union.
_KNOWN_PROVIDERS: Mapping[str, Any] = {
    "embedding_provider": Annotated[EmbeddingProvider, LocalIsBuiltin],
    "vector_store": VectorStore,
    "blob_backend": BlobBackend,
    "rerank_provider": RerankProvider,
    "chat_provider": ChatProvider,
    "vision_provider": ChatProvider,
}


def _groups() -> dict[str, tuple[type[SettingsGroup], ...]]:
    """The groups of `Settings`, each with its possible classes: one per provider, the default first."""
    hinted = {name: get_args(hint) or (hint,) for name, hint in hints(Settings).items() if names_in(hint) is None}
    return {
        name: kinds
        for name, kinds in hinted.items()
        if isinstance(kinds[0], type) and issubclass(kinds[0], SettingsGroup)
    }


def _settings() -> dict[str, tuple[tuple[str, ...], Any]]:
    """Every setting's variables and type, by keyword."""
    found: dict[str, tuple[tuple[str, ...], Any]] = {}
    for group in (Settings, *(kind for kinds in GROUPS.values() for kind in kinds)):
        for name, names in declared(group).items():
            found[names.keyword] = names.variables, _KNOWN_PROVIDERS.get(names.keyword, hints(group)[name])
    return found


GROUPS = _groups()
_SETTINGS = _settings()
VARIABLES = {keyword: variables for keyword, (variables, _) in _SETTINGS.items()}
# The providers with an adapter, the default first, by the keyword that chooses one.
PROVIDERS: dict[str, tuple[str, ...]] = {
    names.keyword: tuple(getattr(kind, "provider", "") for kind in kinds)
    for kinds in GROUPS.values()
    if (names := declared(kinds[0]).get("provider")) is not None
}
_DEFAULTS: dict[str, Any] = {keyword: providers[0] for keyword, providers in PROVIDERS.items()}


def _readers() -> dict[str, dict[str, frozenset[str]]]:
    """The providers that read a setting, by the setting that chooses the provider, for settings that not all of them read.

    Secrets are left out: a key is often set for another program.
    """
    found: dict[str, dict[str, frozenset[str]]] = {}
    always = {names.keyword for names in declared(Settings).values()} | set(PROVIDERS)
    for kinds in GROUPS.values():
        chooser = declared(kinds[0]).get("provider")
        for kind in kinds:
            for name, names in declared(kind).items():
                if chooser is None or SecretStr in get_args(get_args(hints(kind)[name])[0]):
                    always.add(names.keyword)
                    continue
                readers = found.setdefault(names.keyword, {})
                readers[chooser.keyword] = readers.get(chooser.keyword, frozenset()) | {getattr(kind, "provider", "")}
    always |= {keyword for keyword, by in found.items() if any(len(by[one]) == len(PROVIDERS[one]) for one in by)}
    return {keyword: readers for keyword, readers in found.items() if keyword not in always}


_READERS = _readers()
# Vendors whose keys are for embedding and search alone.
_VENDORS = {"voyage": "voyage_api_key", "pinecone": "pinecone_api_key"}
# A threshold of NaN is neither above nor below anything. Inputs are hidden because they may be keys.
_CHECKED = ConfigDict(allow_inf_nan=False, hide_input_in_errors=True)


def load_settings(**overrides: object) -> Settings:
    """Settings from overrides, then the environment, then `.env`. Raises `ConfigurationError` with the names that were set."""
    given_here = {name: value for name, value in overrides.items() if value is not None}
    check_overrides(given_here, VARIABLES)
    given = gather(VARIABLES, _DEFAULTS, _environment(), given_here)
    try:
        checked = _model_of(given.values)(**given.values)
    except ValidationError as error:
        problems = [_problem(given, found) for found in error.errors(include_url=False)]
        # Not chained: the cause would show the value, which may be a key.
        raise ConfigurationError(" ".join(problems)) from None
    values = {keyword: getattr(checked, keyword) for keyword in checked.model_fields_set}
    values.setdefault("data", default_data_folder())
    settings = _built(values, given.names, (*given.notes, *_unused(values, given.names), *_hints(values, given.names)))
    if contradictions := _contradictions(settings):
        raise ConfigurationError(" ".join(contradictions))
    return settings


def _model_of(keywords: Iterable[str]) -> type[BaseModel]:
    """A model that validates only the given settings, because building one for all 150 takes longer than everything else here."""
    fields: dict[str, Any] = {keyword: (_SETTINGS[keyword][1], None) for keyword in keywords}
    return create_model("Values", __config__=_CHECKED, **fields)


def change(settings: Settings, **values: object) -> Settings:
    """The settings with some values changed, by keyword and without validation. Raises `ConfigurationError` if there is no adapter."""
    return _built({**settings.values, **values}, settings.given, settings.without_effect)


def _built(values: Mapping[str, object], given: Mapping[str, str], notes: tuple[str, ...]) -> Settings:
    groups = {name: _fill(_chosen(kinds, values, given), values, given) for name, kinds in GROUPS.items()}
    return _fill(Settings, values, given, **groups, values=values, without_effect=notes)


def _unused(values: Mapping[str, object], given: Mapping[str, str]) -> list[str]:
    """Given settings of providers that were not chosen, one sentence each, and the line that would choose the provider."""
    return [
        f"{name} has no effect, because {' and '.join(f'{_name_of(one, given)} is {_provider(one, values)!r}' for one in readers)}."
        f"{_advice(name, readers, given)}"
        for keyword, name in given.items()
        if (readers := _READERS.get(keyword)) and all(_provider(one, values) not in readers[one] for one in readers)
    ]


def _advice(name: str, readers: Mapping[str, frozenset[str]], given: Mapping[str, str]) -> str:
    """The line that gives a setting its effect, if exactly one provider reads it and no other was chosen."""
    chooser = next(iter(readers))
    providers = readers[chooser]
    if name in READ_WITH:
        chooser, read = READ_WITH[name]
        providers = frozenset(read[:1])
    if chooser in given or len(providers) != 1:
        return ""
    return f" To use it, set {plain_name(VARIABLES[chooser])}={next(iter(providers))}."


def _hints(values: Mapping[str, object], given: Mapping[str, str]) -> list[str]:
    """Settings with less effect than they look like, one sentence each, and the line that gives it to them."""
    hints: list[str] = []
    model = given.get("rerank_model")
    if (
        model is not None
        and "rerank_enabled" not in values
        and _provider("rerank_provider", values) not in ("none", "builtin")
    ):
        hints.append(
            f"{model} is used only by requests that ask for reranking. To rerank every search, set RERANK_ENABLED=true."
        )
    if given.get("chunk_size") == "CHUNK_SIZE" and "chunk_strategy" not in values:
        hints.append(
            "CHUNK_SIZE counts tokens, as chunks follow sections. To count characters, set CHUNKING_STRATEGY=characters."
        )
    chosen = {_provider(one, values) for one in PROVIDERS}
    for vendor, keyword in _VENDORS.items():
        if keyword in given and vendor not in chosen:
            hints.append(f"{given[keyword]} is not used. To embed with its models, set EMBEDDING_PROVIDER={vendor}.")
    return hints


def _provider(chooser: str, values: Mapping[str, object]) -> object:
    return values.get(chooser, _DEFAULTS[chooser])


def _name_of(keyword: str, given: Mapping[str, str]) -> str:
    return given.get(keyword, VARIABLES[keyword][0])


def _chosen(
    kinds: tuple[type[SettingsGroup], ...], values: Mapping[str, object], given: Mapping[str, str]
) -> type[SettingsGroup]:
    names = declared(kinds[0]).get("provider")
    if names is None:
        return kinds[0]
    provider = _provider(names.keyword, values)
    if provider not in PROVIDERS[names.keyword]:
        name = _name_of(names.keyword, given)
        raise ConfigurationError(f"This version has no adapter for {provider!r}. Choose another provider in {name}.")
    return kinds[PROVIDERS[names.keyword].index(provider)]


def _fill(
    group: type[AnyGroup], values: Mapping[str, object], given: Mapping[str, str], /, **others: object
) -> AnyGroup:
    own = {name: values[names.keyword] for name, names in declared(group).items() if names.keyword in values}
    return group(given=given, **own, **others)  # pyright: ignore[reportArgumentType]


def _environment() -> dict[str, str]:
    """The environment over `.env`. Raises `ConfigurationError` for an unknown name that begins with `CITEWELL_`."""
    known = [name for names in VARIABLES.values() for name in names]
    read = read_environment()
    check_names(read.of_process, known, "the environment")
    check_names(read.of_file, known, str(read.file))
    return read.variables


_PROBLEMS = {
    "int_parsing": "must be a whole number",
    "int_type": "must be a whole number",
    "int_from_float": "must be a whole number",
    "int_parsing_size": "must be a smaller number",
    "float_parsing": "must be a number",
    "float_type": "must be a number",
    "finite_number": "must be a finite number",
    "bool_parsing": "must be true or false",
    "bool_type": "must be true or false",
    "greater_than_equal": "must be at least {ge:g}",
    "greater_than": "must be more than {gt:g}",
    "less_than_equal": "must be at most {le:.12g}",
}


def _problem(given: Given, found: Any) -> str:
    """The problem with one value, as a sentence. Never shows a value that may be a secret."""
    field = str(found["loc"][0])
    kind, context, value = found["type"], found.get("ctx", {}), given.values.get(field)
    if kind == "literal_error":
        allowed = [choice.strip(" '") for choice in context["expected"].replace(" or ", ", ").split(",")]
        near = nearest(str(value), allowed)
        text = f"must be {context['expected']}" + (f". Did you mean {near!r}?" if near else ".")
    elif kind == "value_error":
        text = f"{context['error']}."
    else:
        text = _PROBLEMS.get(kind, f"is not valid: {found['msg']}").format(**context) + "."
    shown = kind in _PROBLEMS or kind == "literal_error"
    return f"{given.names[field]} is {str(value)[:80]!r}, but it {text}" if shown else f"{given.names[field]} {text}"


def _contradictions(settings: Settings) -> list[str]:
    return [
        problem
        for problem in (
            *(_chunk_problem(settings), _temperature_problem(settings)),
            *secret_problems(settings),
            *blob_problems(settings.blobs),
        )
        if problem is not None
    ]


def _chunk_problem(settings: Settings) -> str | None:
    chunking = settings.chunking
    strategy = Strategy(chunking.strategy)
    for field in ("size", "overlap"):
        name = chunking.name_of(field)
        if name.endswith("_TOKENS") and measured_in_characters(strategy):
            strategy_name = chunking.name_of("strategy")
            return f"{name} is in tokens, but {strategy_name} is {strategy.value!r}, which counts characters."
    size, overlap = chunk_sizes(strategy, chunking.size, chunking.overlap)
    if overlap <= size // 2:
        return None
    whose = chunking.name_of("size") if chunking.size else f"the {strategy.value!r} strategy's chunk size"
    return f"{chunking.name_of('overlap')} is {overlap}, but it must be at most {size // 2}: half of {whose} ({size})."


def _temperature_problem(settings: Settings) -> str | None:
    chat = settings.chat
    if isinstance(chat, AnthropicChat) and chat.temperature is not None and chat.temperature > 1:
        return f"{chat.name_of('temperature')} is {chat.temperature:g}, but it must be at most 1 for Anthropic."
    return None
