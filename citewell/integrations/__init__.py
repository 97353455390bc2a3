"""Citewell as a part of other frameworks: each module needs its extra, `citewell[langchain]` or `citewell[llamaindex]`."""
