"""Genes of a chromosome: the best path through an exon–intron grammar, with weights learned from annotated genes."""
