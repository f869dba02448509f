"""The Liao-Noble protocol: one task for each family, its superfamily the positive class."""

from __future__ import annotations

import zlib
from typing import Any

import numpy as np
import numpy.typing as npt

from seqkern.core.checks import check_flag, check_integer
from seqkern.core.errors import FoldError, LabelError
from seqkern.sequences.labels import natural_key

ROLES = ("", "positive-train", "negative-train", "positive-test", "negative-test")


def liao_noble(
    superfamily: npt.ArrayLike,
    family: npt.ArrayLike,
    seed: int,
    *,
    min_family: int = 10,
    min_rest: int = 5,
    fold: npt.ArrayLike | None = None,
    whole_families: bool = False,
) -> dict[str, npt.NDArray[np.str_]]:
    """Return the roles of all samples in the Liao-Noble protocol, with one task for each held-out family.

    Positive test samples are the family, positive training samples the rest of its superfamily. Negatives are the
    samples outside the superfamily, or, if `fold` is given, outside the fold (samples of the fold but not of the
    superfamily are then unused, since they may be related); they are split at random in the ratio of the
    positives. The split of a family depends only on the seed and its name.

    Parameters
    ----------
    superfamily, family : array_like of str, shape (n,)
        Of each sample.
    seed : int
        Seed for splitting the negatives, not negative.
    min_family : int
        Minimum number of members of a held-out family.
    min_rest : int
        Minimum number of other members of its superfamily.
    fold : array_like of str, shape (n,), optional
        The structural fold of each sample.
    whole_families : bool
        Split the negatives by whole families (as near to the ratio as possible). Split singly, as in the paper,
        most negative test samples have close homologs in the training set and the positive ones have none: a classifier
        that only recognises known sequences then ranks the positives first.

    Returns
    -------
    dict of str to ndarray of str
        For each family, in natural order, the role of each sample: one of `ROLES`.

    Raises
    ------
    ParameterError
        If the seed or a limit is outside its domain.
    LabelError
        If a family is in two superfamilies, or a superfamily in two folds.
    FoldError
        If no family is large enough.

    References
    ----------
    Liao & Noble 2003, J. Comput. Biol. 10:857-868.

    Examples
    --------
    >>> superfamily, family = ["s1", "s1", "s1", "s1", "s2", "s2"], ["a", "a", "b", "b", "c", "c"]
    >>> roles = liao_noble(superfamily, family, seed=1, min_family=2, min_rest=2)
    >>> roles["a"].tolist()[:4]
    ['positive-test', 'positive-test', 'positive-train', 'positive-train']
    >>> sorted(roles["a"].tolist()[4:])
    ['negative-test', 'negative-train']
    """
    check_integer("seed", seed, 0)
    check_integer("min_family", min_family, 1)
    check_integer("min_rest", min_rest, 1)
    check_flag("whole_families", whole_families)
    superfamily, family = np.asarray(superfamily), np.asarray(family)
    region = superfamily if fold is None else np.asarray(fold)
    _one_parent(family, superfamily, "family", "superfamilies")
    _one_parent(superfamily, region, "superfamily", "folds")
    tasks = {}
    for name in sorted(np.unique(family).tolist(), key=natural_key):
        test = family == name
        above = superfamily == superfamily[test][0]
        n_test, n_train = int(test.sum()), int((above & ~test).sum())
        if n_test < min_family or n_train < min_rest:
            continue
        rng = np.random.default_rng([seed, zlib.crc32(name.encode())])
        negatives = rng.permutation(np.flatnonzero(region != region[test][0]))
        cut = len(negatives) - round(len(negatives) * n_train / (n_test + n_train))
        if whole_families:
            negatives, cut = _by_family(negatives, family, cut)
        roles = np.full(len(family), "", dtype="U14")
        roles[above] = "positive-train"
        roles[test] = "positive-test"
        roles[negatives[:cut]] = "negative-test"
        roles[negatives[cut:]] = "negative-train"
        tasks[name] = roles
    if not tasks:
        raise FoldError(
            f"no family has {min_family} members and a superfamily with {min_rest} others",
            remedy="lower min_family or min_rest",
        )
    return tasks


def _by_family(
    rows: npt.NDArray[np.int64], family: npt.NDArray[np.str_], cut: int
) -> tuple[npt.NDArray[np.int64], int]:
    """Return the samples ordered by family, and the family boundary nearest to `cut`."""
    names, first, sizes = np.unique(family[rows], return_index=True, return_counts=True)
    order = np.argsort(first)
    borders = np.cumsum(sizes[order])[:-1]
    rank = np.argsort(order)[np.searchsorted(names, family[rows])]
    nearest = borders[np.argmin(np.abs(borders - cut))] if len(borders) else cut
    return rows[np.argsort(rank, kind="stable")], int(nearest)


def _one_parent(child: npt.NDArray[Any], parent: npt.NDArray[Any], kind: str, parents: str) -> None:
    """Raise LabelError if a child group is in two parent groups."""
    pairs = np.unique(np.stack([child.astype(str), parent.astype(str)], axis=1), axis=0)
    twice = np.flatnonzero(pairs[1:, 0] == pairs[:-1, 0])
    if len(twice):
        first, second = pairs[twice[0]].tolist(), pairs[twice[0] + 1].tolist()
        raise LabelError(
            f"{kind} {first[0]!r} is in the {parents} {first[1]!r} and {second[1]!r}",
            remedy="correct the classification: each group must have one parent",
        )
