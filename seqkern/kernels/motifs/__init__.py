"""Motifs: their notations, and the automata that find them."""
