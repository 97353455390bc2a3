"""What readers share: where they write, text and containers opened safely, pictures, cells of tables."""
