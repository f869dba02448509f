"""Multi-class solvers: by binary solvers (`pairwise`, `one_against_rest`, `binary_tree`) or directly."""
