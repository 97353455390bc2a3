"""Finds filters on tags, metadata and dates in a query that describes the files it looks for.

Words that could be the subject of the search are left alone: a date counts only next to a word for files (`photos from March`, not
`sales in March`), and a value only next to its key (`camera Leica`, not `Leica`).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from citewell.filters.language import METADATA_PREFIX
from citewell.ports.points import STATED_TAGS, keyword
from citewell.retrieve.periods import TimeSpan, periods
from citewell.retrieve.reading import QueryContext, Stated, label_of, moment_of
from citewell.types import AllOf, AnyOf, Condition, Expression, MetadataKey, MetadataKind, Negation, Operator

# Words for files, and for kinds of writing, which are just as often the subject of a question.
_FILES = (
    r"files?|documents?|docs|images?|pictures?|photos?|photographs?|frames?|screenshots?|scans?|e-?mails?|mails|messages?|"
    r"attachments?|uploads|recordings?|pdfs?|spreadsheets?|dateien|datei|dokumente?n?|bilder|bild|fotos?|aufnahmen?|e-mails|nachrichten"
)
_WRITINGS = (
    r"notes?|presentations?|slides|papers?|reports?|letters?|invoices?|receipts?|contracts?|articles?|memos?|minutes|"
    r"berichte?|rechnung(?:en)?|verträge|briefe?|protokolle?"
)
_NOUN = re.compile(rf"\b(?:{_FILES}|{_WRITINGS})\b", re.IGNORECASE)
_QUOTES = "\"“”„'‘’«»"
_TAGGED = re.compile(
    r"(?P<word>\btagged(?:\s+(?:as|with))?|\bwith\s+(?:the\s+)?tags?|\btags?:|\bgetaggt\s+(?:mit|als)|\bmit\s+(?:dem|den)\s+tags?)\s*",
    re.IGNORECASE,
)
_QUOTED = re.compile(rf"[{_QUOTES}]([^{_QUOTES}\n]{{1,80}})[{_QUOTES}]")
_WORD = re.compile(r"#?([\w-]{1,80})")
_HASHTAG = re.compile(r"(?<![\w&/#])#([\w-]{1,80})")
# A tag before a word for pictures, which are seldom the subject of a sentence: "all outdoor frames".
_BEFORE_PICTURES = re.compile(
    r"([\w-]{1,80})(?=\s+(?:images|pictures|photos|photographs|frames|screenshots|bilder|fotos|aufnahmen)\b)",
    re.IGNORECASE,
)
_JOIN = re.compile(r"\s*(?:,\s*)?(and|or|und|oder|,)\s*", re.IGNORECASE)
_ANY = {"or", "oder"}
_MAX_TAGS = 16
MAX_KEYS = 200
MAX_READ = 4_000  # characters of a query that are searched for metadata
_IS = r"\s*(?:(?:is|are|was|=|:|of|ist|sind|von)\s*)?"
_FIGURE = r"(-?\d{1,15}(?:\.\d{1,6})?)(?![\d.,]*\d)(?![\w%-])"
_ORDERS: tuple[tuple[str, Operator], ...] = (
    (r">=|at\s+least|from|mindestens|ab", Operator.GTE),
    (r"<=|at\s+most|up\s+to|höchstens|bis", Operator.LTE),
    (r">|over|above|more\s+than|greater\s+than|higher\s+than|über|mehr\s+als", Operator.GT),
    (r"<|under|below|less\s+than|lower\s+than|unter|weniger\s+als", Operator.LT),
)
_ORDER = "|".join(f"(?P<o{number}>{words})" for number, (words, _) in enumerate(_ORDERS))
_FIGURES = re.compile(
    rf"(?P<is>{_IS})(?:(?:between|zwischen)\s+{_FIGURE}\s+(?:and|und)\s+{_FIGURE}|(?:(?:{_ORDER})\s*)?{_FIGURE})",
    re.IGNORECASE,
)
_VALUE = re.compile(rf"{_IS}[{_QUOTES}]?", re.IGNORECASE)
_NOT = re.compile(r"\b(?:not|non|un|nicht)[\s-]+$", re.IGNORECASE)
_NOUN_AFTER = re.compile(rf"\s+(?:{_FILES}|{_WRITINGS})\b", re.IGNORECASE)
_BY = re.compile(
    rf"\b(?P<lead>(?:{_FILES}|{_WRITINGS}|written|taken|made|created|shot|authored|recorded|signed|geschrieben|aufgenommen)\s+)(?:by|von)\s+",
    re.IGNORECASE,
)
_PEOPLE = {"author", "authors", "creator", "photographer", "writer", "editor", "autor", "autorin", "fotograf", "by"}
_NAME = re.compile(r"[\w.'’-]{2,40}(?:\s+[\w.'’-]{2,40}){0,3}")
_MIN_PART_OF_NAME = 3  # characters
# Words between a word for files and a date; the verb shows which date is meant.
_DONE = re.compile(
    rf"(?:(?P<file>\b(?:{_FILES})\b)|(?P<writing>\b(?:{_WRITINGS})\b)"
    r"|\b(?P<up>uploaded|added|imported|hochgeladen|hinzugefügt)\b"
    r"|\b(?P<made>taken|created|written|wrote|modified|changed|dated|sent|received|recorded|shot|aufgenommen|erstellt|geändert|datiert)\b)"
    r"(?:\s+(?:that|which|i|we|were|was|are|have|been|had|by|me|us|die|wir|ich))*[\s,]*$",
    re.IGNORECASE,
)
_PASSIVE = re.compile(r"\b(?:that|which|were|was|have|been|i|we|die|wir|ich)\s+$", re.IGNORECASE)
_OF_FILES = {
    "from",
    "since",
    "seit",
    "von",
    "vom",
    "aus",
    "after",
    "nach",
    "before",
    "vor",
    "between",
    "zwischen",
    "until",
    "bis",
    "of",
}
_LOOKED_BACK = 160
_LOOKED_AHEAD = 40
_AFTER_WORDS = re.compile(
    r"\s+(?:hochgeladen|hinzugefügt|aufgenommen|erstellt|geändert)\b|\s+(?P<up>uploaded|added)\b", re.IGNORECASE
)


def stated_tags(query: str, context: QueryContext) -> Iterator[Stated]:
    """`tagged 'outdoor' and night`, `outdoor photos`, `#outdoor`: tags in quotes, tags that files have, and any word of `files tagged …`."""
    known = {keyword(text) for key in context.keys if key.name.casefold() in STATED_TAGS for text, _ in key.frequent}
    for match in _TAGGED.finditer(query):
        sure = (
            match["word"].endswith(":") or _NOUN.search(query[max(0, match.start() - 16) : match.start()]) is not None
        )
        tags: list[str] = []
        place, end, any_of = match.end(), match.end(), False
        while len(tags) < _MAX_TAGS:
            quoted = _QUOTED.match(query, place)
            word = None if quoted else _WORD.match(query, place)
            tag = keyword(quoted[1] if quoted else word[1] if word else "")
            if not tag or not (quoted or tag in known or (sure and not tags)):
                break
            tags.append(tag)
            end = (quoted or word or match).end()
            joined = _JOIN.match(query, end)
            if joined is None:
                break
            any_of = any_of or joined[1].lower() in _ANY
            place = joined.end()
        if tags:
            yield Stated(match.start(), end, "tag", _tags(tags, any_of))
    for match in _BEFORE_PICTURES.finditer(query):
        if keyword(match[1]) in known:
            yield Stated(*match.span(1), "tag", _tags([keyword(match[1])], any_of=False))
    for match in _HASHTAG.finditer(query):
        if keyword(match[1]) in known:
            yield Stated(match.start(), match.end(), "tag", _tags([keyword(match[1])], any_of=False))


def _tags(tags: Sequence[str], any_of: bool) -> Expression:
    each = tuple(Condition("tag", Operator.EQ, tag) for tag in dict.fromkeys(tags))
    return each[0] if len(each) == 1 else AnyOf(each) if any_of else AllOf(each)


def stated_metadata(query: str, context: QueryContext) -> Iterator[Stated]:
    """Values next to the key that has them: `iso over 800`, `camera: Leica`, `Leica camera`, `not approved files`."""
    text = query[:MAX_READ]
    taken: list[tuple[int, int]] = []
    keys = [key for key in context.keys[:MAX_KEYS] if key.name.casefold() not in STATED_TAGS]
    for key in sorted(keys, key=lambda one: -len(one.name)):
        words = [re.escape(word) for word in re.split(r"[\s_.-]+", key.name) if word]
        if not words:
            continue
        name = r"[\s_.-]+".join(words)
        for match in re.finditer(rf"(?<!\w){name}(?!\w)", text, re.IGNORECASE):
            found = _of_key(text, match.start(), match.end(), key)
            if found is not None and not any(found.start < end and start < found.end for start, end in taken):
                taken.append((found.start, found.end))
                yield found
                break
    for found in _people(text, keys):
        if not any(found.start < end and start < found.end for start, end in taken):
            yield found


def _of_key(query: str, start: int, end: int, key: MetadataKey) -> Stated | None:
    """The filter on a key whose name is `query[start:end]`."""
    field = METADATA_PREFIX + key.name
    of_files = _NOUN.search(query[:start]) is not None
    if MetadataKind.NUMBER in key.kinds and (figures := _FIGURES.match(query, end)):
        if of_files or set(figures["is"]) & set(":="):
            return Stated(_lead(query, start), figures.end(), field, _figures(field, figures))
    elif MetadataKind.TEXT in key.kinds and (value := _value_at(query, start, end, key, of_files)):
        return Stated(_lead(query, value[0]), value[1], field, Condition(field, Operator.EQ, value[2]))
    elif MetadataKind.BOOLEAN in key.kinds and _NOUN_AFTER.match(query, end):
        denied = _NOT.search(query[max(0, start - 12) : start])
        begin = start - len(denied[0]) if denied else start
        return Stated(begin, end, field, Condition(field, Operator.EQ, denied is None))
    return None


_LEAD = re.compile(
    r"\b(?:with|by|where|whose|having|in|and|from|the|mit|von|the)\s+(?:the\s+|dem\s+|der\s+)?$", re.IGNORECASE
)


def _lead(query: str, start: int) -> int:
    """The start of the words that introduce a key, so that they are removed with it."""
    before = query[max(0, start - 16) : start]
    match = _LEAD.search(before)
    return start - len(before) + match.start() if match else start


def _figures(field: str, match: re.Match[str]) -> Expression:
    groups = match.groups()[1:]
    first, second, one = groups[0], groups[1], groups[-1]
    if first is not None and second is not None:
        low, high = sorted((_number(first), _number(second)))
        return AllOf((Condition(field, Operator.GTE, low), Condition(field, Operator.LTE, high)))
    orders = (operator for number, (_, operator) in enumerate(_ORDERS) if match[f"o{number}"])
    return Condition(field, next(orders, Operator.EQ), _number(one))


def _number(text: str) -> float | int:
    return float(text) if "." in text else int(text)


def _value_at(query: str, start: int, end: int, key: MetadataKey, of_files: bool) -> tuple[int, int, str] | None:
    """(start, end, value) of the longest frequent value after the key's name or, in a description of files, also before it."""
    lead = _VALUE.match(query, end)
    after = lead.end() if lead else end
    texts = sorted((text for text, _ in key.frequent if text.strip()), key=len, reverse=True)
    for text in texts:
        last = after + len(text)
        if keyword(query[after:last]) == keyword(text) and not query[last : last + 1].isalnum():
            return start, last + (query[last : last + 1] in tuple(_QUOTES)), text
    before = query[max(0, start - 200) : start].rstrip()
    for text in texts if of_files or _NOUN_AFTER.match(query, end) else ():
        begin = len(before) - len(text)
        if begin >= 0 and keyword(before[begin:]) == keyword(text) and not before[max(0, begin - 1) : begin].isalnum():
            return start - len(query[max(0, start - 200) : start]) + begin, end, text
    return None


def _people(query: str, keys: Sequence[MetadataKey]) -> Iterator[Stated]:
    """`photos by Mensah` and `by author Mensah`, if a key for people has values that contain the name."""
    for key in keys:
        if keyword(key.name) not in _PEOPLE:
            continue
        named = re.compile(
            rf"\b(?P<lead>)(?:by|von)\s+(?:the\s+|dem\s+|der\s+)?{re.escape(key.name)}\s+", re.IGNORECASE
        )
        for match in (*_BY.finditer(query), *named.finditer(query)):
            said = name[0].split() if (name := _NAME.match(query, match.end())) else []
            for count in range(len(said), 0, -1):
                part = " ".join(said[:count]).rstrip(".,'’")
                values = tuple(text for text, _ in key.frequent if _is_part(part, text))
                if values:
                    field = METADATA_PREFIX + key.name
                    one = Condition(field, Operator.EQ, values[0])
                    found = one if len(values) == 1 else Condition(field, Operator.IN, values)
                    yield Stated(match.end("lead"), match.end() + len(part), field, found)
                    break


def _is_part(name: str, value: str) -> bool:
    """Whether a value contains these words."""
    if len(name) < _MIN_PART_OF_NAME:
        return False
    return re.search(rf"(?<!\w){re.escape(keyword(name))}(?!\w)", keyword(value)) is not None


def stated_dates(query: str, context: QueryContext, others: Sequence[Stated]) -> Iterator[Stated]:
    """Filters from time spans that date files. others: the other filters found, which may be in between."""
    masked = query
    for one in others:
        masked = masked[: one.start] + " " * (one.end - one.start) + masked[one.end :]
    dated = [key for key in context.keys[:MAX_KEYS] if MetadataKind.DATE in key.kinds]
    for period in periods(query, context.today):
        if any(one.start < period.end and period.start < one.end for one in others):
            continue
        before = masked[max(0, period.start - _LOOKED_BACK) : period.start]
        named = next(((key, length) for key in dated if (length := _ends_with(before, key.name))), None)
        if named is not None:
            key, length = named
            field = METADATA_PREFIX + key.name
            expression = _bounds(field, period, context, timed=key.timed)
            yield Stated(period.start - length, period.end, field, expression, label_of(expression))
        elif found := _of_files(masked, before, period, context, dated):
            yield found


def _of_files(
    query: str, before: str, period: TimeSpan, context: QueryContext, dated: Sequence[MetadataKey]
) -> Stated | None:
    """The filter for a time span after a word for files or for an action on them."""
    done = _DONE.search(before)
    after = _AFTER_WORDS.match(query[period.end : period.end + _LOOKED_AHEAD])
    if done is None:
        return None
    noun = done["file"] or done["writing"]
    if noun and period.preposition not in _OF_FILES and not after:
        return None
    if done["writing"] and not (period.relative or dated or after):
        return None  # the report from 2018 is about 2018
    if not noun:
        earlier = before[: done.start()]
        if not _NOUN.search(earlier) and not (done["up"] and _PASSIVE.search(earlier)):
            return None
    start = period.start if noun else period.start - (len(before) - done.start())
    end = period.end + (after.end() if after else 0)
    uploaded = done["up"] or (after and (after["up"] or "hoch" in after[0].lower() or "hinzu" in after[0].lower()))
    expression = _bounds("uploaded_at", period, context, timed=True) if uploaded else _when(period, context, dated)
    label = label_of(_bounds("uploaded" if uploaded else "date", period, context, timed=period.timed, label=True))
    return Stated(start, end, "uploaded_at" if uploaded else "date", expression, label)


def _ends_with(text: str, name: str) -> int:
    """The length of a key's name at the end of a text, with any words between it and a date; 0 without the name."""
    words = r"[\s_.-]+".join(re.escape(word) for word in re.split(r"[\s_.-]+", name) if word)
    if not words:
        return 0
    match = re.search(rf"(?<!\w){words}(?:\s+(?:is|was|at|date|ist|war))?[\s:=]*$", text, re.IGNORECASE)
    return len(text) - match.start() if match else 0


def _when(period: TimeSpan, context: QueryContext, dated: Sequence[MetadataKey]) -> Expression:
    """A condition on a file's date, or on its upload time if it has no date."""
    undated = Negation(Condition("date", Operator.EXISTS, True))
    in_time = _bounds("date", period, context, timed=any(key.timed for key in dated))
    return AnyOf((in_time, AllOf((undated, _bounds("uploaded_at", period, context, timed=True)))))


def _bounds(field: str, period: TimeSpan, context: QueryContext, *, timed: bool, label: bool = False) -> Expression:
    """A condition that a field is within the period. Values with a time of day are compared in the caller's time zone, others as written."""
    bounds: list[Expression] = []
    for operator, at in ((Operator.GTE, period.first), (Operator.LT, period.until)):
        if at is None:
            continue
        if label and period.timed:
            value = at.isoformat(sep=" ", timespec="minutes")
        else:
            value = moment_of(at, context.zone) if timed or period.timed else at.date().isoformat()
        bounds.append(Condition(field, operator, value))
    return bounds[0] if len(bounds) == 1 else AllOf(tuple(bounds))
