"""Does the citation checker catch what is planted? Answers made of real passages, some true, some with an error.

    python benchmarks/citations.py CORPUS.jsonl [--each 500] [--seed 1] [--only KIND]      # lines with "_id" and "text"

Planted: a wrong figure, a wrong source number, two citations swapped, a fabricated quotation. True answers take sentences as they
stand, or reworded. Prints the share of each caught, and of true citations called unsupported.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import random
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from citewell.adapters.embedder.builtin import BuiltinEmbedder
from citewell.agent.citations.check import CheckedAnswer, CitationChecker
from citewell.agent.citations.matching import find_match
from citewell.agent.citations.numbers import find_figures
from citewell.agent.interface import Source
from citewell.ports import FloatMatrix, TextKind
from citewell.text.sentences import sentences
from citewell.types import Chunk, ChunkType, Hit, Locator, Scores, Verdict

_SYNONYMS = {
    "however": "but", "approximately": "about", "about": "around", "also": "as well", "began": "started", "large": "big", "often": "frequently",
    "must": "has to", "many": "numerous", "needs": "requires", "show": "demonstrate", "use": "employ", "help": "assist", "buy": "purchase",
    "because": "since", "obtain": "get", "usually": "typically", "important": "significant", "start": "begin", "end": "finish", "several": "a number of",
}  # fmt: skip


@dataclass
class Item:
    """A sentence and the passage (by its index) that holds it."""

    text: str
    passage: int


def hit(text: str, number: int) -> Hit:
    chunk = Chunk(
        id=f"c{number}",
        owner_id="me",
        resource_id="r",
        version=1,
        ordinal=number,
        type=ChunkType.TEXT,
        text=text,
        locator=Locator(),
    )
    return Hit(chunk=chunk, filename=f"file {number}", score=1.0, scores=Scores())


def reword(text: str, pick: random.Random) -> str:
    """The same said a little differently: synonyms, no parentheses, figures ungrouped, a clause moved."""
    text = re.sub(r"\s*\([^()]*\)", "", text) if not find_figures(" ".join(re.findall(r"\([^()]*\)", text))) else text
    words = [_SYNONYMS.get(word, word) if pick.random() < 0.7 else word for word in text.split(" ")]
    text = re.sub(r"(\d),(\d{3})\b", r"\1\2", " ".join(words))
    clause = re.match(r"^((?:In|After|During|When|If|Since|Because|While|As) [^,]{8,60}), (.+?)([.!])$", text)
    if clause:
        body = clause[2]
        text = f"{body[0].upper()}{body[1:]}, {clause[1][0].lower()}{clause[1][1:]}{clause[3]}"
    return text


class Remembering:
    """Embeds each text once: passages come up again and again, which a real turn's do not."""

    def __init__(self, inner: BuiltinEmbedder) -> None:
        self.fingerprint, self.max_tokens, self.tokenizer = inner.fingerprint, inner.max_tokens, inner.tokenizer
        self._inner = inner
        self._known: dict[str, Any] = {}

    async def embed(self, texts: Sequence[str], kind: TextKind = "document") -> FloatMatrix:
        new = list(dict.fromkeys(text for text in texts if text not in self._known))
        if new:
            self._known.update(zip(new, await self._inner.embed(new, kind), strict=True))
        return np.stack([self._known[text] for text in texts])


class Maker:
    """Draws passages and sentences."""

    def __init__(self, passages: list[str], seed: int) -> None:
        self.passages = passages
        self.pick = random.Random(seed)

    def draw(self, with_figure: bool = False) -> tuple[list[int], list[Item]]:
        """Three neighbouring passages (often on one subject), and a sentence of each that the other two do not have as well."""
        while True:
            start = self.pick.randrange(len(self.passages) - 3)
            indices = [start, start + 1, start + 2]
            items: list[Item] = []
            for index in indices:
                good = [
                    s
                    for s in sentences(self.passages[index])
                    if 6 <= len(s.split()) <= 40 and not set('["\n') & set(s) and self.is_own(s, index, indices)
                ]
                if with_figure and not items:
                    good = [s for s in good if any(not f.spelled for f in find_figures(s))]
                if good:
                    items.append(Item(self.pick.choice(good), index))
            if len(items) == 3 and len({item.text for item in items}) == 3:
                return indices, items

    def is_own(self, sentence: str, index: int, indices: list[int]) -> bool:
        """Whether no other of these passages says it (web pages share their menus): else citing that one would be no error."""
        return all(find_match(sentence, self.passages[other]).ratio < 0.7 for other in indices if other != index)

    def sources(self, indices: list[int]) -> tuple[Source, ...]:
        return tuple(Source(n, hit(self.passages[index], index)) for n, index in enumerate(indices, start=1))

    def said(self, text: str) -> str:
        return reword(text, self.pick) if self.pick.random() < 0.5 else text


def answer(lines: list[tuple[str, int]]) -> str:
    return " ".join(f"{text.rstrip('.!')} [{n}]." for text, n in lines)


def true_answer(maker: Maker) -> tuple[str, tuple[Source, ...], set[int]]:
    indices, items = maker.draw()
    return answer([(maker.said(item.text), n) for n, item in enumerate(items, start=1)]), maker.sources(indices), set()


def other_number(maker: Maker, digits: str, passage: str) -> str:
    """A number written alike that the passage does not have; with more digits where it has all of that length."""
    known = {str(v) for f in find_figures(passage) for v in f.values}
    for tries in range(1_000):
        changed = re.sub(r"\d", lambda _: str(maker.pick.randrange(1, 10)), digits) + "7" * (tries // 100)
        if not {str(v) for f in find_figures(changed) for v in f.values} & known:
            return changed
    raise ValueError(f"every number like {digits} stands in the passage")


def wrong_figure(maker: Maker) -> tuple[str, tuple[Source, ...], set[int]]:
    indices, items = maker.draw(with_figure=True)
    text = items[0].text
    figure = maker.pick.choice([f for f in find_figures(text) if not f.spelled])
    written = text[figure.start : figure.end]
    digits = re.search(r"\d+(?:[.,]\d+)*", written)
    assert digits is not None
    changed = other_number(maker, digits[0], maker.passages[indices[0]])
    wrong = text[: figure.start] + written.replace(digits[0], changed, 1) + text[figure.end :]
    lines = [(wrong, 1), *((maker.said(item.text), n) for n, item in enumerate(items[1:], start=2))]
    return answer(lines), maker.sources(indices), {1}


def wrong_source(maker: Maker) -> tuple[str, tuple[Source, ...], set[int]]:
    """The first sentence cites another source of the turn; that source's own sentence is left out."""
    indices, items = maker.draw()
    other = maker.pick.choice([2, 3])
    lines = [(maker.said(items[0].text), other)]
    lines += [(maker.said(item.text), n) for n, item in enumerate(items[1:], start=2) if n != other]
    return answer(lines), maker.sources(indices), {other}


def swapped(maker: Maker) -> tuple[str, tuple[Source, ...], set[int]]:
    indices, items = maker.draw()
    lines = [(maker.said(items[0].text), 2), (maker.said(items[1].text), 1), (maker.said(items[2].text), 3)]
    return answer(lines), maker.sources(indices), {1, 2}


def fabricated_quote(maker: Maker) -> tuple[str, tuple[Source, ...], set[int]]:
    """A quotation whose words are mixed from two other passages."""
    indices, items = maker.draw()
    a, b = (maker.passages[maker.pick.randrange(len(maker.passages))].split() for _ in range(2))
    quote = " ".join([*a[:6], *b[3:9]]).replace('"', "").replace("[", "(").replace("]", ")")
    lines = [(f'The text says that "{quote}"', 1), *((maker.said(i.text), n) for n, i in enumerate(items[1:], start=2))]
    return answer(lines), maker.sources(indices), {1}


PLANTED: dict[str, Callable[[Maker], tuple[str, tuple[Source, ...], set[int]]]] = {
    "wrong figure": wrong_figure,
    "wrong source": wrong_source,
    "swapped": swapped,
    "fabricated quote": fabricated_quote,
}


TRUE = "true"


def flagged(checked: CheckedAnswer) -> set[int]:
    return {c.n for c in checked.citations if c.verdict is Verdict.UNSUPPORTED} | set(checked.removed)


def read_passages(corpus: Path) -> list[str]:
    with corpus.open(encoding="utf-8") as lines:
        passages = [json.loads(line)["text"] for line in lines]
    return [text for text in passages if len(text.split()) >= 40]


async def caught(checker: CitationChecker, maker: Maker, name: str, each: int) -> float:
    """The share of answers of one planted kind whose wrong citations are all flagged."""
    found = 0
    for _ in range(each):
        text, sources, wrong = PLANTED[name](maker)
        found += wrong <= flagged(await checker.check("me", text, sources))
    return round(found / each, 4)


async def false_alarms(checker: CitationChecker, maker: Maker, each: int) -> dict[str, Any]:
    """Of the citations of true answers, the shares that are flagged and that are called weak."""
    alarms, citations, weak = 0, 0, 0
    for _ in range(each):
        text, sources, _ = true_answer(maker)
        checked = await checker.check("me", text, sources)
        alarms += len(flagged(checked))
        weak += sum(c.verdict is Verdict.WEAK for c in checked.citations)
        citations += len(checked.citations)
    return {
        "true citations": citations,
        "false alarms": round(alarms / citations, 4),
        "weak": round(weak / citations, 4),
    }


async def measure(passages: list[str], each: int, seed: int, only: str | None) -> dict[str, Any]:
    """Each kind draws anew from the seed, so that it gives the same figure alone."""
    embedder = BuiltinEmbedder.load()
    checker = CitationChecker(Remembering(embedder))
    result: dict[str, Any] = {"passages": len(passages), "each": each}
    for name in PLANTED:
        if only in (None, name):
            result[name] = await caught(checker, Maker(passages, seed), name, each)
    if only in (None, TRUE):
        result |= await false_alarms(checker, Maker(passages, seed), each)
    await embedder.aclose()
    return result


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("corpus", type=Path)
    parser.add_argument("--each", type=int, default=500)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", choices=(*PLANTED, TRUE))
    arguments = parser.parse_args()
    passages = read_passages(arguments.corpus)
    print(json.dumps(asyncio.run(measure(passages, arguments.each, arguments.seed, arguments.only))))


if __name__ == "__main__":
    main()
