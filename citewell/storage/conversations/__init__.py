"""Conversation threads, quotations, and links to single answers."""
