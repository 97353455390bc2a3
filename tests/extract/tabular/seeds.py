"""Small valid data files, archives and pictures of each format: raw material of the fuzz tests, beside that of documents."""

from __future__ import annotations

import gzip
import io
import json
import tarfile
import tempfile
import zipfile
from pathlib import Path

import duckdb
from PIL import Image

from tests.extract.tabular.workbooks import grid, ods, sheet_of, xlsb

TABLE: list[list[str | float]] = [
    ["Region", "Units", "Day"],
    ["North", 10.0, "2024-02-29"],
    ["South", 20.5, "2024-03-01"],
]


def data_seeds() -> dict[str, bytes]:
    """A file per name; the extension tells the format."""
    with tempfile.TemporaryDirectory() as folder:
        base = Path(folder)
        made = [
            sheet_of(base / "a.xlsx", {"A1": "Quarterly sales", **grid(TABLE, top=3)}),
            ods(base / "a.ods", TABLE),
            xlsb(base / "a.xlsb", TABLE),
            _parquet(base / "a.parquet"),
        ]
        found = {path.name: path.read_bytes() for path in made}
    lines = "\n".join(",".join(map(str, row)) for row in TABLE)
    records = [dict(zip(map(str, TABLE[0]), row, strict=True)) | {"more": {"list": [1, 2]}} for row in TABLE[1:]]
    return found | {
        "a.csv": (lines + '\n"East ""x""\nof it",5,\n').encode(),
        "a.tsv": lines.replace(",", "\t").encode("utf-16"),
        "a.json": json.dumps({"title": "Sales", "rows": records}).encode(),
        "a.ndjson": "\n".join(json.dumps(record) for record in records).encode(),
        "a.zip": _zip(),
        "a.tar": _tar(),
        "a.gz": gzip.compress(b"Some text.\n" * 20),
        "a.png": _picture("PNG"),
        "a.tif": _picture("TIFF"),
        "a.jpg": _picture("JPEG"),
    }


def _parquet(path: Path) -> Path:
    with duckdb.connect() as connection:
        query = (
            "SELECT i AS n, 'v' || i AS v, DATE '2024-01-01' + i::INTEGER AS day, [i] AS list FROM range(20) AS t(i)"
        )
        connection.execute(f"COPY ({query}) TO '{path}' (FORMAT parquet)")
    return path


def _zip() -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as out:
        out.writestr("notes/a.txt", "Some text.")
        out.writestr("b.csv", "k,v\nx,1\n")
    return buffer.getvalue()


def _tar() -> bytes:
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w") as out:
        info = tarfile.TarInfo("a.txt")
        info.size = 10
        out.addfile(info, io.BytesIO(b"Some text."))
    return buffer.getvalue()


def _picture(kind: str) -> bytes:
    buffer = io.BytesIO()
    Image.linear_gradient("L").resize((40, 30)).convert("RGB").save(buffer, kind)
    return buffer.getvalue()
