"""From bytes to searchable: capture, extract, enrich, and the durable workflow that runs them."""
