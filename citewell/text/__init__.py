"""Text analysis: sentences, tokens, languages, index terms. Pure; no model, no I/O."""
