"""Training on products with the kernel matrix, without the matrix."""
