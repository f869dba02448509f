"""The command line: one verb for each stage."""
