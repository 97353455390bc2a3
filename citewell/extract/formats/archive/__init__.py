"""Archives, whose members become separate files."""
