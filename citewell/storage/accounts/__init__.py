"""Owners and people: accounts, sessions, members, service accounts, the audit log, and export and erasure."""
