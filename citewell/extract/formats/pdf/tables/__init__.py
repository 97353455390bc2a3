"""Tables of a page, found from ruling lines and from alignment."""
