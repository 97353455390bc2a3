"""Readers of data files: spreadsheets, delimited text, JSON and Parquet, each into rows, statistics and exact copies."""
