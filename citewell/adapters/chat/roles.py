"""Rewrites a conversation for templates that know only a user and an assistant, in turns: Gemma's, Mistral's and others."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, SystemMessage, ToolMessage

_LOOKED_UP = "I look that up."


def without_tool_messages(messages: Sequence[BaseMessage]) -> list[BaseMessage]:
    """Calls as words of the assistant, and their results as messages of the user."""
    return [_without_tools(message) for message in messages]


def in_turns(messages: Sequence[BaseMessage]) -> list[BaseMessage]:
    """The same, with the rules at the beginning of the user's first message, and neighbours of one role joined."""
    rules: list[Any] = [message.content for message in messages if isinstance(message, SystemMessage)]
    rest = [message for message in without_tool_messages(messages) if not isinstance(message, SystemMessage)]
    out: list[BaseMessage] = [HumanMessage(content) for content in rules]
    for message in rest:
        if out and out[-1].type == message.type:
            out[-1] = type(out[-1])(_joined(out[-1].content, message.content))
        else:
            out.append(message)
    return out


def _without_tools(message: BaseMessage) -> BaseMessage:
    if isinstance(message, ToolMessage):
        return HumanMessage(message.content)
    if isinstance(message, AIMessage) and message.tool_calls:
        return AIMessage(message.content or _LOOKED_UP)
    return message


def _joined(first: str | list[Any], second: str | list[Any]) -> str | list[Any]:
    if isinstance(first, str) and isinstance(second, str):
        return f"{first}\n\n{second}"
    return [*_parts(first), *_parts(second)]


def _parts(content: str | list[Any]) -> list[Any]:
    return [{"type": "text", "text": content}] if isinstance(content, str) else content
