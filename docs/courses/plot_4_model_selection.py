r"""
4. Model selection and its bias
===============================

A score is an estimate for new data only if the test data took no part in learning. Choosing parameters and features
is learning. This notebook shows how large the error is otherwise, on labels that are pure chance: the true AUC is
0.5.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.model_selection import StratifiedKFold

from seqkern.evaluation import roc_auc
from seqkern.kernels import SpectrumKernel, WeightedDegreeKernel
from seqkern.simulate import simulate
from seqkern.solvers import CSVC

# %%
# Features selected on all data
# -----------------------------
#
# 50 samples with 2,000 random features and random labels. The 20 features that correlate best with the labels are
# selected: once on all samples, once inside each training set.


def cross_validated(X, y, inside, seed):
    """Return the mean AUC over five folds, with features selected inside or outside of them."""
    areas = []
    chosen = best_features(X, y)
    for train, test in StratifiedKFold(5, shuffle=True, random_state=seed).split(X, y):
        columns = best_features(X[train], y[train]) if inside else chosen
        Z = X[:, columns]
        solver = CSVC(C=1.0).fit(Z[train] @ Z[train].T, y[train])
        areas.append(roc_auc(y[test], solver.decision_function(Z[test] @ Z[train].T)))
    return np.mean(areas)


def best_features(X, y):
    """Return the 20 columns that correlate best with the labels."""
    centred = y - y.mean()
    return np.argsort(-np.abs(centred @ (X - X.mean(axis=0))) / X.std(axis=0))[:20]


rng = np.random.default_rng(1)
draws = {True: [], False: []}
for seed in range(40):
    X, y = rng.normal(size=(50, 2000)), rng.permutation(np.repeat([0, 1], 25))
    for inside in draws:
        draws[inside].append(cross_validated(X, y, inside, seed))
figure, axes = plt.subplots(figsize=(6, 3), layout="constrained")
axes.hist([draws[True], draws[False]], bins=np.linspace(0, 1, 26), label=["inside the folds", "on all samples"])
axes.axvline(0.5, color="grey", linestyle=":")
axes.set(xlabel="cross-validated AUC on labels without signal", ylabel="draws")
axes.legend(frameon=False)
print({"inside" if inside else "outside": round(float(np.mean(values)), 2) for inside, values in draws.items()})

# %%
# Parameters chosen by the test score
# -----------------------------------
#
# The best of many candidates looks good by luck. Here 30 sequences with shuffled labels, and the best of 1 to 40
# candidates:

data = simulate("donor", seed=1, n_positive=100, n_decoy=100).sequences
grid = [
    (kernel(data), C)
    for kernel in [*map(SpectrumKernel, range(1, 6)), *map(WeightedDegreeKernel, range(1, 6))]
    for C in (0.1, 1, 10, 100)
]
best = np.zeros((30, len(grid)))
for draw in range(30):
    order = rng.permutation(200)
    train, test = order[:60], order[60:90]
    y = rng.permutation(np.repeat([0, 1], 100))
    scores = [
        roc_auc(y[test], CSVC(C=C).fit(K[np.ix_(train, train)], y[train]).decision_function(K[np.ix_(test, train)]))
        for K, C in grid
    ]
    best[draw] = np.maximum.accumulate(rng.permutation(scores))
figure, axes = plt.subplots(figsize=(6, 3), layout="constrained")
axes.plot(range(1, len(grid) + 1), best.mean(axis=0))
axes.set(xlabel="number of candidates", ylabel="AUC of the best on the test set", ylim=(0.4, 0.8))
axes.axhline(0.5, color="grey", linestyle=":")

# %%
# Nested cross-validation
# -----------------------
#
# The remedy: choose in an inner loop on the training set, and use the test set once. ``seqkern evaluate`` and
# each study do this. In scikit-learn's terms, a ``GridSearchCV`` inside ``cross_val_score``.
#
# Exercises
# ---------
#
# 1. Increase the number of samples from 50 to 500 in the first experiment. What happens to the bias?
# 2. Write the nested loop for the second experiment and show that its mean AUC is 0.5.
# 3. Why is leave-one-out misleading for AUCs of pooled decisions? (See the page on tests of significance.)
