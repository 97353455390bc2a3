"""The base of a group of settings: a frozen value that knows the name under which each of its fields was given."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import Annotated, Any, TypeAlias, get_type_hints

from citewell.settings.names import Names, named
from citewell.settings.values import Folder

# The data folder, which several groups read.
DataFolderSetting: TypeAlias = Annotated[Folder, named("data")]


@dataclass(frozen=True, kw_only=True)
class SettingsGroup:
    """Settings that belong together. `given` holds the name under which each setting was given, by its keyword."""

    given: Mapping[str, str] = field(default_factory=dict[str, str], repr=False, compare=False)

    def name_of(self, name: str) -> str:
        """The name under which a field was given, or else its first name."""
        names = declared(type(self))[name]
        return self.given.get(names.keyword, names.variables[0])


def declared(group: type[SettingsGroup]) -> dict[str, Names]:
    """The names of every setting of a group, by field."""
    return {name: names for name, hint in hints(group).items() if (names := names_in(hint)) is not None}


@cache
def hints(group: type[SettingsGroup]) -> dict[str, Any]:
    """The annotated type of every field of a group."""
    return get_type_hints(group, include_extras=True)


def names_in(hint: object) -> Names | None:
    """The names in an annotated type; None if it is not a setting."""
    return next((extra for extra in getattr(hint, "__metadata__", ()) if isinstance(extra, Names)), None)
