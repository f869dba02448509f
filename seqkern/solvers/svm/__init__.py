"""Support vector machines: LIBSVM on a Gram matrix, and our own without one (`linear`, `primal`)."""
