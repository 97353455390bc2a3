"""Integrations with other frameworks. Each module needs its extra, `citewell[langchain]` or `citewell[llamaindex]`."""
