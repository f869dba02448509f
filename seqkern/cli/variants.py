"""``seqkern variants``: the effects of variants on a model's decisions."""

from __future__ import annotations

import contextlib
import gzip
import itertools
import re
from collections.abc import Mapping
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import numpy.typing as npt

from seqkern.cli.output import MOST_SHOWN, as_part, gather, keep_strongest, log, log_strongest, output_writer, warn
from seqkern.cli.requests import TABLES
from seqkern.cli.requests_models import VariantsRequest
from seqkern.core.archive import atomic_write, check_writable
from seqkern.core.checkpoint import CheckpointFolder
from seqkern.core.checks import whole_number
from seqkern.core.errors import FileError, ModelError, ParameterError, naming
from seqkern.core.memory import available_memory, format_bytes
from seqkern.core.parts import PartFolder
from seqkern.core.progress import progress_bar, progress_counter
from seqkern.core.text_files import is_standard_output
from seqkern.core.tsv import check_ending, optional_library, write_tsv
from seqkern.core.types import Arrays
from seqkern.formats.alleles import NOTES, PLACED, Placing
from seqkern.formats.reference import Genome
from seqkern.formats.regions import on_genome, read_regions
from seqkern.formats.vcf import VCF, Column, TableWriter, VcfChunk, VcfReader, VcfWriter
from seqkern.genomics.variant_run import (
    KINDS,
    MotifChanges,
    Piece,
    Saturation,
    VariantRun,
    identity_of,
    kind_of,
    saturate,
)
from seqkern.genomics.variants import Panel, Scorer, TableStore, read_scorer
from seqkern.methods.loading import ModelArg, parse_model_args
from seqkern.sequences.alphabets import Alphabet
from seqkern.sequences.fasta import read_fasta
from seqkern.sequences.joining import join_views
from seqkern.sequences.sequence_set import SequenceSet


def run(request: VariantsRequest) -> None:
    """Run the verb."""
    sources = [name for name in ("ref", "region", "sequences") if request.has(name)]
    if request.genome is None and sources in ([], ["region"]):
        raise ParameterError(
            "variants need the genome around them", remedy="add --genome FASTA, or give --ref and --alt"
        )
    if sources:
        check_ending(request.output, TABLES)
    check_writable(request.output)
    if request.ref is not None:
        run_pairs(request, scorers_of(request.files, request))
    elif request.region is not None or request.sequences is not None:
        run_saturation(request, scorers_of(request.files, request))
    else:
        *models, vcf = request.files
        if not models:
            raise ParameterError(
                "give a model, and then the variants",
                remedy="or --ref and --alt, --region or --sequences instead of variants",
            )
        run_vcf(request, models, vcf)


# ``seqkern variants`` without a VCF file: pairs of sequences, or all single-base variants of a region or sequence.

REGION = re.compile(r"(\S+):([0-9,]+)-([0-9,]+)")
LARGEST_REGION = 100_000
LARGEST_PLOT = 500
LARGEST_EFFECTS = "largest effects (delta, variant):"
PAIR_COLUMNS = ("reference", "alternative", "delta")


def run_pairs(request: VariantsRequest, scorers: dict[str, Scorer]) -> None:
    """Score pairs of sequences with the reference and the alternative allele."""
    columns, values = ["id"], []
    ids: list[str] = []
    for name, scorer in scorers.items():
        ref, alt = (read_fasta(path, scorer.alphabet) for path in (request.ref, request.alt))
        with naming(request.alt):
            join_views({"ref": ref, "alt": alt})  # refuses other ids
        ids = list(ref.ids)
        before, after = (scorer.sums(X, request.threads) for X in (ref, alt))
        found = (before, after, after - before) if len(scorers) == 1 else (after - before,)
        columns += list(PAIR_COLUMNS) if len(scorers) == 1 else [f"delta_{name}"]
        values += [array.tolist() for array in found]
    write_tsv(request.output, columns, zip(ids, *values, strict=True))
    log(f"{request.ref}: {len(ids)} pairs scored")


def run_saturation(request: VariantsRequest, scorers: dict[str, Scorer]) -> None:
    """Score all single-base variants of a region, or of sequences."""
    pieces = list(_pieces(request, scorers))
    if request.plot is not None and (len(pieces) > 1 or len(scorers) > 1):
        raise ParameterError("--plot draws one sequence and one model", remedy="give one of each")
    if request.plot is not None and pieces[0].length > LARGEST_PLOT:
        raise ParameterError(
            f"{pieces[0].length} bases are too many for --plot", remedy=f"give at most {LARGEST_PLOT}, or remove --plot"
        )
    found: list[dict[str, Saturation]] = [
        {name: saturate(scorer, piece, request.threads) for name, scorer in scorers.items()} for piece in pieces
    ]

    def rows():
        for piece, of_models in zip(pieces, found, strict=True):
            first = next(iter(of_models.values()))
            for place, alt in first.variants():
                several = [one.values(place, alt) for one in of_models.values()]
                cells = several[0] if len(several) == 1 else [values[-1] for values in several]
                yield piece.name, piece.first + place, piece.letter(place), first.alphabet.letters[alt], *cells

    names = list(PAIR_COLUMNS) if len(scorers) == 1 else [f"delta_{name}" for name in scorers]
    write_tsv(request.output, ["chromosome" if request.region else "id", "position", "ref", "alt", *names], rows())
    if request.plot is not None:
        # imported here: Matplotlib is slow to load
        from seqkern.report.figure_files import write_picture
        from seqkern.report.logo import mutation_figure

        piece, (name, only) = pieces[0], next(iter(found[0].items()))
        label = f"{name}: effect of each single-base variant of {piece.name}, from {piece.first}"
        figure = mutation_figure(only.delta, only.codes, (label, only.alphabet), first=piece.first)
        write_picture(request.plot, figure)


def _pieces(request: VariantsRequest, scorers: dict[str, Scorer]):
    """Yield the sequences whose variants are scored, with their flanking bases."""
    if request.sequences is None:
        check_dna({name: scorer.alphabet for name, scorer in scorers.items()})
        yield _region_piece(request, max(scorer.flank for scorer in scorers.values()))
        return
    X: SequenceSet = read_fasta(request.sequences, next(iter(scorers.values())).alphabet)
    yield from (Piece(name, 1, text, 0, len(text)) for name, text in zip(X.ids, X.strings(), strict=True))


def _region_piece(request: VariantsRequest, flank: int):
    """Return the piece of a region of the genome."""
    found = REGION.fullmatch(request.region)
    if found is None:
        raise ParameterError(f"--region {request.region} is not a region", remedy="write it as chr1:1000-1200")
    name, first, last = found[1], *(whole_number(text.replace(",", "")) for text in found.groups()[1:])
    with Genome(request.genome) as genome:
        if name not in genome.lengths:
            some = ", ".join(list(genome.lengths)[:3])
            raise ParameterError(f"{request.genome} has no chromosome {name!r}", remedy=f"give one such as {some}")
        length = genome.lengths[name]
        if first is None or last is None or not 1 <= first <= last <= length:
            raise ParameterError(
                f"--region {request.region} does not lie in {name}, which has {length} bases",
                remedy="count positions from 1, FROM before TO",
            )
        if last - first >= LARGEST_REGION:
            raise ParameterError(
                f"--region {request.region} is longer than {LARGEST_REGION} bases", remedy="give a shorter one"
            )
        low, high = max(0, first - 1 - flank), min(length, last + flank)
        return Piece(name, first, genome.fetch(name, low, high).upper(), first - 1 - low, last - first + 1)


# ``seqkern variants`` for a VCF file, in chunks: p-values in a second pass; output as a table or annotated VCF.


def run_vcf(request: VariantsRequest, models: list[str], vcf: str) -> None:
    """Score the variants of a VCF file."""
    if vcf == "-":
        raise ParameterError("variants are read from a file, not from standard input", remedy="give a file")
    with VcfReader(vcf, request.part):  # a file that is not VCF is refused before the models are read
        pass
    given = parse_model_args(models)
    words = [one.word for one in given]
    if request.gather:
        gather_variants(request, words, vcf)
        return
    panel = panel_of(given, request)
    motifs = None if request.motifs is None else MotifChanges.from_file(request.motifs)
    if request.part is not None:
        with as_part(request, words, [vcf, request.genome]) as (request, notes), Genome(request.genome) as genome:
            if notes is not None:
                _run(
                    request, VariantRun(vcf, genome, panel, motifs, None, request.threads), Path(request.output), notes
                )
        return
    output = Path(request.output)
    options = request.window, request.around, request.motifs, [(one.name, one.word) for one in given]
    files = list(dict.fromkeys(one.file for one in given))
    identity = identity_of([*files, *([request.motifs] if request.motifs else [])], [vcf, request.genome], options)
    folder = CheckpointFolder(None if is_standard_output(output) else output.with_name(f".{output.name}.parts"))
    with folder, Genome(request.genome) as genome:
        _run(request, VariantRun(vcf, genome, panel, motifs, folder.under(identity), request.threads), output, {})
    folder.clear()


def _run(request: VariantsRequest, job: VariantRun, output: Path, notes: dict[str, Any]) -> None:
    """Score the variants and write them; for a part, also note the data for the joining job."""
    vcf = str(job.vcf)
    regions = None if request.null_regions is None else _regions(request.null_regions, job.genome)
    chances = {} if request.null is None else job.chances(request.null, request.seed, regions)
    columns = columns_of(job.panel, bool(chances), job.motifs is not None)
    in_order, with_header = True, request.part is None or request.part.number == 1
    with contextlib.ExitStack() as stack:
        show = stack.enter_context(progress_counter("variants", " records"))
        reader = stack.enter_context(VcfReader(vcf, request.part))
        writer: Any = None
        done = alleles = 0
        best: list[tuple[float, str]] = []
        first = last = ("", 0)
        for chunk, numbers in job.chunks(reader):
            if writer is None:  # the first chunk fits the genome
                writer = _opened(stack, output, columns, reader.header, with_header)
                first = chunk.chromosomes[0], chunk.positions[0]
            span = slice(alleles, alleles + len(chunk.rows))
            write_chunk(writer, chunk, numbers, job, chances, span)
            _keep_largest(best, chunk, numbers, job.panel)
            places = list(zip(chunk.chromosomes, chunk.positions, strict=True))
            in_order &= _ascending([last, *places])
            done, alleles, last = done + len(chunk.lines), span.stop, places[-1]
            if show is not None:
                show(done)
        if writer is None:
            _opened(stack, output, columns, reader.header, with_header)
    if request.part is not None:
        notes.update(placing=job.placing.summary(), in_order=in_order, ends=[first, last], best=best)
    elif output.name.endswith(VCF[1:]):
        _index(output, in_order)
    _say(job, vcf)
    for name, (_, q) in chances.items():
        _say_found(request, job, name if len(chances) > 1 else "", q)
    if request.part is None:
        log_strongest(request.output, [], LARGEST_EFFECTS, best)


def _keep_largest(best: list[tuple[float, str]], chunk: VcfChunk, numbers: Arrays, panel: Panel) -> None:
    """Keep the alleles of largest effect, each with the model that gives it."""
    names = list(panel.columns)
    deltas = np.stack([numbers[f"{name}/delta"] for name in names])
    sizes = np.where(np.isnan(deltas), -1.0, np.abs(deltas))
    which, largest = sizes.argmax(axis=0), sizes.max(axis=0)

    def describe(i: int) -> str:
        row, name = chunk.rows[i], names[which[i]] * panel.several
        place = f"{chunk.chromosomes[row]}:{chunk.positions[row]} {chunk.refs[row]}>{chunk.alts[i]}"
        return " ".join([f"{deltas[which[i], i]:<+9.4g} {place}", *[chunk.ids[row]] * (chunk.ids[row] != "."), name])

    keep_strongest(best, np.where(largest < 0, np.nan, largest), lambda i: describe(i).rstrip())


def gather_variants(request: VariantsRequest, words: list[str], vcf: str) -> None:
    """Join the parts of the output."""
    with VcfReader(vcf) as reader, Genome(request.genome) as genome:
        job = VariantRun(vcf, genome, Panel(several=False))
        job.placing = Placing(genome, vcf, reader.lengths)

        def check(folder: PartFolder, name: str, notes: list[Any]) -> bool:
            for note in notes:
                job.placing.add(note["placing"])
            job.placing.finish()
            return False

        def index(notes: list[Any]) -> None:
            ends = [tuple(end) for note in notes for end in note["ends"] if end[0]]
            if request.output.endswith(VCF[1:]):
                _index(Path(request.output), all(note["in_order"] for note in notes) and _ascending(ends))

        joined = gather(request, words, [vcf, request.genome], check, index)
    if joined is not None:
        _say(job, vcf)
        best = sorted((row for note in joined for row in note["best"]), key=lambda row: -row[0])
        log_strongest(request.output, [], LARGEST_EFFECTS, best[:MOST_SHOWN])


def _ascending(places: list[Any]) -> bool:
    """Return whether positions never decrease within a chromosome."""
    return all(a[0] != b[0] or a[1] <= b[1] for a, b in itertools.pairwise(places))


def _regions(path: str, genome: Genome) -> list[tuple[str, int, int]]:
    """Return the regions of a BED file, in the order of the file."""
    found = on_genome(read_regions(path, genome), genome)
    for what, count in found.counts.items():
        log(f"{path}: {count} {what}")
    return list(zip(found.chromosomes.tolist(), found.starts.tolist(), found.stops.tolist(), strict=True))


def _opened(
    stack: contextlib.ExitStack, output: Path, columns: list[Column], header: list[str], with_header: bool
) -> TableWriter | VcfWriter:
    """Return a writer of the output, which has written its header if wanted."""
    keys = [column.key for column in columns]
    twice = next((key for number, key in enumerate(keys) if key in keys[:number]), None)
    if twice is not None and output.name.endswith(VCF):
        raise ParameterError(
            f"two models have the field {twice}: INFO names have no lower case, + or -", remedy="write a .tsv"
        )
    write = stack.enter_context(output_writer(output))
    writer = VcfWriter(write, columns) if output.name.endswith(VCF) else TableWriter(write, columns)
    writer.header(header, write=with_header)
    return writer


def _index(output: Path, in_order: bool) -> None:
    """Write the index of a compressed VCF file, or print why there is none."""
    index = output.with_name(f"{output.name}.tbi")
    index.unlink(missing_ok=True)
    if not in_order:
        log(f"{output}: not sorted by position, so there is no index (bcftools sort)")
        return
    library = optional_library("pysam", "genome")
    library.set_verbosity(0)
    try:
        # not beside the output: a killed run would leave a part of the index there
        with TemporaryDirectory(prefix="seqkern-index") as folder:
            built = Path(folder) / index.name
            library.tabix_index(str(output), preset="vcf", force=True, index=str(built))
            content = built.read_bytes()
    except (OSError, ValueError) as error:
        if _is_by_chromosome(output):  # it does not say what went wrong
            raise FileError("cannot be written", file=index, remedy="check the free space") from error
        log(f"{output}: not sorted by chromosome, so there is no index (bcftools sort)")
        return
    with atomic_write(index) as file:
        file.write(content)


def _is_by_chromosome(output: Path) -> bool:
    """Return whether the variants of each chromosome are contiguous in a compressed VCF file."""
    with gzip.open(output, "rb") as file:
        names = [name for name, _ in itertools.groupby(line.split(b"\t", 1)[0] for line in file if line[:1] != b"#")]
    return len(names) == len(set(names))


def _say(job: VariantRun, vcf: str) -> None:
    """Print a summary of the handling of the variants."""
    placing = job.placing
    lines = [f"{placing.counts[PLACED]} alleles scored", *placing.renamed]
    lines += [f"not scored: {text}" for text in placing.unscored()]
    for line in lines:
        log(f"{vcf}: {line}")


def _say_found(request: VariantsRequest, job: VariantRun, name: str, q: npt.NDArray[np.float64]) -> None:
    """Print how many alleles of each kind are significant."""
    counts = []
    for kind in np.unique(kind_of(job.strata[~np.isnan(q)])).tolist():
        own = q[(kind_of(job.strata) == kind) & ~np.isnan(q)]
        counts.append(f"{int(np.sum(own <= request.fdr))} of {len(own)} {KINDS[kind]}")
    start = f"{name}: " if name else ""
    log(
        f"{start}{', '.join(counts) or 'no allele'} at a false discovery rate of {request.fdr:g}, by "
        f"{job.null_size} random variants of the same kinds and contexts"
    )
    if job.null_missing > 0.01 * job.null_size:
        warn(
            f"{job.null_missing} of {job.null_missing + job.null_size} random variants were not found: contexts are "
            "rare in these regions; draw fewer, or from more of the genome"
        )


# The columns of ``seqkern variants``, and the formatting of their cells.

CHANCES = {
    "p": "Share of matched random variants with at least this effect",
    "q": "Least false discovery rate at which the effect is significant (Benjamini-Hochberg)",
}


def columns_of(panel: Panel, with_chances: bool, with_motifs: bool) -> list[Column]:
    """Return the output columns; for several models only delta, p and q, each with the model's name."""
    floats = {"reference", "alternative", "delta", "ref_motif", "alt_motif"}
    out = []
    for name, columns in panel.columns.items():
        ending = f"_{name}" if panel.several else ""
        for column, meaning in columns.items():
            out.append(Column(f"{column}{ending}", "Float" if column in floats else "String", meaning))
            if column == "delta" and with_chances:
                out += [Column(f"{one}{ending}", "Float", text) for one, text in CHANCES.items()]
    if with_motifs:
        out += [Column(one, "Float" if one in floats else "String", text) for one, text in MotifChanges.columns.items()]
    return out


def write_chunk(
    writer: TableWriter | VcfWriter,
    chunk: VcfChunk,
    numbers: Arrays,
    job: VariantRun,
    chances: Mapping[str, tuple[npt.NDArray[np.float64], ...]],
    span: slice,
) -> None:
    """Write a chunk of records with the values of their alleles.

    `chances` holds p and q of all alleles of the file by model, or is empty; `span` is the chunk's range in these
    arrays.
    """
    digits = 6 if isinstance(writer, VcfWriter) else 10
    cells = []
    for name, columns in job.panel.columns.items():
        for column in columns:
            cells.append(_texts(numbers[f"{name}/{column}"], digits))
            if column == "delta" and chances:
                cells += [_texts(values[span], digits) for values in chances[name]]
    if job.motifs is not None:
        names = ["", *job.motifs.names]
        cells.append([" ".join(names[motif + 1].split()) for motif in numbers["motif"].tolist()])
        cells += [_texts(numbers[column], digits) for column in ("ref_motif", "alt_motif")]
    writer.rows(chunk, cells, [NOTES.get(one, "") for one in numbers["status"].tolist()])


def _texts(values: npt.NDArray[Any], digits: int) -> list[str]:
    """Return numbers as text, empty for NaN; bytes are unchanged."""
    if values.dtype.kind == "S":
        return values.astype(str).tolist()
    return ["" if value != value else f"{value:.{digits}g}" for value in values.tolist()]


# The models of ``seqkern variants``, by name.

SHARE = 0.5
"""Share of the available memory for the weights of several models."""


def scorers_of(words: list[str], request: VariantsRequest) -> dict[str, Scorer]:
    """Return the scorers of the models, by name."""
    return {one.name: read_scorer(one.word, request.window, request.around) for one in parse_model_args(words)}


def panel_of(models: list[ModelArg], request: VariantsRequest) -> Panel:
    """Return the models as a panel; weights that do not fit into memory stay in a temporary file."""
    folders = [] if is_standard_output(request.output) else Path(request.output).absolute().parents
    folder = next((one for one in folders if one.is_dir()), None)
    store = TableStore(SHARE * available_memory(), folder)
    panel = Panel(len(models) > 1, store)
    for one in progress_bar(models, "models"):
        panel.add(one.name, read_scorer(one.word, request.window, request.around))
        check_dna(panel.alphabets)
    if store.in_file:
        total = format_bytes(store.in_memory + store.in_file)
        log(
            f"the weights of {len(models)} models take {total}, more than half of the memory that is left: "
            f"{format_bytes(store.in_file)} of them are read again for each chunk of variants"
        )
    return panel


def check_dna(alphabets: Mapping[str, Alphabet]) -> None:
    """Raise ModelError, naming the model, for a model not trained on DNA."""
    for name, alphabet in alphabets.items():
        if alphabet.name != "dna":
            raise ModelError(
                f"{name} is a model of {alphabet.name}, but variants are DNA",
                remedy="give a model of DNA, or sequences with --ref and --alt",
            )
