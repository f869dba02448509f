"""Samples with several sequences, joined into one record each; see `seqkern.sequences.views`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np
import numpy.typing as npt

from seqkern.core.checks import check_name
from seqkern.core.errors import SequenceError, unknown_name
from seqkern.core.types import Ids
from seqkern.sequences.alphabets import MASK, Alphabet, recoding, union_alphabet
from seqkern.sequences.sequence_set import SequenceSet
from seqkern.sequences.views import Segments, sequence_views


def join_views(
    given: Mapping[str, SequenceSet | Sequence[str]],
    alphabet: str | Alphabet | None = None,
    ids: Ids | None = None,
) -> SequenceSet:
    """Return samples with several sequences, each sample as one record with one sequence view per sequence.

    A masked residue separates the sequences of a record. Their tracks and vectors are left out.

    >>> from seqkern.sequences.joining import join_views
    >>> X = join_views({"alpha": ["CAV", ""], "beta": ["CASS", "CAWS"]}, "protein")
    >>> X, X.strings(), X.view("alpha").strings()
    (SequenceSet(2 sequences, alphabet 'protein', 13 letters), ['CAV*CASS', '*CAWS'], ['CAV', ''])
    """
    if not given:
        raise SequenceError("there are no sequences to join", remedy="give at least one view")
    for name in given:
        check_name("view", name)
    views = {
        name: X if isinstance(X, SequenceSet) else SequenceSet.from_strings(X, alphabet) for name, X in given.items()
    }
    ids = _ids(given, views) if ids is None else ids
    lengths = np.stack([X.lengths for X in views.values()], axis=1)
    bare = np.flatnonzero(lengths.sum(axis=1) == 0)
    if len(bare):
        raise SequenceError("has no sequence in any view", record=ids[bare[0]], remedy="remove the sample")
    ends = np.cumsum(lengths + 1, axis=1) - 1  # with the masked residue between two sequences
    offsets = np.concatenate(([0], np.cumsum(ends[:, -1])))
    whole = union_alphabet(X.alphabet for X in views.values())
    codes: npt.NDArray[np.uint8] = np.full(offsets[-1], MASK, dtype=np.uint8)
    segments = {}
    for i, (name, X) in enumerate(views.items()):
        first = ends[:, i] - lengths[:, i]
        places = np.repeat(offsets[:-1] + first - np.cumsum(lengths[:, i]) + lengths[:, i], lengths[:, i])
        places += np.arange(len(places))
        codes[places] = recoding(X.alphabet, whole)[X.codes[X.positions()]]
        segments[name] = Segments(np.stack([first, ends[:, i]], axis=1), X.alphabet)
    return SequenceSet.from_offsets(codes, offsets, ids, whole, views=segments)


def similar_by(X: SequenceSet, names: Sequence[str]) -> SequenceSet:
    """Return samples marked so that similarity searches use only some of their sequence views."""
    known = sequence_views(X)
    for name in names:
        if name not in known:
            raise unknown_name("sequence view", name, known)
    return X.replace(views={**X.views, **{name: replace(own, similar=name in names) for name, own in known.items()}})


def compared(X: SequenceSet) -> SequenceSet:
    """Return the sequences that a similarity search compares: whole records, or the views marked by `similar_by`.

    A record without any of the marked sequences is compared as a whole.

    >>> X = join_views({"a": ["CAV", "CAL"], "b": ["CASS", ""]}, "protein")
    >>> compared(similar_by(X, ["b"])).strings()
    ['CASS', 'CAL*']
    """
    known = sequence_views(X)
    names = [name for name, view in known.items() if view.similar]
    if len(names) == len(known):
        return X
    bounds = {name: known[name].bounds.copy() for name in names}
    bare = sum(known[name].lengths for name in names) == 0
    if names:
        bounds[names[0]][bare] = np.stack([0 * X.lengths, X.lengths], axis=1)[bare]
    parts = {name: X.parts(X.starts + own[:, 0], X.starts + own[:, 1], X.ids) for name, own in bounds.items()}
    return join_views(parts).replace(views={}) if len(parts) > 1 else next(iter(parts.values()), X).replace(views={})


def _ids(given: Mapping[str, SequenceSet | Sequence[str]], views: Mapping[str, SequenceSet]) -> Ids:
    """Return the ids of the samples; raise SequenceError unless all sets share them."""
    first = next(iter(views))
    named = [name for name, X in given.items() if isinstance(X, SequenceSet)]
    ids = views[named[0] if named else first].ids
    for name, X in views.items():
        if len(X) != len(views[first]):
            raise SequenceError(
                f"the view {name!r} has {len(X)} sequences, {first!r} has {len(views[first])}",
                remedy="give one sequence for each sample, if need be an empty one",
            )
        other = next((i for i, (a, b) in enumerate(zip(ids, X.ids, strict=True)) if a != b), None)
        if name in named and other is not None:
            raise SequenceError(
                f"record {other + 1} is {X.ids[other]!r} in the view {name!r}, {ids[other]!r} in {named[0]!r}",
                remedy="give the same ids in the same order",
            )
    return ids
