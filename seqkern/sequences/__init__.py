"""Sequences as integer codes: alphabets, FASTA, streaming, tracks, windows, labels, tables."""
