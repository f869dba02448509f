"""The engine of the P-SVM: how the columns of K are stored, the dual problem, and its minimisation.

`columns.py` says what the minimiser needs of a matrix K and holds dense ones; further ways to store one are
beside it.
"""
