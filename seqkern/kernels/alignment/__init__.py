"""Alignments of many pairs at once, in vector lanes, and the scores that they are made of."""
