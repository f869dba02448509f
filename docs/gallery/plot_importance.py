"""
What a model of splice sites looks at
=====================================

`explain` divides each decision among the bases of the window. The mean over many windows shows which base at which
position supports a site.
"""

import matplotlib.pyplot as plt
import numpy as np

from seqkern.kernels import WeightedDegreeKernel
from seqkern.methods import explain
from seqkern.methods.training import train_model
from seqkern.sequences.labels import make_labels
from seqkern.simulate import simulate

train = simulate("donor", seed=1)
labels = make_labels(train.sequences.ids, train.table["label"], positive="donor")
model = train_model(train.sequences, labels, WeightedDegreeKernel(6), "csvc:C=1")

new = simulate("donor", seed=2)
explanation = explain(model, new.sequences)

# %%
# The mean contribution of each base at each position, less the mean at that position. Position 1 is the first base
# after the cut.

bases = np.array([list(window) for window in new.sequences.strings()])
values = np.array([explanation.of(i) for i in range(len(bases))])
table = np.full((4, bases.shape[1]), np.nan)
for row, base in enumerate("ACGT"):
    for position in range(bases.shape[1]):
        here = bases[:, position] == base
        if here.sum() >= 20:
            table[row, position] = values[here, position].mean() - values[:, position].mean()

figure, axes = plt.subplots(figsize=(8, 2.2), layout="constrained")
limit = np.nanmax(np.abs(table))
picture = axes.imshow(table[:, 18:46], cmap="RdBu_r", vmin=-limit, vmax=limit, aspect="auto")
axes.set_yticks(range(4), list("ACGT"))
axes.set_xticks(range(0, 28, 3), [i + 18 - 30 + (1 if i + 18 >= 30 else 0) for i in range(0, 28, 3)])
axes.set(xlabel="position relative to the cut")
figure.colorbar(picture, label="contribution")

# %%
# The five k-mers with the largest weights; AG|GTAAGT is the consensus of human donor sites.

for word, weight in zip(explanation.words[:5], explanation.weights[:5], strict=True):
    print(f"{word:8}{weight:.3f}")
