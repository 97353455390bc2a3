"""One module or package for each format, or family of formats, that is read."""
