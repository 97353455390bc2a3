"""Reads a message by rules: small talk or a question, what it refers to, and the kind of answer it asks for."""
