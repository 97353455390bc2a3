"""Archives: members become files of their own."""
