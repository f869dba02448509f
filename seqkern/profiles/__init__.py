"""Profiles: which residues a family has at each position of a sequence; read from files, or built by search."""
