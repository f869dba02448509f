"""Feature selectors: scikit-learn transformers that score the columns of a feature matrix by the labels.

`selector.py` is the contract, `selector_specs.py` builds selectors from configurations, `scaling.py` prepares
expression values, `selector_table.py` lists the classes in `SELECTORS`.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
