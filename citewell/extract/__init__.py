"""Text extraction: file type detection, the readers of all formats, and the sandbox that runs them."""
