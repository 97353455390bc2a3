"""Citewell: answers from your own files that show exactly where they stand."""
