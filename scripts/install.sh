#!/usr/bin/env bash
# Installs pinned, hashed requirements and the project itself: install.sh VENV REQUIREMENTS… (uv if it is there, pip otherwise).
set -euo pipefail
venv=$1
shift
python=$venv/bin/python
arguments=()
for file in "$@"; do
    arguments+=(-r "$file")
done

with_uv() {
    command -v uv >/dev/null &&
        uv pip install --quiet --python "$python" --require-hashes "${arguments[@]}" &&
        uv pip install --quiet --python "$python" --no-deps --no-build-isolation --editable .
}

with_pip() {
    "$python" -m pip --version >/dev/null 2>&1 || "$python" -m ensurepip --upgrade >/dev/null
    "$python" -m pip install --quiet --disable-pip-version-check --require-hashes "${arguments[@]}"
    "$python" -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation --editable .
}

echo "Installing $*"
with_uv || with_pip
