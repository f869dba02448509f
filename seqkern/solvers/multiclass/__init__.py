"""Several classes: by two-class solvers (`pairwise`, `one_against_rest`, `binary_tree`) or at once."""
