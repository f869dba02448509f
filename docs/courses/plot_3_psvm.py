r"""
3. P-SVM and feature selection
==============================

The potential support vector machine learns from any matrix :math:`K`. With its columns standardised to
:math:`\tilde K`, it solves

.. math::

   \min_\alpha\ \tfrac{1}{2}\,\alpha^\top \tilde K^\top \tilde K \alpha - y^\top \tilde K \alpha
   + \varepsilon \lVert\alpha\rVert_1, \qquad -C \le \alpha_j \le C

The columns with :math:`\alpha_j \ne 0` are the support features.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.linear_model import Lasso

from seqkern.solvers import PSVR

# %%
# A feature that correlates with nothing, and is needed
# ------------------------------------------------------
#
# The label is the sum of two features. The first is uncorrelated with it, so a filter by correlation discards it.
# Without it the label cannot be predicted.

f1, f2 = np.array([-2.0, 2, -2, 2]), np.array([3.0, -3, 1, -1])
t = f1 + f2
print("label", t, " correlations", np.corrcoef([f1, f2, t])[2, :2].round(3))
K = np.column_stack([f1, f2])
for epsilon in (3.0, 1.0, 0.5, 0.01):
    solver = PSVR(C=np.inf, epsilon=epsilon, epsilon_scale="absolute", kernel="features").fit(K, t)
    print(f"ε = {epsilon}: selected {[f'f{j + 1}' for j in solver.support_]}")

# %%
# A feature that correlates most, and is not needed
# --------------------------------------------------
#
# Here :math:`t = f_2 + f_3`, but :math:`f_1` has the largest correlation with t. It enters first; as ε → 0 its
# weight goes to zero and the other two go to :math:`1/\sqrt{2}`.

K = np.array([[0.0, 1, -1, 1], [-1, 1, 0, 0], [0, 0, -1, 1]]).T
t = K[:, 1] + K[:, 2]
print("correlations", np.corrcoef(np.vstack([K.T, t]))[3, :3].round(3))
epsilons = np.geomspace(3.9, 0.01, 60)
path = np.zeros((len(epsilons), 3))
for i, epsilon in enumerate(epsilons):
    solver = PSVR(C=np.inf, epsilon=epsilon, epsilon_scale="absolute", kernel="features").fit(K, t)
    path[i, solver.support_] = solver.alpha_
figure, axes = plt.subplots(figsize=(6, 3.2), layout="constrained")
axes.plot(epsilons, path, label=["f1", "f2", "f3"])
axes.set(xscale="log", xlabel="ε", ylabel="α")
axes.invert_xaxis()
axes.legend(frameon=False)
print("ε = 0.01:", path[-1].round(4))

# %%
# With C = ∞ it is the lasso
# --------------------------
#
# scikit-learn's ``Lasso`` on the standardised columns, with the penalty ε/l for l samples, gives the same weights:

scaled = (K - K.mean(axis=0)) / K.std(axis=0)
lasso = Lasso(alpha=0.01 / len(t), fit_intercept=False, tol=1e-10, max_iter=100_000).fit(scaled, t)
print(lasso.coef_.round(4))

# %%
# Many features, few samples
# --------------------------
#
# 60 samples of 500 features, five of which carry the label. ε decides how many are selected.

rng = np.random.default_rng(2)
X = rng.normal(size=(60, 500))
label = np.sign(X[:, :5].sum(axis=1) + rng.normal(scale=0.5, size=60))
found, extra, shares = [], [], np.linspace(0.95, 0.1, 18)
for share in shares:
    solver = PSVR(C=np.inf, epsilon=share, kernel="features").fit(X, label)
    found.append(np.sum(solver.support_ < 5))
    extra.append(np.sum(solver.support_ >= 5))
figure, axes = plt.subplots(figsize=(6, 3.2), layout="constrained")
axes.plot(shares, found, "o-", label="of the five true features")
axes.plot(shares, extra, "o-", label="of the 495 others")
axes.set(xlabel="ε / ε_max", ylabel="selected")
axes.invert_xaxis()
axes.legend(frameon=False)

# %%
# Exercises
# ---------
#
# 1. Show from the optimality conditions that all α are 0 for :math:`\varepsilon \ge \lVert\tilde K^\top
#    y\rVert_\infty`.
# 2. Below which ε is f1 selected in the first example? Find it numerically to three digits.
# 3. Duplicate a column of X. How does the P-SVM divide its weight?
