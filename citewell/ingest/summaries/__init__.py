"""Summaries of files: quoted from the text, computed from statistics, or written by a chat model."""
