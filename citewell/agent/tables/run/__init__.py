"""Runs typed queries over all rows of a table, and turns what they find into passages that can be cited."""
