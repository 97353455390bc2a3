"""The filter language: its fields, operators and semantics."""
