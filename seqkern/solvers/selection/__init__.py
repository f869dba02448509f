"""Feature selection before a solver: `selected` and its `selectors`."""
