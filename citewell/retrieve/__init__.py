"""Turns a query into hits (legs, fusion, feedback, context), and evaluates the result."""
