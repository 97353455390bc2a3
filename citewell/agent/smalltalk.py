"""Short replies to small talk, when no chat model writes them."""

from __future__ import annotations

from citewell.agent.intent import Intent, SmallTalk

_REPLIES: dict[SmallTalk, str] = {
    SmallTalk.GREETING: "Hello! Ask me anything about your files.",
    SmallTalk.THANKS: "You're welcome! Ask away if there is more you want to know from your files.",
    SmallTalk.GOODBYE: "Goodbye! Your files are here whenever you need an answer from them.",
    SmallTalk.ACKNOWLEDGEMENT: "All right. What would you like to know from your files?",
    SmallTalk.ABOUT_ASSISTANT: (
        "I'm Citewell, a program that answers questions from your own files and shows the page, row or passage each answer "
        "rests on. Ask me about anything you have uploaded."
    ),
    SmallTalk.ENTERTAINMENT: "I'm better with facts from your files than with entertainment. What would you like to look up?",
    SmallTalk.MEANING_OF_LIFE: "That one is beyond your files and me. What would you like to look up instead?",
}


def reply(intent: Intent) -> str:
    """A fixed, short reply that fits the kind of small talk."""
    return _REPLIES[intent.small_talk or SmallTalk.ACKNOWLEDGEMENT]
