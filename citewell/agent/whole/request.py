"""Whether a message asks about whole documents, about which ones, and what for: by general rules over its words."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import Enum, auto
from pathlib import PurePosixPath

from citewell.agent.understand.question import THROUGH
from citewell.agent.whole.kinds import ItemKind, kinds_asked
from citewell.text.analysis import analyze
from citewell.types import Category, ResourceInfo

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


_FILES = (
    r"(?:files?|documents?|docs?|reports?|papers?|pdfs?|decks?|presentations?|slides?|spreadsheets?|sheets?|workbooks?|tables?|uploads?|attachments?"
    r"|materials?|library|texts?|books?|articles?|pictures?|images?|photos?)"
)
_SUMMARISE = re.compile(
    r"\b(?:summar(?:y|ies|i[sz]e|i[sz]ed|i[sz]ing|i[sz]ation)|overview|gist|tl;?dr|recap|synopsis|digest"
    r"|(?:key|main|most important|central) (?:points?|messages?|findings?|takeaways?|facts?|ideas?|topics?|contents?))\b"
)
_ABOUT = re.compile(
    rf"\bwhat(?:'s| is| are| was| does| do|'re)\b.*\b(?:about|cover|contain|say|discuss|deal with)\W*$"
    rf"|\bwhat(?:'s| is| are) in (?:the|this|these|my|that) (?:\w+ )?{_FILES}\W*$|\bdescribe (?:the|this|these|my|that) (?:\w+ )?{_FILES}\W*$"
    rf"|\bwhat (?:kind|sort|type) of {_FILES} (?:is|are) (?:this|it|these|that)\W*$"
)
_TOLD = re.compile(
    rf"^\W*(?:(?:please|can you|could you|would you) ){{0,2}}(?:tell (?:me|us)(?: (?:something|more|a bit|a little|a little bit))? about|{THROUGH}|what(?:'s| is| are) (?:in|inside)|describe) "
    r"(?P<what>.+)"
)
_THE_FILE = re.compile(
    r"^(?:the|this|that|these|my|our|your) (?:\w+ )?(?:files?|documents?|docs?|reports?|papers?|pdfs?|decks?|presentations?|slides?|spreadsheets?|sheets?"
    r"|workbooks?|uploads?|attachments?)\W*$"
)
_FIND = (
    re.compile(
        r"\bwhat (?:do|have) (?:i|we|you) (?:have|got|know)? ?(?:got )?(?:on|about|regarding|concerning) (?P<topic>.+)"
    ),
    re.compile(
        rf"\bwhat (?:do|does) (?:my|our|the|these|all|any)[\w ]*? ?{_FILES} (?:say|contain|have|tell|know|hold)(?: us| me)? (?:about|on|regarding|concerning)"
        r" (?P<topic>.+)"
    ),
    re.compile(
        rf"\b(?:which|what) (?:of )?(?:my |our |the )?{_FILES} (?:mentions?|covers?|discuss(?:es)?|talks? about|deals? with|(?:is|are) about|refers? to"
        r"|says? (?:something|anything) about) (?P<topic>.+)"
    ),
    re.compile(
        r"\b(?:everything|anything)(?: (?:that )?(?:i|we|you) (?:have|know))?(?: there is)? (?:on|about|regarding|concerning) (?P<topic>.+)"
    ),
)
_COMPARE = re.compile(r"\bcompar(?:e|ison|ing)\b|\bdifferences?\b.*\bbetween\b|\bhow (?:do|does) .* differ\b")
_LIST = re.compile(
    r"\b(?:list|find|show|give me|name|collect|extract|enumerate|what are|which are)\b(?: me)? (?:all|every|each)(?: of)? (?:the )?(?P<topic>.+)"
)
_LIST_PLAINLY = re.compile(
    r"^\W*(?:(?:please|can you|could you|would you) ){0,2}(?:(?:list|show|give me|name|collect|extract|enumerate)(?: me)?|(?:what|which)(?: are)?(?! is\b)|all|every) (?:the |of the )?"
    r"(?P<topic>.+)"
)
_FILLER = frozenset(
    stem
    for word in """mentioned mention named listed given stated there set contained included occurring found exist exists important relevant upcoming
    different various any does do have has are is people person name names""".split()  # noqa: SIM905
    for stem in analyze(word, "en")
)
_IN_FILES = re.compile(
    rf"\b(?:in|from|across|of|throughout|within) (?:all )?(?:of )?(?:the|this|these|my|our|all|that|those)?(?: \w+)?? ?{_FILES}\W*$"
)
_TAIL = re.compile(r"\b(?:in|from|of|across|throughout|within) (?:the |this |my |our )?(?P<name>[^,;]{1,80})$")
_FRAME = frozenset(
    """compare comparison comparing difference between differ list find show give name collect extract enumerate summary summaries summarise
    summarize summarised summarized overview gist tldr tl dr recap synopsis digest key main important central point points message messages
    finding findings takeaway takeaways fact facts idea ideas topic topics content contents cover covers contain contains say says discuss deal
    about something more bit little walk take guide talk through inside kind sort type describe please can could would you me us tell make write short brief quick long detailed paragraph sentence sentences
    word words bullet bullets one two three four five both all every each whole entire full uploaded upload latest last everything it this that
    these those them file files document documents doc docs report reports paper papers pdf pdfs deck decks presentation presentations slide
    slides spreadsheet spreadsheets sheet sheets workbook workbooks table tables uploads attachment attachments material materials library text
    texts book books article articles picture pictures image images photo photos""".split()  # noqa: SIM905
)
_FRAME_STEMS = frozenset(stem for word in _FRAME for stem in analyze(word, "en")) | _FRAME
_READABLE = frozenset({"embedding", "indexed", "analyzed", "described", "partial"})


def read_request(message: str, resources: Sequence[ResourceInfo]) -> WholeRequest | None:
    """The request, with the files of `resources` (those in scope) that it is about; None for any other question."""
    text = " ".join(message.lower().replace("’", "'").split())
    if len(text) > MAX_MESSAGE_CHARACTERS:
        return None
    files = tuple(resource for resource in resources if resource.status in _READABLE)
    named, others = _named(text, files)
    if _COMPARE.search(text):
        chosen = named or files
        return WholeRequest(WholeKind.COMPARE, chosen) if len(chosen) > 1 and not others else None
    for pattern in _FIND:
        if match := pattern.search(text):
            return _on_topic(WholeKind.FIND, match["topic"], files, ())
    if (match := _LIST.search(text)) and (found := _list(match["topic"], files, resources)):
        return found
    if (match := _LIST_PLAINLY.match(text)) and (found := _list(match["topic"], files, resources)) and _is_plain(found):
        return found
    if others:
        return None
    if _SUMMARISE.search(text) or _ABOUT.search(text) or _is_told_of(text, named):
        return WholeRequest(WholeKind.SUMMARISE, named or files)
    return None


def _is_told_of(text: str, named: Sequence[ResourceInfo]) -> bool:
    """Whether "tell me about" and the like is followed by a word for files, or by all of a name: one word of a name may be any topic."""
    told = _TOLD.match(text)
    if told is None:
        return False
    what = told["what"]
    words = frozenset(analyze(what, "en"))
    names = [name_terms(file.filename) for file in named]
    whole = any(len(name) > 1 and name <= words for name in names)
    by_filename = any(file.filename.lower() in what for file in named)
    return whole or by_filename or _THE_FILE.match(what) is not None


def asks_for_whole(message: str) -> bool:
    """Whether a message asks about whole documents, whichever there are."""
    anything = ResourceInfo(id="", filename="", version=1, status="indexed", category=Category.RAG)
    return read_request(message, [anything, anything]) is not None


def name_terms(filename: str) -> frozenset[str]:
    """The stems of a file's name."""
    stem = re.sub(r"[_\-.]+|(?<=[a-z])(?=[A-Z])", " ", PurePosixPath(filename).stem)
    return frozenset(analyze(stem, "en"))


def _named(text: str, files: Sequence[ResourceInfo]) -> tuple[tuple[ResourceInfo, ...], frozenset[str]]:
    """The files that the message names by words of their names, and its words that no name and no frame of a request explains.

    A file gives way to another whose name explains the same words and more.
    """
    for file in files:
        text = text.replace(file.filename.lower(), " ".join(sorted(name_terms(file.filename))))
    words = frozenset(analyze(text, "en")) - _FRAME_STEMS
    found = {file: words & name_terms(file.filename) for file in files}
    named = tuple(file for file, own in found.items() if own and not any(own < other for other in found.values()))
    explained = frozenset(word for file in named for word in found[file])
    return named, words - explained


def _is_plain(found: WholeRequest) -> bool:
    """Whether a list that was not asked for with "all" is of plain kinds, in the plural: "the requirements for a loan" is an ordinary question."""
    plural = any(word.endswith("s") and len(word) > 4 for word in found.topic.split()[:3])
    return plural and bool(found.kinds) and not found.terms and all(kind.whole_list for kind in found.kinds)


def _list(written: str, files: tuple[ResourceInfo, ...], resources: Sequence[ResourceInfo]) -> WholeRequest | None:
    """A list over documents; of a scope with data files too only what their rows do not hold, else their rows are asked."""
    tail = _TAIL.search(written)
    named = _named(tail["name"], files)[0] if tail else ()
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
    topic = _IN_FILES.sub("", written).strip(" ?.!")
    tail = _TAIL.search(topic)
    if tail and any(frozenset(analyze(tail["name"], "en")) & name_terms(file.filename) for file in named):
        topic = topic[: tail.start()].strip()
    kinds, left = kinds_asked(topic) if kind is WholeKind.LIST else ((), topic)
    words = analyze(left, "en")
    terms = tuple(dict.fromkeys(term for term in words if term not in _FRAME_STEMS and not (kinds and term in _FILLER)))
    return WholeRequest(kind, files, topic, terms, kinds) if (terms or kinds) and files else None
