"""Image files and their metadata."""
