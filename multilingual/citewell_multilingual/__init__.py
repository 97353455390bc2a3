"""The weights of the model that reads questions, passages and tables. `citewell.adapters.reader` runs it."""

from pathlib import Path

FOLDER = Path(__file__).resolve().parent
"""Where `manifest.json` and the files that it names are."""
