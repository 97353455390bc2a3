"""Makes uploaded files searchable: capture, extraction, indexing, and the durable workflow that runs them."""
