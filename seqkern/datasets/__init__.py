"""Data sets: samples, their tasks and labels, encoded once and stored in one folder.

`data_entry` is a study's entry, typed and checked; `dataset` is the data set on disk; `making` turns an entry into a
data set: `entries` reads FASTA, tables and simulated data, `public` finds public data sets by name and `adapters`
reads their formats, `label_sources` finds the labels, `families` sets the tasks of the Liao-Noble protocol,
`task_table` reads tasks from a table, `views` adds vectors from files; `site_windows` cuts windows around sites,
`residue_samples` around residues.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
