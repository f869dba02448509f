"""The marginal likelihood of Gaussian processes, by which solvers are fitted and kernel parameters chosen."""
