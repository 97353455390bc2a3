"""What is told of a key that a provider refuses: never the key."""

from __future__ import annotations

import pytest

from citewell.adapters.chat.errors import from_status
from citewell.errors import ProviderAuthError


@pytest.mark.parametrize(
    "key",
    ["sk-SECRETKEY123", "sk-proj-8f_Wq2Lm-0aZ", "pa-0123456789abcdef", "sk-SECR*****Y123", "0f3c9a7e1b2d4c5e6f708192"],
    ids=["short", "with-signs", "voyage", "masked", "hexadecimal"],
)
@pytest.mark.parametrize("said", ["Incorrect API key provided: {}.", "Bearer {} is unknown", "key='{}'"])
def test_a_key_that_the_provider_repeats_is_not_in_the_error(said: str, key: str) -> None:
    error = from_status(401, said.format(key))
    assert isinstance(error, ProviderAuthError)
    assert key not in error.message
    assert error.message.startswith("The provider rejected the API key. ")


def test_what_else_the_provider_says_stays() -> None:
    said = "You may not use the key for gpt-4o in eu-central. See https://example.org/account/api-keys for permissions."
    assert from_status(403, said).message == f"The provider rejected the API key. {said}"


def test_the_name_of_a_model_that_is_not_allowed_stays() -> None:
    assert "gpt-4o-mini-2024-07-18" in from_status(403, "No access to model gpt-4o-mini-2024-07-18.").message
