r"""
1. Kernels from k-mers
======================

A sequence has no coordinates. Counting its k-mers gives it some: the feature :math:`\Phi_u(x)` is the number of
occurrences of the k-mer u in x. The spectrum kernel is the dot product of these vectors,

.. math:: K(x, y) = \sum_{u \in A^k} \Phi_u(x)\,\Phi_u(y)
"""

import itertools

import matplotlib.pyplot as plt
import numpy as np

from seqkern.kernels import MismatchKernel, SpectrumKernel, StringKernel

words = ["SAY", "BAY", "SAD", "BAD"]

# %%
# By hand
# -------
#
# All 2-mers of the four words are the columns:

kmers = sorted({word[i : i + 2] for word in words for i in range(2)})
Phi = np.array([[sum(word[i : i + 2] == u for i in range(2)) for u in kmers] for word in words])
print("     ", *kmers)
for word, row in zip(words, Phi, strict=True):
    print(word, row)

# %%
# The Gram matrix is the product of this matrix with its transpose, and the kernel computes the same without listing
# all k-mers:

by_hand = Phi @ Phi.T
kernel = SpectrumKernel(2, alphabet="ABDSY", normalize=False)
print(by_hand)
assert (kernel(words) == by_hand).all()

# %%
# Mismatches
# ----------
#
# Evolution changes residues. In the mismatch kernel a k-mer also counts for its neighbours with at most m mismatches:
#
# .. math:: \Phi_u(x) = \#\{a \text{ a } k\text{-mer of } x : \mathrm{hamming}(a, u) \le m\}

print(MismatchKernel(k=2, m=1, alphabet="ABDSY", normalize=False)(words))

# %%
# Gaps
# ----
#
# The string kernel counts subsequences u of length n, with gaps. An occurrence that spans s positions has the weight
# :math:`\lambda^s`. For n = 2, K(SAY, BAY) is :math:`\lambda^4`: only AY is in both, with span 2 in each.

decay = 0.5
K = StringKernel(2, decay=decay, alphabet="ABDSY", normalize=False)(words)
print(K[0, 1], decay**4)

# %%
# Normalisation
# -------------
#
# Long sequences have many k-mers. Dividing by :math:`\sqrt{K(x,x)\,K(y,y)}` makes all vectors unit length, so K is
# the cosine of their angle. It is seqkern's default.

rng = np.random.default_rng(1)
lengths = [20, 50, 100, 200, 400]
random = ["".join(rng.choice(list("ACGT"), length)) for length in lengths]
figure, (left, right) = plt.subplots(1, 2, figsize=(7, 3), layout="constrained")
for axes, normalize in ((left, False), (right, True)):
    picture = axes.imshow(SpectrumKernel(3, normalize=normalize)(random), cmap="Blues")
    axes.set_title("normalised" if normalize else "as counted")
    axes.set_xticks(range(5), lengths)
    axes.set_yticks(range(5), lengths)
    figure.colorbar(picture, shrink=0.8)

# %%
# A Gram matrix has no negative eigenvalues: for every vector c, :math:`c^\top K c = \lVert\sum_i c_i
# \Phi(x_i)\rVert^2 \ge 0`.

smallest = min(np.linalg.eigvalsh(SpectrumKernel(k, alphabet="ABDSY")(words)).min() for k in (1, 2, 3))
print(f"smallest eigenvalue: {smallest:.1e}")

# %%
# Exercises
# ---------
#
# 1. How many 5-mers are there for proteins? How many can a protein of 300 residues contain?
# 2. Compute the 3-spectrum Gram matrix of STRAY, RAY and RAYS by hand.
# 3. Which pairs of the four words have K = 0 with k = 2, and which with ``MismatchKernel(k=2, m=1)``?

print(SpectrumKernel(3, alphabet="ARSTY", normalize=False)(["STRAY", "RAY", "RAYS"]))
print(len(list(itertools.product(range(20), repeat=2))), "2-mers of amino acids")
