"""Small input files of the package: constants, published tables, the registry of public data sets."""
