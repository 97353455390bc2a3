"""Compares a claim with its source word by word: what the claim changes, adds and leaves out, and whether that turns the sentence round."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from difflib import SequenceMatcher
from functools import lru_cache
import re

from citewell.agent.citations.grammar import AT_LEAST, AT_MOST, Grammar, grammar_of
from citewell.agent.citations.numbers import find_figures
from citewell.text.analysis import analyze
from citewell.text.language import detect_language
from citewell.text.meanings import are_opposites, is_word, mean_the_same
from citewell.text.sentences import sentence_spans

_TOKEN = re.compile(r"[^\W\d_]+n['’]t\b|[^\W_]+(?:[.,]\d+)*|[,;:()–—.?!]")
MAX_WORDS = 120
MAX_REGION = 260
_MAX_SENTENCES = 3


@dataclass(frozen=True, slots=True)
class Word:
    """text: case-folded; key: what it is compared by; clause: number of its clause."""

    text: str
    key: str
    surface: str
    start: int
    end: int
    clause: int
    content: bool
    figure: bool = False
    denies: bool = False


def _key(surface: str, language: str | None) -> tuple[str, bool]:
    return _keyed(surface, language)


@lru_cache(maxsize=20_000)
def _keyed(surface: str, language: str | None) -> tuple[str, bool]:
    terms = analyze(surface, language)
    return (terms[0], True) if terms else (surface.casefold(), False)


def read(text: str, language: str | None, grammar: Grammar, base: int = 0) -> list[Word]:
    figures = {}
    for f in find_figures(text):
        figures[f.start] = f
    out: list[Word] = []
    clause = 0
    skip = 0
    last_bound = True
    for m in _TOKEN.finditer(text):
        if m.start() < skip:
            continue
        s = m[0]
        if not s[0].isalnum():
            if not last_bound:
                clause += 1
                last_bound = True
            continue
        low = s.casefold().replace("’", "'")
        f = figures.get(m.start())
        if f is not None:
            skip = f.end
            out.append(Word(low, f"#{max(f.values).normalize()}", s, m.start() + base, f.end + base, clause, True, True))
            last_bound = False
            continue
        if low in grammar.boundaries and not last_bound:
            clause += 1
        key, content = _key(s, language)
        out.append(Word(low, key, s, m.start() + base, m.end() + base, clause, content and not grammar.denies(low), False, grammar.denies(low)))
        last_bound = False
    return _limits(out, grammar)


def _limits(words: list[Word], grammar: Grammar) -> list[Word]:
    out: list[Word] = []
    i = 0
    n = len(words)
    while i < n:
        hitl = None
        for row, meaning in grammar.limits:
            if words[i].text == row[0] and tuple(w.text for w in words[i : i + len(row)]) == row:
                hitl = (len(row), meaning)
                break
        near_figure = hitl is not None and any(w.figure for w in words[i + hitl[0] : i + hitl[0] + 4] + words[max(0, i - 3) : i])
        if hitl is None or not (near_figure):
            out.append(words[i])
            i += 1
            continue
        count, meaning = hitl
        # a denial shortly before turns it
        for back in range(1, 4):
            if len(out) >= back and out[-back].denies and out[-back].clause == words[i].clause:
                meaning = AT_LEAST if meaning == AT_MOST else AT_MOST
                del out[-back]
                break
        w = words[i]
        out.append(Word(meaning, meaning, " ".join(x.surface for x in words[i : i + count]), w.start, words[i + count - 1].end, w.clause, False))
        i += count
    return out


@dataclass(slots=True)
class Differences:
    reasons: list[str] = field(default_factory=list)
    names: list[str] = field(default_factory=list)
    flips: int = 0
    parity: int = 0
    exchanged: int = 0
    slot_figure: int = 0
    reach_added: int = 0
    reach_dropped: int = 0
    opposites: list[tuple[str, str]] = field(default_factory=list)
    crossed: list[tuple[tuple[str, ...], str]] = field(default_factory=list)
    replaced: list[tuple[tuple[str, ...], str]] = field(default_factory=list)
    inserted: list[str] = field(default_factory=list)
    synonyms: int = 0
    covered: float = 0.0
    content: int = 0
    moved: int = 0


@lru_cache(maxsize=64)
def _source(text: str) -> tuple[str | None, list[tuple[int, int, list[Word], frozenset[str]]]]:
    language = detect_language(text)
    grammar = grammar_of(language)
    if grammar is None:
        return language, []
    out = []
    for a, b in sentence_spans(text):
        ws = read(text[a:b], language, grammar, a)
        out.append((a, b, ws, frozenset(w.key for w in ws if w.content)))
    return language, out


def compare(claim: str, passage: str, evidence: str) -> Differences | None:
    language, sents = _source(passage)
    own = detect_language(claim)
    if own is not None and language is not None and own != language:
        return None
    grammar = grammar_of(language)
    if grammar is None or not sents:
        return None
    words = read(claim, language, grammar)[:MAX_WORDS]
    if not words:
        return None
    wanted = {w.key for w in words if w.content}
    # region
    rest = set(wanted)
    chosen: list[int] = []
    for _ in range(_MAX_SENTENCES):
        best, gain = -1, 0.0
        for i, (_, _, ws, keys) in enumerate(sents):
            if i in chosen:
                continue
            g = len(rest & keys) - 0.001 * len(ws)
            if g > gain:
                best, gain = i, g
        if best < 0 or (chosen and gain < 1.9):
            break
        chosen.append(best)
        rest -= sents[best][3]
    if not chosen:
        return None
    region: list[Word] = []
    clause = 0
    for i in sorted(chosen):
        ws = sents[i][2]
        top = 0
        for w in ws:
            region.append(Word(w.text, w.key, w.surface, w.start, w.end, clause + w.clause, w.content, w.figure, w.denies))
            top = w.clause
        clause += top + 1
    region = region[:MAX_REGION]
    return _differences(words, region, grammar, language, evidence)


def _pairs(one: Sequence[str], other: Sequence[str]) -> int:
    a, b = Counter(one), Counter(other)
    return sum(c * b[k] for k, c in a.items())


def _differences(words: list[Word], region: list[Word], grammar: Grammar, language: str | None, evidence: str) -> Differences:
    d = Differences()
    ck, sk = [w.key for w in words], [w.key for w in region]
    if _pairs(ck, sk) > 1500:
        return d
    matcher = SequenceMatcher(None, sk, ck, autojunk=False)
    s_of: dict[int, int] = {}
    slots: list[tuple[list[int], list[int]]] = []
    for tag, i1, i2, j1, j2 in matcher.get_opcodes():
        if tag == "equal":
            for k in range(i2 - i1):
                s_of[j1 + k] = i1 + k
        else:
            slots.append((list(range(i1, i2)), list(range(j1, j2))))
    used = set(s_of.values())
    english = language in (None, "en")
    slot_of = {j: s for s, c in slots for j in c}
    taken: dict[int, int] = {}  # source -> claim
    flipped: dict[int, int] = {}

    def opposed(i: int, w: Word) -> bool:
        r = region[i]
        if r.figure or r.denies or i in taken:
            return False
        if grammar.are_opposites(r.text, w.text):
            return True
        return english and w.content and r.content and not mean_the_same(r.text, w.text) and are_opposites(r.text, w.text)

    # the opposite in the same place
    for j, w in enumerate(words):
        if j in s_of or w.figure or w.denies:
            continue
        for i in slot_of.get(j, []):
            if opposed(i, w):
                flipped[j] = i
                taken[i] = j
                break
    # moved words
    free: dict[str, list[int]] = {}
    for i, w in enumerate(region):
        if i not in used and i not in taken:
            free.setdefault(w.key, []).append(i)
    for j, w in enumerate(words):
        if j not in s_of and j not in flipped and (w.content or w.denies) and free.get(w.key):
            i = free[w.key].pop(0)
            s_of[j] = i
            used.add(i)
            taken[i] = j
            d.moved += 1
    content = [j for j, w in enumerate(words) if w.content]
    d.content = len(content)
    left = [i for i in range(len(region)) if i not in used and i not in taken]
    clause_of = {}
    for c in {w.clause for w in words}:
        cnt = Counter(region[s_of[j]].clause for j, w in enumerate(words) if w.clause == c and w.content and j in s_of)
        tot = sum(cnt.values())
        clause_of[c] = {k for k, n in cnt.items() if n >= 0.25 * tot}
    # synonyms, then opposites elsewhere
    for j, w in enumerate(words):
        if j in s_of or j in flipped or not w.content or w.figure:
            continue
        here = slot_of.get(j, [])
        order = [i for i in here if i in left] + [i for i in left if i not in here]
        if english:
            for i in order:
                if i not in taken and region[i].content and not region[i].figure and mean_the_same(region[i].text, w.text):
                    taken[i] = j
                    s_of[j] = i
                    d.synonyms += 1
                    break
    for j, w in enumerate(words):
        if j in s_of or j in flipped or w.figure or w.denies:
            continue
        for i in left:
            if i not in taken and region[i].clause in clause_of[w.clause] and opposed(i, w):
                flipped[j] = i
                taken[i] = j
                break
    d.opposites = [(region[i].surface, words[j].surface) for j, i in flipped.items()]
    known = _evidence_keys(evidence, language)
    known_words = _evidence_words(evidence)
    for s, c in slots:
        src = [i for i in s if region[i].content and i not in taken and i not in used]
        own = [j for j in c if words[j].content and not words[j].figure and j not in flipped]
        new = [j for j in own if j not in s_of]
        small = len([i for i in s if region[i].content]) <= 4 and len([j for j in c if words[j].content]) <= 4
        names = [j for j in new if _is_name(words[j], j, language) and words[j].text not in known_words]
        d.names += [words[j].surface for j in names]
        new = [j for j in new if j not in names]
        plain = [i for i in src if not region[i].figure]
        foreign = [j for j in new if words[j].key not in known]
        crossed = [j for j in own if j not in foreign and (j not in s_of or words[j].key == region[s_of[j]].key) and j not in names]
        if foreign and plain:
            d.replaced.append((tuple(region[i].surface for i in plain), " ".join(words[j].surface for j in foreign)))
        elif foreign:
            d.inserted += [words[j].surface for j in foreign]
        if small and plain and crossed and not foreign:
            d.crossed.append((tuple(region[i].surface for i in plain), " ".join(words[j].surface for j in crossed)))
        fs = {region[i].key for i in s if region[i].figure}
        fc = {words[j].key for j in c if words[j].figure}
        if fs and fc and not fs & fc and len(s) <= 3 and len(c) <= 3:
            d.slot_figure += 1
    have = {w.text for w in region}
    for j, w in enumerate(words):
        if w.text in grammar.reach and j not in s_of and j not in flipped and w.text not in have:
            d.reach_added += 1
    span = sorted(s_of.values())
    if span and not any(w.text in grammar.reach for w in words):
        for i in left:
            if i not in taken and region[i].text in grammar.reach and any(abs(i - k) <= 2 for k in span):
                d.reach_dropped += 1
    for c in {w.clause for w in words}:
        mine = [j for j, w in enumerate(words) if w.clause == c]
        nc = [j for j in mine if words[j].denies]
        aligned = {s_of[j] for j in mine if j in s_of} | {flipped[j] for j in mine if j in flipped}
        if not aligned:
            continue
        ns = [i for i, w in enumerate(region) if w.denies and _relevant(i, region, aligned)]
        flips = sum(j in flipped for j in mine)
        d.flips += flips
        d.parity += (bool(nc) + bool(ns) + flips) % 2
    d.exchanged = _exchanged(words, region, slots) + _turned(words, region, content, s_of)
    if d.exchanged and d.opposites and d.parity:
        d.exchanged, d.parity = d.exchanged - 1, d.parity - 1
    d.covered = sum(j in s_of for j in content) / max(1, len(content))
    return d


_BY = frozenset("by von durch par por da dal dalla pelo pela door than als que di do da and or und oder et ou y o e en of".split())


def _turned(words: list[Word], region: list[Word], content: list[int], s_of: dict[int, int]) -> int:
    """Three parts in reverse order, in a claim that has nothing of its own."""
    if len(content) < 3 or any(j not in s_of for j in content):
        return 0
    places = [s_of[j] for j in content]
    runs: list[list[int]] = []
    for j, p in zip(content, places):
        if runs and p > s_of[runs[-1][-1]] and (p - s_of[runs[-1][-1]] <= 4):
            runs[-1].append(j)
        else:
            runs.append([j])
    if len(runs) != 3:
        return 0
    a, b, c = (s_of[r[0]] for r in runs)
    if not a > b > c:
        return 0
    if any(w.text in _BY for j, w in enumerate(words) if j not in s_of):
        return 0
    return 1


def _relevant(i: int, region: Sequence[Word], aligned: set[int]) -> bool:
    if i in aligned:
        return True
    ahead = [k for k in range(i + 1, min(len(region), i + 7)) if region[k].clause == region[i].clause and region[k].content][:3]
    if ahead:
        return any(k in aligned for k in ahead)
    behind = [k for k in range(max(0, i - 6), i) if region[k].clause == region[i].clause and region[k].content][-3:]
    return any(k in aligned for k in behind)


def _exchanged(words: list[Word], region: list[Word], slots: list[tuple[list[int], list[int]]]) -> int:
    count = 0
    small = [(s, c) for s, c in slots if 0 < len(s) <= 6 and 0 < len(c) <= 6]
    for x, (one_s, one_c) in enumerate(small):
        for two_s, two_c in small[x + 1 :]:
            a_s = {region[i].key for i in one_s if region[i].content}
            b_s = {region[i].key for i in two_s if region[i].content}
            a_c = {words[j].key for j in one_c if words[j].content}
            b_c = {words[j].key for j in two_c if words[j].content}
            there, back = (a_s - b_s) & b_c, (b_s - a_s) & a_c
            if there and back and not any(mean_the_same(p, q) for p in there for q in back):
                count += 1
    return count


def _is_name(w: Word, j: int, language: str | None) -> bool:
    if language == "de" or not w.surface[0].isupper():
        return False
    return j > 0 or not is_word(w.text)


@lru_cache(maxsize=64)
def _evidence_keys(evidence: str, language: str | None) -> frozenset[str]:
    return frozenset(_key(m[0], language)[0] for m in _TOKEN.finditer(evidence))


@lru_cache(maxsize=64)
def _evidence_words(evidence: str) -> frozenset[str]:
    return frozenset(m[0].casefold() for m in _TOKEN.finditer(evidence))
