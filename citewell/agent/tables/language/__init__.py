"""From a plain question to a typed query, and from its result to a worded answer."""
