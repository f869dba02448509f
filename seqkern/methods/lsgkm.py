"""The reader and writer of LS-GKM model files (Lee, Bioinformatics 2016).

The text of ``gkmtrain`` is like LIBSVM's, with its own header (``kernel_type``, ``L``, ``k``, ``d``,
``norc``, …) and a sequence for each support vector. A decision value is Σ coefficient · K(x, support
vector) − rho with the normalised kernel; if it is above zero, the first label is predicted. ``norc 1`` is
one strand; files without the line are older and use both. LS-GKM reads letters other than ACGT as A, also
in its support vectors. ``gkmtrain-svr`` writes ``svm_type epsilon_svr`` without labels and their numbers; a
decision value is then the predicted number. Its kernels are `GappedKmerKernel`'s:

============= ============================================
kernel_type   kernel
============= ============================================
gkm_cnt       ``estimator="count"``
gkm_estfull   ``estimator="full"``
gkm_esttrunc  ``estimator="truncated"``
wgkm          ``truncated`` with ``center_weighted=True``
gkmrbf        exp(gamma · (K − 1)) of ``gkm_esttrunc``
wgkmrbf       the same of ``wgkm``
============= ============================================
"""

from __future__ import annotations

import gzip
import math
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from seqkern.core.archive import atomic_write
from seqkern.core.checks import read_number
from seqkern.core.errors import ModelError, damaged
from seqkern.core.text_files import open_lines
from seqkern.core.types import Floats, PathLike
from seqkern.kernels.kmer.gapped import HALVING, LARGEST_WEIGHT, GappedKmerKernel
from seqkern.kernels.vectors.vector_kernels import RBFKernel
from seqkern.methods.model import Model
from seqkern.methods.table_model import NO_SUPPORT, TableModel
from seqkern.sequences.alphabets import DNA, Alphabet
from seqkern.sequences.sequence_set import SequenceSet
from seqkern.solvers.solver_specs import build_solver, solver_from_state
from seqkern.solvers.svm.svm import CSVC

if TYPE_CHECKING:
    from seqkern.gram.transforms.gram_transform import GramTransform
    from seqkern.kernels.kernel import Kernel
    from seqkern.solvers.contract import Solver

KERNELS: dict[str, tuple[Any, bool, bool]] = {
    "gkm_cnt": ("count", False, False),
    "gkm_estfull": ("full", False, False),
    "gkm_esttrunc": ("truncated", False, False),
    "wgkm": ("truncated", True, False),
    "gkmrbf": ("truncated", False, True),
    "wgkmrbf": ("truncated", True, True),
}
NEEDED = ("svm_type", "kernel_type", "L", "k", "d", "nr_class", "total_sv", "rho")
OF_CLASSES = ("label", "nr_sv")
REGRESSION = ["epsilon_svr"]
OPTIONAL = ("norc", "gamma", "M", "H", "probA", "probB")
AMBIGUOUS = str.maketrans(dict.fromkeys("RYSWKMBDHVN", "A"))
LONGEST_WORD = 12  # LS-GKM's tables have 4^L entries
MOST_MISMATCHES = 11
LONGEST_SEQUENCE = 2047


def read_lsgkm(path: PathLike) -> Model:
    """Read a model of ``gkmtrain``, plain or compressed.

    Its classes are named after the labels, ``("-1", "1")``; a model of ``gkmtrain-svr`` has real labels. The
    file contains neither C (the largest coefficient is used instead) nor the number of training sequences.
    """
    again = "create it again with gkmtrain"
    with open_lines(path) as (lines, _), damaged(path, "is not a usable LS-GKM model", again, ModelError):
        model = _as_model(*_parse(lines))
        len(model.columns)  # reports unusable sequences as errors of the file
        return model


def write_lsgkm(model: Model, path: PathLike) -> None:
    """Write a model for ``gkmpredict``; compressed if the name ends in ``.gz``.

    The positive class becomes the label 1, the other −1.
    """
    check_lsgkm(model.kernel, [model.solver.spec()], model.transforms, model.alphabet, model.kind)
    if isinstance(model, TableModel):
        raise ModelError(NO_SUPPORT, remedy="train again with --format lsgkm")
    assert isinstance(model.support, SequenceSet)
    header = _header(model.kernel)
    coefficients = np.asarray(model.solver.dual_coef_)
    support = model.support.take(model.solver.support_)
    _check_support(support, coefficients, model.solver.intercept_, header["L"])
    order = np.argsort(coefficients <= 0, kind="stable")
    positive = int(np.count_nonzero(coefficients > 0))
    header |= {
        "nr_class": 2,
        "total_sv": len(order),
        "rho": repr(-float(model.solver.intercept_)),
        "label": "1 -1",
        "nr_sv": f"{positive} {len(order) - positive}",
    }
    lines = [f"{key} {value}" for key, value in header.items()] + ["SV"]
    lines += [f"{float(coefficients[i])!r} {support.string(i)}" for i in order]
    text = ("\n".join(lines) + "\n").encode("ascii")
    with atomic_write(path) as file:
        file.write(gzip.compress(text, mtime=0) if str(path).endswith(".gz") else text)


def check_lsgkm(
    kernel: Kernel,
    solvers: Sequence[Mapping[str, Any]],
    transforms: Sequence[GramTransform],
    alphabet: Alphabet | None,
    kind: str,
) -> None:
    """Raise ModelError, before any training, if LS-GKM does not support such models."""
    _header(kernel)
    other = next((spec["solver"] for spec in solvers if spec["solver"] != CSVC.name), None)
    if other is not None:
        raise ModelError(f"LS-GKM models do not support solver {other!r}", remedy="choose csvc")
    if transforms:
        raise ModelError("LS-GKM models do not support transforms of the kernel matrix", remedy="remove them")
    if kind != "binary" or alphabet != DNA:
        raise ModelError("LS-GKM models need two classes of DNA", remedy="use --format seqkern")


def _header(kernel: Any) -> dict[str, Any]:
    """Return the kernel's header lines as a dict; raise ModelError if LS-GKM does not support the kernel."""
    radial = isinstance(kernel, RBFKernel)
    gapped = kernel.bases[0] if radial and kernel.base is not None else kernel
    if not isinstance(gapped, GappedKmerKernel):
        raise ModelError(
            f"LS-GKM models do not support kernel {kernel.name!r}",
            remedy="choose gapped_kmer, or rbf with gapped_kmer as its base",
        )
    kernel.check_parameters()
    kind = (gapped.estimator, bool(gapped.center_weighted), radial)
    name = next((name for name, described in KERNELS.items() if described == kind), None)
    if name is None or not gapped.normalize or (radial and kernel.gamma == "scale"):
        raise ModelError(
            "LS-GKM supports center_weighted and rbf only with estimator=truncated, normalised, and with a numeric "
            "gamma",
            remedy="change the kernel accordingly",
        )
    if gapped.clip:
        raise ModelError("LS-GKM does not support clip", remedy="train the model with clip=false")
    d = gapped.d
    if d is None:
        d = gapped.l - gapped.k if gapped.estimator == "count" else gapped.l
    if not 2 <= gapped.l <= LONGEST_WORD or d > MOST_MISMATCHES:
        raise ModelError(
            f"LS-GKM supports l from 2 to {LONGEST_WORD} and d up to {MOST_MISMATCHES}, not l={gapped.l}, d={d}",
            remedy="choose a smaller l or d",
        )
    header = {"svm_type": "c_svc", "kernel_type": name, "L": gapped.l, "k": gapped.k, "d": d}
    header["norc"] = 0 if gapped.reverse_complement else 1
    if radial:
        header["gamma"] = repr(2 * float(kernel.gamma))
    if gapped.center_weighted:
        header |= {"M": LARGEST_WEIGHT, "H": HALVING}
    return header


def _check_support(support: SequenceSet, coefficients: Floats, intercept: float, length: int) -> None:
    """Raise ModelError for numbers or sequences that LS-GKM would misread."""
    if not len(support):
        raise ModelError("the model has no support sequences", remedy="train with a larger C")
    for name, size, string in zip(support.ids, support.lengths, support.strings(), strict=True):
        if "*" in string or not length <= size <= LONGEST_SEQUENCE:
            raise ModelError(
                f"length {size}: LS-GKM supports only ACGT and lengths from {length} to {LONGEST_SEQUENCE}",
                record=name,
                remedy="remove it from the training data",
            )
    if not np.isfinite([*coefficients, intercept]).all():
        raise ModelError("a coefficient is not finite", remedy="train the model again")


def _parse(lines: Iterator[str]) -> tuple[dict[str, list[str]], list[float], list[str]]:
    """Return (header, coefficients, sequences) from a file's lines; raise ValueError if they are invalid."""
    header: dict[str, list[str]] = {}
    coefficients: list[float] = []
    sequences: list[str] = []
    for line in lines:
        if not line.strip():
            continue
        key, *words = line.split()[:4]
        if key == "SV" and not words:
            break
        if key not in NEEDED + OF_CLASSES + OPTIONAL or key in header:
            raise ValueError(f"unexpected line {line[:40].strip()!r} in the header")
        header[key] = words
    else:
        raise ValueError("truncated header")
    for key in NEEDED + (() if header.get("svm_type") == REGRESSION else OF_CLASSES):
        if key not in header:
            raise ValueError(f"the header has no {key}")
    for number, line in enumerate((line for line in lines if line.strip()), start=1):
        words = line.split()
        if len(words) != 2:
            raise ValueError(f"support vector {number} is not a number and a sequence")
        sequence = words[1].upper().translate(AMBIGUOUS)
        odd = re.search("[^ACGT]", sequence)
        if odd:
            raise ValueError(f"support vector {number} contains the letter {words[1][odd.start()]!r}")
        coefficients.append(_number(words[0], f"support vector {number}"))
        sequences.append(sequence)
    return header, coefficients, sequences


def _as_model(header: dict[str, list[str]], coefficients: list[float], sequences: list[str]) -> Model:
    """Return the Model from the content of a file."""
    kernel = _kernel(header)
    real = header["svm_type"] == REGRESSION
    if header["svm_type"] not in (["c_svc"], REGRESSION) or header["nr_class"] != ["2"]:
        raise ValueError("only models of svm_type c_svc with two classes, and of epsilon_svr, are supported")
    n = _integer(header, "total_sv")
    if n != len(sequences) or n == 0:
        raise ValueError(f"the header gives {n} support vectors, but there are {len(sequences)}")
    if real and any(key in header for key in OF_CLASSES):
        raise ValueError("epsilon_svr has no labels")
    classes = () if real else _classes(header, n)
    return Model(
        kernel=kernel,
        transforms=[],
        solver=weighted_sum(np.array(coefficients), -_real(header, "rho"), real),
        support=SequenceSet.from_strings(sequences, "dna"),
        diagonal=np.ones(n),
        kind="real" if real else "binary",
        classes=classes,
        policies={},
        record={"lsgkm": {key: " ".join(words) for key, words in header.items()}},
    )


def weighted_sum(coefficients: Floats, constant: float, real: bool = True) -> Solver:
    """Return a solver, of numbers or of two classes, that decides Σ_i coefficients[i]·K(x, z_i) + constant."""
    n, cost = len(coefficients), float(np.abs(coefficients).max(initial=0)) or 1.0
    return solver_from_state(
        {
            "spec": build_solver({"solver": "svr" if real else "csvc", "C": cost}).spec(),
            "columns": n,
            "report": {"converged": True, "iterations": 0, "n_support": n},
            "learned": {"intercept": constant},
        },
        {"support": np.arange(n), "coef": coefficients, **({} if real else {"classes": np.array([-1.0, 1.0])})},
    )


def _classes(header: dict[str, list[str]], n: int) -> tuple[str, str]:
    """Return the names of the classes, positive class last; raise ValueError if they do not fit n support vectors."""
    labels = [_integer(header, "label", place, 2) for place in range(2)]
    counts = [_integer(header, "nr_sv", place, 2) for place in range(2)]
    if n != sum(counts) or min(counts) < 0:
        raise ValueError(f"the header gives {n} and {counts[0]} + {counts[1]} support vectors")
    if labels[0] == labels[1]:
        raise ValueError("the two labels are equal")
    return str(labels[1]), str(labels[0])


def _kernel(header: dict[str, list[str]]) -> Kernel:
    """Return the kernel described by a header."""
    name = " ".join(header["kernel_type"])
    if name not in KERNELS:
        raise ValueError(f"unknown kernel_type {name!r}")
    estimator, centred, radial = KERNELS[name]
    if "norc" in header and header["norc"] not in (["0"], ["1"]):
        raise ValueError("norc is neither 0 nor 1")
    if centred and (_real(header, "M"), _real(header, "H")) != (LARGEST_WEIGHT, HALVING):
        raise ValueError(f"only M {LARGEST_WEIGHT} and H {HALVING} are supported")
    kernel: Any = GappedKmerKernel(
        _integer(header, "L"),
        _integer(header, "k"),
        d=_integer(header, "d"),
        estimator=estimator,
        center_weighted=centred,
        reverse_complement=header.get("norc") != ["1"],
        alphabet="dna",
    )
    if radial:
        kernel = RBFKernel(gamma=_real(header, "gamma") / 2, base=kernel)
    kernel.check_parameters()
    return kernel


def _integer(header: dict[str, list[str]], key: str, place: int = 0, words: int = 1) -> int:
    """Return an integer of a header line of `words` words; raise ValueError if the line is invalid."""
    if len(header.get(key, ())) != words or not re.fullmatch(r"[+-]?[0-9]{1,18}", header[key][place]):
        raise ValueError(f"{key} {' '.join(header.get(key, ['is missing']))!r} is invalid")
    return int(header[key][place])


def _real(header: dict[str, list[str]], key: str) -> float:
    """Return the number in a header line; raise ValueError unless there is exactly one."""
    if len(header.get(key, ())) != 1:
        raise ValueError(f"{key} is not one number")
    return _number(header[key][0], key)


def _number(word: str, what: str) -> float:
    """Return a finite float; raise ValueError if the text is not one."""
    value = read_number(word)
    if math.isnan(value):
        raise ValueError(f"{what} has the invalid number {word[:40]!r}")
    return value
