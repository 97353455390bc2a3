"""Spelling and grammar of the pages and the interface's texts, by Harper: check_prose.py [FILE …]; without files, all of them.

Exits 1 with a line for each finding. Harper runs on this machine and asks nobody. A word that it does not know goes into `words.txt`.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
STRINGS = ROOT / "web/src/strings.ts"
WORDS = ROOT / "scripts/words.txt"
PAGES = ("*.md", "docs/*.md", "docs/algorithms/*.md", "docs/decisions/*.md", "benchmarks/*.md")

# Spelling, and the rules that hold for any sentence. Most of Harper's other 1,800 each look for one phrase, which takes minutes of a
# processor, or for a style that technical prose has no use for.
RULES = (
    *("SpellCheck", "ProperNouns", "PossessiveYour", "RepeatedWords", "Spaces", "TransposedSpace", "UnclosedQuotes"),
    *("AnA", "AnAnother", "CommaFixes", "DefiniteArticle", "SomeWithoutArticle", "ThereIsAgreement"),
    *(
        "DoubleModal",
        "DoubleNegative",
        "HavePronoun",
        "ModalBeAdjective",
        "ModalOf",
        "NounVerbConfusion",
        "WrongNegative",
    ),
    *("MultipleSequentialPronouns", "PronounAre", "PronounVerbAgreement", "RedundantThat", "SubjectPronoun"),
    *("CompoundSubjectI", "ItsPossessive", "ThatThan", "TheirToThere", "ThenThan", "ThereToTheir", "WrongApostrophe"),
    *("AdjectiveDoubleDegree", "PluralWrongWordOfPhrase", "RedundantAdditiveAdverbs"),
)
_TEXT = re.compile(r'"((?:[^"\\\n]|\\.)+)"|`((?:[^`\\]|\\.)+)`')
_INSERTED = re.compile(r"\$\{[^{}]*\}")
_GLUED = re.compile(r"(?<=\w)Ada")


def main(names: Sequence[str]) -> int:
    """How many files have findings decides the exit code: 0 or 1."""
    chosen = [Path(name).resolve() for name in names] or [
        STRINGS,
        *(p for glob in PAGES for p in sorted(ROOT.glob(glob))),
    ]
    with tempfile.TemporaryDirectory() as folder:
        found = list(findings(chosen, Path(folder)))
    for path, line, message in found:
        print(f"{path.relative_to(ROOT)}:{line}: {message}")
    return int(bool(found))


def interface_texts(source: str) -> str:
    """The texts of each line of code as a paragraph, so that line `n` becomes line `2 n - 1`; what is inserted into them is a name."""
    lines: list[str] = []
    for line in source.splitlines():
        while (plain := _INSERTED.sub("Ada", line)) != line:
            line = plain
        # Keys such as "file.read", and texts that go on at another text, have no space.
        texts = [_GLUED.sub("", a or b) for a, b in _TEXT.findall(line.partition("// ")[0])]
        lines += [" · ".join(text for text in texts if " " in text), ""]
    return "\n".join(lines)


def findings(paths: Sequence[Path], folder: Path) -> Iterator[tuple[Path, int, str]]:
    """File, line and message of whatever Harper objects to."""
    # Harper gives names without folders, so that each file needs another one.
    copies = {f"{number}.md": path for number, path in enumerate(paths)}
    for name, path in copies.items():
        text = path.read_text(encoding="utf-8")
        (folder / name).write_text(interface_texts(text) if path == STRINGS else text, encoding="utf-8")
    known = WORDS.read_text(encoding="utf-8").split()
    (folder / "words.txt").write_text(
        "\n".join(form for word in known for form in (word, f"{word}'s")), encoding="utf-8"
    )
    done = subprocess.run(
        [
            *(str(Path(sys.executable).parent / "harper"), "lint", "--quiet", "--no-color", "--format", "json"),
            *(
                "--dialect",
                "gb",
                "--user-dict-path",
                str(folder / "words.txt"),
                "--file-dict-path",
                str(folder / "none"),
            ),
            *("--only", ",".join(RULES)),
            *(str(folder / name) for name in copies),
        ],
        capture_output=True,
        text=True,
        check=False,
    )
    if not done.stdout.startswith("["):
        raise SystemExit(f"Harper failed: {done.stderr.strip()}")
    for one in json.loads(done.stdout):
        path = copies[Path(one["file"]).name]
        for lint in one["lints"]:
            # Harper keeps one spelling of a word, so that of kB and KB it would refuse one.
            if lint["rule"] == "SpellCheck" and lint["matched_text"] in known:
                continue
            line = (lint["line"] + 1) // 2 if path == STRINGS else lint["line"]
            yield path, line, f"{lint['matched_text']!r}: {lint['message']} ({lint['rule']})"


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
