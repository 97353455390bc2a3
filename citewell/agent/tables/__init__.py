"""Questions about data files: typed queries, run exactly over all rows, and the rules that make them from plain questions."""
