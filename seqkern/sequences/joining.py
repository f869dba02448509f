"""Samples with several sequences or vectors: sequences joined into one record each, and the views of a set."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from seqkern.core.checks import check_name
from seqkern.core.errors import SequenceError, check_known
from seqkern.core.types import Codes, Floats, Ids
from seqkern.sequences.alphabets import MASK, Alphabet, recoding, union_alphabet
from seqkern.sequences.sequence_set import SequenceSet, no_sequence_view, sequence_views
from seqkern.sequences.views import Segments, Vectors


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
    codes: Codes = np.full(offsets[-1], MASK, dtype=np.uint8)
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
    check_known("sequence view", names, known)
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


# The views of a set: the sequences that its records join, and their vectors.


class Stretch(NamedTuple):
    """One of the sequences that a record joins."""

    name: str  # Of the view
    start: int  # Its first residue, counted from 0 in the record, and the residue after its last
    stop: int  # Its first residue, counted from 0 in the record, and the residue after its last


def stretches(X: SequenceSet, i: int) -> list[Stretch]:
    """Return the non-empty sequences that record `i` joins; an empty list if it is a single sequence."""
    found = [Stretch(name, *map(int, view.bounds[i])) for name, view in sequence_views(X).items()]
    return [one for one in found if one.stop > one.start]


def vectors_of(X: SequenceSet, name: str) -> Floats:
    """Return the vectors of a view, shape (n, width).

    The name may also be of a track with a vector for each residue; windows then take the vector of their middle
    residue.

    >>> from seqkern import SequenceSet
    >>> X = SequenceSet.from_strings(["MKV", "GKV"]).replace(views={"esm": [[0.5, 1], [2, 0]]})
    >>> vectors_of(X, "esm").tolist()
    [[0.5, 1.0], [2.0, 0.0]]
    """
    view = X.views.get(name)
    if isinstance(view, Vectors):
        values = view.rows().astype(np.float64)
    else:
        values = X.tracks[name][X.starts + X.lengths // 2].astype(np.float64)
    bad = np.flatnonzero(~np.isfinite(values).all(axis=1))
    if len(bad):
        raise SequenceError(
            f"has a number that is not finite (NaN or inf) in the view {name!r}",
            record=X.ids[bad[0]],
            remedy="compute its vector again, or remove the record",
        )
    return np.ascontiguousarray(values)


def view_width(X: SequenceSet, name: str) -> int | None:
    """Return the length of the vectors of a view; None if there is no such view."""
    view = X.views.get(name)
    if view is not None:
        return view.width if isinstance(view, Vectors) else None
    track = X.tracks.get(name)
    # an annotation, with one letter for each residue, is not a view
    return int(track.shape[1]) if track is not None and track.ndim == 2 else None


def check_widths(X: SequenceSet, like: SequenceSet, names: Iterable[str]) -> None:
    """Raise SequenceError unless the vectors of some views have the same length in both sets of records."""
    for name in names:
        own, other = view_width(X, name), view_width(like, name)
        if own is not None and other is not None and own != other:
            raise SequenceError(
                f"the vectors of the view {name!r} have {own} numbers, those of the training sequences {other}",
                remedy="compute them with the program and the model that made those of the training sequences",
            )


def check_views(X: SequenceSet, kernel: str | None, names: Iterable[str], sequences: Collection[str]) -> None:
    """Raise SequenceError unless a set has the views that a kernel needs, each of the right type."""
    for name in names:
        if name in sequences:
            if not isinstance(X.views.get(name), Segments):
                raise no_sequence_view(X, name)
        elif name in sequence_views(X):
            raise SequenceError(
                f"kernel {kernel!r} compares vectors, and the view {name!r} holds sequences",
                remedy=f"choose a kernel of sequences, such as spectrum:k=2,view={name}",
            )
        elif view_width(X, name) is None:
            raise SequenceError(
                f"kernel {kernel!r} needs the view {name!r}",
                remedy=f"give it with the sequences, by SequenceSet.replace or --view {name}=FILE; in a study by "
                "the data set's views",
            )
