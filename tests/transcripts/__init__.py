"""Runs each door to Citewell against its contract server, with the real library, and writes down what happened."""
