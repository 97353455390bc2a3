"""The prompts that MCP clients offer as commands."""

from __future__ import annotations

from dataclasses import dataclass

from mcp import MCPError, types

_CITE = (
    "After each statement, cite the passage it rests on by its label and link, such as [Loan Policy.pdf (p. 3)](url). "
    "If the files do not say it, say so; do not fill gaps from general knowledge."
)


@dataclass(frozen=True, slots=True)
class _Prompt:
    title: str
    description: str
    argument: str
    asks_for: str
    text: str


_PROMPTS = {
    "answer": _Prompt(
        "Answer from my files",
        "Answers a question from your files, with a link to the exact place after each statement.",
        "question",
        "What you want to know",
        "Answer this question from my files: {given}\n\nSearch with citewell_search_files, more than once if the first passages do not "
        "answer it; compute figures from spreadsheets with citewell_query_table. ",
    ),
    "summarize": _Prompt(
        "Summarize a file",
        "Summarizes one file, with a link to the exact place after each statement.",
        "file",
        "The file's name",
        "Summarize my file {given}.\n\nFind its id with citewell_list_resources, and read it page by page with citewell_read_resource. ",
    ),
    "check": _Prompt(
        "Check a statement",
        "Checks a statement against your files: supported, contradicted, or not mentioned.",
        "statement",
        "What is to be checked",
        "Check this statement against my files: {given}\n\nLook with citewell_search_files for passages that support it and for passages "
        "that contradict it. Say which of the two you found, or that there is neither, and quote the decisive words. ",
    ),
}


def listed() -> list[types.Prompt]:
    """All prompts, each with its one argument."""
    return [
        types.Prompt(
            name=name,
            title=one.title,
            description=one.description,
            arguments=[types.PromptArgument(name=one.argument, description=one.asks_for, required=True)],
        )
        for name, one in _PROMPTS.items()
    ]


def filled(name: str, arguments: dict[str, str]) -> types.GetPromptResult:
    """A prompt with its argument. Raises `MCPError` for an unknown prompt, or if the argument is missing."""
    if name not in _PROMPTS:
        raise MCPError(types.INVALID_PARAMS, f"Unknown prompt: {name}")
    prompt = _PROMPTS[name]
    given = arguments.get(prompt.argument, "").strip()
    if not given:
        raise MCPError(types.INVALID_PARAMS, f"The prompt {name} needs the argument {prompt.argument}.")
    content = types.TextContent(type="text", text=prompt.text.format(given=given) + _CITE)
    return types.GetPromptResult(
        description=prompt.description, messages=[types.PromptMessage(role="user", content=content)]
    )
