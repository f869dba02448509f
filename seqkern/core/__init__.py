"""What every package uses: errors, parameters, files, escaping."""
