#!/usr/bin/env bash
# Builds the wheels and source distributions of both packages, with the built page inside: dist.sh VENV FOLDER
set -euo pipefail
python=$(cd "$1/bin" && pwd)/python
mkdir -p "$2"
folder=$(cd "$2" && pwd)
"$python" -m hatchling build -t sdist -t wheel -d "$folder"
(cd multilingual && "$python" -m hatchling build -t sdist -t wheel -d "$folder")
