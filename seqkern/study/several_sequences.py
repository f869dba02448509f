"""Data-set entries whose samples have several sequences: a table of sequences, or a FASTA file for each view."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from seqkern.core.checks import check_choice, check_name, read_number
from seqkern.core.declarations import Parameter
from seqkern.core.errors import ConfigError, SequenceError, check_known, naming, unknown_name
from seqkern.core.parameters import choice, integer, text
from seqkern.core.progress import tell
from seqkern.core.text_files import source_name
from seqkern.core.tsv import check_columns, read_cells
from seqkern.core.types import PathLike, Source
from seqkern.formats.alleles import Placing
from seqkern.formats.reference import Genome
from seqkern.formats.regions import loci
from seqkern.formats.vcf import VcfChunk, VcfReader, info_fields, info_texts, parse_records
from seqkern.sequences.alphabets import Alphabet, as_alphabet
from seqkern.sequences.fasta import read_records, records_of, unique_ids
from seqkern.sequences.joining import join_views
from seqkern.sequences.labels import real_labels
from seqkern.sequences.sampling import merge_groups
from seqkern.sequences.sequence_set import SequenceSet
from seqkern.study.schema import NAME, PATH, ByName, Either, Listing, Section
from seqkern.study.tables import NAMED, check_header, label_column, unique_names

# Samples with several sequences, read as text: from the columns of a table, or from FASTA files with equal ids.
#
# Both are first read as text, one column of sequences for each view; then the policies are applied, and each column is
# encoded in its own alphabet, as in FASTA.

MISSING = ("error", "skip", "keep")
"""The policies for a sample that lacks one of its sequences, the default first."""


@dataclass(frozen=True)
class TextColumns:
    """The sequences of samples as text, before the policies are applied."""

    ids: list[str]  # length n: Of the samples
    sequences: dict[str, list[str]]  # length n: For each view the sequence of each sample, empty where it is missing
    files: dict[str, str]  # The source of each view, for messages
    columns: dict[str, list[str]] = field(default_factory=dict)  # length n: The other columns of the table
    # length n: The header of each sample in the first FASTA file that has it; empty for tables
    headers: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class SequencesRead:
    """Samples with several sequences, encoded under the policies."""

    sequences: SequenceSet  # With a sequence view for each sequence
    columns: dict[str, list[str]]  # length n: The other columns of the table
    headers: list[str]  # length n: As of `TextColumns`
    left_out: list[str]  # The ids of the samples that a policy left out


def read_table_text(
    source: Source,
    columns: Mapping[str, str],
    id_column: str | None = None,
    ids: str = "header",
    others: Iterable[str] = (),
) -> TextColumns:
    r"""Read the sequence columns of a table; without a column of ids, rows are numbered from 1.

    >>> import io
    >>> text = read_table_text(io.StringIO("a\tb\tlabel\nCAV\tCASS\t1\nCAL\t\t0\n"), {"alpha": "a", "beta": "b"})
    >>> text.ids, text.sequences, text.columns["label"]
    (['1', '2'], {'alpha': ['CAV', 'CAL'], 'beta': ['CASS', '']}, ['1', '0'])
    """
    header, *rows = read_cells(source)
    name, id_column = source_name(source), None if ids == "number" else id_column
    if header[0].startswith(">"):
        raise SequenceError(
            f"is FASTA, not a table with the columns {', '.join(columns.values())}",
            file=name,
            remedy="give a table (TSV or CSV), or a FASTA file for each sequence with --view NAME=FILE",
        )
    check_header(header, rows, name)
    for column in [*columns.values(), *([] if id_column is None else [id_column]), *others]:
        if column not in header:
            error = unknown_name("column", column, header)
            raise SequenceError(error.problem, file=name, remedy=error.remedy)
    cells = dict(zip(header, (list(map(str.strip, values)) for values in zip(*rows, strict=True)), strict=True))
    given = [""] * len(rows) if id_column is None else cells[id_column]
    policy = "number" if id_column is None else ids
    names, _ = unique_names(given, policy, name)
    sequences = {view: cells[column] for view, column in columns.items()}
    return TextColumns(
        names, sequences, {view: f"{name}: column {column!r}" for view, column in columns.items()}, cells
    )


def read_fasta_text(sources: Mapping[str, Source], ids: str = "header") -> TextColumns:
    r"""Read FASTA files, and match their records by id.

    >>> import io
    >>> text = read_fasta_text({"heavy": io.StringIO(">a\nQVQL\n>b\nEVQ\n"), "light": io.StringIO(">b\nDIQ\n")})
    >>> text.ids, text.sequences
    (['a', 'b'], {'heavy': ['QVQL', 'EVQ'], 'light': ['', 'DIQ']})
    """
    found: dict[str, dict[str, str]] = {}
    headers: dict[str, str] = {}
    for view, source in sources.items():
        name = source_name(source)
        records = list(records_of(source))
        if not records:
            raise SequenceError("has no records", file=name, remedy="check how the file was created")
        names, _ = unique_ids([header.split(None, 1)[0] for header, _ in records], ids, file=name)
        found[view] = dict(zip(names, (letters for _, letters in records), strict=True))
        headers = {**dict(zip(names, (header for header, _ in records), strict=True)), **headers}
    every = list(dict.fromkeys(key for own in found.values() for key in own))
    sequences = {view: [own.get(key, "") for key in every] for view, own in found.items()}
    files = {view: source_name(source) for view, source in sources.items()}
    return TextColumns(every, sequences, files, headers=[headers[key] for key in every])


def encode_columns(
    text: TextColumns,
    alphabets: Mapping[str, str | Alphabet | None],
    *,
    missing: str = "error",
    unknown: str = "mask",
    gaps: str = "error",
) -> SequencesRead:
    """Encode samples with several sequences under the policies.

    A sample that lacks a sequence is refused, left out, or kept with an empty sequence, according to `missing`; a
    sample without any sequence is always refused.

    >>> text = TextColumns(["r1", "r2"], {"a": ["CAV", ""], "b": ["CASS", "CAWS"]}, {"a": "t.tsv", "b": "t.tsv"})
    >>> read = encode_columns(text, {"a": "protein", "b": "protein"}, missing="keep")
    >>> read.sequences.strings(), read.sequences.counts
    (['CAV*CASS', '*CAWS'], {"empty sequences in the view 'a'": 1})
    """
    check_choice("missing", missing, MISSING)
    bare = np.array([[not letters for letters in column] for column in text.sequences.values()])
    _check_bare(text, bare)
    if missing == "error":
        _check_missing(text, bare)
    kept = np.flatnonzero(~bare.any(axis=0)) if missing == "skip" else np.arange(len(text.ids))
    counts = {"samples without a sequence in a view left out": len(text.ids) - len(kept)}
    found = {
        view: _encoded(text, view, kept, alphabets.get(view), {"unknown": unknown, "gaps": gaps})
        for view in text.sequences
    }
    whole = np.array([i for i in kept if all(i in own.place for own in found.values())], dtype=np.int64)
    if not len(whole):
        raise SequenceError(
            "every sample was left out", file=_source(text), remedy="correct the sequences, or change the policies"
        )
    counts["samples with unknown letters left out"] = len(kept) - len(whole)
    for view, own in found.items():
        counts[f"empty sequences in the view {view!r}"] = sum(not text.sequences[view][i] for i in whole)
        for what, count in own.counts.items():
            if not what.startswith("records "):
                counts[what] = counts.get(what, 0) + count
    X = join_views({view: own.of(whole) for view, own in found.items()}, ids=[text.ids[i] for i in whole])
    chosen = set(whole.tolist())
    return SequencesRead(
        X.replace(counts={what: count for what, count in counts.items() if count}),
        {name: [values[i] for i in whole] for name, values in text.columns.items()},
        [text.headers[i] for i in whole] if text.headers else [],
        [key for i, key in enumerate(text.ids) if i not in chosen],
    )


@dataclass(frozen=True)
class _Encoded:
    """The nonempty sequences of one view, the index of each sample among them, and counts."""

    sequences: SequenceSet
    place: dict[int, int]
    counts: dict[str, int]

    def of(self, rows: Iterable[int]) -> SequenceSet:
        """Return the sequences of the samples in some rows."""
        return self.sequences.take(np.array([self.place[i] for i in rows], dtype=np.int64))


@dataclass
class _Cells:
    """The nonempty cells of a column, as records named by their row."""

    name: str
    letters: Sequence[str]
    rows: Sequence[int]
    counts: dict[str, int] = field(default_factory=dict)

    def records(self) -> Iterator[tuple[str, str]]:
        """Yield the row number and letters of each record."""
        return ((str(i), self.letters[i]) for i in self.rows)


def _encoded(
    text: TextColumns, view: str, kept: Iterable[int], alphabet: str | Alphabet | None, policies: dict[str, Any]
) -> _Encoded:
    """Return the encoded sequences of one view; all missing ones share an empty sequence at the end."""
    letters, file = text.sequences[view], text.files[view]
    rows = [int(i) for i in kept]
    full = [i for i in rows if letters[i]]
    if not full:
        raise SequenceError("has no sequence", file=file, remedy=f"remove the view {view!r}")
    try:
        X = read_records([_Cells(file, letters, full)], alphabet, empty="skip", **policies).sequences
    except SequenceError as error:
        if error.record is not None:
            error.record = text.ids[int(error.record)]
        raise
    place = {int(row): i for i, row in enumerate(X.ids)}
    gone = len(X.codes)
    starts, stops = np.append(X.starts, gone), np.append(X.stops, gone)
    place |= {i: len(X) for i in rows if not letters[i]}
    return _Encoded(SequenceSet(X.codes, starts, stops, [*X.ids, ""], X.alphabet), place, X.counts)


def _source(text: TextColumns) -> str:
    """Return the names of all sources, for messages."""
    return ", ".join(dict.fromkeys(file.partition(": column ")[0] for file in text.files.values()))


def _check_bare(text: TextColumns, bare: Any) -> None:
    """Raise SequenceError for a sample without any sequence."""
    none = np.flatnonzero(bare.all(axis=0))
    if len(none):
        more = f" (and {len(none) - 1} more)" if len(none) > 1 else ""
        raise SequenceError(
            f"row {none[0] + 1} has no sequence in any of {', '.join(text.sequences)}{more}",
            file=_source(text),
            record=text.ids[none[0]],
            remedy="remove the sample",
        )


def _check_missing(text: TextColumns, bare: Any) -> None:
    """Raise SequenceError for a sample that lacks a sequence."""
    view, i = next(zip(*np.nonzero(bare), strict=True), (None, None))
    if view is None or i is None:
        return
    name = list(text.sequences)[view]
    has = next(file for file, column in zip(text.files.values(), text.sequences.values(), strict=True) if column[i])
    of_fasta = "" if text.columns else f", but it is in {has}"
    lacking = int(bare.any(axis=0).sum())
    remedy = "add it, or add --missing skip (leaves such samples out) or --missing keep (an empty sequence)"
    if lacking == len(text.ids) and not text.columns:
        remedy = (
            "give the records of a sample one id in all files; or, where they are in the same order, add --ids number"
        )
    raise SequenceError(
        f"has no sequence in the view {name!r}{of_fasta} ({lacking} of {len(text.ids)} samples lack one)",
        file=text.files[name],
        record=text.ids[i],
        remedy=remedy,
    )


NOTE = "several_sequences"
"""Key of the settings for reading samples, in the notes of a data set and so in the record of a model."""
ALLELES = ("alternative", "reference")
"""Views of variants."""
WIDTH = 100
"""Bases of a variant's windows by default."""
COLUMN_KEYS: dict[str, Parameter] = {"column": text(), "alphabet": text()}
TABLE_KEYS: dict[str, Parameter] = {
    "file": PATH,
    "id": text(),
    "sequences": Either(
        forms=(Listing(value=NAME), ByName(value=Either(forms=(text(), Section(keys=COLUMN_KEYS))))),
        doc="Columns, or for each view its column, or its column and alphabet.",
    ),
    "missing": choice(choices=MISSING),
    "numbers": Listing(value=NAME, doc="Columns of numbers, each a view of one number, such as scores of a model."),
    "genome": PATH.but(
        doc="The genome of variants: the file is VCF, or a table with chromosome, position, ref and alt."
    ),
    "width": integer(low=1, doc=f"Bases of a window with each allele of a variant (default: {WIDTH})."),
}


@dataclass(frozen=True)
class SequenceView:
    """One sequence of each sample: the name of the view, its column or file, and its alphabet."""

    name: str  # As kernels call it: ``view=heavy``
    where: str  # The column of a table, or a file
    alphabet: str | None = None  # Of its letters; by default guessed

    def __post_init__(self) -> None:
        check_name("view", self.name)
        if self.alphabet is not None:
            as_alphabet(self.alphabet)


class ViewSource:
    """Base of the sources of samples with several sequences."""

    views: tuple[SequenceView, ...]
    missing: str
    numbers: tuple[str, ...] = ()
    kind = "sequences"
    own_columns: ClassVar[tuple[str, ...]] = ()
    """Columns about folds that the source makes."""

    @property
    def view_names(self) -> tuple[str, ...]:
        """The names of the views."""
        return tuple(view.name for view in self.views)

    def describe(self, columns: Mapping[str, Sequence[str]]) -> dict[str, Any]:
        """Return further notes for a data set, from the columns of its labels."""
        return {}

    def text(self, base_dir: PathLike, ids: str = "header", labels: Mapping[str, Any] | None = None) -> TextColumns:
        """Read the samples as text; `labels` are the options of labels, if a column holds them."""
        raise NotImplementedError

    def read(
        self,
        base_dir: PathLike,
        policies: Mapping[str, str],
        alphabets: Mapping[str, str | Alphabet | None] | None = None,
        labels: Mapping[str, Any] | None = None,
    ) -> SequencesRead:
        """Read the samples; `alphabets`, such as a model's, replace the views' own."""
        text = self.text(base_dir, policies.get("ids", "header"), labels)
        own = {view.name: view.alphabet or policies.get("alphabet") for view in self.views}
        letters = {key: policies[key] for key in ("unknown", "gaps") if key in policies}
        found = encode_columns(text, own if alphabets is None else alphabets, missing=self.missing, **letters)
        return self._with_numbers(found, text) if self.numbers else found

    def _with_numbers(self, found: SequencesRead, text: TextColumns) -> SequencesRead:
        """Return the samples with their columns of numbers as views; raise SequenceError for other text in them."""
        X = found.sequences
        views = {name: np.array([[read_number(cell)] for cell in found.columns[name]]) for name in self.numbers}
        for name, values in views.items():
            i = int(np.isnan(values).argmax())
            if np.isnan(values[i, 0]):
                raise SequenceError(
                    f"column {name!r}: {found.columns[name][i]!r} is not a finite number",
                    file=_source(text),
                    record=X.ids[i],
                    remedy="fill it in, or remove the row",
                )
        return replace(found, sequences=X.replace(views={**X.views, **views}))


@dataclass(frozen=True)
class SequenceTable(ViewSource):
    """A table with several columns of sequences.

    >>> table = SequenceTable.parse({"file": "tcr.tsv", "sequences": ["a3", "b3"], "missing": "keep"})
    >>> table.path, table.view_names, table.missing
    ('tcr.tsv', ('a3', 'b3'), 'keep')
    """

    path: str  # As written in the entry
    views: tuple[SequenceView, ...]  # The columns
    id_column: str | None = None  # The column of ids; None: rows are numbered
    missing: str = MISSING[0]  # As for `seqkern.study.several_sequences.encode_columns`
    numbers: tuple[str, ...] = ()  # Columns that are views of one number

    @classmethod
    def parse(cls, given: Mapping[str, Any]) -> SequenceTable:
        """Return the sequence table of an entry."""
        check_known("key of table", given, TABLE_KEYS)
        if given.get("genome"):
            views = tuple(SequenceView(name, name, "dna") for name in ALLELES)
            return VariantPairs(str(given["file"]), views, genome=str(given["genome"]), width=given.get("width", WIDTH))
        for key in ("file", "sequences"):
            if not given.get(key):
                raise ConfigError(f"the table has no {key}", remedy=f"add {key}: {'[a, b]' if key != 'file' else '…'}")
        missing = given.get("missing", MISSING[0])
        check_choice("missing", missing, MISSING)
        id_column = None if given.get("id") is None else str(given["id"])
        numbers = tuple(map(str, given.get("numbers", ())))
        for name in numbers:
            check_name("view", name)
        return cls(str(given["file"]), _columns(given["sequences"]), id_column, missing, numbers)

    def note(self) -> dict[str, Any]:
        """Return a record of how the samples are read, for the notes of a data set."""
        own: dict[str, Any] = {"columns": {view.name: view.where for view in self.views}, "missing": self.missing}
        own |= {"numbers": list(self.numbers)} if self.numbers else {}
        return own if self.id_column is None else {**own, "id": self.id_column}

    def files(self) -> list[tuple[tuple[str, ...], str]]:
        """Return the table's file with its keys."""
        return [(("table", "file"), self.path)]

    def text(self, base_dir: PathLike, ids: str = "header", labels: Mapping[str, Any] | None = None) -> TextColumns:
        columns = {view.name: view.where for view in self.views}
        return read_table_text(_path(base_dir, self.path), columns, self.id_column, ids, self.numbers)


# Variants with measured effects, each read as two sequences: a window of the genome with either allele.

VARIANT_COLUMNS = ("chromosome", "chrom", "chr"), ("position", "pos"), ("id",), ("ref",), ("alt",)
"""Names of the columns of a table of variants, in the order of VCF; only the column of ids may be missing."""


@dataclass(frozen=True)
class VariantPairs(SequenceTable):
    """Variants in VCF or a table, with a view for each of the `ALLELES`; groups are loci of overlapping windows."""

    own_columns = ("group",)

    genome: str = ""  # FASTA, as written in the entry
    width: int = WIDTH  # Bases of each window

    def files(self) -> list[tuple[tuple[str, ...], str]]:
        return [*super().files(), (("table", "genome"), self.genome)]

    def text(self, base_dir: PathLike, ids: str = "header", labels: Mapping[str, Any] | None = None) -> TextColumns:
        path = _path(base_dir, self.path)
        name, sequences = source_name(path), {view: list[str]() for view in ALLELES}
        names, places, cells, own, records = list[str](), list[int](), list[dict[str, str]](), list[str](), list[str]()
        label = None if labels is None else labels.get("label")
        with Genome(_path(base_dir, self.genome)) as genome:
            placing = Placing(genome, name, {})
            for chunk, columns in _variants(path, name):
                _check_records(chunk, columns, label, name)
                placed, _ = placing.place(chunk, self.width)
                for view, alleles in zip(ALLELES, (placed.alts, placed.refs), strict=True):
                    sequences[view] += [window.decode() for window in placed.windows(alleles, self.width)]
                for i, row in zip(placed.index.tolist(), chunk.rows[placed.index].tolist(), strict=True):
                    names.append(str(placing.names[chunk.chromosomes[row]]))
                    places.append(chunk.positions[row])
                    cells.append(columns[i])
                    own.append(f"{names[-1]}:{places[-1]}:{chunk.refs[row].upper()}>{chunk.alts[i].upper()}")
                    records.append(f"{own[-1]} (line {chunk.first_line + row})")
            placing.finish()
        if not own:
            raise SequenceError("has no variants after its header", file=name, remedy="check how it was created")
        for line in [*placing.renamed, *(f"not used: {cause}" for cause in placing.unscored())]:
            tell(f"{name}: {line}")
        every = {column: [row.get(column, "") for row in cells] for column in dict.fromkeys(chain(*cells))}
        if labels is not None and label is not None:
            _check_effects(every, labels, records, name)
        own_loci = loci(names, places, [self.width] * len(names))
        every["group"] = [
            str(group) for group in merge_groups(len(own), own_loci, *([every["group"]] if "group" in every else []))
        ]
        files = dict.fromkeys(ALLELES, name)
        # a variant that was measured twice is no mistake
        return TextColumns(unique_ids(own, "suffix" if ids == "header" else ids)[0], sequences, files, every)

    def describe(self, columns: Mapping[str, Sequence[str]]) -> dict[str, Any]:
        n, groups = len(columns["group"]), len(set(columns["group"]))
        folds = f"variants with overlapping windows of {self.width} bases stay in one fold: {n:,} in {groups:,} loci"
        return {"genome": {"file": self.genome, "width": self.width, "folds": folds}}


def _variants(path: PathLike, name: str) -> Iterator[tuple[VcfChunk, list[dict[str, str]]]]:
    """Yield the variants of VCF or a table in chunks, with the other cells, or fields of INFO, of each allele."""
    if {".vcf", ".bcf"} & set(Path(name).suffixes):
        with VcfReader(path) as reader:
            yield from ((chunk, info_texts(chunk)) for chunk in reader.chunks())
        return
    header, *rows = read_cells(path)
    check_columns(header, name)
    known = [column.lstrip("#").lower() for column in header]
    places = [next((i for i, column in enumerate(known) if column in names), None) for names in VARIANT_COLUMNS]
    for names, place in zip(VARIANT_COLUMNS, places, strict=True):
        if place is None and names != ("id",):
            raise SequenceError(
                f"has no column {names[0]!r}",
                file=name,
                remedy=f"give VCF, or chromosome, position, ref, alt and effect; columns: {', '.join(header)}",
            )
    if rows:
        lines = ["\t".join("." if place is None else row[place] for place in places) for row in rows]
        chunk = parse_records(lines, 2, name)
        yield chunk, [dict(zip(header, rows[i], strict=True)) for i in chunk.rows.tolist()]


def _check_records(chunk: VcfChunk, columns: list[dict[str, str]], label: str | None, name: str) -> None:
    """Raise SequenceError for a position 0, an allele like the reference, or several alleles with one effect."""
    counts = np.bincount(chunk.rows).tolist()
    for row, alt, cells in zip(chunk.rows.tolist(), chunk.alts, columns, strict=True):
        problem, remedy = "", "correct or remove it"
        if chunk.positions[row] == 0:
            problem, remedy = "the position is 0", "positions count from 1"
        elif chunk.refs[row].upper() == alt.upper():
            problem = f"REF and ALT are both {alt}"
        elif counts[row] > 1 and label is not None:
            effect = label_column(list(cells), label)
            if cells.get(effect) and len(info_fields(chunk.lines[row]).get(effect, "1")) != counts[row]:
                problem, remedy = f"{counts[row]} alleles in ALT have one effect", "give a row for each, with its own"
        if problem:
            raise SequenceError(f"line {chunk.first_line + row}: {problem}", file=name, remedy=remedy)


def _check_effects(columns: Mapping[str, list[str]], labels: Mapping[str, Any], ids: list[str], name: str) -> None:
    """Raise an error unless there is a column of effects, with numbers where those are learned."""
    wanted = label_column(list(columns), labels["label"])
    if wanted not in columns:
        problem = f"has no column or field of effects {wanted.replace('label', 'effect')!r}"
        remedy = f"{NAMED}; columns or fields: {', '.join(columns) or 'none'}"
        raise SequenceError(problem, file=name, remedy=remedy)
    if labels.get("kind") == "real":
        with naming(name):
            real_labels(ids, columns[wanted])


@dataclass(frozen=True)
class SequenceFiles(ViewSource):
    """A FASTA file for each sequence of the samples, matched by id."""

    views: tuple[SequenceView, ...]  # The files
    missing: str = MISSING[0]  # As for `seqkern.study.several_sequences.encode_columns`

    def note(self) -> dict[str, Any]:
        return {"missing": self.missing}

    def files(self) -> list[tuple[tuple[str, ...], str]]:
        return [(("views", view.name), view.where) for view in self.views]

    def text(self, base_dir: PathLike, ids: str = "header", labels: Mapping[str, Any] | None = None) -> TextColumns:
        return read_fasta_text({view.name: _path(base_dir, view.where) for view in self.views}, ids)


def _columns(given: Any) -> tuple[SequenceView, ...]:
    """Return the views in a list of column names, or in a mapping from view names to columns."""
    if isinstance(given, str):
        given = [name.strip() for name in given.split(",")]
    if not isinstance(given, Mapping):
        names = list(map(str, given))
        if len(set(names)) < len(names):
            raise ConfigError(f"sequences names a column twice: {', '.join(names)}", remedy="name each once")
        return tuple(SequenceView(name, name) for name in names)
    views = []
    for name, value in given.items():
        entry = value if isinstance(value, Mapping) else {"column": value}
        check_known(f"key of the sequence {name!r}", entry, COLUMN_KEYS)
        views.append(SequenceView(str(name), str(entry.get("column") or name), entry.get("alphabet")))
    return tuple(views)


def _path(base_dir: PathLike, file: str) -> PathLike:
    """Return the path of a file; ``-`` is standard input."""
    return file if file == "-" else Path(base_dir) / file
