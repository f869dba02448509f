"""Support vector machines: LIBSVM on a Gram matrix, and our own solvers without one (`linear`, `primal`)."""
