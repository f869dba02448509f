"""What every package uses: errors, parameters, registries, text and array files, progress, memory, threads."""
