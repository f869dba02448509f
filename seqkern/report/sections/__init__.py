"""Sections of a study's page, one for each module: each takes a `DatasetView` or the results, and returns HTML."""
