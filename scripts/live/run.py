"""`make test-live PROVIDER=voyage`: the conformance suites against the real service of a provider, with one's own key. It costs some cents at most."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from pathlib import Path

KEYS: Mapping[str, str] = {
    "openai": "OPENAI_API_KEY",
    "voyage": "VOYAGE_API_KEY",
    "pinecone": "PINECONE_API_KEY",
    "cohere": "COHERE_API_KEY",
    "anthropic": "ANTHROPIC_API_KEY",
}


def problem(provider: str, environment: Mapping[str, str]) -> str | None:
    """What is missing for a run; None when nothing is."""
    if provider not in KEYS:
        return f"Name the provider: make test-live PROVIDER={'|'.join(KEYS)}"
    if not environment.get(KEYS[provider], "").strip():
        return f"The real service of {provider} needs a key of yours: {KEYS[provider]}=… make test-live PROVIDER={provider}"
    return None


def main(arguments: list[str]) -> int:
    """Exit code 2 without a provider or its key, else that of pytest."""
    provider = arguments[0] if arguments else ""
    missing = problem(provider, os.environ)
    if missing is not None:
        print(missing, file=sys.stderr)
        return 2
    # pytest takes seconds to import, which a message about a key should not.
    import pytest

    os.environ["CITEWELL_LIVE_PROVIDER"] = provider
    return pytest.main([str(Path(__file__).parent), "-n", "0", "-p", "no:cacheprovider", *arguments[1:]])


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
