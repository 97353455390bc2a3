"""What a claim changes, adds and leaves out of the sentence that it comes from: each kind of contradiction, and what is only told in other words."""

from __future__ import annotations

import pytest

from citewell.agent.citations.grammar import AT_LEAST, AT_MOST, grammar_of
from citewell.agent.citations.phrases import read_words
from citewell.agent.citations.wording import MAX_DOUBTS, compare_wording, is_quoted

PARKING = (
    "Residents may park on the north side of the street at all times. Visitors must not park there for more than two hours. "
    "The permit costs at most 40 euros and is valid only in zone B. Before moving out, return the permit to Mrs Adler."
)
HARVEST = (
    "The Lindgren orchard picked more apples than the Okafor orchard. Prices rose in spring and fell in autumn, when frost damaged the blossom. "
    "Cider is sold without sugar. Mr Okafor delivers to schools from May to July."
)


def _against(claim: str, source: str) -> tuple[str, ...]:
    found = compare_wording(claim, [source], source)
    return (*found.contradictions, *found.doubts)


@pytest.mark.parametrize(
    ("claim", "source", "against"),
    [
        ("Visitors must park there for more than two hours.", PARKING, ("only one of claim and source denies",)),
        ("Residents may not park on the north side of the street.", PARKING, ("only one of claim and source denies",)),
        ("Residents mayn't park on the north side.", PARKING, ("only one of claim and source denies",)),
        ("Residents may park on the south side of the street.", PARKING, ("“south” is the opposite of “north”",)),
        ("The permit costs at least 40 euros.", PARKING, ("“at least” is the opposite of “at most”",)),
        ("After moving out, return the permit to Mrs Adler.", PARKING, ("“After” is the opposite of “Before”",)),
        ("Before moving out, return the permit to Mrs Brandt.", PARKING, ("name Brandt is not in the source",)),
        ("The permit is valid in zone B.", PARKING, ("“only” of the source is left out",)),
        ("The permit costs at most 40 euros and is invalid only in zone B.", PARKING, ("“invalid” is the opposite of “valid”",)),
        ("Residents may always park on the north side.", PARKING, ("“always” is not in the source",)),
        ("The Lindgren orchard picked fewer apples than the Okafor orchard.", HARVEST, ("“fewer” is the opposite of “more”",)),
        ("The Okafor orchard picked more apples than the Lindgren orchard.", HARVEST, ("“Lindgren” and “Okafor” are exchanged",)),
        ("Prices fell in spring and rose in autumn.", HARVEST, ("“rose” and “fell” are exchanged",)),
        ("Cider is sold with sugar.", HARVEST, ("“with” is the opposite of “without”",)),
        ("Mr Okafor delivers to schools from July to May.", HARVEST, ("“July” and “May” are exchanged",)),
    ],
)  # fmt: skip
def test_a_word_that_turns_a_sentence_round_is_told(claim: str, source: str, against: tuple[str, ...]) -> None:
    assert set(against) <= set(_against(claim, source)), _against(claim, source)


@pytest.mark.parametrize(
    ("claim", "source"),
    [
        ("Visitors must not park there for more than two hours.", PARKING),
        ("Visitors must park there for no more than two hours.", PARKING),
        ("There, visitors are not to park for over two hours.", PARKING),
        ("At all times, residents may park on the north side of the street.", PARKING),
        ("The permit costs 40 euros at most.", PARKING),
        ("The permit costs no more than 40 euros.", PARKING),
        ("Solely in zone B is the permit valid.", PARKING),
        ("You return the permit to Mrs Adler before you move out.", PARKING),
        ("The Okafor orchard picked fewer apples than the Lindgren orchard.", HARVEST),
        ("In spring prices increased, and in autumn they decreased.", HARVEST),
        ("Prices not only rose in spring but fell in autumn.", HARVEST),
        ("Frost harmed the blossom in autumn.", HARVEST),
        ("From May to July, Mr Okafor delivers to schools.", HARVEST),
        ("The café is closed and dark.", "The café is dark and closed."),
        ("Smoking is not permitted.", "Smoking is prohibited."),
    ],
)
def test_the_same_in_other_words_is_not_doubted(claim: str, source: str) -> None:
    assert _against(claim, source) == ()


@pytest.mark.parametrize(
    ("source", "same", "other"),
    [
        ("Der Mieter darf hier nicht rauchen.", "Hier darf der Mieter nicht rauchen.", "Der Mieter darf hier rauchen."),
        ("Die Miete beträgt höchstens 900 Euro.", "Höchstens 900 Euro beträgt die Miete.", "Die Miete beträgt mindestens 900 Euro."),
        ("Les chiens ne sont pas admis dans la salle.", "Dans la salle, les chiens ne sont pas admis.", "Les chiens sont admis dans la salle."),
        ("El pago se realiza antes de la entrega.", "Antes de la entrega se realiza el pago.", "El pago se realiza después de la entrega."),
        ("La tassa non è dovuta dai soci.", "Dai soci non è dovuta la tassa.", "La tassa è dovuta dai soci."),
        ("O museu não abre às segundas-feiras.", "Às segundas-feiras o museu não abre.", "O museu abre às segundas-feiras."),
        ("De korting geldt niet voor leden van de club.", "Voor leden van de club geldt de korting niet.", "De korting geldt voor leden van de club."),
    ],
)  # fmt: skip
def test_denials_and_limits_of_other_languages_are_known(source: str, same: str, other: str) -> None:
    assert _against(same, source) == ()
    assert compare_wording(other, [source], source).contradictions


def test_another_figure_in_the_same_place_is_told_though_the_source_has_it_elsewhere() -> None:
    source = "Members pay 12 euros for a day. Guests pay 20 euros for a day."
    found = compare_wording("Members pay 20 euros for a day.", [source], source)
    assert found.contradictions == ("the source has “12” instead of “20”",)
    assert compare_wording("Members pay 12 euros a day.", [source], source).contradictions == ()


def test_a_word_for_another_is_shown_with_the_claim_as_the_source_has_it() -> None:
    source = "The baker opens the shop at seven and locks it at ten."
    (found,) = compare_wording("The plumber opens the shop at seven.", [source], source).replacements
    assert (found.said, found.instead_of, found.are_nouns) == ("plumber", "baker", True)
    assert found.restored == "The baker opens the shop at seven."
    assert compare_wording("The baker opens the shop at seven.", [source], source).replacements == ()


def test_several_sources_are_read_together() -> None:
    texts = ["The lamp is red.", "The door is not green."]
    evidence = "\n".join(texts)
    assert compare_wording("The lamp is red and the door is not green.", texts, evidence).contradictions == ()
    assert compare_wording("The lamp is red and the door is green.", texts, evidence).contradictions


def test_how_much_of_a_claim_is_in_the_source_is_measured() -> None:
    source = "The lamp is red."
    assert compare_wording("The lamp is red.", [source], source).covered == 1.0
    assert compare_wording("The lamp is old and broken.", [source], source).covered == pytest.approx(1 / 3)


@pytest.mark.parametrize(
    ("claim", "names"),
    [
        ("It belongs to Ms Varga.", ("name Varga is not in the source",)),
        ("Okafor delivers it.", ()),
        ("Orchards Deliver To Many Varga Schools Each Year", ()),  # a title
        ("Schools are served.", ()),
        ("It has asked some people of the World Health Agency.", ()),
        (
            "It has asked some people who work for the World Food Agency.",
            ("name World is not in the source", "name Food is not in the source", "name Agency is not in the source"),
        ),
        ("Ghanaian cocoa, to Ghanaian schools.", ()),
        ("Der Hof von Varga liefert Apfelsaft an die Schulen.", ()),  # German writes every noun so
    ],
)
def test_names_have_to_be_in_the_evidence(claim: str, names: tuple[str, ...]) -> None:
    evidence = "Mr Okafor sells cocoa of Ghana to schools, Ms Adu of the WHA does not."
    found = compare_wording(claim, [evidence], evidence)
    assert tuple(doubt for doubt in found.doubts if doubt.startswith("name")) == names


def test_at_most_so_many_names_are_listed_each_in_part() -> None:
    many = "so " + " ".join(f"said with Name{chr(97 + n)}{'x' * 90}" for n in range(26))
    doubts = compare_wording(many, ["the lamp"], "the lamp").doubts
    assert len(doubts) == MAX_DOUBTS
    assert doubts[0] == f"name {('Namea' + 'x' * 90)[:80]} is not in the source"


def test_a_claim_in_another_language_is_compared_by_its_names_alone() -> None:
    source = "Visitors must not park on the street, and the permit is not for sale to Mr Adler."
    assert _against("Les visiteurs peuvent se garer dans la rue, dit M. Adler.", source) == ()
    assert _against("Les visiteurs peuvent se garer dans la rue, dit M. Varga.", source) == (
        "name Varga is not in the source",
    )


@pytest.mark.parametrize(
    ("claim", "quoted"),
    [
        ("Visitors must not park there", True),
        ("park there for more than two hours", False),  # what comes before denies it
        ("The permit costs at most 40 euros and is valid", False),  # what comes after limits it
        ("The permit costs at most 40 euros", True),
        ("Visitors must park there", False),
    ],
)
def test_a_quotation_has_what_denies_and_limits_it(claim: str, quoted: bool) -> None:
    assert is_quoted(claim, PARKING) is quoted


@pytest.mark.parametrize(
    ("text", "keys"),
    [
        ("no more than 5,000 cedis", [AT_MOST, "#5000", "cedi"]),
        ("more than 5000", [AT_LEAST, "#5000"]),
        ("5 thousand or less", ["#5000", AT_MOST]),
        ("not exceed five", [AT_MOST, "#5"]),
        ("more than enough", ["more", "than", "enough"]),
        ("it is not so; more than 5", ["it", "is", "not", "so", AT_LEAST, "#5"]),
    ],
)
def test_a_limit_of_a_figure_is_one_word(text: str, keys: list[str]) -> None:
    grammar = grammar_of("en")
    assert grammar is not None
    assert [word.key for word in read_words(text, "en", grammar)] == keys


def test_clauses_begin_at_marks_and_at_words_that_join_them() -> None:
    grammar = grammar_of("en")
    assert grammar is not None
    words = read_words("It rains, but he walks because he must.", "en", grammar)
    assert [word.clause for word in words] == [0, 0, 1, 1, 1, 2, 2, 2]


def test_only_some_languages_have_a_grammar() -> None:
    assert grammar_of("fi") is None
    assert grammar_of(None) is grammar_of("en")
