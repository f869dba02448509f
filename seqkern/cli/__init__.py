"""The command line: one verb for one stage."""
