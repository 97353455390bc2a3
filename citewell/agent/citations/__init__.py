"""Citations: `[n]` in growing and finished texts, the claims they are for, and whether the passages support those."""
