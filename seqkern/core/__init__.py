"""What every package uses: errors, declared parameters, specs, registries, text and array files, progress, threads."""
