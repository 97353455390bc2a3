"""A turn with a chat model: what it is asked and shown, and how its answers and tool calls are taken."""
