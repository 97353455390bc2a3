"""A cross-encoder of a few ONNX operators: its logit is the number of tokens that query and text share, less four."""

from __future__ import annotations

import struct
from collections.abc import Sequence

LESS = 4.0
"""A text that shares nothing but [SEP] is below the usual threshold."""
_FLOAT, _INT64 = 1, 7
_INPUTS = ("input_ids", "token_type_ids", "attention_mask")


def overlap_model() -> bytes:
    """The model as `onnx.proto` has it, opset 13."""
    nodes = (
        ("Sub", ("attention_mask", "token_type_ids"), "asked", ()),
        ("Unsqueeze", ("input_ids", "last"), "down", ()),
        ("Unsqueeze", ("input_ids", "middle"), "across", ()),
        ("Equal", ("down", "across"), "same", ()),
        ("Cast", ("same",), "equal", (("to", _INT64),)),
        ("Unsqueeze", ("asked", "last"), "asked down", ()),
        ("Unsqueeze", ("token_type_ids", "middle"), "given across", ()),
        ("Mul", ("equal", "asked down"), "of query", ()),
        ("Mul", ("of query", "given across"), "shared", ()),
        ("ReduceSum", ("shared", "both"), "count", (("keepdims", 0),)),
        ("Cast", ("count",), "float", (("to", _FLOAT),)),
        ("Sub", ("float", "less"), "score", ()),
        ("Unsqueeze", ("score", "middle"), "logits", ()),
    )
    constants = (
        _integers("middle", [1]),
        _integers("last", [2]),
        _integers("both", [1, 2]),
        _message(_number(2, _FLOAT), _bytes(8, b"less"), _bytes(9, struct.pack("<f", LESS))),
    )
    graph = _message(
        *(_bytes(1, _node(*node)) for node in nodes),
        _bytes(2, b"overlap"),
        *(_bytes(5, constant) for constant in constants),
        *(_bytes(11, _value(name, _INT64, ("texts", "tokens"))) for name in _INPUTS),
        _bytes(12, _value("logits", _FLOAT, ("texts", 1))),
    )
    return _message(_number(1, 8), _bytes(7, graph), _bytes(8, _message(_bytes(1, b""), _number(2, 13))))


def _node(kind: str, inputs: Sequence[str], output: str, attributes: Sequence[tuple[str, int]]) -> bytes:
    return _message(
        *(_bytes(1, name.encode()) for name in inputs),
        _bytes(2, output.encode()),
        _bytes(4, kind.encode()),
        *(
            _bytes(5, _message(_bytes(1, name.encode()), _number(3, value), _number(20, 2)))
            for name, value in attributes
        ),
    )


def _integers(name: str, values: Sequence[int]) -> bytes:
    content = struct.pack(f"<{len(values)}q", *values)
    return _message(_number(1, len(values)), _number(2, _INT64), _bytes(8, name.encode()), _bytes(9, content))


def _value(name: str, kind: int, shape: Sequence[str | int]) -> bytes:
    dimensions = [_bytes(2, one.encode()) if isinstance(one, str) else _number(1, one) for one in shape]
    tensor = _message(_number(1, kind), _bytes(2, _message(*(_bytes(1, one) for one in dimensions))))
    return _message(_bytes(1, name.encode()), _bytes(2, _message(_bytes(1, tensor))))


def _message(*fields: bytes) -> bytes:
    return b"".join(fields)


def _number(field: int, value: int) -> bytes:
    return _varint(field << 3) + _varint(value)


def _bytes(field: int, content: bytes) -> bytes:
    return _varint(field << 3 | 2) + _varint(len(content)) + content


def _varint(value: int) -> bytes:
    written = bytearray()
    while value > 0x7F:
        written.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes([*written, value])
