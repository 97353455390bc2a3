"""Messages of the bot: split where sentences end, counted as Telegram counts, and whole in every language."""

from __future__ import annotations

import re

import httpx
import pytest
from hypothesis import given
from hypothesis import strategies as st

from citewell.channels.telegram.rich import MAX_UNITS, Rich, one_line, rich_answer
from citewell.channels.telegram.texts import COMMANDS, LANGUAGES, TEXTS, language_of, say
from tests.contract_servers.serving import serving
from tests.contract_servers.telegram import TOKEN, Person, TelegramServer


def _units(text: str) -> int:
    return len(text.encode("utf-16-le")) // 2


@given(
    st.lists(st.sampled_from(["A sentence. ", "Ünï ", "😀😀 ", "\n\n", "word", "1. item\n"]), max_size=400),
    st.integers(20, 80),
)
def test_parts_fit_and_lose_nothing_but_space(pieces: list[str], limit: int) -> None:
    text = "".join(pieces)
    parts = Rich().add(text).parts(limit)
    assert all(0 < _units(part.text) <= limit for part in parts)
    assert re.sub(r"\s", "", "".join(part.text for part in parts)) == re.sub(r"\s", "", text)


def test_a_long_answer_is_split_where_sentences_end() -> None:
    parts = Rich().add("This is a sentence of the answer. " * 300).parts()
    assert len(parts) == 3
    assert all(part.text.endswith("answer.") and _units(part.text) <= MAX_UNITS for part in parts)


def test_styles_are_counted_in_utf16_units_of_their_message() -> None:
    (part,) = Rich().add("😀 ").add("name.pdf", "code").add(" is ").add("ready", "bold").parts()
    assert part.styles == (("code", 3, 8), ("bold", 15, 5))


def test_what_chat_models_mark_is_bold_and_nothing_else_is_markup() -> None:
    (part,) = rich_answer("# Rent\nIt is **1,250** euros, not *more* [1].").parts()
    assert part.text == "Rent\nIt is 1,250 euros, not *more* [1]."
    assert part.styles == (("bold", 0, 4), ("bold", 11, 5))


def test_a_name_is_one_line_without_hidden_characters() -> None:
    assert one_line("a\n\u202eb" + "c" * 100 + ".pdf", 20) == "a bcccccccccc…cc.pdf"


@pytest.mark.parametrize("key", TEXTS)
def test_every_text_takes_the_same_values_in_every_language(key: str) -> None:
    fields = [set(re.findall(r"\{(\w+)\}", text)) for text in TEXTS[key]]
    assert len(fields) == len(LANGUAGES)
    assert fields.count(fields[0]) == len(LANGUAGES)
    values = dict.fromkeys(fields[0], "*_`value`_*")
    assert all(len(say(language, key, **values).parts()) == 1 for language in LANGUAGES)


def test_languages_are_those_of_telegrams_codes() -> None:
    assert [language_of(code) for code in ("de-AT", "es", "pt-br", None)] == ["de", "es", "en", "en"]
    assert all(len(texts) == len(LANGUAGES) for texts in COMMANDS.values())


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("a.b", "Character '.' is reserved and must be escaped with the preceding '\\'"),
        ("*bold", "Can't find end of the entity starting at byte offset 0"),
        ("a\\.b", None),
    ],
)
def test_the_contract_server_refuses_bad_markdown_as_telegram_does(text: str, problem: str | None) -> None:
    server = TelegramServer()
    Person(server=server, id=7)
    with serving(server.app) as url:
        form = {"chat_id": "7", "text": text, "parse_mode": "MarkdownV2"}
        answer = httpx.post(f"{url}/bot{TOKEN}/sendMessage", data=form).json()
    assert answer.get("description") == (problem and f"Bad Request: can't parse entities: {problem}")
