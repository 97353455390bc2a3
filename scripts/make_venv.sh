#!/usr/bin/env bash
# Creates a virtual environment with pip in it: make_venv.sh FOLDER. Needs Python 3.11 or later.
set -euo pipefail
folder=$1

find_python() {
    for candidate in ${PYTHON:-} python3.11 python3.12 python3.13 python3 python; do
        if "$candidate" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; then
            echo "$candidate"
            return
        fi
    done
    echo "Citewell needs Python 3.11 or later; none was found. On Debian: apt-get install python3 python3-venv" >&2
    exit 1
}

python=$(find_python)
echo "Creating $folder with $("$python" --version)"
if "$python" -m venv "$folder" 2>/dev/null; then
    exit 0
fi
rm -rf "$folder"
if command -v uv >/dev/null; then
    uv venv --quiet --seed --python "$python" "$folder"
elif [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; then
    # Debian packs venv apart from Python.
    apt-get update -qq
    DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends python3-venv
    "$python" -m venv "$folder"
else
    echo "This Python cannot create virtual environments. On Debian: sudo apt-get install python3-venv" >&2
    exit 1
fi
