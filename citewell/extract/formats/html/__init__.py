"""HTML pages, and HTML inside other formats."""
