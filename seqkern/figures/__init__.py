"""Pictures that the report, `explain` and the command line share."""
