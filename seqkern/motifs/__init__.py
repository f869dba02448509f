"""Motifs of a model: seqlets or k-mers, clustered, aligned and merged into matrices, and compared with known motifs.

`seqlets.py` finds the stretches of sequences that contribute most to decisions, `top_kmers.py` the k-mers of greatest
weight; `clusters.py` groups either; `discovery.py` makes motifs of the groups; `similarity.py` names the nearest known
motif; `files.py` writes MEME and TSV, `page.py` draws. The calls::

    seqkern motifs ─▶ discovery ─▶ seqlets or top_kmers ─▶ clusters;   similarity;   files, page
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
