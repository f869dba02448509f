"""Support vector machines: LIBSVM's on a Gram matrix, and our own without one (`linear`, `primal`)."""
