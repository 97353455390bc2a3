"""From a query to hits: legs, fusion, feedback and context; and evaluation of the result."""
