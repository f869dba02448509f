"""A study: its configuration as typed objects, made and checked once.

`Study.load` reads a YAML file, `Study.parse` a mapping; both name file, line and place of what does not fit, and the
nearest known name. What they return is all that rules, verbs and the report know of a configuration::

    YAML ─▶ schema ─▶ KernelEntry, SolverEntry, DatasetEntry, … ─▶ checks of one entry against another ─▶ Study

`study` is the whole; `kernel_entries`, `solver_entries`, `dataset_entries` and `settings` are its parts, `methods` what
runs on a data set; `checks` and `feasible` find before any job what would stop one, `stored_grams` tells which Gram
matrices are kept, `places` and `schema` make the messages. A job that is given one kernel or solver on its command line
builds the same entry.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
