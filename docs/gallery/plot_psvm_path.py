"""
Regularisation path of the P-SVM
================================

The P-SVM on explicit features, with C = ∞: as ε decreases, features enter one after the other. At the largest ε,
all weights are zero.
"""

import matplotlib.pyplot as plt
import numpy as np

from seqkern.kernels import SpectrumKernel
from seqkern.simulate import simulate
from seqkern.solvers import PSVC

data = simulate("donor", seed=1)
y = [label == "donor" for label in data.table["label"]]
kernel = SpectrumKernel(2, alphabet="dna", normalize=False).fit(data.sequences)
counts = kernel.features(data.sequences.take(np.arange(len(y)))).toarray()
names = kernel.features.names()

# %%
# ε is a share of the value above which all weights vanish.

shares = np.geomspace(1, 0.02, 25)
weights = np.zeros((len(shares), counts.shape[1]))
for i, epsilon in enumerate(shares):
    solver = PSVC(C=np.inf, epsilon=epsilon, kernel="features").fit(counts, y)
    weights[i, solver.support_] = solver.alpha_

figure, axes = plt.subplots(figsize=(7, 3.6), layout="constrained")
strongest = np.argsort(-np.abs(weights[-1]))[:6]
for column in range(counts.shape[1]):
    shown = column in strongest
    colour, name = (None, names[column]) if shown else ("lightgrey", None)
    axes.plot(shares, weights[:, column], color=colour, label=name)
axes.set_xscale("log")
axes.invert_xaxis()
axes.set(xlabel="ε / ε_max", ylabel="weight of the 2-mer")
axes.legend(ncols=2, frameon=False)
for i in (0, 6, 12, 24):
    print(f"ε = {shares[i]:.2f} ε_max: {np.count_nonzero(weights[i])} features")
