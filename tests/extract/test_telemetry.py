"""Libraries that would report their use to their makers are told not to, before they are imported."""

from __future__ import annotations

import os
import subprocess
import sys


def test_onnx_runtime_finds_its_telemetry_off_whatever_the_environment_says() -> None:
    code = "import citewell, os, onnxruntime; print(os.environ['ORT_DISABLE_TELEMETRY'])"
    environment = {**os.environ, "ORT_DISABLE_TELEMETRY": "0"}
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, env=environment)
    assert done.stdout.strip() == "1"
