#!/usr/bin/env bash
# Installs pinned, hashed requirements and the project itself, with its weights: install.sh VENV REQUIREMENTS… (uv if it is there, pip otherwise).
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
        uv pip install --quiet --python "$python" --no-deps --no-build-isolation --editable multilingual --editable .
}

with_pip() {
    "$python" -m pip --version >/dev/null 2>&1 || "$python" -m ensurepip --upgrade >/dev/null
    # Byte code is written on first import, as with uv: 80 MB less than compiling every module of every library.
    local pip=("$python" -m pip --quiet --quiet --disable-pip-version-check install --no-compile)
    "${pip[@]}" --require-hashes "${arguments[@]}"
    "${pip[@]}" --no-deps --no-build-isolation --editable multilingual --editable .
}

echo "Installing $* (a minute or two the first time)"
with_uv || with_pip
