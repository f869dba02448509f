"""Checks for wrong input files: the same in two classes, DNA with proteins, or a genome in place of sequences."""

from __future__ import annotations

import contextlib
import zipfile
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
import numpy.typing as npt

from seqkern.cli.options import Request
from seqkern.core.errors import LabelError, ParameterError, SeqkernError, SequenceError
from seqkern.core.text_files import open_lines
from seqkern.core.tsv import is_excel
from seqkern.formats.regions import looks_like_bed
from seqkern.formats.vcf import is_bcf
from seqkern.methods.loading import is_lsgkm
from seqkern.sequences.alphabets import MASK, PROTEIN
from seqkern.sequences.labels import Labels
from seqkern.sequences.sequence_set import SequenceSet
from seqkern.study.dataset import Dataset

LONG, TIMES = 100_000, 100
"""Minimum length of a class's only sequence, and of its ratio to all others, that indicates a genome."""

MOST_COMPARED = 100_000
"""Maximum number of records compared with each other."""

FEWEST, SHORTEST = 20, 30
"""Minimum number of proteins in a class, and minimum length of each, for a class of only bases to be DNA."""


PLACES = {"labels": "a table", "genome": "FASTA"}
"""Options of files, and what they hold."""


def swapped_files(request: Request) -> ParameterError | None:
    """Return the error about a request that failed because two files stand in each other's place, else None."""
    verb, values = request.verb(), request.values()
    arguments = [name for name, item in type(request).declarations().items() if item.place and item.place.positional]
    named = [values[name] or [] for name in arguments]
    files = [str(one) for value in named for one in (value if isinstance(value, list) else [value])]
    kinds = {file: _kind_of(file) for file in files}
    first, later = "a model", ["FASTA", "BED", "VCF", "a table"]
    if verb == "audit":
        first, later = "FASTA", ["a table"]
    elif verb == "variants":
        later.remove("a table")  # it may hold weights of k-mers, which are a model
    ordered = sorted(files, key=lambda file: kinds[file] in later)
    if ("model" in values or verb in ("audit", "variants")) and first in kinds.values() and ordered != files:
        remedy = f"give {first} first: seqkern {verb} {' '.join(ordered)}"
        return ParameterError(f"is not {first}", file=files[0], remedy=remedy)
    for option, kind in PLACES.items():
        other, place = values.get(option), next((file for file in files if kinds[file] == kind), None)
        held = _kind_of(other) if isinstance(other, str) else ""
        if place is not None and option not in arguments and held not in ("", kind):
            ordered = [str(other) if file == place else file for file in files]
            remedy = f"swap the files: seqkern {verb} {' '.join(ordered)} --{option} {place}"
            return ParameterError(f"is {held}, not {kind}", file=other, remedy=remedy)
    return None


def _kind_of(path: str) -> str:
    """Return what a file holds: a model, VCF, FASTA, BED or a table, or an empty text."""
    with contextlib.suppress(OSError, SeqkernError):
        if not Path(path).is_file():
            return ""
        if (zipfile.is_zipfile(path) and not is_excel(path)) or is_lsgkm(path):
            return "a model"
        if is_bcf(path):
            return "VCF"
        with open_lines(path) as (lines, _):
            line = next(line for line in lines if line.strip() and not line.startswith(("track", "browser", "# ")))
        if line.startswith((">", "##fileformat=VCF")):
            return "FASTA" if line.startswith(">") else "VCF"
        return "BED" if looks_like_bed(line) else "a table" if set("\t;,") & set(line) else ""
    return ""


def holds_table(path: str) -> bool:
    """Return whether a file is a table, also of Excel."""
    return is_excel(path) or _kind_of(path) == "a table"


def holds_fasta(path: str) -> bool:
    """Return whether a file is FASTA."""
    return _kind_of(path) == "FASTA"


def check_twice(files: Sequence[str]) -> None:
    """Raise LabelError if the same file is given twice."""
    seen: list[Path] = []
    for file in map(Path, files):
        if file.is_file() and any(file.samefile(other) for other in seen):
            raise LabelError("is given twice", file=file, remedy="give each class its own file")
        seen += [file] if file.is_file() else []


def same_in_two_classes(X: SequenceSet, labels: Labels) -> str | None:
    """Return a sentence about sequences that occur in two classes, or None; at most `MOST_COMPARED` records count.

    >>> from seqkern.sequences.labels import make_labels
    >>> from seqkern.sequences.sequence_set import SequenceSet
    >>> X = SequenceSet.from_strings(["GATTACA", "ACGT", "GATTACA"], "dna", ids=["a", "b", "c"])
    >>> print(same_in_two_classes(X, make_labels(X.ids, ["yes", "yes", "no"])))
    records 'a' (class yes) and 'c' (class no) are the same sequence; 1 sequence occurs in two classes
    """
    if labels.kind not in ("binary", "multiclass") or len(X) > MOST_COMPARED:
        return None
    first: dict[bytes, int] = {}
    several: dict[bytes, tuple[int, int]] = {}
    for i, (start, stop) in enumerate(zip(X.starts.tolist(), X.stops.tolist(), strict=True)):
        code = X.codes[start:stop].tobytes()
        before = first.setdefault(code, i)
        if -1 not in (labels.y[i], labels.y[before]) and labels.y[i] != labels.y[before]:
            several.setdefault(code, (before, i))
    if not several:
        return None
    pair = next(iter(several.values()))
    shown = " and ".join(f"{X.ids[i]!r} (class {labels.classes[int(labels.y[i])]})" for i in pair)
    count = f"{len(several)} sequences occur" if len(several) > 1 else "1 sequence occurs"
    return f"records {shown} are the same sequence; {count} in two classes"


def check_same(dataset: Dataset, files: Mapping[str, str]) -> None:
    """Raise LabelError if all sequences of the smaller class are also in the other class."""
    X, labels = dataset.X, dataset.task().labels
    if not isinstance(X, SequenceSet) or labels.kind != "binary" or len(X) > MOST_COMPARED:
        return
    classes: tuple[set[bytes], set[bytes]] = set(), set()
    for start, stop, code in zip(X.starts.tolist(), X.stops.tolist(), labels.y.tolist(), strict=True):
        if code >= 0:
            classes[code].add(X.codes[start:stop].tobytes())
    small, large = (1, 0) if len(classes[1]) <= len(classes[0]) else (0, 1)
    if classes[small] <= classes[large]:
        raise LabelError(
            f"all its sequences are also in {files[labels.classes[large]]}, so nothing distinguishes the classes",
            file=files[labels.classes[small]],
            remedy="give files with different sequences",
        )


def check_kinds(dataset: Dataset, files: Mapping[str, str]) -> None:
    """Raise SequenceError if one class is DNA or RNA and another is protein."""
    X, labels = dataset.X, dataset.task().labels
    if not isinstance(X, SequenceSet) or not labels.classes or dataset.residues is not None:
        return
    rows = {name: np.flatnonzero(labels.y == code) for code, name in enumerate(labels.classes)}
    name = bases_beside_proteins(X, rows)
    if name is not None:
        raise SequenceError(
            f"the {len(rows[name])} sequences of class {name} are DNA or RNA, those of another class protein",
            file=files.get(name),
            remedy="give all classes as DNA or all as protein; if they are proteins, add --alphabet protein",
        )


def bases_beside_proteins(X: SequenceSet, parts: Mapping[str, npt.NDArray[np.int64]]) -> str | None:
    """Return the name of a part of DNA or RNA if another part is protein; else None."""
    if X.alphabet != PROTEIN:
        return None
    is_base = np.zeros(256, dtype=bool)
    is_base[[*PROTEIN.encode(b"ACGTN").tolist(), MASK]] = True  # U is masked
    of_bases = np.array([is_base[X.codes[a:b]].all() for a, b in zip(X.starts.tolist(), X.stops.tolist(), strict=True)])
    whole = {name: rows for name, rows in parts.items() if np.all(of_bases[rows])}
    for name, rows in whole.items():
        if len(rows) >= FEWEST and X.lengths[rows].min() >= SHORTEST and len(whole) < len(parts):
            return name
    return None


def check_genome(dataset: Dataset, files: Mapping[str, str]) -> None:
    """Raise SequenceError for a class whose only sequence is a chromosome or contig."""
    X, labels = dataset.X, dataset.task().labels
    if not isinstance(X, SequenceSet) or labels.kind == "real" or dataset.residues is not None:
        return
    for code, name in enumerate(labels.classes):
        rows = np.flatnonzero(labels.y == code)
        if len(rows) != 1:
            continue
        row = int(rows[0])
        length, others = int(X.lengths[row]), np.delete(X.lengths, row)
        if length >= LONG and (not len(others) or length >= TIMES * others.max()):
            raise SequenceError(
                f"is the only sequence of class {name} and has {length:,} letters, as a genome would",
                file=files.get(name),
                record=X.ids[row],
                remedy="give the sequences to learn from; to cut them from a genome, give BED files with --genome, or "
                "--sites TABLE with --window",
            )
