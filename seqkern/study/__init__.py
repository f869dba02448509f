"""A study: its configuration as typed objects, created and checked once.

`Study.load` reads a YAML file, `Study.parse` a mapping; their errors give the file, line and key of what is wrong,
and the nearest known name. The result is all that rules, verbs and the report know of a configuration::

    YAML ─▶ schema ─▶ KernelEntry, SolverEntry, DatasetEntry, … ─▶ checks of one entry against another ─▶ Study

`study` is the whole; `kernel_entries`, `solver_entries`, `dataset_entries` and `settings` are its parts, `methods` what
runs on a data set; `checks` and `feasible` find problems before any job starts, `stored_grams` lists the stored Gram
matrices, `places` and `schema` create the messages, `failures` explains failed jobs. A job with one kernel or solver on
its command line builds the same entry.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
