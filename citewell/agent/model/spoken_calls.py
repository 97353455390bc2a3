"""Tool calls that a model writes as text, in the forms that local servers let through: they are run or dropped, never shown.

The forms are those of the models' own templates: JSON alone, in a fence or between tags (Hermes, Qwen, Mistral, Llama 3), functions
with attributes (Llama 3.1) and Python calls (Llama 3.2, Gemma).
"""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Iterator, Sequence
from contextlib import suppress
from typing import Any

from citewell.ports import ToolCall
from citewell.types import JsonObject

MAX_HELD = 2_000
"""Characters of what may be a call that are held back; a call of ours is shorter."""
_UNDECIDED = 200  # characters within which a call names its tool
_BEGINS = re.compile(r"(?m)^[ \t]*(?:[{\[<`]|\w*_\w*\()")
_ARGUMENTS = ("arguments", "parameters", "args", "input")
_FUNCTION_TAG = re.compile(r"<function[=\s]+[\"']?(?P<name>\w+)[\"']?\s*>?\s*(?P<rest>\{.*)", re.S)
_BRACES = re.compile(r"\{\{(.*)\}\}", re.S)


class SpokenCalls:
    """Reads a streamed answer, and lets through what cannot be a call of one of these tools."""

    def __init__(self, names: Sequence[str]) -> None:
        self._named = re.compile(r"\b(?:" + "|".join(map(re.escape, names)) + r")\b") if names else None
        self._names = frozenset(names)
        self._held = ""
        self._is_call = False
        self._said = ""

    def read(self, piece: str) -> str:
        """The text that may be shown, of this piece and of what was held back."""
        if self._named is None:
            return piece
        self._held += piece
        return "" if self._is_call else self._released(final=False)

    def finish(self) -> tuple[str, tuple[ToolCall, ...]]:
        """The rest of the text, and the calls that were written as text."""
        if self._named is None:
            return "", ()
        if not self._is_call:
            rest = self._released(final=True)
            if not self._is_call:
                return rest, ()
            return rest, tuple(self._calls())
        return "", tuple(self._calls())

    def _released(self, *, final: bool) -> str:
        assert self._named is not None
        named = self._named.search(self._held)
        begins = _BEGINS.search(self._held, 0, named.end() + 1) if named is not None else None
        if begins is not None:
            self._is_call = True
            shown, self._held = self._held[: begins.start()], self._held[begins.start() :]
            return shown
        found = _BEGINS.search(self._held)
        is_open = found is not None and not final and len(self._held) - found.start() < _UNDECIDED
        end = found.start() if found is not None and is_open else len(self._held)
        if not final:
            end = min(end, self._held.rfind("\n") + 1) if _begins_word(self._held) else end
        shown, self._held = self._held[:end], self._held[end:]
        return shown

    def _calls(self) -> Iterator[ToolCall]:
        for number, (name, arguments) in enumerate(_calls_in(self._held[:MAX_HELD], self._names), start=1):
            yield ToolCall(f"spoken-{number}", name, arguments)


def _begins_word(text: str) -> bool:
    """Whether the last line is one word so far, which may become the name of a function."""
    return bool(re.fullmatch(r"\s*\w*", text.rpartition("\n")[2]))


def _calls_in(text: str, names: frozenset[str]) -> Iterator[tuple[str, JsonObject]]:
    if tag := _FUNCTION_TAG.search(text):
        with suppress(ValueError):
            value, _ = json.JSONDecoder().raw_decode(tag["rest"])
            if tag["name"] in names and isinstance(value, dict):
                yield tag["name"], value
                return
    found = list(_as_json(text, names)) or list(_as_json(_BRACES.sub(r"{\1}", text), names))
    yield from found or _as_python(text, names)


def _as_json(text: str, names: frozenset[str]) -> Iterator[tuple[str, JsonObject]]:
    decoder, at = json.JSONDecoder(), 0
    while (start := text.find("{", at)) >= 0:
        try:
            value, end = decoder.raw_decode(text, start)
        except (ValueError, RecursionError):
            at = start + 1
            continue
        at = end
        if (call := _call_of(value, names)) is not None:
            yield call


def _call_of(value: Any, names: frozenset[str]) -> tuple[str, JsonObject] | None:
    """`{"name": …, "arguments": {…}}`, also within `function` or `tool_call`, and with the arguments as text."""
    if not isinstance(value, dict):
        return None
    inner = value.get("function") if isinstance(value.get("function"), dict) else value.get("tool_call")
    if isinstance(inner, dict):
        return _call_of(inner, names)
    name = next((value[key] for key in ("name", "function", "tool", "tool_name") if value.get(key) in names), None)
    arguments = next((value[key] for key in _ARGUMENTS if key in value), {})
    if isinstance(arguments, str):
        with suppress(ValueError):
            arguments = json.loads(arguments)
    return (name, arguments) if name is not None and isinstance(arguments, dict) else None


def _as_python(text: str, names: frozenset[str]) -> Iterator[tuple[str, JsonObject]]:
    """`search_user_files(query="…")`, alone or in a list."""
    for name in names:
        for found in re.finditer(rf"\b{re.escape(name)}\(", text):
            closes = (at for at, mark in enumerate(text[found.start() :], start=found.start()) if mark == ")")
            for close in closes:
                with suppress(SyntaxError, ValueError, RecursionError, MemoryError):
                    call = ast.parse(text[found.start() : close + 1], mode="eval").body
                    if isinstance(call, ast.Call):
                        values = {word.arg: ast.literal_eval(word.value) for word in call.keywords if word.arg}
                        if call.args and not values:
                            values = {"query": ast.literal_eval(call.args[0])}
                        yield name, values
                        break
