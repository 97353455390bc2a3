"""Shared by Word and PowerPoint: the package of parts, pictures, charts, equations and embedded objects."""
