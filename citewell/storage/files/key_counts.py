"""File counts per metadata key and value: counted once, then updated with every change."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from citewell.types import Metadata, MetadataKey, MetadataKind
from citewell.types.metadata_values import is_day, kind_of

MAX_FREQUENT = 50
"""Most frequent texts listed per key."""

_MAX_FREQUENT_LENGTH = 80


class KeyCounts:
    """Counts the metadata of files."""

    def __init__(self) -> None:
        self._files: Counter[str] = Counter()
        self._kinds: Counter[tuple[str, MetadataKind]] = Counter()
        self._timed: Counter[str] = Counter()
        self._texts: dict[str, Counter[str]] = {}

    def add(self, metadata: Metadata, times: int = 1) -> None:
        """Counts a file's metadata; `times=-1` subtracts it."""
        for key, value in metadata.items():
            kind = kind_of(value)
            self._files[key] += times
            self._kinds[key, kind] += times
            if kind is MetadataKind.DATE and not is_day(str(value)):
                self._timed[key] += times
            if kind is MetadataKind.TEXT:
                texts = self._texts.setdefault(key, Counter())
                for said in value if isinstance(value, tuple) else (str(value),):
                    if len(said) <= _MAX_FREQUENT_LENGTH:
                        texts[said] += times
                        if not texts[said]:
                            del texts[said]

    def keys(self) -> Iterator[MetadataKey]:
        """Yields the keys, those of most files first."""
        counted = [(key, count) for key, count in self._files.items() if count]
        for key, count in sorted(counted, key=lambda item: (-item[1], item[0])):
            frequent = self._texts.get(key)
            yield MetadataKey(
                name=key,
                kinds=frozenset(kind for kind in MetadataKind if self._kinds[key, kind]),
                files=count,
                frequent=tuple(frequent.most_common(MAX_FREQUENT)) if frequent else (),
                timed=self._timed[key] > 0,
            )
