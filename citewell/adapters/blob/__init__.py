"""Where bytes are kept: a local folder, or an object store."""
