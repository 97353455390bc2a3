"""The analyser, script by script: what a person would expect to find is found."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from citewell.text.analysis import analyze, pair_terms, term_groups
from citewell.text.sparse import code_terms, sparse_document, sparse_query, term_id
from citewell.text.tokens import written_tokens


def _finds(query: str, text: str, language: str | None = None) -> bool:
    """Whether query and text share a term of full weight."""
    return bool(set(analyze(query, language, query=True)) & set(analyze(text, language)))


@pytest.mark.parametrize(
    ("language", "query", "text"),
    [
        ("en", "loan", "Loans were repaid."),
        ("en", "repayment", "repayments"),
        ("de", "Häuser", "das Haus"),
        ("de", "Kündigungsfristen", "die Kündigungsfrist"),
        ("de", "Straße", "STRASSE"),
        ("fr", "l'avion", "les avions"),
        ("es", "canción", "las canciones"),
        ("it", "libri", "il libro"),
        ("pt", "contratos", "o contrato"),
        ("nl", "contracten", "het contract"),
        ("ru", "договоры", "по договору"),
        ("el", "συμβόλαια", "το συμβόλαιο"),
        ("tr", "sözleşmeler", "sözleşmenin"),
        ("ar", "العقود", "عقود"),
        ("hi", "लड़कों", "लड़का"),
        ("pl", "umowy", "umowa"),
        ("ro", "contractele", "contract"),
        ("sv", "avtalen", "avtalet"),
        ("fi", "sopimukset", "sopimuksen"),
        ("hu", "szerződések", "szerződés"),
    ],
)
def test_inflected_forms_meet_in_one_stem(language: str, query: str, text: str) -> None:
    assert _finds(query, text, language)


@pytest.mark.parametrize(
    ("query", "text"),
    [
        ("cancion", "La canción más bonita de todos los tiempos"),
        ("informacion", "Para más información, llame a la oficina."),
        ("Muller", "Herr Müller und seine Frau sind nicht da."),
        ("Lodz", "Mieszkam w mieście Łódź od dawna i jest dobrze."),
        ("resume", "Please send your résumé with the form."),
        ("Duong", "Ông Dương là giám đốc của công ty này và không có ở đây."),
    ],
)
def test_accents_may_be_left_out_of_a_query(query: str, text: str) -> None:
    assert _finds(query, text)


def test_vietnamese_tones_tell_words_apart_when_they_are_typed() -> None:
    assert not _finds("má", "con ma của nhà này", "vi")
    assert _finds("ma", "má của tôi", "vi")


@pytest.mark.parametrize(
    ("text", "terms"),
    [
        ("ISO-9001", {"iso-9001", "iso", "9001"}),
        ("Contact jane.doe@example.org now", {"jane.doe@example.org", "jane", "doe", "exampl"}),
        ("GHS 5,000", {"ghs", "5000"}),
        ("5.000,50 EUR", {"5000.50", "eur"}),
        ("3,14", {"3.14"}),
        ("1'250'000", {"1250000"}),
        ("getUserName()", {"getusernam", "get", "user", "name"}),
        ("error_code", {"error_code", "error", "code"}),
        ("order AB12345", {"order", "ab12345", "ab", "12345"}),
        ("GDPR Art. 17", {"gdpr", "art", "17"}),
        ("boundary-layer", {"boundarylay", "boundari", "layer"}),
        ("2024-03-15", {"2024-03-15", "2024", "03", "15"}),
        ("Smith's", {"smith"}),
    ],
)
def test_numbers_codes_and_addresses_stay_whole_and_are_found_in_part(text: str, terms: set[str]) -> None:
    assert terms <= set(analyze(text, "en"))


def test_a_hash_is_one_term_and_not_its_fragments() -> None:
    assert analyze("18ef26058d321c5d96ca3ebf8117789e", "en") == ["18ef26058d321c5d96ca3ebf8117789e"]


def test_numbers_written_differently_meet() -> None:
    assert _finds("5000", "a loan of 5,000", "en")
    assert _finds("5,000", "ein Kredit von 5.000", "de")


def test_function_words_are_left_out_by_language() -> None:
    assert analyze("What is the limit of the loan?", "en") == ["limit", "loan"]
    assert analyze("Was ist die Grenze des Kredits?", "de") == ["grenz", "kredit"]
    assert analyze("die", "en") == ["die"]


def test_chinese_and_japanese_are_bigrams_with_characters_as_weaker_evidence() -> None:
    assert analyze("黑豹队") == ["黑豹", "豹队"]
    weights = {term.text: term.weight for group in term_groups("黑豹队", "zh") for term in group}
    assert weights["黑豹"] == 1.0
    assert 0 < weights["黑"] < 1
    assert set(weights) == {"黑豹", "豹队", "黑", "豹", "队"}
    assert _finds("東京都", "彼は東京に住んでいます")


def test_question_words_of_chinese_say_nothing() -> None:
    assert "什么" not in analyze("这是什么规定")


def test_a_single_chinese_character_can_be_searched() -> None:
    query, text = sparse_query("猫"), sparse_document("我有一只黑猫。")
    assert set(query.indices) & set(text.indices)


def test_korean_is_bigrams_within_words() -> None:
    assert analyze("한국의 수도") == ["한국", "국의", "수도"]


def test_thai_is_trigrams_and_four_grams() -> None:
    assert {"สัญ", "สัญญ", "ัญญ"} <= set(analyze("สัญญา"))
    assert _finds("สัญญาเช่า", "ผู้เช่าลงนามในสัญญาเช่าบ้าน")


def test_scripts_mixed_in_one_token_are_taken_apart() -> None:
    assert {"2015", "年度", "iphon", "手机"} <= set(analyze("2015年度iPhone手机", "zh"))


def test_words_with_combining_marks_are_not_torn() -> None:
    assert len(list(term_groups("किताबें", "hi"))) == 1
    assert written_tokens("שָׁלוֹם") == ["שָׁלוֹם"]


def test_a_latin_word_in_russian_text_gets_english_rules() -> None:
    assert "window" in analyze("Установка программы Windows", "ru")


def test_compounds_are_found_by_their_parts_as_weaker_evidence() -> None:
    query, text = (
        sparse_query("Frist zur Kündigung", "de"),
        sparse_document("Die Kündigungsfrist beträgt 3 Monate.", "", "de"),
    )
    assert len(set(query.indices) & set(text.indices)) >= 6


def test_english_words_have_no_pieces() -> None:
    assert len(sparse_document("repayment schedule", "", "en").indices) == 2


def test_a_query_of_unknown_language_still_meets_inflected_german() -> None:
    query, text = (
        sparse_query("Mietverträge"),
        sparse_document("Der Mietvertrag wurde von beiden unterschrieben.", "", "de"),
    )
    assert set(query.indices) & set(text.indices)


def test_names_of_several_words_are_terms_of_their_own() -> None:
    text = written_tokens("She likes Joshua Trees and old trees in Section 4.")
    assert {term.text for term in pair_terms(text, "en")} == {"joshua tree", "section 4"}
    query = written_tokens("who likes joshua trees")
    assert "joshua tree" in {term.text for term in pair_terms(query, "en", query=True)}


def test_function_words_part_a_name() -> None:
    assert not list(pair_terms(written_tokens("Bank of Ghana"), "en"))


def test_a_title_counts_more_than_the_same_word_in_the_text() -> None:
    titled = sparse_document("all about fees", "Loan Policy", "en")
    plain = sparse_document("all about fees loan policy", "", "en")
    weight = dict(zip(titled.indices, titled.values, strict=True))[term_id("loan")]
    assert weight > dict(zip(plain.indices, plain.values, strict=True))[term_id("loan")]


def test_a_term_counts_more_the_oftener_and_less_the_longer_the_text() -> None:
    def weight(text: str) -> float:
        vector = sparse_document(text, "", "en")
        return dict(zip(vector.indices, vector.values, strict=True))[term_id("loan")]

    assert weight("loan") < weight("loan loan") < weight("loan loan loan") < 2.2 + 1e-6
    assert weight("loan " + "word " * 50) < weight("loan " + "word " * 5)


def test_term_ids_never_change() -> None:
    assert (term_id("loan"), term_id("黑豹")) == (1402073811, 2806546960)


@given(st.text())
def test_any_text_can_be_analysed(text: str) -> None:
    for language in (None, "en", "de", "zh", "vi"):
        assert all(isinstance(term, str) and term for term in analyze(text, language))
    document, query = sparse_document(text), sparse_query(text)
    assert len(set(document.indices)) == len(document.indices) == len(document.values)
    assert all(0 <= key < 2**32 for key in (*document.indices, *query.indices))
    assert all(value > 0 for value in (*document.values, *query.values))


@given(st.text(alphabet=st.characters(categories=("Lu", "Ll", "Lo", "Nd", "Zs")), min_size=1))
def test_a_text_is_found_by_itself(text: str) -> None:
    document, query = set(sparse_document(text, "", "en").indices), set(sparse_query(text, "en").indices)
    assert not query or query & document


@pytest.mark.parametrize(
    ("query", "codes"),
    [
        ("Who signed INV-004159, and when?", 1),
        ("compare ISO27001 with ISO27002", 2),
        ("article 4901120", 1),
        ("loans above 50,000 in 2023, on A4 paper, 12.5 % or 12345", 0),
        ("the 2-point conversion at the 24-yard line in the 1990s, die 1970er-Jahre, 500mg of it, and COVID-19", 0),
        ("2015年黑豹队的防守有多少次拦截记录？", 0),
        ("order AB-1234, and AB-1234 again", 1),
        ("AA-1111 BB-2222 CC-3333 DD-4444", 3),
    ],
)
def test_a_code_is_found_as_it_is_written(query: str, codes: int) -> None:
    found = code_terms(query, "en")
    assert len(found) == codes
    assert {index for code in found for index in code.indices} <= set(sparse_document(query, "", "en").indices)


def test_a_code_is_not_found_by_its_parts() -> None:
    (code,) = code_terms("INV-004159", "en")
    assert not set(code.indices) & set(sparse_document("INV 004159 and INV-004158", "", "en").indices)
