"""
Nyström's approximation: accuracy against the number of landmarks
=================================================================

Nyström's method replaces a kernel by explicit features, computed from its values on some landmarks. More landmarks
come closer to the kernel, at a higher cost. Here: the error of the matrix, and the AUC on new windows.
"""

import matplotlib.pyplot as plt
import numpy as np

from seqkern.evaluation import roc_auc
from seqkern.kernels import NystroemKernel, WeightedDegreeKernel
from seqkern.simulate import simulate
from seqkern.solvers import CSVC

train, test = (simulate("donor", seed=seed, n_positive=300, n_decoy=300) for seed in (1, 2))
y, y_test = ([label == "donor" for label in data.table["label"]] for data in (train, test))

base = WeightedDegreeKernel(6)
exact, exact_test = base(train.sequences), base(test.sequences, train.sequences)
best = roc_auc(y_test, CSVC().fit(exact, y).decision_function(exact_test))

sizes = [5, 10, 20, 50, 100, 200, 400, 600]
errors, areas = [], []
for size in sizes:
    kernel = NystroemKernel(base, n_components=size).fit(train.sequences)
    K = kernel(train.sequences)
    errors.append(np.linalg.norm(K - exact) / np.linalg.norm(exact))
    decisions = CSVC().fit(K, y).decision_function(kernel(test.sequences, train.sequences))
    areas.append(roc_auc(y_test, decisions))

figure, (left, right) = plt.subplots(1, 2, figsize=(8, 3.2), layout="constrained")
left.plot(sizes, errors, "o-")
left.set(xscale="log", xlabel="landmarks", ylabel="relative error of the matrix")
right.plot(sizes, areas, "o-", label="Nyström")
right.axhline(best, color="grey", linestyle=":", label="exact kernel")
right.set(xscale="log", xlabel="landmarks", ylabel="AUC on new windows")
right.legend(frameon=False)
plt.show()
