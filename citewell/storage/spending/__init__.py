"""Spending and its limits: the usage ledger, quotas, and calls to providers."""
