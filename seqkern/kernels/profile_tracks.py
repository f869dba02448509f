"""Shared code of profile kernels: profiles are read from tracks, or built by searching the training set."""

from dataclasses import replace
from typing import TYPE_CHECKING, Any, Literal

import numpy.typing as npt

from seqkern.core.archive import nest, unnest
from seqkern.core.parameters import Parameters, choice, integer, positive
from seqkern.core.threads import GIVEN_THREADS
from seqkern.core.types import Arrays, Header
from seqkern.formats.profile_sources import ProfileSearch
from seqkern.formats.profiles import check_tracks
from seqkern.kernels.capabilities import Traits
from seqkern.kernels.prepared import Plan
from seqkern.sequences.sequence_set import SequenceSet

if TYPE_CHECKING:
    from seqkern.kernels.kernel import SequenceKernel as _Base  # members of the kernel
else:
    _Base = Parameters

SEARCHED_RECORDS = 8  # to predict from, if every record takes a search


class ProfileTracks(_Base):
    """Mixin of kernels that read profile tracks; must precede the base class.

    The kernel names its tracks in its traits, and reads them through `with_profiles`.
    """

    search: Literal["training"] | None = choice(
        default=None,
        doc="Source of the profiles: tracks of the sequences; or a search of every sequence against "
        "the training sequences that `fit` keeps (`seqkern.formats.profile_sources`), about a tenth of a "
        "CPU second each.",
    )
    iterations: int = integer(default=3, low=1, doc="Largest number of search iterations per sequence.")
    inclusion: float = positive(0.001, "Largest E-value at which a hit counts as a homolog.")

    def _traits(self, declared: Traits) -> Traits:
        found = super()._traits(declared)
        if self.search is None:
            return replace(found, data_dependent=bool(found.data_dependent))
        return replace(found, tracks=(), data_dependent=True)  # `fit` keeps the training sequences, to search them

    def _plan(self, X: Any, Y: Any) -> Plan:
        plan = super()._plan(X, Y)
        searches = self.search_seconds(*(Z for Z in (X, Y) if Z is not None))
        return replace(plan, seconds=plan.seconds + searches)

    def _fit(self, X: SequenceSet, y: npt.ArrayLike | None) -> None:
        if self.search is not None:  # first: a base class may learn from the profiles
            self.database_ = X.replace(tracks={}).compact()
        super()._fit(X, y)

    def fitted_state(self) -> tuple[Header, Arrays]:
        """Return (JSON dict, dict of arrays) of the sequences to be searched."""
        header, arrays = super().fitted_state()
        if not hasattr(self, "database_"):
            return header, arrays
        database, own = self.database_.state()
        return header | {"database": database}, arrays | nest("database", own)

    def restore_fitted(self, header: Header, arrays: Arrays) -> None:
        """Restore the state returned by `fitted_state`."""
        super().restore_fitted(header, arrays)
        if "database" in header:
            self.database_ = SequenceSet.from_state(header["database"], unnest("database", arrays))

    def _searched(self) -> ProfileSearch:
        """Return the ProfileSearch of the training set."""
        return ProfileSearch(self.database_, iterations=self.iterations, inclusion=self.inclusion)

    def with_profiles(self, X: SequenceSet) -> SequenceSet:
        """Return the sequences with checked profile tracks; a kernel that searches builds the tracks, in threads."""
        if self.search is None:
            check_tracks(X, self.traits.tracks)
            return X
        return self._searched().add_to(X, n_threads=GIVEN_THREADS.get() or self.n_threads)

    def search_seconds(self, *sets: SequenceSet) -> float:
        """Return the approximate CPU seconds of the searches with an empty cache; 0 for a kernel without search."""
        return 0.0 if not hasattr(self, "database_") else sum(map(self._searched().seconds, sets))
