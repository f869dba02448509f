"""Data sets: units, their tasks and labels, encoded once and kept in one folder.

`dataset` is the data set on disk, `making` turns a study's entry into one: `entries` reads FASTA, tables and
simulated data, `public` finds public data sets by name and `adapters` reads their formats, `label_sources`
finds the labels, `families` sets the tasks of the Liao-Noble protocol, `site_windows` cuts windows around sites,
`residue_units` around residues.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
