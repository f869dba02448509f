"""Data sets: units, their tasks and labels, encoded once and kept in one folder.

`data_entry` is a study's entry, typed and checked; `dataset` the data set on disk, `making` turns the one into
the other: `entries` reads FASTA, tables and simulated data, `public` finds public data sets by name and `adapters`
reads their formats, `label_sources` finds the labels, `families` sets the tasks of the Liao-Noble protocol,
`site_windows` cuts windows around sites, `residue_units` around residues.
"""

from seqkern.datasets.data_entry import DataEntry
from seqkern.datasets.dataset import KINDS, Dataset, Task, load_dataset, save_dataset, summary
from seqkern.datasets.families import liao_noble
from seqkern.datasets.label_sources import check_options
from seqkern.datasets.making import make_dataset

__all__ = [
    "KINDS",
    "DataEntry",
    "Dataset",
    "Task",
    "check_options",
    "liao_noble",
    "load_dataset",
    "make_dataset",
    "save_dataset",
    "summary",
]
