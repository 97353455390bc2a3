"""Small talk: its kinds, and the reply to each when no chat model writes one.

Everything that is not one of these kinds is looked up, jokes and facts included: the files may hold them.
"""

from __future__ import annotations

from enum import StrEnum


class SmallTalk(StrEnum):
    """Kinds of small talk; each has a reply of its own."""

    GREETING = "greeting"
    THANKS = "thanks"
    GOODBYE = "goodbye"
    ACKNOWLEDGEMENT = "acknowledgement"
    FEEDBACK = "feedback"
    ABOUT_ASSISTANT = "about_assistant"


_REPLIES: dict[SmallTalk, str] = {
    SmallTalk.GREETING: "Hello! Ask me anything about your files.",
    SmallTalk.THANKS: "You're welcome! Ask away if there is more you want to know from your files.",
    SmallTalk.GOODBYE: "Goodbye! Your files are here whenever you need an answer from them.",
    SmallTalk.ACKNOWLEDGEMENT: "All right. What would you like to know from your files?",
    SmallTalk.FEEDBACK: (
        "Thank you for telling me. Ask again in other words, or name the file you mean, and I'll look again. "
        "What would you like to know?"
    ),
    SmallTalk.ABOUT_ASSISTANT: (
        "I'm Citewell, a program that answers questions from your own files and shows the page, row or passage each answer "
        "rests on. Ask me for a fact, a figure from a table, a chart, a summary, every deadline in a file, or which of your files "
        "mention something."
    ),
}


def reply(kind: SmallTalk | None) -> str:
    """A fixed, short reply that fits the kind of small talk."""
    return _REPLIES[kind or SmallTalk.ACKNOWLEDGEMENT]


def is_reply(text: str) -> bool:
    """Whether an assistant's message is one of the fixed replies."""
    return text.strip() in _REPLIES.values()
