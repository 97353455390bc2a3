"""The questions that the reader learns from, each with a statement that answers it or does not.

Published sets, of which nothing is measured with. QAMR has six sentences of a paragraph of XQuAD, on the steam engine. Of each, a folder has the files:

squadshifts/  new_wiki_v1.0.json, reddit_v1.0.json, amazon_reviews_v1.0.json   SQuADShifts (CC BY 4.0)
policyqa/     dev.json, test.json                                            PolicyQA (MIT)
covidqa/      200423_covidQA.json                                            COVID-QA (Apache-2.0)
nqg/          src-test.txt, tgt-test.txt   sentences and questions of articles of SQuAD's training half (CC BY-SA 4.0), Du et al. 2017
selqa/        selqa-ass-test.json, selqa-ass-dev.json                        SelQA (Apache-2.0)
qamr/         wiki-sentences.tsv, dev.tsv, test.tsv                          QAMR, its filtered version (MIT)
"""

from __future__ import annotations

import json
import random
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from citewell.text.sentences import sentences

SEED = 7
WITH_BEFORE = 0.75
"""Share of statements that come with the one before them."""
QAMR_QUESTIONS = 14_000
_AROUND = 600  # characters of a COVID-QA article on either side of its answer
_SMALL = frozenset(
    [
        "the",
        "a",
        "an",
        "of",
        "in",
        "on",
        "to",
        "for",
        "and",
        "or",
        "is",
        "are",
        "was",
        "were",
        "be",
        "been",
        "do",
        "does",
        "did",
        "what",
        "who",
        "when",
        "where",
        "which",
        "how",
        "why",
        "that",
        "this",
        "it",
        "its",
        "as",
        "at",
        "by",
        "with",
        "from",
        "has",
        "have",
        "had",
    ]
)
_WRITTEN = {"-LRB-": "(", "-RRB-": ")", "-LSB-": "[", "-RSB-": "]", "``": '"', "''": '"'}
_CLOSE = re.compile(r"[,.;:?!%)\]]|'s|n't|'re|'ve|'ll|'d|'|'m")


@dataclass(frozen=True, slots=True)
class Example:
    """A statement for a question. `answer`: its characters, (0, 0) for one of unknown place, None where it holds no answer."""

    question: str
    before: str
    statement: str
    answer: tuple[int, int] | None


def read_all(folder: Path) -> list[Example]:
    """All examples, in an order of their own; the same ones on every run."""
    made = _Maker(random.Random(SEED))
    for name in ("new_wiki", "reddit", "amazon_reviews"):
        made.from_squad(_json(folder / f"squadshifts/{name}_v1.0.json")["data"], negatives=2)
    for half in ("dev", "test"):
        made.from_squad(_json(folder / f"policyqa/{half}.json")["data"], negatives=1)
    made.from_squad(_around_answers(_json(folder / "covidqa/200423_covidQA.json")["data"]), negatives=2)
    made.from_sentences(*(_lines(folder / f"nqg/{side}-test.txt") for side in ("src", "tgt")))
    for half in ("test", "dev"):
        made.from_candidates(_json(folder / f"selqa/selqa-ass-{half}.json"))
    made.from_spans(
        _lines(folder / "qamr/wiki-sentences.tsv"),
        [*_lines(folder / "qamr/dev.tsv"), *_lines(folder / "qamr/test.tsv")],
    )
    made.random.shuffle(made.examples)
    return made.examples


class _Maker:
    def __init__(self, source: random.Random) -> None:
        self.random = source
        self.examples: list[Example] = []

    def from_squad(self, articles: Sequence[Mapping[str, Any]], negatives: int) -> None:
        """Sets in the form of SQuAD. Of several answers the shortest in the sentence that most are in."""
        for paragraph in (paragraph for article in articles for paragraph in article["paragraphs"]):
            statements, starts = _cut(paragraph["context"])
            for asked in paragraph["qas"]:
                within: dict[int, list[Mapping[str, Any]]] = {}
                for answer in asked["answers"]:
                    index = max((i for i, start in enumerate(starts) if start <= answer["answer_start"]), default=None)
                    if answer["text"].strip() and index is not None:
                        within.setdefault(index, []).append(answer)
                if not within:
                    continue
                index = max(within, key=lambda i: len(within[i]))
                answer = min(within[index], key=lambda one: len(one["text"]))
                start = answer["answer_start"] - starts[index]
                if start >= len(statements[index]):
                    continue
                end = min(start + len(answer["text"]), len(statements[index]))
                self._add(asked["question"], statements, index, (start, end))
                known = [one["text"] for one in asked["answers"] if one["text"].strip()]
                self._add_others(asked["question"], statements, set(within), negatives, known)

    def from_sentences(self, written: Sequence[str], asked: Sequence[str]) -> None:
        """Sentences in reading order, each with a question that it answers."""
        unique = list(dict.fromkeys(written))
        place = {sentence: index for index, sentence in enumerate(unique)}
        texts = [_joined(sentence) for sentence in unique]
        for sentence, question in zip(written, map(_joined, asked), strict=True):
            first = max(0, place[sentence] - 4)
            around, index = texts[first : place[sentence] + 5], place[sentence] - first
            self._add(question, around, index, (0, 0))
            self._add_others(question, around, {index}, 2, [])

    def from_candidates(self, rows: Sequence[Mapping[str, Any]]) -> None:
        """Questions with the sentences of a section, and which of them answer."""
        for row in rows:
            if row["answers"]:
                self._add(row["question"], row["candidates"], row["answers"][0], (0, 0))
                self._add_others(row["question"], row["candidates"], set(row["answers"]), 3, [])

    def from_spans(self, written: Sequence[str], rows: Sequence[str]) -> None:
        """Questions about one sentence each; those whose answer two people marked alike."""
        tokens = {name: text.split(" ") for name, _, text in (line.partition("\t") for line in written)}
        articles: dict[str, list[str]] = {}
        for name in tokens:
            articles.setdefault(_article(name), []).append(name)
        pool = list(_agreed(rows))
        self.random.shuffle(pool)
        for name, question, (first, last) in pool[:QAMR_QUESTIONS]:
            text, places = _rendered(tokens[name])
            near = [other for other in articles[_article(name)] if other != name] or list(tokens)
            before = _rendered(tokens[self.random.choice(near)])[0] if self.random.random() < 0.5 else ""
            self.examples.append(Example(question.strip(), before, text, (places[first][0], places[last][1])))
            if self.random.random() < 0.6:
                other = _rendered(tokens[self.random.choice(near)])[0]
                self.examples.append(Example(question.strip(), "", other, None))

    def _add(self, question: str, statements: Sequence[str], index: int, answer: tuple[int, int] | None) -> None:
        before = statements[index - 1] if index and self.random.random() < WITH_BEFORE else ""
        self.examples.append(Example(question.strip(), before, statements[index], answer))

    def _add_others(
        self, question: str, statements: Sequence[str], answering: set[int], count: int, known: Sequence[str]
    ) -> None:
        """Statements beside it that do not answer: the one with most words of the question, then any."""
        words = _words(question)
        others = [
            index
            for index, text in enumerate(statements)
            if index not in answering and not any(answer.lower() in text.lower() for answer in known)
        ]
        others.sort(key=lambda index: -len(_words(statements[index]) & words))
        rest = others[1:]
        self.random.shuffle(rest)
        for index in [*others[:1], *rest][:count]:
            self._add(question, statements, index, None)


def _cut(text: str) -> tuple[list[str], list[int]]:
    found: list[str] = []
    starts: list[int] = []
    position = 0
    for sentence in sentences(text):
        start = text.find(sentence, position)
        if start >= 0:
            found.append(sentence)
            starts.append(start)
            position = start + len(sentence)
    return found, starts


def _around_answers(articles: Sequence[Mapping[str, Any]]) -> Iterator[Mapping[str, Any]]:
    """Each question with the part of its article around the answer."""
    for paragraph in (paragraph for article in articles for paragraph in article["paragraphs"]):
        text = paragraph["context"]
        for asked in paragraph["qas"]:
            answer = asked["answers"][0]
            start = max(0, answer["answer_start"] - _AROUND)
            start = text.rfind("\n", 0, start + 1) + 1
            end = answer["answer_start"] + len(answer["text"]) + _AROUND
            moved = {"text": answer["text"], "answer_start": answer["answer_start"] - start}
            asked = {"question": asked["question"], "answers": [moved]}
            yield {"paragraphs": [{"context": text[start:end], "qas": [asked]}]}


def _agreed(rows: Sequence[str]) -> Iterator[tuple[str, str, tuple[int, int]]]:
    """Sentence, question, and the first and last token of an answer that at least two marked."""
    found: dict[tuple[str, str], tuple[int, int]] = {}
    for cells in (row.split("\t") for row in rows):
        marked = [cells[6], *(cell.partition(":")[2] for cell in cells[7:9])]
        indices = [[int(index) for index in cell.split() if index.isdigit()] for cell in marked]
        spans = [(one[0], one[-1]) for one in indices if one and one == list(range(one[0], one[-1] + 1))]
        if len(set(spans)) < len(spans):
            found[cells[0], cells[5]] = max(set(spans), key=spans.count)
    for (sentence, question), span in found.items():
        yield sentence, question, span


def _article(sentence: str) -> str:
    return ":".join(sentence.split(":")[:3])


def _rendered(tokens: Sequence[str]) -> tuple[str, list[tuple[int, int]]]:
    """Tokens as they would be written, and the place of each."""
    text, places, glued = "", [], True
    for token in tokens:
        shown = _WRITTEN.get(token, token)
        if not (glued or _CLOSE.fullmatch(shown) or token == "''"):
            text += " "
        places.append((len(text), len(text) + len(shown)))
        text += shown
        glued = shown in "([$" or token == "``"
    return text, places


def _joined(tokens: str) -> str:
    """A sentence of tokens with spaces between them, as it would be written."""
    text = tokens
    for token in ("-LRB-", "-RRB-", "-LSB-", "-RSB-"):
        text = text.replace(token, _WRITTEN[token]).replace(token.lower(), _WRITTEN[token])
    text = text.replace("``", '"').replace("''", '"')
    text = re.sub(r" ([,.;:?!%)\]]|'s|n't|'re|'ve|'ll|'d|')", r"\1", text)
    text = re.sub(r"([(\[$]) ", r"\1", text)
    return re.sub(r' " ([^"]*) " ', r' "\1" ', text).strip()


def _words(text: str) -> set[str]:
    return {word for word in re.findall(r"\w+", text.lower()) if word not in _SMALL}


def _json(path: Path) -> Any:
    return json.loads(path.read_text(encoding="utf-8"))


def _lines(path: Path) -> list[str]:
    return path.read_text(encoding="utf-8").splitlines()
