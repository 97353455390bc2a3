"""Files of models as Hugging Face's hub has them, made of the built-in model, and a server of the hub that has them."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

from citewell.adapters.embedder.builtin_model import MODEL_FOLDER
from tests.adapters.reranker.overlap import overlap_model
from tests.contract_servers.hub import HubServer

EMBEDDER, RERANKER = "BAAI/bge-small-en-v1.5", "Xenova/ms-marco-MiniLM-L-6-v2"
SOURCE = "Qdrant/bge-small-en-v1.5-onnx-Q"
"""Where fastembed takes the embedder from."""
MAX_TOKENS = 256


def write_tokenizer(folder: Path) -> None:
    """The built-in model's tokenizer, and the JSON files beside it as the hub has them."""
    folder.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(MODEL_FOLDER / "tokenizer.json", folder / "tokenizer.json")
    for name, content in {
        "config.json": {"pad_token_id": 0},
        "tokenizer_config.json": {"model_max_length": MAX_TOKENS, "pad_token": "[PAD]"},
        "special_tokens_map.json": {"pad_token": "[PAD]"},
    }.items():
        (folder / name).write_text(json.dumps(content))


def write_embedder(folder: Path, model_file: str = "model.onnx") -> Path:
    """The built-in model, whose graph pools by itself."""
    write_tokenizer(folder)
    shutil.copyfile(MODEL_FOLDER / "model.onnx", folder / model_file)
    return folder


def write_reranker(folder: Path, model_file: str = "model.onnx") -> Path:
    """A cross-encoder that counts the words that two texts share."""
    write_tokenizer(folder)
    path = folder / model_file
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(overlap_model())
    return folder


def hub_of_both(folder: Path) -> HubServer:
    """A hub with both usual models of fastembed, with other graphs in their files."""
    return HubServer(
        {
            SOURCE: write_embedder(folder / "embedder", "model_optimized.onnx"),
            RERANKER: write_reranker(folder / "reranker", "onnx/model.onnx"),
        }
    )
