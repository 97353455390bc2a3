"""The typed query and its compiler to SQL."""
