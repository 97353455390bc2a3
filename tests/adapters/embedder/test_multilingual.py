"""The multilingual model of the index: what says the same is near in any language, and questions and passages are told apart."""

from __future__ import annotations

import numpy as np
import pytest

from citewell.adapters.embedder.builtin import BuiltinEmbedder, build
from citewell.errors import ConfigurationError
from citewell.settings import BuiltinEmbedding

PASSAGES = [
    "The train to Hamburg leaves from platform nine at half past seven.",
    "Hunde dürfen im Schwimmbad nicht mit ins Wasser.",
    "Библиотека открыта по субботам до четырёх часов дня.",
    "駅の改札口は北側にあります。",
]
QUESTIONS = [
    ["Von welchem Gleis fährt der Zug nach Hamburg?", "من أي رصيف يغادر القطار إلى هامبورغ؟"],
    ["Are dogs allowed in the pool?", "¿Pueden entrar perros a la piscina?"],
    ["When does the library close on Saturdays?", "Quand la bibliothèque ferme-t-elle le samedi ?"],
    ["On which side of the station is the ticket gate?", "ประตูตรวจตั๋วอยู่ด้านไหนของสถานี"],
]


@pytest.fixture(scope="module")
def embedder() -> BuiltinEmbedder:
    return BuiltinEmbedder.multilingual()


async def test_a_question_is_nearest_to_what_answers_it_in_another_language(embedder: BuiltinEmbedder) -> None:
    passages = await embedder.embed(PASSAGES)
    for place, questions in enumerate(QUESTIONS):
        for vector in await embedder.embed(questions, "query"):
            assert int((passages @ vector).argmax()) == place


async def test_a_text_gets_the_same_vector_in_any_company(embedder: BuiltinEmbedder) -> None:
    alone = np.concatenate([await embedder.embed([text]) for text in PASSAGES])
    together = await embedder.embed([*reversed(PASSAGES), *PASSAGES])
    assert np.abs(together[len(PASSAGES) :] - alone).max() < 1e-5
    assert np.linalg.norm(together, axis=1) == pytest.approx(1.0, abs=1e-5)


async def test_questions_and_passages_are_told_apart(embedder: BuiltinEmbedder) -> None:
    asked, passage = await embedder.embed(["battery"], "query"), await embedder.embed(["battery"])
    assert float(asked[0] @ passage[0]) < 0.999


async def test_token_vectors_stand_beside_the_offsets_of_their_tokens(embedder: BuiltinEmbedder) -> None:
    for text, vectors in zip(PASSAGES, await embedder.token_vectors(PASSAGES), strict=True):
        offsets = embedder.tokenizer.offsets(text)
        assert vectors.shape == (len(offsets), 384)
        assert embedder.tokenizer.count([text]) == [len(offsets)]


@pytest.mark.parametrize("text", ["", " \n", "\ud800", "漢" * 4_000, "x" * 100_000], ids=ascii)
async def test_any_string_has_a_unit_vector(embedder: BuiltinEmbedder, text: str) -> None:
    (vector,) = await embedder.embed([text])
    assert float(np.linalg.norm(vector)) == pytest.approx(1.0, abs=1e-5)


def test_the_settings_name_either_model() -> None:
    for name in ("multilingual-e5-small", "intfloat/multilingual-e5-small"):
        assert build(BuiltinEmbedding(model=name)).fingerprint.model == "multilingual-e5-small"
    with pytest.raises(ConfigurationError, match="multilingual-e5-small"):
        build(BuiltinEmbedding(model="another"))
