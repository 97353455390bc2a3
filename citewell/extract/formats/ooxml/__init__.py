"""What Word and PowerPoint files share: the package of parts, pictures, charts, equations and embedded objects."""
