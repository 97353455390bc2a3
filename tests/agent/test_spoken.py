"""What Citewell says itself, in the question's language."""

from __future__ import annotations

import re

import pytest

from citewell.agent import spoken as texts
from citewell.agent.extractive.refusal import explain, in_scope
from citewell.agent.spoken import CHOSEN_FILES, NO_ANSWER, NO_ANSWER_TO, language_named, says_no_answer, spoken
from citewell.text.language import detect_language
from citewell.types import NoAnswerReason, Scope
from tests.agent.fakes import hit

ENGLISH = [
    value
    for name, value in vars(texts).items()
    if isinstance(value, str) and name.isupper() and not name.startswith("_")
]
WHOLE = ("de", "fr", "es", "pt", "it", "nl")
QUESTIONS = {
    "de": "Wie hoch ist die Miete für die Halle?",
    "fr": "Quel est le loyer de la salle ?",
    "es": "¿Cuál es el alquiler de la sala?",
    "pt": "Qual é o aluguel da sala e por que não mudou?",
    "it": "Qual è l'affitto della sala e perché è cambiato?",
    "nl": "Wat is de huur van de zaal en hoe wordt die betaald?",
    "ru": "Сколько стоит аренда зала?",
    "ar": "ما هو إيجار القاعة؟",
    "he": "מה שכר הדירה של האולם?",
    "hi": "हॉल का किराया क्या है?",
    "th": "ค่าเช่าห้องโถงเท่าไร",
    "ko": "홀의 임대료는 얼마인가요?",
    "ja": "ホールの賃料はいくらですか。",
    "zh": "大厅的租金是多少？",
    "ka": "რა ღირს დარბაზის ქირა?",
}
BEES = hit("Bees leave the hive from nine degrees on. In winter they stay in a ball around the queen and shiver.")


@pytest.mark.parametrize("language", WHOLE)
@pytest.mark.parametrize("english", ENGLISH)
def test_each_text_is_said_in_each_language_with_the_same_values(english: str, language: str) -> None:
    names = re.findall(r"\{(\w+)\}", english)
    said = spoken(english, language, **{name: f"<{name}>" for name in names})
    assert said != english
    assert sorted(re.findall(r"<(\w+)>", said)) == sorted(names)


@pytest.mark.parametrize(("language", "question"), QUESTIONS.items())
def test_a_refusal_is_in_the_language_of_the_question(language: str, question: str) -> None:
    assert detect_language(question) == language
    refusal = spoken(NO_ANSWER, language)
    assert detect_language(refusal) == language
    assert says_no_answer(f"{refusal} …")


@pytest.mark.parametrize("language", [None, "en", *WHOLE])
def test_a_part_without_an_answer_does_not_make_the_whole_a_refusal(language: str | None) -> None:
    assert not says_no_answer(spoken(NO_ANSWER_TO, language, part="X"))


@pytest.mark.parametrize("language", WHOLE)
def test_the_reason_names_the_passages_language_in_the_questions(language: str) -> None:
    why = explain(QUESTIONS[language], [BEES])
    assert why.reason is NoAnswerReason.OTHER_LANGUAGE
    assert str(language_named("en", language)) in why.text
    assert detect_language(why.text) == language
    chosen = in_scope(why, Scope(resource_ids=("a",)), QUESTIONS[language]).hint
    assert chosen == spoken(CHOSEN_FILES, language, hint=why.hint)
