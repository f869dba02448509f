"""A study's configuration, its methods, and what can be checked before any job."""
