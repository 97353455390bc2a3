"""Tables of a page, found by ruling lines and by alignment."""
