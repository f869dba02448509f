"""Motifs: notations, and the automata that search for them."""
