"""Whether a message asks about whole documents, about which ones, and what for."""

from __future__ import annotations

import calendar
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import Enum, auto
from pathlib import PurePosixPath

from citewell.agent.understand.thresholds import THRESHOLDS
from citewell.agent.whole.kinds import ItemKind, kinds_asked
from citewell.text.analysis import analyze
from citewell.types import Category, ResourceInfo
from citewell.types.message_reading import Act, MessageRead

MAX_MESSAGE_CHARACTERS = 400
"""Longer messages are not read as requests for whole documents."""


class WholeKind(Enum):
    """What is asked for.

    SUMMARISE: what the files say; FIND: what all files have on a topic; COMPARE: what several say on the same things;
    LIST: every passage of the files on a topic
    """

    SUMMARISE = auto()
    FIND = auto()
    COMPARE = auto()
    LIST = auto()


@dataclass(frozen=True, slots=True)
class WholeRequest:
    """A request about whole documents: `files` in scope that it is about, `terms` (stems) and `topic` as written.

    kinds:  of the items that a list is of; none where each sentence on the topic is one
    others: files in scope that a list leaves out, since they hold no sentences
    """

    kind: WholeKind
    files: tuple[ResourceInfo, ...]
    topic: str = ""
    terms: tuple[str, ...] = ()
    kinds: tuple[ItemKind, ...] = ()
    others: tuple[ResourceInfo, ...] = ()


_MONTH = re.compile(r"\b(?:19|20)\d\d ?(0[1-9]|1[0-2])(?:\b| ?[0-3]\d\b)")
_COMPARE = re.compile(r"\bcompar(?:e|ison|ing)\b|\bdifferences?\b.*\bbetween\b|\bhow (?:do|does) .* differ\b")
_FILLER = frozenset(
    stem
    for word in """mentioned mention named listed given stated there set contained included occurring found exist exists important relevant upcoming
    different various any does do have has are is people person name names""".split()  # noqa: SIM905
    for stem in analyze(word, "en")
)
_WHOLE = (Act.SUMMARY, Act.ABOUT, Act.MENTIONS, Act.LIST_ALL)
_COMPARED = frozenset(analyze("compare comparison difference differ both two three", "en"))
_FOR_FILES = frozenset(
    analyze(
        "file document doc text upload report paper pdf presentation slides spreadsheet sheet library everything", "en"
    )
)
_READABLE = frozenset({"embedding", "indexed", "analyzed", "described", "partial"})


def read_request(message: str, read: MessageRead, resources: Sequence[ResourceInfo]) -> WholeRequest | None:
    """The request, with the files of `resources` (those in scope) that it is about; None for any other question."""
    if len(message) > MAX_MESSAGE_CHARACTERS:
        return None
    compares = _COMPARE.search(message.lower()) is not None
    if not compares and _whole(read) < THRESHOLDS.whole_named:
        return None
    files = tuple(resource for resource in resources if resource.status in _READABLE)
    about = read.content_of(message)
    named, others = _named(about.lower(), files)
    by_filename = tuple(file for file in files if file.filename.lower() in message.lower())
    if by_filename:
        named, others = by_filename, frozenset()
    if compares:
        chosen = named or files
        return WholeRequest(WholeKind.COMPARE, chosen) if len(chosen) > 1 and not others - _COMPARED else None
    whole_name = bool(by_filename) or any(_is_named(one, about) for one in named)
    if _whole(read) < (THRESHOLDS.whole_named if whole_name and not others else THRESHOLDS.whole):
        return None
    act = max(_WHOLE, key=lambda one: read.acts.get(one, 0.0))
    if act is Act.LIST_ALL:
        return _list(about, files, resources)
    if act is Act.MENTIONS and not by_filename:  # a file's name may have the words of the topic as well
        whole_name = False
    if act is not Act.SUMMARY and not whole_name and (others or named or act is Act.MENTIONS):
        if not others and act is Act.ABOUT and named:  # one word of a name may be any topic
            return None
        certain = read.acts.get(Act.ABOUT, 0.0) + read.acts.get(Act.MENTIONS, 0.0) >= THRESHOLDS.whole_topic
        return _on_topic(WholeKind.FIND, about, files, ()) if certain else None
    if act is not Act.SUMMARY and others and all(file.category != Category.RAG for file in named):
        return None  # `accounts.csv` is named by `the account of Ann`, which its rows hold
    return WholeRequest(WholeKind.SUMMARISE, named or files) if whole_name or not others else None


def _is_named(file: ResourceInfo, about: str) -> bool:
    """Whether all words of a file's name are there, or two of them."""
    name = name_terms(file.filename)
    shared = name & frozenset(analyze(about, "en"))
    return shared == name or len(shared) > 1


def asks_for_whole(read: MessageRead) -> bool:
    """Whether a message asks about whole documents, whichever there are."""
    return _whole(read) >= THRESHOLDS.whole


def _whole(read: MessageRead) -> float:
    return sum(read.acts.get(act, 0.0) for act in _WHOLE)


def words_of_name(filename: str) -> str:
    """A file's name without its ending, as words."""
    return re.sub(r"[_\-.]+|(?<=[a-z])(?=[A-Z])", " ", PurePosixPath(filename).stem)


def name_terms(filename: str) -> frozenset[str]:
    """The stems of a file's name; of a date in figures, the month's name, too."""
    stem = words_of_name(filename)
    months = (calendar.month_name[int(found[1])] for found in _MONTH.finditer(stem))
    return frozenset(analyze(" ".join((stem, *months)), "en"))


def _named(about: str, files: Sequence[ResourceInfo]) -> tuple[tuple[ResourceInfo, ...], frozenset[str]]:
    """The files whose names have words of `about`, and its words that no name has.

    A file gives way to another whose name explains the same words and more.
    """
    for file in files:
        about = about.replace(file.filename.lower(), " ".join(sorted(name_terms(file.filename))))
    words = frozenset(analyze(about, "en")) - _FOR_FILES
    found = {file: words & name_terms(file.filename) for file in files}
    named = tuple(file for file, own in found.items() if own and not any(own < other for other in found.values()))
    explained = frozenset(word for file in named for word in found[file])
    return named, words - explained


def _list(written: str, files: tuple[ResourceInfo, ...], resources: Sequence[ResourceInfo]) -> WholeRequest | None:
    """A list over documents; of a scope with data files too only what their rows do not hold, else their rows are asked."""
    named = _named(written.lower(), files)[0]
    documents = tuple(file for file in named or files if file.category == Category.RAG)
    found = _on_topic(WholeKind.LIST, written, documents, named)
    if found is None or (named and not documents):
        return None
    if not named and len(documents) < len(files) and not found.kinds:
        return None
    others = () if named else tuple(file for file in resources if file not in documents)
    return replace(found, others=others)


def _on_topic(
    kind: WholeKind, written: str, files: tuple[ResourceInfo, ...], named: Sequence[ResourceInfo]
) -> WholeRequest | None:
    names = frozenset(term for file in named for term in name_terms(file.filename))
    topic = " ".join(word for word in written.split() if not names & frozenset(analyze(word, "en")))
    kinds, left = kinds_asked(topic.lower()) if kind is WholeKind.LIST else ((), topic)
    words = analyze(left, "en")
    terms = tuple(dict.fromkeys(term for term in words if term not in _FOR_FILES and not (kinds and term in _FILLER)))
    return WholeRequest(kind, files, topic, terms, kinds) if (terms or kinds) and files else None
