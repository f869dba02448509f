"""The fold methods by name: their requirements on labels, and the splits they make.

A method takes `Samples` and its options, and returns (name, training rows, test rows) for each split.
"""

import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from seqkern.core.checks import check_integer, check_real
from seqkern.core.errors import FoldError, LabelError, check_known, unknown_name
from seqkern.core.progress import tell
from seqkern.core.types import Array, Bools, Indices, Ints
from seqkern.formats.regions import loci as window_loci
from seqkern.sequences.labels import Labels, natural_key
from seqkern.sequences.sampling import deal, locus_blocks, merge_groups
from seqkern.sequences.sequence_set import SequenceSet, code_matrix, usual_length
from seqkern.sequences.similarity import consensus
from seqkern.sequences.tables import Data
from seqkern.sequences.windows import Window

# The samples that a fold method splits: their labels, and the groups that belong together.

NamedSplit = tuple[str, Indices, Indices]
"""The name of a split, the training rows and the test rows."""
DESIGNS = {
    "position": "folds by position",
    "position-blocks": "folds of neighbouring positions",
    "mutations": "split by number of mutations",
    "value": "split by value",
}
"""Descriptions of the splits of a library of variants."""

PARTS = ("train", "test")
DEV = "dev"
"""Name of the development part, the training samples that alone are the inner loop's validation set."""
RARE_STATE = "reduce the states (residues: {reduction: …}), or give more chains with this state"
"""The remedy if too few chains have a state."""


@dataclass(frozen=True)
class Samples:
    """The n labelled samples of a task: the input of a splitter."""

    labels: Labels  # Labels of these samples
    X: Data | None  # The data set
    task: str  # Name of the task
    roles: npt.NDArray[np.str_] | None  # shape (n,): The task's own sets
    links: Array | None = None  # shape (n,): Linked samples share a value
    chains: Array | None = None  # shape (n,): Residues of one chain share a value
    rows: Indices | None = None  # shape (n,): Their rows in `X`; None for all of it

    def __len__(self) -> int:
        return len(self.labels)

    def classes(self) -> Ints:
        """Return the class codes, shape (n,); zeros for real-valued labels."""
        return (
            np.zeros(len(self), np.int64) if self.labels.kind == "real" else self.labels.y.astype(np.int64, copy=False)
        )

    def groups(self, *partitions: npt.ArrayLike | None) -> Indices | None:
        """Return the groups that result from merging partitions with links and chains, or None if there are none."""
        given = [part for part in (*partitions, self.links, self.chains) if part is not None]
        return merge_groups(len(self), *given) if given else None

    def parts(self) -> npt.NDArray[np.str_] | None:
        """Return the part of each sample (such as train or test), as named by the task or the fold column.

        The part is without the class; return None if there are no such names.
        """
        if self.roles is None:
            return self.labels.folds
        return np.char.replace(np.char.replace(np.asarray(self.roles, str), "positive-", ""), "negative-", "")

    def undivided(self, method: str) -> Indices | None:
        """Return the groups that no method divides: linked samples and, for residues, also chains and given groups."""
        of_residues = self.chains is not None and self.labels.groups is not None
        return self.groups(self.column("groups", method) if of_residues else None)

    def members(self, count: int, groups: Array | None) -> str:
        """Return a number of groups, or of samples if there are no groups, as text such as ``3 chains``."""
        one, many = "sample", "samples"
        if groups is not None:
            one, many = "group", "groups"
            if self.chains is not None and len(np.unique(groups)) == len(np.unique(self.chains)):
                one, many = "chain", "chains"
        return f"{count} {one if count == 1 else many}"

    def column(self, field: str, method: str) -> Array:
        """Return a column of the labels; raise LabelError if it is missing or has an empty cell."""
        values = getattr(self.labels, field)
        name = field.removesuffix("s")
        remedy = f"give every sample a {name}, or choose another fold method"
        if values is None:
            raise LabelError(
                f"task {self.task!r} has no column {name!r}, which the fold method {method!r} needs",
                remedy=remedy,
            )
        empty = np.flatnonzero(values == "") if values.dtype.kind == "U" else np.zeros(0, np.int64)
        if len(empty) and field != "folds":
            record = self.labels.ids[empty[0]]
            raise LabelError(f"has no {name}", record=record, remedy=remedy)
        return values


# Nested training sets of given sizes, for learning curves.


def nested_subset(samples: Samples, rows: Indices, size: int | None, seed: int) -> Indices:
    """Draw a stratified subset of the rows; smaller subsets are contained in larger ones.

    Learning curves need such nested training sets.
    """
    if size is None:
        return rows
    _check_size(samples, rows, size)
    order = np.random.default_rng(seed).permutation(rows)
    y = samples.classes()[order]
    place = np.empty(len(order))
    for code in np.unique(y):
        members = np.flatnonzero(y == code)
        place[members] = (np.arange(len(members)) + 0.5) / len(members)  # relative rank in its class, from 0 to 1
    return np.sort(order[np.argsort(place, kind="stable")[:size]])


def with_train_size(
    samples: Samples, splits: Sequence[NamedSplit], groups: Indices | None, size: int | None, seed: int
) -> list[NamedSplit]:
    """Return splits with training sets of at most a given size, made of whole groups if there are any.

    Smaller training sets are contained in larger ones: one random order of the groups serves all sizes and splits.
    """
    if size is None:
        return list(splits)
    if groups is None:
        return [(name, nested_subset(samples, train, size, seed), test) for name, train, test in splits]
    order = np.random.default_rng(seed).permutation(int(groups.max()) + 1)
    return [(name, _whole_groups(samples, train, size, groups, order), test) for name, train, test in splits]


def _whole_groups(samples: Samples, rows: Indices, size: int, groups: Indices, order: Indices) -> Indices:
    """Return the rows of the first groups in an order, at most `size` rows in total but at least one group."""
    _check_size(samples, rows, size)
    counts = np.bincount(groups[rows], minlength=len(order))[order]
    present = order[counts > 0]
    taken = int(np.searchsorted(np.cumsum(counts[counts > 0]), size, side="right"))
    chosen = np.zeros(len(order), dtype=bool)
    chosen[present[: max(taken, 1)]] = True
    return rows[chosen[groups[rows]]]


def _check_size(samples: Samples, rows: Indices, size: int) -> None:
    """Raise an error unless `rows` has enough samples for a training set of `size`."""
    check_integer("train_size", size, 2)
    if size > len(rows):
        raise FoldError(
            f"the training set of task {samples.task!r} has {len(rows)} samples, but train_size is {size}",
            remedy="reduce train_size",
        )


Chromosomes = str | int | list[str | int] | tuple[str | int, ...]

FIVE = 5
GIVEN_SETS = ("predefined", "liao-noble")
"""Fold methods that take the sets of the data."""
ATTEMPTS = 50
"""Attempts to draw a halving that differs from the previous ones."""


def parts_of(roles: npt.NDArray[np.str_]) -> tuple[Indices, Indices]:
    """Return the training rows, including the development part, and the test rows."""
    return np.flatnonzero(np.isin(roles, [PARTS[0], DEV])), np.flatnonzero(roles == PARTS[1])


def _dealt(samples: Samples, k: int, seed: int, groups: Indices | None) -> list[NamedSplit]:
    """Return k stratified splits that divide no group."""
    check_integer("k", k, 2)
    check_integer("seed", seed, 0)
    _check_members(samples, k, groups)
    return _parted([str(f + 1) for f in range(k)], deal(samples.classes(), k, seed, groups))


def _check_members(samples: Samples, k: int, groups: Indices | None) -> None:
    """Raise FoldError unless every class has a sample (or a group) for each fold."""
    y, labels = samples.classes(), samples.labels
    counted = np.arange(len(y)) if groups is None else groups
    members, code = min((len(np.unique(counted[y == code])), code) for code in np.unique(y))
    if members < k:
        name = "the task" if labels.kind == "real" else f"class {labels.classes[code]!r}"
        remedy = "give more, or remove the class" if samples.chains is None else RARE_STATE
        if members > 1:
            remedy = f"choose at most {members} folds" + (f", {RARE_STATE}" if samples.chains is not None else "")
        what = samples.members(members, groups)
        raise FoldError(f"{name} has {what} for {k} folds in task {samples.task!r}", remedy=remedy)


def _parted(names: Sequence[str], fold: Indices) -> list[NamedSplit]:
    """Return (name, train, test) for each name: fold i is the test set of name i; fold −1 is unused."""
    used = fold >= 0
    return [(name, np.flatnonzero(used & (fold != f)), np.flatnonzero(fold == f)) for f, name in enumerate(names)]


def _stratified(samples: Samples, *, k: int = 5, seed: int = 0) -> list[NamedSplit]:
    """Make stratified splits: each fold has its share of each class; real-valued labels are split at random."""
    return _dealt(samples, k, seed, samples.undivided("stratified"))


def _grouped(samples: Samples, *, k: int = 5, seed: int = 0, train_size: int | None = None) -> list[NamedSplit]:
    """Make splits that divide no group and are otherwise stratified as evenly as possible."""
    groups = samples.groups(samples.column("groups", "grouped"))
    return with_train_size(samples, _dealt(samples, k, seed, groups), groups, train_size, seed)


def _five_by_two(samples: Samples, *, seed: int = 0) -> list[NamedSplit]:
    """Make five pairs of stratified halves, each half tested once; given groups are not divided."""
    check_integer("seed", seed, 0)
    given = None if samples.labels.groups is None else samples.column("groups", "five_by_two")
    groups = samples.groups(given)
    _check_members(samples, 2, groups)
    halves: set[bytes] = set()
    splits: list[NamedSplit] = []
    for repeat in range(FIVE):
        for attempt in range(ATTEMPTS):
            fold = deal(samples.classes(), 2, [seed, repeat, attempt], groups, largest_first=False)
            sides = {fold.tobytes(), (1 - fold).tobytes()}
            if not sides & halves:
                break
        else:
            # if there are groups, methods that ignore them are not a remedy
            count = len(samples) if groups is None else len(np.unique(groups))
            others = "stratified or leave-one-out" if given is None else "grouped or leave-one-group-out"
            raise FoldError(
                f"task {samples.task!r} has {samples.members(count, groups)}, too few for five different halvings",
                remedy=f"choose the fold method {others}",
            )
        halves |= sides
        splits += _parted([f"{repeat + 1}.{half}" for half in (1, 2)], fold)
    return splits


def _predefined(samples: Samples, *, train_size: int | None = None, seed: int = 0) -> list[NamedSplit]:
    """Use the task's own sets, or the fold column: it names sets, or folds that are each tested once."""
    return with_train_size(samples, _given_parts(samples), samples.groups(samples.labels.groups), train_size, seed)


def _given_parts(samples: Samples) -> list[NamedSplit]:
    """Return the task's own splits, or the splits of its fold column."""
    if samples.roles is not None:
        return [_own_parts(samples, "1")]
    folds = samples.column("folds", "predefined")
    names = sorted(set(folds.tolist()) - {""}, key=natural_key)
    if set(names) - {DEV} == set(PARTS):
        return [("1", *parts_of(folds))]
    if len(names) < 2:
        raise FoldError(
            f"the column of folds of task {samples.task!r} contains {len(names)} fold",
            remedy="give at least two folds, or train and test (and dev, if there is a development part)",
        )
    number = {name: f for f, name in enumerate(names)}
    return _parted(names, np.array([number.get(name, -1) for name in folds.tolist()]))


def _liao_noble(samples: Samples) -> list[NamedSplit]:
    """Use the positive and negative training and test sets of the family."""
    if samples.roles is None:
        raise LabelError(
            f"task {samples.task!r} has no sets of the Liao-Noble protocol",
            remedy="add a family and a superfamily to the data set's labels",
        )
    return [_own_parts(samples, samples.task)]


def _own_parts(samples: Samples, name: str) -> NamedSplit:
    """Return the task's own split."""
    roles = samples.parts()
    assert roles is not None
    odd = sorted(set(roles.tolist()) - {"", DEV, *PARTS})
    if odd:
        raise FoldError(f"task {samples.task!r} has a set {odd[0]!r}", remedy="use train, dev, test or nothing")
    return (name, *parts_of(roles))


def _locus(
    samples: Samples,
    *,
    k: int = 5,
    seed: int = 0,
    gap: int | None = None,
    block: int = 0,
    train: Chromosomes | None = None,
    test: Chromosomes | None = None,
    train_size: int | None = None,
) -> list[NamedSplit]:
    """Keep neighbouring windows together, or train on some chromosomes and test on others."""
    chromosome = samples.column("chromosome", "locus")
    if (train is None) != (test is None):
        raise FoldError("folds by chromosome need train and test", remedy="list chromosomes under train and under test")
    if train is not None and test is not None:
        name, to_train, to_test = _by_chromosome(samples, chromosome, train, test)
        return [(name, nested_subset(samples, to_train, train_size, seed), to_test)]
    if train_size is not None:
        raise FoldError("train_size is for folds by chromosome", remedy="list chromosomes under train and under test")
    return _dealt(samples, k, seed, samples.groups(_loci(samples, gap, block)))


def _loci(samples: Samples, gap: int | None = None, block: int = 0, **_: Any) -> Indices:
    """Return the locus of each sample; windows closer than `gap` (default: the longest window) share one."""
    chromosome, position = samples.column("chromosome", "locus"), samples.column("position", "locus")
    if gap is None:
        if samples.X is None or not hasattr(samples.X, "lengths"):
            raise FoldError("unknown gap between loci", remedy="set gap to at least the length of a window")
        gap = int(samples.X.lengths.max())
    check_integer("gap", gap, 1)
    check_integer("block", block, 0)
    return locus_blocks(chromosome, position, gap, block)


def _by_chromosome(
    samples: Samples, chromosome: npt.NDArray[np.str_], train: Chromosomes, test: Chromosomes
) -> NamedSplit:
    """Return the split that trains on some chromosomes and tests on others."""
    parts = [{str(name) for name in (part if isinstance(part, list | tuple) else [part])} for part in (train, test)]
    both = parts[0] & parts[1]
    if both:
        raise FoldError(f"chromosome {min(both)!r} is both in train and in test", remedy="list it once")
    known = set(chromosome.tolist())
    check_known(f"chromosome in task {samples.task!r}", sorted(parts[0] | parts[1]), known)
    to_train, to_test = (np.flatnonzero(np.isin(chromosome, sorted(part))) for part in parts)
    return "1", to_train, to_test


def _leave_one_out(samples: Samples) -> list[NamedSplit]:
    """Make one split for each sample (or set of linked samples, or chain of residues), tested alone."""
    groups = samples.undivided("leave-one-out")
    return _each_group(np.arange(len(samples)) if groups is None else groups, None)


def _leave_one_group_out(samples: Samples) -> list[NamedSplit]:
    """Make one split for each group, tested alone."""
    groups = samples.column("groups", "leave-one-group-out")
    if samples.links is None:
        return _each_group(groups, natural_key)
    return _each_group(merge_groups(len(samples), groups, samples.links, samples.chains), None)


def _each_group(groups: Array, key: Callable[[object], list[tuple[int, str] | str]] | None) -> list[NamedSplit]:
    """Return one split for each group: numbered, or sorted and named by `key`."""
    values, group = np.unique(groups, return_inverse=True)
    if len(values) < 2:
        raise FoldError("there is only one group", remedy="give at least two, or choose another method")
    if key is None:
        return _parted([str(f + 1) for f in range(len(values))], group)
    order = sorted(range(len(values)), key=lambda f: key(values[f]))
    rank = np.argsort(order)
    return _parted([str(values[f]) for f in order], rank[group])


# Libraries of variants of one parent: new positions, more mutations, higher values.


def _differences(samples: Samples, method: str, parent: str | None) -> Bools:
    """Return where each variant differs from the parent, by default the consensus, shape (n, length)."""
    X, wanted = samples.X, f"which the fold method {method!r} needs"
    if not isinstance(X, SequenceSet):
        raise FoldError(f"there are no sequences, {wanted}", remedy="choose another fold method")
    X = X if samples.rows is None else X.take(samples.rows)
    usual = usual_length(X)
    odd = np.flatnonzero(X.lengths != usual)
    if len(odd):
        problem = f"has {X.lengths[odd[0]]} residues, most others {usual}: not the one length {wanted}"
        remedy = "align the variants to one length, remove this one, or choose another fold method"
        raise FoldError(problem, record=X.ids[odd[0]], remedy=remedy)
    residues = code_matrix(X)
    if parent is None:
        return residues != consensus(residues, X.alphabet.size)
    own = SequenceSet.from_strings([str(parent)], X.alphabet)
    if own.lengths[0] != usual:
        raise FoldError(
            f"the parent has {own.lengths[0]} residues, the variants {usual}", remedy="give the parent in their length"
        )
    return residues != own.codes


def _position(samples: Samples, *, k: int = 5, seed: int = 0, parent: str | None = None) -> list[NamedSplit]:
    """Make folds of positions, drawn at random: mutants of the positions of a fold are tested, untouched ones train."""
    where = np.nonzero(_differences(samples, "position", parent))
    check_integer("seed", seed, 0)
    return _by_position(samples, where, k, lambda at: deal(np.zeros(len(at)), k, seed, at))


def _position_blocks(samples: Samples, *, k: int = 5, parent: str | None = None) -> list[NamedSplit]:
    """Make folds of neighbouring positions, with about as many mutations each."""
    where = np.nonzero(_differences(samples, "position-blocks", parent))

    def blocks(at: Ints) -> Indices:
        counts = np.bincount(at)
        return ((np.cumsum(counts) - counts / 2) * k / len(at)).astype(np.int64)[at]

    return _by_position(samples, where, k, blocks)


def _by_position(
    samples: Samples, where: tuple[Ints, ...], k: int, folds_of: Callable[[Ints], Indices]
) -> list[NamedSplit]:
    """Return the splits by folds of positions; `where` are the variant and the position of each mutation.

    A variant is tested in the fold that has all its positions, and trains in the folds that have none of them.
    """
    variant, position = where
    check_integer("k", k, 2)
    varied = len(np.unique(position))
    if varied < k:
        remedy = f"choose at most {varied} folds" if varied > 1 else "choose another fold method"
        raise FoldError(f"mutations are at {varied} positions, too few for {k} folds", remedy=remedy)
    touched = np.zeros((len(samples), k), dtype=bool)
    touched[variant, folds_of(position)] = True
    tested = touched & (touched.sum(axis=1, keepdims=True) == 1)
    spread = int((touched.sum(axis=1) > 1).sum())
    if tested.sum(axis=0).min() < FEWEST_VARIANTS:
        raise FoldError(
            f"{spread} of {len(samples)} variants have mutations at positions of several folds, and a fold has fewer "
            f"than {FEWEST_VARIANTS} to test",
            remedy="choose fewer folds, or the fold method mutations, value or stratified",
        )
    if spread:
        tell(
            f"{spread:,} of {len(samples):,} variants have mutations at positions of several folds: they are not "
            "tested, and train only where none of their positions is tested"
        )
    splits = ((np.flatnonzero(~touched[:, f]), np.flatnonzero(tested[:, f])) for f in range(k))
    return [(str(f + 1), train, test) for f, (train, test) in enumerate(splits)]


def _mutations(samples: Samples, *, most: int | None = None, parent: str | None = None) -> list[NamedSplit]:
    """Train on variants with at most `most` mutations (default: of at least half of them), test on the others."""
    counts = _differences(samples, "mutations", parent).sum(axis=1)
    if most is None:
        most = min(int(np.sort(counts)[(len(counts) - 1) // 2]), int(counts.max()) - 1)
    check_integer("most", most, 0)
    return _one_split(counts > most, f"at most {most} mutation{'s' * (most != 1)}", "more")


def _value(samples: Samples, *, share: float = 0.2) -> list[NamedSplit]:
    """Train on low values, test on the highest, a given share of the samples."""
    check_real("share", share, 0, 1, open_low=True)
    if samples.labels.kind != "real":
        raise LabelError(
            f"task {samples.task!r} has classes, not the numbers which the fold method 'value' needs",
            remedy="choose another fold method, or a solver for numbers",
        )
    least = np.sort(samples.labels.y)[-max(1, round(share * len(samples)))]
    return _one_split(samples.labels.y >= least, f"a value below {least:.4g}", "higher ones")


def _one_split(tested: Bools, few: str, more: str) -> list[NamedSplit]:
    """Return one split, and say what it trains and tests on; raise FoldError for a part with too few variants."""
    train, test = np.flatnonzero(~tested), np.flatnonzero(tested)
    for rows, what in ((train, few), (test, more)):
        if len(rows) < FEWEST_VARIANTS:
            raise FoldError(
                f"{len(rows)} of {len(tested)} variants have {what}: too few to train on those with {few} and test on "
                "the others",
                remedy="choose another fold method",
            )
    tell(f"trained on {len(train):,} variants with {few}, tested on the {len(test):,} with {more}")
    return [("1", train, test)]


FEWEST_VARIANTS = 5
"""Minimum number of variants of a training or test set."""

# name: (splitter, whether its test sets may have a single class)
METHODS: dict[str, tuple[Callable[..., list[NamedSplit]], bool]] = {
    "stratified": (_stratified, False),
    "grouped": (_grouped, False),
    "five_by_two": (_five_by_two, False),
    "predefined": (_predefined, False),
    "locus": (_locus, False),
    "leave-one-out": (_leave_one_out, True),
    "leave-one-group-out": (_leave_one_group_out, True),
    "liao-noble": (_liao_noble, False),
    "position": (_position, False),
    "position-blocks": (_position_blocks, False),
    "mutations": (_mutations, False),
    "value": (_value, False),
}
BY_POSITION = ("position", "position-blocks")
OF_VARIANTS = (*BY_POSITION, "mutations", "value")
"""Fold methods of libraries of variants."""


def indivisible_groups(labels: Labels, X: Data, window: Window | None = None) -> Indices | None:
    """Return the groups that folds may not divide (given groups, and loci if positions are known), or None.

    Windows closer to each other than their length, on either strand, are one locus. A sample without a chromosome
    is its own locus.
    """
    loci = None
    if labels.chromosome is not None and labels.position is not None and hasattr(X, "lengths") and len(X):
        begins = labels.position
        if window is not None and labels.strand is not None:
            begins = begins - np.where(labels.strand == "-", window.right, window.left)
        loci = window_loci(labels.chromosome, begins, X.lengths)
    given = labels.groups
    if given is not None and given.dtype.kind == "U":  # an empty cell is no group
        given = np.where(given == "", [f"\0{row}" for row in range(len(given))], given)
    return Samples(labels, X, "", None, None).groups(given, loci)


def fewer_folds(k: int, labels: Labels) -> int:
    """Return the default number of folds, at most k.

    If the groups are whole chromosomes, it does not exceed the number of chromosomes with samples of each class.
    """
    if not labels.by_chromosome or labels.groups is None:
        return k
    used = labels.used()
    y = np.zeros(len(labels)) if labels.kind in ("real", "none") else labels.y
    return min(k, *(len(np.unique(labels.groups[used & (y == code)])) for code in np.unique(y[used])))


def development(samples: Samples, method: str) -> Bools | None:
    """Return a mask of the samples in the development part of the given sets; None if there is no such part."""
    parts = samples.parts() if method in GIVEN_SETS else None
    if parts is None or set(parts.tolist()) - {"", DEV} != set(PARTS):  # dev may also be one of several folds
        return None
    dev: Bools = parts == DEV
    return dev if dev.any() else None


def inner_groups(samples: Samples, method: str, options: Mapping[str, Any]) -> Indices | None:
    """Return the groups that an inner loop must keep together (given groups, linked samples and loci), or None.

    Exception for tasks with their own sets: a class with only one given group in the training set is treated as
    single samples, since the inner loop could not split it otherwise.
    """
    # splits by chromosome need no gap, so it may be unknown
    known = method == "locus" and (hasattr(samples.X, "lengths") or "gap" in options)
    loci = _loci(samples, **options) if known else None
    if method in BY_POSITION:
        differ = _differences(samples, method, options.get("parent"))
        loci = np.where(differ.any(axis=1), differ.argmax(axis=1), -1)  # by the first mutation
    given = samples.labels.groups
    if given is None or samples.roles is None:
        return samples.groups(given, loci)
    return samples.groups(_divisible(given, samples.classes(), np.char.endswith(samples.roles, "train")), loci)


def _divisible(groups: Array, y: Indices, train: Bools) -> Indices:
    """Return the groups as numbers; samples of classes with fewer than two groups in training are their own groups."""
    numbers: Indices = np.unique(groups, return_inverse=True)[1]
    for code in np.unique(y):
        rows = np.flatnonzero(train & (y == code))
        if len(np.unique(numbers[rows])) < 2:
            numbers[rows] = numbers.max() + 1 + np.arange(len(rows))
    return numbers


def options_of(method: str) -> list[str]:
    """Return the names of the options of a fold method.

    >>> from seqkern.evaluation.fold_methods import options_of
    >>> options_of("stratified")
    ['k', 'seed']
    """
    if not isinstance(method, str) or method not in METHODS:
        raise unknown_name("fold method", method, METHODS)
    parameters = inspect.signature(METHODS[method][0]).parameters.values()
    return [parameter.name for parameter in parameters if parameter.kind is parameter.KEYWORD_ONLY]
