"""Profile hidden Markov models, read or built, and the gradients of their likelihood."""
