"""Video readers."""
