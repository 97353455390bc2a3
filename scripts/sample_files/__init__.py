"""The sample files: text, figures and layout of an invented lender's folder, one module per file."""
