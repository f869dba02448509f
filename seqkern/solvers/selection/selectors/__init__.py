"""Selectors of features: scikit-learn transformers that rate the columns of a feature matrix by the labels.

`selector.py` holds the contract, `selector_specs.py` makes a selector of a configuration, `scaling.py` prepares
expression values, `selector_table.py` has the names of the classes: `SELECTORS`.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
