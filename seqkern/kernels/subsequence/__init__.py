"""String kernels of subsequences with gaps (Lodhi et al. 2002)."""
