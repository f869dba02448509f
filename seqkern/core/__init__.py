"""Shared by all packages: errors, declared parameters, specs, registries, text and array files, progress, threads."""
