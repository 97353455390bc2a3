"""From a query to hits: legs, fusion, feedback, context; and how well it does."""
