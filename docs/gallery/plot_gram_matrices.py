"""
Gram matrices of kernels, side by side
======================================

Four kernels on the same windows: 30 decoys, then 30 donor splice sites. A kernel that separates the classes has a
bright block for the sites. Positional kernels see that the sites share bases at fixed positions; the spectrum and
mismatch kernels see it less clearly.
"""

import matplotlib.pyplot as plt
import numpy as np

from seqkern.kernels import GappedKmerKernel, MismatchKernel, SpectrumKernel, WeightedDegreeKernel
from seqkern.simulate import simulate

data = simulate("donor", seed=1, n_positive=30, n_decoy=30)
is_site = np.array([label == "donor" for label in data.table["label"]])
X = data.sequences.take(np.argsort(is_site, kind="stable"))

kernels = {
    "spectrum, k = 3": SpectrumKernel(3),
    "mismatch, k = 5, m = 1": MismatchKernel(k=5, m=1),
    "gapped k-mer, l = 8, k = 5": GappedKmerKernel(l=8, k=5),
    "weighted degree, d = 6": WeightedDegreeKernel(6),
}
figure, panels = plt.subplots(1, 4, figsize=(11, 3), layout="constrained")
for axes, (name, kernel) in zip(panels, kernels.items(), strict=True):
    K = kernel(X)
    np.fill_diagonal(K, np.nan)
    axes.imshow(K, cmap="viridis")
    axes.set_title(name, fontsize=10)
    axes.set(xticks=[], yticks=[])

# %%
# The mean similarity within the sites, in units of the mean similarity between classes:

is_site.sort()
for name, kernel in kernels.items():
    K = kernel(X)
    within = K[np.ix_(is_site, is_site)][~np.eye(is_site.sum(), dtype=bool)].mean()
    print(f"{name:28}{within / K[np.ix_(is_site, ~is_site)].mean():.2f}")
