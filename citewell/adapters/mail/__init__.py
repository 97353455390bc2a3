"""Adapters that send mail."""
