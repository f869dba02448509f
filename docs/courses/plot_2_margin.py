r"""
2. SVM and margin on sequences
==============================

A support vector machine separates two classes by the hyperplane with the largest margin. It needs kernel values only.

.. math::

   \min_{w, b, \xi}\ \tfrac{1}{2} \lVert w\rVert^2 + C \sum_i \xi_i,\qquad y_i f(x_i) \ge 1 - \xi_i,\quad \xi_i \ge 0

with :math:`f(x) = \sum_i \alpha_i y_i K(x_i, x) + b`.
"""

import matplotlib.pyplot as plt
import numpy as np

from seqkern.kernels import SpectrumKernel, StringKernel, WeightedDegreeKernel
from seqkern.simulate import simulate
from seqkern.solvers import CSVC, KernelPCA

# %%
# Four words, hard margin
# -----------------------
#
# With C = ∞ no error is allowed. SAY and BAY against SAD and BAD are separable with 2-mers, and the margin is
# :math:`1/\lVert w\rVert = 1/\sqrt{2}`.

words = ["SAY", "BAY", "SAD", "BAD"]
K = SpectrumKernel(2, alphabet="ABDSY", normalize=False)(words)
y = np.array([1, 1, -1, -1])
solver = CSVC(C=np.inf).fit(K, y)
alpha_y, support = solver.dual_coef_, solver.support_  # α_i y_i of the support vectors
norm = np.sqrt(alpha_y @ K[np.ix_(support, support)] @ alpha_y)
print("decisions", solver.decision_function(K).round(6), "margin", round(1 / norm, 6))

# %%
# SAY and BAD against BAY and SAD are not separable with 2-mers: the sum of the feature vectors is the same in both
# classes. They are with subsequences of length 2 with gaps, since S..Y, B..Y, S..D and B..D are features of their
# own.

y = np.array([1, -1, -1, 1])
print("2-mers       ", CSVC(C=1.0).fit(K, y).decision_function(K).round(6))
S = StringKernel(2, decay=0.5, alphabet="ABDSY", normalize=False)(words)
print("subsequences ", CSVC(C=np.inf).fit(S, y).decision_function(S).round(6))

# %%
# Splice sites, soft margin
# -------------------------
#
# Real classes overlap. C is the price of an error: a small C gives a wide margin with many support vectors, a large
# C fits every sample.

data = simulate("donor", seed=1, n_positive=100, n_decoy=100)
new = simulate("donor", seed=2, n_positive=300, n_decoy=300)
y, y_new = ([label == "donor" for label in one.table["label"]] for one in (data, new))
kernel = WeightedDegreeKernel(6)
K, K_new = kernel(data.sequences), kernel(new.sequences, data.sequences)

costs = np.geomspace(0.01, 100, 13)
shares, train_accuracy, new_accuracy = [], [], []
for C in costs:
    solver = CSVC(C=C).fit(K, y)
    shares.append(len(solver.support_) / len(y))
    train_accuracy.append(np.mean(solver.predict(K) == y))
    new_accuracy.append(np.mean(solver.predict(K_new) == y_new))

figure, axes = plt.subplots(figsize=(6, 3.4), layout="constrained")
axes.plot(costs, shares, label="share of support vectors", color="grey")
axes.plot(costs, train_accuracy, label="accuracy on training windows")
axes.plot(costs, new_accuracy, label="accuracy on new windows")
axes.set(xscale="log", xlabel="C", ylim=(0, 1.02))
axes.legend(frameon=False)

# %%
# The data in the plane of the first two kernel principal components; support vectors (C = 1) are circled.

solver = CSVC(C=1.0).fit(K, y)
plane = KernelPCA(n_components=2).fit(K).transform(K)
figure, axes = plt.subplots(figsize=(5, 4), layout="constrained")
for value, name in ((True, "donor"), (False, "decoy")):
    axes.plot(*plane[np.array(y) == value].T, ".", label=name)
axes.plot(
    *plane[solver.support_].T,
    "o",
    markerfacecolor="none",
    color="black",
    markersize=8,
    linewidth=0.5,
    label="support vector",
)
axes.set(xlabel="component 1", ylabel="component 2")
axes.legend(frameon=False)

# %%
# Exercises
# ---------
#
# 1. Why is the decision function unique where the multipliers α are not?
# 2. At which C does the accuracy on training windows reach 1? What does the accuracy on new windows do there?
# 3. Replace the kernel by ``SpectrumKernel(3)``. How does the share of support vectors change, and why?
