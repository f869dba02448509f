"""Data sets: units, their tasks and labels, encoded once and kept in one folder.

`dataset` is the data set on disk, `making` turns a study's entry into one: `entries` reads FASTA, tables and
simulated data, `public` finds public data sets by name and `adapters` reads their formats, `label_sources`
finds the labels, `families` sets the tasks of the Liao-Noble protocol, `site_windows` cuts windows around sites,
`residue_units` around residues.
"""

from seqkern.datasets.dataset import KINDS, Dataset, Task, load_dataset, save_dataset, summary
from seqkern.datasets.families import liao_noble
from seqkern.datasets.label_sources import check_options
from seqkern.datasets.making import check_entry_profiles, check_files, entry_files, entry_kind, make_dataset
from seqkern.datasets.residue_units import check_entry_residues, is_residue_entry
from seqkern.datasets.site_windows import entry_window

__all__ = [
    "KINDS",
    "Dataset",
    "Task",
    "check_entry_profiles",
    "check_entry_residues",
    "check_files",
    "check_options",
    "entry_files",
    "entry_kind",
    "entry_window",
    "is_residue_entry",
    "liao_noble",
    "load_dataset",
    "make_dataset",
    "save_dataset",
    "summary",
]
