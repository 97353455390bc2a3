#!/usr/bin/env bash
# Pins requirements/*.txt with hashes from pyproject.toml; keeps existing pins unless UPGRADE=1.
set -euo pipefail
uv=$(command -v uv || true)
if [ -z "$uv" ]; then
    .venv/bin/python -m pip install --quiet uv
    uv=.venv/bin/uv
fi

pin() {
    "$uv" pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-emit-index-url --no-header \
        --no-annotate --no-emit-package citewell-multilingual ${UPGRADE:+--upgrade} "${@:2}" --output-file "requirements/$1.txt" >/dev/null
    echo "requirements/$1.txt: $(grep -c '==' "requirements/$1.txt") packages"
}

pin base pyproject.toml
pin build --group pyproject.toml:build
pin node --group pyproject.toml:node
# Tests run against the pinned base, with every vendor's SDK.
pin dev pyproject.toml --all-extras --group pyproject.toml:dev --constraint requirements/base.txt
# What the container has: the server's libraries, and those of the stores and vendors that its settings may name.
pin server pyproject.toml --extra postgres --extra pgvector --extra qdrant --extra s3 --extra gcs --extra azure --extra openai --extra anthropic \
    --extra telegram --extra airtable --extra video \
    --constraint requirements/dev.txt
# The documentation site and mutation tests are built in the same environment, when they are asked for.
pin docs --group pyproject.toml:docs --constraint requirements/dev.txt
pin mutation --group pyproject.toml:mutation --constraint requirements/dev.txt
