"""The fold methods by name: what each needs of the labels, and the splits that it makes of them.

A method takes `Units` and its options, and returns (name, train, test) for each split, int64 rows.
"""

import inspect

import numpy as np

from seqkern.core.checks import check_integer
from seqkern.core.errors import FoldError, LabelError, unknown_name
from seqkern.folds.splitters import deal, locus_blocks
from seqkern.folds.train_size import sample, smaller
from seqkern.folds.units import PARTS, RARE_STATE, Units
from seqkern.sequences.labels import natural_key

FIVE = 5
ATTEMPTS = 50
"""Draws of a halving that is not one of those before it."""


def _parts(roles):
    """Return the rows marked train and those marked test."""
    return [np.flatnonzero(roles == part) for part in PARTS]


def _dealt(units, k, seed, groups):
    """Return k splits."""
    check_integer("k", k, 2)
    check_integer("seed", seed, 0)
    _check_members(units, k, groups)
    return _parted([str(f + 1) for f in range(k)], deal(units.classes(), k, seed, groups))


def _check_members(units, k, groups):
    """Raise FoldError unless every class has a member (a group) for each fold."""
    y, labels = units.classes(), units.labels
    counted = np.arange(len(y)) if groups is None else groups
    members, code = min((len(np.unique(counted[y == code])), code) for code in np.unique(y))
    if members < k:
        name = "the task" if labels.kind == "real" else f"class {labels.classes[code]!r}"
        remedy = "give more, or leave the class out" if units.chains is None else RARE_STATE
        if members > 1:
            remedy = f"choose k of at most {members}" + (f", {RARE_STATE}" if units.chains is not None else "")
        what = units.members(members, groups)
        raise FoldError(f"{name} has {what} for {k} folds in task {units.task!r}", remedy=remedy)


def _parted(names, fold):
    """Return (name, train, test) for each name, to test the units with that fold number; −1 is unused."""
    used = fold >= 0
    return [(name, np.flatnonzero(used & (fold != f)), np.flatnonzero(fold == f)) for f, name in enumerate(names)]


def _stratified(units, *, k=5, seed=0):
    """Each fold has its share of each class; real labels are divided at random."""
    return _dealt(units, k, seed, units.whole("stratified"))


def _grouped(units, *, k=5, seed=0, train_size=None):
    """No group is divided; the shares of the classes are as even as that allows."""
    groups = units.groups(units.column("groups", "grouped"))
    return smaller(units, _dealt(units, k, seed, groups), groups, train_size, seed)


def _five_by_two(units, *, seed=0):
    """Five times two halves, each with its share of each class and tested once; given groups are not divided."""
    check_integer("seed", seed, 0)
    given = None if units.labels.groups is None else units.column("groups", "five_by_two")
    groups = units.groups(given)
    _check_members(units, 2, groups)
    halves, splits = set(), []
    for repeat in range(FIVE):
        for attempt in range(ATTEMPTS):
            fold = deal(units.classes(), 2, [seed, repeat, attempt], groups, largest_first=False)
            sides = {fold.tobytes(), (1 - fold).tobytes()}
            if not sides & halves:
                break
        else:
            # methods that do not look at groups are no way out where there are some
            count = len(units) if groups is None else len(np.unique(groups))
            others = "stratified or leave-one-out" if given is None else "grouped or leave-one-group-out"
            raise FoldError(
                f"task {units.task!r} has {units.members(count, groups)}, too few for five different halvings",
                remedy=f"choose the fold method {others}",
            )
        halves |= sides
        splits += _parted([f"{repeat + 1}.{half}" for half in (1, 2)], fold)
    return splits


def _predefined(units, *, train_size=None, seed=0):
    """Use the task's own parts, or the column of folds: names of parts, or of folds each tested once."""
    return smaller(units, _given_parts(units), units.groups(units.labels.groups), train_size, seed)


def _given_parts(units):
    """Return the splits that the task brings with it, or its column of folds."""
    if units.roles is not None:
        return [_own_parts(units, "1")]
    folds = units.column("folds", "predefined")
    names = sorted(set(folds.tolist()) - {""}, key=natural_key)
    if set(names) == set(PARTS):
        return [("1", *_parts(folds))]
    if len(names) < 2:
        raise FoldError(
            f"the column of folds of task {units.task!r} names {len(names)} fold",
            remedy="name at least two folds, or train and test",
        )
    number = {name: f for f, name in enumerate(names)}
    return _parted(names, np.array([number.get(name, -1) for name in folds.tolist()]))


def _liao_noble(units):
    """Use the family's positive and negative, training and test parts."""
    if units.roles is None:
        raise LabelError(
            f"task {units.task!r} has no parts of the Liao-Noble protocol",
            remedy="give the data set's labels a family and a superfamily",
        )
    return [_own_parts(units, units.task)]


def _own_parts(units, name):
    """Return the split that the task brings with it."""
    roles = np.char.replace(np.char.replace(np.asarray(units.roles, str), "positive-", ""), "negative-", "")
    odd = sorted(set(roles.tolist()) - {"", *PARTS})
    if odd:
        raise FoldError(f"task {units.task!r} has a part {odd[0]!r}", remedy="use train, test or nothing")
    return (name, *_parts(roles))


def _locus(units, *, k=5, seed=0, gap=None, block=0, train=None, test=None, train_size=None):
    """Keep windows near one another together, or train on some chromosomes and test on others."""
    chromosome = units.column("chromosome", "locus")
    if (train is None) != (test is None):
        raise FoldError("folds by chromosome need both parts", remedy="name chromosomes under train and under test")
    if train is not None:
        name, train, test = _by_chromosome(units, chromosome, train, test)
        return [(name, sample(units, train, train_size, seed), test)]
    if train_size is not None:
        raise FoldError("train_size is for folds by chromosome", remedy="name chromosomes under train and under test")
    return _dealt(units, k, seed, units.groups(_loci(units, gap, block)))


def _loci(units, gap=None, block=0, **_):
    """Return the locus of each unit; windows nearer than `gap`, by default the longest of them, share one."""
    chromosome, position = units.column("chromosome", "locus"), units.column("position", "locus")
    if gap is None:
        if not hasattr(units.X, "lengths"):
            raise FoldError("the gap between loci is not known", remedy="give gap, at least the length of a window")
        gap = int(units.X.lengths.max())
    check_integer("gap", gap, 1)
    check_integer("block", block, 0)
    return locus_blocks(chromosome, position, gap, block)


def _by_chromosome(units, chromosome, train, test):
    """Return the split that trains on some chromosomes and tests on others."""
    parts = [{str(name) for name in (part if isinstance(part, list | tuple) else [part])} for part in (train, test)]
    both = parts[0] & parts[1]
    if both:
        raise FoldError(f"chromosome {min(both)!r} is both in train and in test", remedy="name it once")
    known = set(chromosome.tolist())
    for name in sorted(parts[0] | parts[1]):
        if name not in known:
            raise unknown_name(f"chromosome in task {units.task!r}", name, known)
    return ("1", *(np.flatnonzero(np.isin(chromosome, sorted(part))) for part in parts))


def _leave_one_out(units):
    """Test each unit (each set of linked units; of residues each chain) once, alone."""
    groups = units.whole("leave-one-out")
    return _each_group(np.arange(len(units)) if groups is None else groups, None)


def _leave_one_group_out(units):
    """Test each group once, alone."""
    groups = units.column("groups", "leave-one-group-out")
    merged = units.groups(groups)
    named = units.links is None
    return _each_group(groups if named else merged, natural_key if named else None)


def _each_group(groups, key):
    """Return one split for each group: numbered, or sorted and named by `key`."""
    values, group = np.unique(groups, return_inverse=True)
    if len(values) < 2:
        raise FoldError("there is one group only", remedy="give at least two, or choose another method")
    if key is None:
        return _parted([str(f + 1) for f in range(len(values))], group)
    order = sorted(range(len(values)), key=lambda f: key(values[f]))
    rank = np.argsort(order)
    return _parted([str(values[f]) for f in order], rank[group])


# name: (splitter, whether a test part of one class is in the nature of the method)
METHODS = {
    "stratified": (_stratified, False),
    "grouped": (_grouped, False),
    "five_by_two": (_five_by_two, False),
    "predefined": (_predefined, False),
    "locus": (_locus, False),
    "leave-one-out": (_leave_one_out, True),
    "leave-one-group-out": (_leave_one_group_out, True),
    "liao-noble": (_liao_noble, False),
}


def units_together(labels, X, window=None):
    """Return the groups that no fold within a set may divide, or None: those given, and loci where places are known.

    Windows nearer to one another than their length, on whichever strand, are one locus. A unit without a chromosome
    is alone.

    Parameters
    ----------
    labels : Labels, n units
    X : SequenceSet or FeatureTable, n units
    window : Window, optional
        What was cut around the positions: on strand − it begins elsewhere than on strand +. Without it, the positions
        are taken to be at one place of all windows.

    Returns
    -------
    ndarray of int64, shape (n,), or None
    """
    placed = labels.chromosome is not None and labels.position is not None and hasattr(X, "lengths") and len(X)
    return Units(labels, X, "", None, None).groups(labels.groups, _own_loci(labels, X, window) if placed else None)


def _own_loci(labels, X, window):
    """Return the locus of each window by where it begins; one without a chromosome is a locus of its own."""
    begins = labels.position
    if window is not None and labels.strand is not None:
        begins = begins - np.where(labels.strand == "-", window.right, window.left)
    loci = locus_blocks(labels.chromosome, begins, int(X.lengths.max()))
    bare = np.flatnonzero(labels.chromosome == "")
    loci[bare] = len(loci) + bare
    return loci


def inner_groups(units, method, options):
    """Return the groups that an inner loop must keep together too, or None: given, linked, of one locus.

    Where a task has parts of its own, a class with one given group only in the training part is an exception: its
    units are single, since the inner loop could not divide it otherwise.
    """
    # parts given by chromosome need no gap, so it may not be known
    known = method == "locus" and (hasattr(units.X, "lengths") or "gap" in options)
    loci = _loci(units, **options) if known else None
    groups = units.labels.groups
    if groups is not None and units.roles is not None:
        groups = _divisible(groups, units.classes(), np.char.endswith(units.roles, "train"))
    return units.groups(groups, loci)


def _divisible(groups, y, train):
    """Return the groups as numbers, units of a class with fewer than two groups in the training part single."""
    groups = np.unique(groups, return_inverse=True)[1]
    for code in np.unique(y):
        rows = np.flatnonzero(train & (y == code))
        if len(np.unique(groups[rows])) < 2:
            groups[rows] = groups.max() + 1 + np.arange(len(rows))
    return groups


def options_of(method):
    """Return the names of a fold method's options.

    Raises
    ------
    ParameterError
        For an unknown method, with the nearest known one.
    """
    if not isinstance(method, str) or method not in METHODS:
        raise unknown_name("fold method", method, METHODS)
    parameters = inspect.signature(METHODS[method][0]).parameters.values()
    return [parameter.name for parameter in parameters if parameter.kind is parameter.KEYWORD_ONLY]
