"""Feature selection ahead of a solver: `selected` and the `selectors` it chooses with."""
