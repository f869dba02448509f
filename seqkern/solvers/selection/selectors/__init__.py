"""Selectors of features: scikit-learn transformers that rate the columns of a feature matrix by the labels.

`base.py` holds the contract, `specs.py` the way from a config to a selector, `scaling.py` the preprocessing of
expression values, `selector_table.py` the names of the classes: `SELECTORS`.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
