"""The engine of the P-SVM: how the columns of K are stored, the dual problem, and its minimisation.

`columns.py` says what the minimiser needs of a matrix K and holds dense ones; further ways to store one are
beside it: `columns_sparse.py`, `columns_mapped.py` (with `matrix_file.py`) and `columns_operator.py`; `storage.py`
tells which a given K takes. `dual.py` is the problem with its conditions and gap, `minimiser.py` the loop over all
variables, with warm starts and shrinking, and `working_set.py` (with its compiled twin `_descent.pyx`) how the
variables that matter move.
"""
