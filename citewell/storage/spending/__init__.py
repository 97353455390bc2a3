"""What is spent and what may be: the usage ledger, quotas, and calls to providers."""
