"""Integrations with other frameworks. Each module needs its extra: `citewell[langchain]`, `citewell[llamaindex]` or `citewell[haystack]`."""
