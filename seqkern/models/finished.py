"""Finished pieces of a training or cross-validation: what they depend on, and the fits of the inner loop."""

from __future__ import annotations

from dataclasses import asdict
from hashlib import blake2b
from typing import TYPE_CHECKING, Any

from seqkern.core.archive import canonical_json
from seqkern.core.build import build_digest

if TYPE_CHECKING:
    from seqkern.core.checkpoint import Checkpoint
    from seqkern.models.data import Data
    from seqkern.models.method import Method


def identity_of(method: Method, data: Data) -> str:
    """Return everything that the results of a method on some data depend on, besides the folds.

    Parameters
    ----------
    method : Method
        With kernels.
    data : Data
        For this method.

    Returns
    -------
    str

    Examples
    --------
    >>> from seqkern.kernels import SpectrumKernel
    >>> from seqkern.models.method import Method
    >>> from seqkern.sequences.labels import make_labels
    >>> from seqkern.sequences.sequence_set import as_sequences
    >>> X = as_sequences(["ACAC", "AACA", "GGTG", "TGGT"], "dna")
    >>> method = Method(SpectrumKernel(2), "csvc:C=1")
    >>> labels = [make_labels(X.ids, list(names)) for names in ("aabb", "abab")]
    >>> len({identity_of(method, method.data(X, one)) for one in labels})
    2
    """
    kernels: list[Any] = []
    for name, kernel in method.kernels.items():
        X, transforms = data.source(name).X, [[one.name, one.get_params()] for one in method.transforms_of(name)]
        of = None if kernel is None else kernel.identity(), None if X is None else X.digest()
        dtypes = [gram.values.dtype.name for gram in getattr(data.source(name), "grams", ())]
        kernels.append([name, *of, repr(transforms), dtypes])
    residues = None
    if data.residues is not None:
        digest = blake2b(data.residues.record.tobytes() + data.residues.place.tobytes(), digest_size=16)
        residues = [data.residues.chains.digest(), data.residues.window, digest.hexdigest()]
    how = [method.candidates, asdict(method.search), method.calibration, method.threshold, list(method.layers)]
    return canonical_json([build_digest(), kernels, data.labels.digest(), residues, repr(how)])


class FinishedFits:
    """The fits of an inner loop in a `Checkpoint`, with the failures to converge of the kernels' own fits.

    Parameters
    ----------
    done : Checkpoint
        Where they are kept.
    failed : list of Warning
        Where the kernels' failures are collected: extended by those of fits that are not made again.

    Examples
    --------
    >>> import tempfile
    >>> from seqkern.core.checkpoint import Checkpoint
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     done, failed = Checkpoint(folder, "a"), []
    ...     fits = FinishedFits(done, failed)
    ...     before = fits.get("fold 1")
    ...     failed.append(Warning("no convergence"))
    ...     fits.put("fold 1", [0.9])
    ...     again = []
    ...     before, FinishedFits(done, again).get("fold 1"), len(again)
    (None, [0.9], 1)
    """

    def __init__(self, done: Checkpoint, failed: list[Warning]) -> None:
        self._done, self._failed = done, failed
        self._before = len(failed)

    def get(self, key: str) -> Any:
        """Return what a former run found; None if nothing.

        Parameters
        ----------
        key : str
            Of the fits.

        Returns
        -------
        object
        """
        found = self._done.get(key)
        if found is None:
            self._before = len(self._failed)
            return None
        self._failed += [Warning(text) for text in found["failed"]]
        return found["value"]

    def put(self, key: str, value: Any) -> None:
        """Keep what was found since the last `get`.

        Parameters
        ----------
        key : str
            Of the fits.
        value : object
            Anything JSON can hold.
        """
        self._done.put(key, {"value": value, "failed": [str(text) for text in self._failed[self._before :]]})
