"""Readers of videos."""
