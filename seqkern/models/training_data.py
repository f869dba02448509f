"""The samples to train on, with the kernel matrices of all of them, computed once for every fold and for the model."""

import functools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from seqkern.core.errors import LabelError, ParameterError, TooLargeError
from seqkern.core.types import PathLike
from seqkern.evaluation.held_out import neighbours
from seqkern.gram import compute_gram, open_gram
from seqkern.gram.matrix import GramMatrix
from seqkern.gram.paths import npy_path, side_path
from seqkern.gram.tile_folder import TileFolder
from seqkern.kernels.kernel import Kernel
from seqkern.models.data import TrainingData
from seqkern.models.method import Method
from seqkern.models.sources import Units
from seqkern.models.together import Together, together
from seqkern.residues import Residues
from seqkern.sequences.labels import SAMPLE_COLUMNS, Labels
from seqkern.sequences.windows import Window
from seqkern.solvers.thresholds import PLAIN


def training_data(
    method: Method,
    X: Units,
    labels: Labels,
    residues: Residues | None = None,
    *,
    window: Window | None = None,
    kept: Together | None = None,
    allow_similar: bool = False,
    tell: Callable[[str], None] | None = None,
    memory_limit: int | str | None = None,
    n_threads: int | None = None,
    progress: Callable[[int, int], None] | None = None,
    gram_files: Sequence[PathLike] = (),
) -> TrainingData:
    """Return the labelled samples in the form for a method, with the kernel matrices that all folds share.

    A matrix that several candidate kernels need is computed once.

    Parameters
    ----------
    method : Method
        With one kernel, or several candidates.
    X : SequenceSet or FeatureTable, n samples
        All samples.
    labels : Labels
        Labels of the n samples; those without a label are left out, or follow the others if the method learns from
        them. Samples of one group stay in one fold, and so do
        overlapping windows, if the labels give their positions.
    residues : Residues, optional
        The residue of each sample, if samples are windows around residues.
    window : Window, optional
        The window around the positions in the labels.
    kept : Together, optional
        The samples that no fold divides, if they are known; default: found here, if there are folds.
    allow_similar : bool
        Whether similar sequences may be in different folds.
    tell : callable, optional
        Called with sentences on similar sequences.
    memory_limit, n_threads, progress : object, optional
        As for `seqkern.gram.compute_gram`.
    gram_files : sequence of path-like, optional
        A ``.npy`` for each matrix that the kernels need, in order: opened, or made there. Default: in memory.

    Returns
    -------
    TrainingData

    Raises
    ------
    ParameterError
        For a solver without a Gram matrix if a kernel does not provide its input, or with transforms.
    LabelError, FoldError
        If there is not one label for each sample, or the method cannot learn them.
    GramError
        If a kernel matrix does not fit into memory, or a file has one of other samples or another kernel.

    Examples
    --------
    >>> from seqkern.kernels import SpectrumKernel
    >>> from seqkern.sequences.labels import make_labels
    >>> from seqkern.sequences.sequence_set import as_sequences
    >>> X = as_sequences(["ACAC", "AACA", "GGTG", "TGGT"], "dna")
    >>> method = Method({"short": SpectrumKernel(1), "long": SpectrumKernel(2)}, "csvc:C=1")
    >>> data = training_data(method, X, make_labels(X.ids, ["a", "a", "b", "b"]))
    >>> [len(source.grams) for source in data.sources.values()]
    [1, 1]
    """
    if len(X) != len(labels):
        raise LabelError(f"{len(labels)} labels for {len(X)} samples", remedy="give one for each sample")
    used = np.flatnonzero(labels.used())
    seen = used  # by layers: unlabelled neighbours follow the labelled samples
    if residues is not None and method.needs_chains:
        seen = np.concatenate((used, neighbours(residues, used, used)))
    everything = X
    for kernel in method.kernels.values():
        assert kernel is not None
        everything = kernel.coerce(everything)
    spare = np.flatnonzero(~labels.used()) if method.accepts_unlabelled and residues is None else used[:0]
    unlabelled = labels.take(spare)
    X, labels = everything.take(used), labels.take(used)
    if (method.calibration or method.threshold not in (None, PLAIN)) and labels.kind != "binary":
        raise LabelError(
            f"probabilities and thresholds need two classes, but these labels are {labels.kind}",
            remedy="train one class against the rest (--positive NAME), or remove --calibration and --threshold",
        )
    if kept is None:
        own = None if residues is None else residues.take(used)
        allowed = allow_similar or not method.divides(labels)
        kept = together(labels, X, window, own, allow_similar=allowed, n_threads=n_threads)
        if tell is not None:
            for sentence in kept.sentences:
                tell(sentence)
    labels = replace(labels, groups=kept.groups)
    method.check_choice(labels)
    method.check(labels)
    if len(spare):
        X, labels = everything.take(np.concatenate((used, spare))), followed_by(labels, unlabelled)
    sources = functools.partial(method.sources, memory_limit=memory_limit, n_threads=n_threads)
    compute: Callable[..., GramMatrix] = functools.partial(
        compute_gram, X=X, n_threads=n_threads, memory_limit=memory_limit, progress=progress
    )
    if gram_files:
        compute = files_of(method, X, gram_files, compute)
    try:
        grams = shared_grams(method, X, compute, on_disk=bool(gram_files))
    except TooLargeError as error:
        error.suggest(method.without_matrix)
        raise
    return TrainingData(
        labels,
        sources(X, grams=grams),
        None if residues is None else residues.take(seen),
        np.arange(len(used), len(labels)),
        beyond=functools.partial(sources, everything.take(seen)) if len(seen) > len(used) else None,
    )


def followed_by(labels: Labels, unlabelled: Labels) -> Labels:
    """Return labels followed by those of unlabelled samples, each a group of its own.

    Parameters
    ----------
    labels : Labels
        Of n samples.
    unlabelled : Labels
        Of samples without a label, with the same columns.

    Returns
    -------
    Labels

    Examples
    --------
    >>> from seqkern.sequences.labels import make_labels
    >>> labels = make_labels(list("abc"), ["donor", "decoy", ""])
    >>> followed_by(labels.take(slice(2)), labels.take(slice(2, 3))).names()
    ['donor', 'decoy', '']
    """
    columns: dict[str, Any] = {}
    for name in ("y", *SAMPLE_COLUMNS):
        own, others = getattr(labels, name), getattr(unlabelled, name)
        if own is None:
            continue
        if name == "groups":
            own = np.unique(own, return_inverse=True)[1]
            others = len(own) + np.arange(len(unlabelled))
        columns[name] = np.concatenate((own, others))
    return Labels([*labels.ids, *unlabelled.ids], kind=labels.kind, classes=labels.classes, **columns)


def shared_grams(
    method: Method, X: Units, compute: Callable[[Kernel], GramMatrix], on_disk: bool = False
) -> Mapping[str, list[GramMatrix]]:
    """Return the matrices over all samples that the candidate kernels need, by kernel name; equal ones are one object.

    Parameters
    ----------
    method : Method
        The candidates.
    X : SequenceSet or FeatureTable
        All samples.
    compute : callable
        Returns the Gram matrix of a kernel over all samples.
    on_disk : bool
        Whether there is room for matrices of any size, in place of products with a large one.

    Returns
    -------
    mapping of str to list of GramMatrix
        Empty for a kernel that is fitted on each training set, for solvers without a Gram matrix, and for successive
        halving, which may need only some.
    """
    known: dict[str, GramMatrix] = {}
    grams: dict[str, list[GramMatrix]] = {}
    if method.search.budget is not None:  # its sources compute them when they are needed
        return grams
    for name, kernel in method.kernels.items():
        gives = method.input if on_disk else method.gives(name, X)
        form = kernel.stored_form() if kernel is not None and gives == "gram" else None
        grams[name] = []
        for one in () if form is None else form.kernels:
            identity = one.identity()
            if identity not in known:
                known[identity] = compute(one)
            grams[name].append(known[identity])
    return grams


def files_of(
    method: Method, X: Units, files: Sequence[PathLike], compute: Callable[..., GramMatrix]
) -> Callable[[Kernel], GramMatrix]:
    """Return what opens the matrix of a kernel in its file, or computes it there.

    Parameters
    ----------
    method : Method
        The candidates.
    X : SequenceSet or FeatureTable
        All samples.
    files : sequence of path-like
        One for each matrix of `shared_grams`, in order.
    compute : callable
        ``compute(kernel, path=path)`` computes a matrix; a killed run is resumed.

    Returns
    -------
    callable

    Raises
    ------
    ParameterError
        If there are more or fewer files than matrices.
    """
    needed: dict[str, Kernel] = {}
    for kernel in method.kernels.values():
        form = kernel.stored_form() if kernel is not None and method.input == "gram" else None
        needed |= {one.identity(): one for one in (() if form is None else form.kernels)}
    paths = [npy_path(path) for path in files]
    if not needed:
        raise ParameterError(
            "there is no Gram matrix to store: the solver is trained without one, or the kernel is fitted to data",
            file=paths[0],
            remedy="remove --gram",
        )
    if len(paths) != len(needed):
        kernels = ", ".join(str(kernel.name) for kernel in needed.values())
        matrices = f"{len(needed)} Gram {'matrix' if len(needed) == 1 else 'matrices'}"
        raise ParameterError(
            f"{len(paths)} file{'s'[: len(paths) != 1]} for {matrices} ({kernels})",
            file=paths[0],
            remedy="give one file for each matrix after --gram, in this order",
        )
    place = dict(zip(needed, paths, strict=True))

    def stored(kernel: Kernel) -> GramMatrix:
        path = place[kernel.identity()]
        if path.exists() and side_path(path).exists():
            gram = open_gram(path, X, kernel=kernel)
            TileFolder(path, "finished").clear()  # those that a run left which was killed before it removed them
            return gram
        return compute(kernel, path=path)

    return stored
