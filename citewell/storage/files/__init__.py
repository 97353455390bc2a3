"""Files and their extracted data: rows, contents, metadata, filters, facets and projects."""
