"""Names of the bounds of the leave-one-out error, for modules that need no more than these."""

BOUNDS = ("span", "xi_alpha", "radius_margin")
"""In tables, and as metrics of the inner loop; see `seqkern.solvers.svm.leave_one_out`."""
