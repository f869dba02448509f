"""Explanations of a model's decisions: contributions of residues, weights of k-mers, prediction profiles.

`explanation.py` computes contributions, `kmer_table.py` collects the k-mers, `profile.py` draws a profile, `page.py`
writes the page, and `files.py` everything into one folder. The importance of positions in windows is computed by
`poim.py`, stored by `positions.py`, drawn by `logo.py` and `heatmap.py`, and shown by `positions_page.py`. The calls::

    seqkern explain ─▶ files ─▶ Explainer ─▶ affine form ─▶ kernel's attributions, weights of k-mers
                         └────▶ profile, page ─▶ positions_page ─▶ logo, heatmap
    seqkern importance ─▶ positions ─▶ poim ─▶ affine form;   report ─▶ positions_page
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
