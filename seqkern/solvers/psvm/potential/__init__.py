"""The engine of the P-SVM: storage of the columns of K, the dual problem, and its minimisation.

`columns.py` defines what the minimiser needs of a matrix K, and stores dense ones; `columns_sparse.py`,
`columns_mapped.py` and `columns_operator.py` are other storages, and `storage.py` chooses one for a given K. `dual.py`
is the problem with its conditions and gap, `minimiser.py` the loop over all variables, with warm starts and shrinking,
and `working_set.py` (with its compiled twin `_descent.pyx`) the moves of the active variables.
"""
