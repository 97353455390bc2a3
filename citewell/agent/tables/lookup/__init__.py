"""Looks up lines of tables on pages (PDF, DOCX, HTML): row label by column header, and the simple figures made of such cells."""
