"""Language detection on sentences and questions as people write them."""

import pytest

from citewell.text.language import Script, default_language, detect_language, script_of

_SENTENCES = {
    "en": "How much can a first-time borrower get?",
    "de": "Wie viel kann man beim ersten Mal leihen?",
    "fr": "Combien peut-on emprunter la première fois ?",
    "es": "¿Cuánto se puede pedir prestado la primera vez?",
    "it": "Quanto si può chiedere in prestito la prima volta?",
    "pt": "Quanto se pode pedir emprestado na primeira vez? Não há limite?",
    "nl": "Hoeveel kan men de eerste keer lenen?",
    "sv": "Hur mycket kan man låna första gången?",
    "da": "Hvor meget kan man låne første gang? Det er ikke nok.",
    "fi": "Kuinka paljon ensimmäisellä kerralla voi lainata ja mitä se maksaa?",
    "pl": "Ile można pożyczyć za pierwszym razem i czy jest to możliwe?",
    "cs": "Kolik si lze půjčit poprvé a jaké jsou podmínky?",
    "hu": "Mennyit lehet először kölcsönkérni, és mi a feltétel?",
    "ro": "Cât se poate împrumuta prima dată și care sunt condițiile?",
    "tr": "İlk kez borç alan biri ne kadar alabilir?",
    "vi": "Người vay lần đầu có thể vay bao nhiêu?",
    "id": "Berapa banyak yang dapat dipinjam untuk pertama kali?",
    "ru": "Сколько можно занять в первый раз?",
    "uk": "Скільки можна позичити вперше і що для цього потрібно?",
    "bg": "Колко може да се вземе назаем за първи път?",
    "sr": "Колико може да се позајми први пут?",
    "el": "Πόσα μπορεί να δανειστεί κανείς την πρώτη φορά;",
    "ar": "كم يمكن أن يقترض المرء لأول مرة؟",
    "fa": "برای اولین بار چقدر می‌توان وام گرفت؟",
    "ur": "پہلی بار کتنا قرض لیا جا سکتا ہے؟",
    "hi": "पहली बार कितना उधार लिया जा सकता है?",
    "he": "כמה אפשר ללוות בפעם הראשונה?",
    "th": "ครั้งแรกกู้ได้เท่าไหร่",
    "zh": "第一次最多可以借多少？",
    "ja": "初めての場合はいくらまで借りられますか。",
    "ko": "처음에는 얼마까지 빌릴 수 있나요?",
}


@pytest.mark.parametrize(("language", "text"), _SENTENCES.items())
def test_a_question_tells_its_language(language: str, text: str) -> None:
    assert detect_language(text) == language


@pytest.mark.parametrize("text", ["", "12,345.67", "GHS 5000", "Virtualization", "---", "🙂"])
def test_without_evidence_there_is_no_answer(text: str) -> None:
    assert detect_language(text) is None


@pytest.mark.parametrize(
    "text",
    [
        "Do I need a lawyer for civil cases?",
        "experimental studies on panel flutter .",
        "What did Trần Hưng Đạo do in the war?",
        "Hon. Kevin M. Seibert, Hon. Laura Leslie Krieg: judges of the court",
        "C: D: and L: are the drives that were copied",
    ],
)
def test_english_with_foreign_names_is_english(text: str) -> None:
    assert detect_language(text) == "en"


def test_kanji_alone_are_chinese_and_with_kana_japanese() -> None:
    assert (detect_language("東京都庁舎"), detect_language("東京都の庁舎")) == ("zh", "ja")


def test_a_word_has_the_script_of_its_first_letter() -> None:
    assert (script_of("12 км"), script_of("42"), script_of("ώρα")) == (Script.CYRILLIC, Script.OTHER, Script.GREEK)
    assert default_language(Script.OTHER) is None
