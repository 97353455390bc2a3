"""What a file is about: quoted from it, computed from its statistics, or written by a chat model."""
