"""Kernels for data that nobody has chosen a kernel for: ``--kernel auto``.

`traits_of` looks at the sequences, never at their labels; `portfolio` lists kernels that suit them. An inner loop then
chooses one of these on the training set (`seqkern.evaluation.halving`).
"""
