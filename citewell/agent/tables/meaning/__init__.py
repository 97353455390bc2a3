"""What a question means of a table: what the model is shown, what it says of it, and the query that follows."""
