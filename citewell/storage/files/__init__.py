"""Files and what was read of them: rows, contents, metadata, filters, facets and the projects they are in."""
