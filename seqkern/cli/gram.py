"""``seqkern gram``: a Gram matrix of FASTA files or of a study's data set, on disk."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import cast

import numpy as np

from seqkern.cli.common import as_sources, given_files, read_given, read_study, read_tracks, read_views
from seqkern.cli.output import log_counts, naming_file
from seqkern.cli.requests_studies import GramRequest
from seqkern.core.archive import check_writable
from seqkern.core.errors import ConfigError, ParameterError, check_known
from seqkern.core.memory import format_bytes
from seqkern.core.progress import COMMON_CORE, Clock, progress_counter, write_cost
from seqkern.gram.compute import compute_gram, compute_tile, count_tiles
from seqkern.gram.matrix import GramMatrix
from seqkern.gram.stored_matrix import Spectrum, spectrum, store_spectrum
from seqkern.kernels.kernel import Kernel
from seqkern.kernels.kernel_specs import check_kind
from seqkern.sequences.alphabets import Alphabet
from seqkern.sequences.fasta import read_fasta, read_records
from seqkern.sequences.sequence_set import SequenceSet
from seqkern.sequences.tables import Data
from seqkern.study.data_entry import SiteWindow
from seqkern.study.dataset import load_dataset
from seqkern.study.kernel_entries import KernelEntry, check_stored
from seqkern.study.readers import before_cutting, cut_around_sites


def run(request: GramRequest) -> None:
    """Run the verb."""
    if not request.output and not request.explain_plan and not request.spectrum:
        remedy = "add -o FILE.npy, or --explain-plan or --spectrum to print only"
        raise ParameterError("no output file given for the matrix", remedy=remedy)
    if (request.kernel is None) == (request.kernel_config is None):
        raise ParameterError("no kernel given", remedy="add --kernel KERNEL, or --kernel-config YAML")
    if request.study is not None:
        study = read_study(request)
        settings = study.settings_of("gram", kernel=request.kernel)
        request = request.but(**settings, memory=study.memory_limit)
    clock = Clock()
    kernel = _kernel(request)
    if request.cost:
        check_writable(request.cost)
    X, Y, source = _data(request, kernel)
    clock.lap("read")
    with naming_file(source):
        if kernel.traits.data_dependent and request.extend:
            raise ParameterError(
                f"kernel {kernel.name} learns from the sequences, so new ones change every entry",
                remedy="leave --extend out",
            )
        if kernel.traits.data_dependent:
            kernel.fit(X if Y is None else Y)
            learned = f"all {len(X)} {_noun(X)}" if Y is None else f"the {len(Y)} {_noun(Y)} of {request.against}"
            print(f"seqkern: kernel {kernel.name} fitted to {learned}", file=sys.stderr)
            clock.lap("fit")
        if request.explain_plan:
            _explain(kernel, X, Y, request.dtype)
            if not request.output and not request.spectrum:
                return
        options = {
            "path": request.output,
            "memory_limit": request.memory,
            "dtype": request.dtype,
            "n_threads": request.threads,
            "extend": request.extend,
        }
        with progress_counter("gram", " entries") as show:
            if request.tile is None:
                gram = compute_gram(kernel, X, Y, progress=show, laps=clock.laps, **options)
                log_counts(gram.meta["counts"], source)
                rows, cols = gram.shape
                done = f"{rows} × {cols} {request.dtype}"
            else:
                share, shares = request.tile
                count = count_tiles(X, Y, request.dtype)
                mine = list(range(share - 1, count, shares))
                compute_tile(kernel, X, Y, mine, progress=show, cpu_start=clock.start, **options)
                done = f"{len(mine)} of {count} tiles" + ("" if mine else ", fewer than jobs")
    clock.lap("kernel")
    if request.spectrum:
        found = _spectrum(gram, request.output)
        clock.lap("spectrum")
    if request.cost:
        write_cost(request.cost, clock.laps)
    print(f"{request.output or source}: {done}")
    if request.spectrum:
        print(f"  {found}")


def _noun(X: Data) -> str:
    """Return the noun for the samples of a set."""
    return "sequences" if hasattr(X, "alphabet") else "samples"


def _spectrum(gram: GramMatrix, path: str | None) -> Spectrum:
    """Return the Spectrum of a matrix, cached in a file beside it."""
    found = spectrum(gram.values)
    if path and not store_spectrum(path, gram, found):
        print(f"seqkern: {path} was replaced by another process; its .spectrum.tsv is not written", file=sys.stderr)
    return found


def _kernel(request: GramRequest) -> Kernel:
    """Return the kernel of a request, with a note if its transforms and repair are left out."""
    entry = _configured(request) if request.kernel is None else KernelEntry.parse(request.kernel)
    if entry.transforms:
        print(
            "seqkern: this matrix is without the kernel's transforms and repair, which seqkern train and seqkern "
            "evaluate fit on each training set",
            file=sys.stderr,
        )
    return entry.kernel


def _configured(request: GramRequest) -> KernelEntry:
    """Return the KernelEntry in the study's configuration."""
    # imported here: a kernel on the command line needs no configuration
    from seqkern.study.study import Study

    kernels = Study.load(request.kernel_config).kernels
    if request.kernel_name is None:
        raise ConfigError(
            f"defines {len(kernels)} kernels",
            file=request.kernel_config,
            remedy=f"add --kernel-name {' or '.join(kernels)}",
        )
    check_known(f"kernel of {request.kernel_config}", [request.kernel_name], kernels)
    entry = kernels[request.kernel_name]
    if not isinstance(entry, KernelEntry):
        names = " or ".join(one.name for one in entry.candidates)
        problem = f"{request.kernel_name!r} stands for several kernels"
        raise ConfigError(problem, file=request.kernel_config, remedy=f"add --kernel-name {names}")
    return entry


def _data(request: GramRequest, kernel: Kernel) -> tuple[Data, SequenceSet | None, str]:
    """Return rows, columns (or None) and the name of the source for messages."""
    several = read_given(
        request, kernel, request.policies | ({"alphabet": request.alphabet} if request.alphabet else {})
    )
    if bool(request.fasta or several) == bool(request.dataset):
        raise ParameterError("give one source of sequences", remedy="give either FASTA files or --dataset")
    if request.dataset:
        given = {
            "--against": request.against,
            "--track": request.track,
            "--view": request.view,
            "--profiles or --search-profiles": request.profile_keys,
            "--window and --sites": request.window_keys,
            "--genome": request.region_keys,
        }
        for option, value in given.items():
            if value:
                raise ParameterError(f"{option} needs FASTA files", remedy=f"remove --dataset or {option}")
        dataset = load_dataset(request.dataset)
        check_stored(dataset, request.dataset)
        check_kind(kernel, dataset.kind, file=request.dataset)
        return dataset.X, None, request.dataset

    for path in request.fasta:
        if (Path(path) / "data.npz").is_file():
            raise ParameterError("is a data-set folder, not FASTA", file=path, remedy=f"give it as --dataset {path}")

    source = ", ".join(given_files(request))
    check_kind(kernel, "sequences", file=source)
    if several is not None:
        log_counts(several.counts, source)
        return read_views(request, kernel)(several), None, source
    if request.against and request.window_keys:
        raise ParameterError(
            "--against does not work with --window and --sites",
            remedy="cut the windows first, and give them as two files",
        )
    if request.profile_keys and request.window_keys:
        raise ParameterError(
            "profiles need whole sequences, not windows",
            remedy="remove --window and --sites, or cut the windows in a study",
        )
    with_letters, with_views = read_tracks(request, kernel), read_views(request, kernel)
    alphabet, columns = request.alphabet or kernel.alphabet, None
    if request.window_keys and request.region_keys:
        raise ParameterError("--genome does not work with --window and --sites", remedy="remove one of them")
    against = [request.against] if request.against else []
    files = [] if request.window_keys else as_sources([*request.fasta, *against], request)
    if request.genome:
        alphabet = alphabet or "dna"
    if request.against:
        columns = read_fasta(files.pop(), alphabet, **request.policies)
        log_counts(columns.counts, request.against)
        alphabet = columns.alphabet
    rows = _windows(request, alphabet) if request.window_keys else read_fasta(files, alphabet, **request.policies)
    log_counts(rows.counts, source)
    rows = with_views(with_letters(rows))
    return rows, None if columns is None else with_views(with_letters(columns)), source


def _windows(request: GramRequest, alphabet: str | Alphabet | None) -> SequenceSet:
    """Return the windows around sites of the FASTA files."""
    policies = request.policies
    wanted = cast(SiteWindow, SiteWindow.parse({"fasta": request.fasta, **request.window_keys}))
    reading = read_records(request.fasta, alphabet, **policies | before_cutting(policies))
    where = ", ".join(request.fasta)
    return cut_around_sites(wanted, reading, ".", where, unknown=policies["unknown"], ids=policies["ids"])[0].windows


def _explain(kernel: Kernel, X: Data, Y: Data | None, dtype: str) -> None:
    """Print the kernel's plan and the size of the matrix."""
    plan = kernel.plan(X, Y)
    rows, cols = len(X), len(X if Y is None else Y)
    print(f"algorithm\t{plan.algorithm}")
    print(f"predicted CPU seconds\t{COMMON_CORE * plan.seconds:.3g}")
    print(f"predicted working memory\t{format_bytes(plan.bytes)}")
    print(f"candidates\t{plan.reason or 'the only one'}")
    print(f"matrix\t{rows} × {cols} {dtype}, {format_bytes(rows * cols * np.dtype(dtype).itemsize)}", flush=True)
