"""Shared by the readers: output sink, safe access to text and containers, pictures, table cells."""
