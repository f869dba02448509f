"""Profiles: residue frequencies of a family at each position of a sequence, read from files or built by search."""
