"""A model as JSON for a page that decides in a browser: tables of weights, in fixed point or in full."""

from __future__ import annotations

import base64
import gzip
from collections.abc import Iterator
from dataclasses import asdict
from typing import Any

import numpy as np

from seqkern.core.errors import ModelError, ParameterError
from seqkern.core.types import Array, Floats
from seqkern.evaluation.calibration import SigmoidCalibration
from seqkern.kernels.algebra import SumKernel
from seqkern.kernels.decisions import TalliedParts, over_root
from seqkern.kernels.kernel import Kernel
from seqkern.kernels.kmer.kmers import first_of_pairs
from seqkern.kernels.occurrences import Tallied
from seqkern.kernels.positional.weighted_degree import PositionWeights, WeightedDegreeKernel, find_placements
from seqkern.kernels.view_kernels import PartKernel
from seqkern.methods.model import Model
from seqkern.methods.table_model import TableModel
from seqkern.sequences.alphabets import Alphabet
from seqkern.sequences.sequence_set import SequenceSet

FIXED = 1 << 23
"""Steps of a number in fixed point, three bytes with the sign."""
PREFIX_LETTERS = 1 << 18
"""Maximum number of weights of k-mers of one length at all positions."""


def export_model(model: Any, exact: bool = False, allow_sequences: bool = False) -> dict[str, Any]:
    """Return a model in the form that the script ``engine.js`` reads.

    Parameters
    ----------
    model : Model
        A model of sequences with one decision value, whose kernel is a sum over k-mers, anywhere or at positions.
    exact : bool
        Keep weights in double precision: decisions then agree to 1e-9 instead of 1e-6.
    allow_sequences : bool
        Allow that the result holds support sequences, where a kernel needs them.

    Returns
    -------
    dict
        JSON: alphabet, bias, threshold, calibration, terms, and ``data``, the arrays of the terms.

    Raises
    ------
    ModelError
        If the model has no such form, with the reason.
    ParameterError
        If training sequences are needed but not allowed.

    Examples
    --------
    >>> from seqkern.kernels import SpectrumKernel
    >>> from seqkern.methods.training import train_model
    >>> from seqkern.sequences.labels import make_labels
    >>> from seqkern.sequences.sequence_set import as_sequences
    >>> X = as_sequences(["CAGGTAAG", "TCGGTAAT", "CAGGCATG", "TCGCTAAT"], "dna")
    >>> model = train_model(X, make_labels(X.ids, ["donor", "donor", "decoy", "decoy"]), SpectrumKernel(2), "csvc:C=10")
    >>> found = export_model(model)
    >>> found["terms"][0]["kind"], found["holds_sequences"]
    ('kmers', False)
    """
    if not isinstance(model, Model) or model.alphabet is None or model.kind not in ("binary", "real"):
        raise ModelError(
            "cannot be a page: pages are for sequences with two classes or numbers",
            remedy="train one class against the rest (--positive NAME), or use seqkern predict",
        )
    form = model.form()
    if form.dividing:
        raise ModelError("cannot be a page: a transform divides its Gram matrix", remedy="use normalize=true")
    packed = _Packed(exact)
    if isinstance(model, TableModel):
        source: Any = form.tallied  # type: ignore[attr-defined]
    else:
        source = model.support, np.asarray(form.coefficients, dtype=np.float64)
    terms = list(_terms(model.kernel, source, model.alphabet, packed))
    if packed.sequences and not allow_sequences:
        raise ParameterError(
            f"the page would hold {len(model.support)} training sequences, which kernel {model.kernel.name!r} needs",
            remedy="add --allow-sequences if everyone who gets the page may read them, or train with gapped_kmer",
        )
    cut = model.cut
    fixed = {term["length"] for term in terms if term["kind"] == "positions" and "part" not in term}
    threshold = 0.0 if cut.threshold is None else cut.threshold.value
    by_probability = cut.threshold is None and cut.by_probability
    if by_probability and isinstance(cut.calibration, SigmoidCalibration) and cut.calibration.slope < 0:
        threshold, by_probability = -cut.calibration.intercept / cut.calibration.slope, False  # where it is 0.5
    return {
        "classes": list(model.classes),
        "alphabet": {key: getattr(model.alphabet, key) for key in ("name", "letters", "complement")},
        "ambiguous": "".join(chr(byte) for byte in np.flatnonzero(model.alphabet.ambiguous)),
        "unknown": model.policies.get("unknown", "mask"),
        "bias": form.constant,
        "threshold": threshold,
        "by_probability": by_probability,
        "calibration": None if cut.calibration is None else asdict(cut.calibration),
        "fixed_length": fixed.pop() if fixed else None,
        "holds_sequences": packed.sequences,
        "terms": terms,
        "data": packed.text(),
    }


class _Packed:
    """Arrays one after the other; references to them are JSON."""

    def __init__(self, exact: bool) -> None:
        self.exact, self.parts, self.size, self.sequences = exact, list[bytes](), 0, False

    def add(self, values: Array) -> dict[str, Any]:
        """Add an array; return its reference."""
        scale = float(np.abs(values).max(initial=0)) / (FIXED - 1) if values.dtype == np.float64 else 0.0
        if values.dtype == np.uint8:
            kind, content = "u1", values.tobytes()
        elif self.exact or not scale:
            kind, content = "f8", values.astype("<f8").tobytes()
        else:  # high bytes first, which compress well
            steps = np.rint(values / scale).astype(">i4")
            kind, content = "i3", steps.view(np.uint8).reshape(-1, 4)[:, 1:].T.tobytes()
        reference = {"at": self.size, "n": values.size, "type": kind, "scale": scale}
        self.parts.append(content)
        self.size += len(content)
        return reference

    def text(self) -> str:
        """Return all arrays as base64 text."""
        return base64.b64encode(gzip.compress(b"".join(self.parts), mtime=0)).decode()


def _terms(kernel: Kernel, source: Any, alphabet: Alphabet, packed: _Packed) -> Iterator[dict[str, Any]]:
    """Yield the terms of a kernel's sum; `source` are its support sequences and coefficients, or its tallied sums."""
    if isinstance(kernel, SumKernel) and not kernel.normalize:
        for number, (part, weight) in enumerate(zip(kernel.bases, kernel._weights(), strict=True)):
            own = source.parts[number] if isinstance(source, TalliedParts) else (source[0], weight * source[1])
            yield from _terms(part, own, alphabet, packed)
    elif isinstance(kernel, PartKernel) and not isinstance(source, Tallied):
        base, (support, coefficients) = kernel.bases[0], source
        for term in _terms(base, (kernel._seen(support), coefficients), alphabet, packed):
            yield term | {"part": list(kernel.piece)}
    else:
        yield _term(kernel, source, alphabet, packed)


def _term(kernel: Kernel, source: Any, alphabet: Alphabet, packed: _Packed) -> dict[str, Any]:
    """Return the term of a kernel that is not made of others."""
    if not isinstance(source, Tallied):
        support, coefficients = kernel.coerce(source[0]), source[1]
        if kernel.normalize:
            coefficients = over_root(coefficients, kernel.prepare(support).raw_diagonal)
        if isinstance(kernel, WeightedDegreeKernel):
            return _positions(kernel, support, coefficients, packed)
    pairs = kernel.tables.pairs
    tables = None
    if pairs is not None:
        tables = source.tables() if isinstance(source, Tallied) else kernel.tables.weights(support, coefficients)
    if pairs is None or tables is None:
        raise ModelError(
            f"cannot be a page: decisions of kernel {kernel.name!r} are not sums of weights of k-mers",
            remedy="train with a kernel such as gapped_kmer, spectrum or weighted_degree",
        )
    strands, by_length = pairs(alphabet.size)
    own = []
    for k, weights in tables:
        half = strands != "one"
        kept = weights[first_of_pairs(alphabet, k)] if half else weights
        own.append({"k": k, "table": packed.add(np.asarray(kept, dtype=np.float64)), "half": half})
    norm = [{"k": k, "values": [float(value) for value in values]} for k, values in by_length]
    return {"kind": "kmers", "tables": own, "strands": strands} | _policies(kernel, norm)


def _policies(kernel: Kernel, norm: Any) -> dict[str, Any]:
    """Return what a term says of sequences that are short, or have K(x, x) = 0."""
    policies = {name: getattr(kernel, name, "error") for name in ("short", "zero_diagonal")}
    return policies | {"norm": norm if kernel.normalize else None}


def _positions(
    kernel: WeightedDegreeKernel, support: SequenceSet, coefficients: Floats, packed: _Packed
) -> dict[str, Any]:
    """Return the term of a weighted degree kernel: tables where they hold every length of k-mers, else the support."""
    length, size = kernel.common_length(support), support.alphabet.size
    degree = min(kernel.degree, length)
    placements = find_placements(length, degree, kernel.start_weights(length), kernel.shifts(length))
    term = {
        "kind": "positions",
        "length": length,
        "length_weights": kernel.length_weights()[:degree].tolist(),
        **{name: placements[name].tolist() for name in ("here", "there", "weight")},
    }
    if length * size**degree <= PREFIX_LETTERS:
        weights = PositionWeights(kernel, support, coefficients)
        tables = [packed.add(weights.table(k).ravel()) for k in range(1, degree + 1)]
        term["tables"] = tables
    else:
        packed.sequences = True
        term |= {"support": packed.add(support.compact().codes), "coefficients": packed.add(coefficients)}
    return term | _policies(kernel, True)
