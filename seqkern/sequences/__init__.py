"""Sequences as integer codes: alphabets, FASTA, streaming, tracks, views, windows, labels, tables."""
