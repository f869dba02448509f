"""
ROC curves over folds
=====================

Five-fold cross-validation of two kernels with a C-SVM. Each thin line is one fold, the thick one the mean curve.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.model_selection import StratifiedKFold

from seqkern.evaluation import mean_roc_curve, roc_auc, roc_curve
from seqkern.kernels import SpectrumKernel, WeightedDegreeKernel
from seqkern.simulate import simulate
from seqkern.solvers import CSVC

data = simulate("donor", seed=1)
y = np.array([label == "donor" for label in data.table["label"]])
folds = list(StratifiedKFold(5, shuffle=True, random_state=1).split(y, y))

# %%
# A kernel that learns nothing from data has one Gram matrix; each fold takes the rows and columns of its training
# part.

figure, axes = plt.subplots(figsize=(4.6, 4.4), layout="constrained")
for name, kernel, colour in [
    ("spectrum 3", SpectrumKernel(3), "tab:orange"),
    ("weighted degree 6", WeightedDegreeKernel(6), "tab:blue"),
]:
    K = kernel(data.sequences)
    curves, areas = [], []
    for train, test in folds:
        solver = CSVC(C=1.0, class_weight="balanced").fit(K[np.ix_(train, train)], y[train])
        decisions = solver.decision_function(K[np.ix_(test, train)])
        curves.append(roc_curve(y[test], decisions))
        areas.append(roc_auc(y[test], decisions))
        axes.plot(curves[-1].false, curves[-1].true, color=colour, linewidth=0.5)
    mean = mean_roc_curve(curves)
    axes.plot(mean.false, mean.true, color=colour, linewidth=2.5, label=f"{name}: AUC {np.mean(areas):.3f}")
axes.plot([0, 1], [0, 1], ":", color="grey")
axes.set(xlabel="false positive rate", ylabel="true positive rate", aspect="equal")
axes.legend(loc="lower right", frameon=False)
plt.show()
