"""``seqkern gram``: a Gram matrix of FASTA files or of a study's data set, on disk."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from seqkern.cli.common import as_sources, given_files, log_counts, naming_file, read_given, read_tracks, read_views
from seqkern.cli.requests_studies import GramRequest

if TYPE_CHECKING:
    from seqkern.gram.matrix import GramMatrix
    from seqkern.gram.stored_matrix import Spectrum
    from seqkern.kernels.kernel import Kernel
    from seqkern.sequences.alphabets import Alphabet
    from seqkern.sequences.sequence_set import SequenceSet
    from seqkern.sequences.tables import Data
    from seqkern.study.kernel_entries import KernelEntry


def run(args: GramRequest) -> None:
    """Run the verb."""
    # imported here to keep --help fast
    from seqkern.core.archive import check_writable
    from seqkern.core.errors import ParameterError
    from seqkern.core.progress import Clock, progress_counter, write_cost
    from seqkern.gram.compute import compute_gram, compute_tile, count_tiles

    if not args.output and not args.explain_plan and not args.spectrum:
        remedy = "add -o FILE.npy, or --explain-plan or --spectrum to print only"
        raise ParameterError("no output file given for the matrix", remedy=remedy)
    if (args.kernel is None) == (args.kernel_config is None):
        raise ParameterError("no kernel given", remedy="add --kernel KERNEL, or --kernel-config YAML")
    clock = Clock()
    kernel = _kernel(args)
    if args.cost:
        check_writable(args.cost)
    X, Y, source = _data(args, kernel)
    clock.lap("read")
    with naming_file(source):
        if kernel.data_dependent and args.extend:
            raise ParameterError(
                f"kernel {kernel.name} learns from the sequences, so new ones change every entry",
                remedy="leave --extend out",
            )
        if kernel.data_dependent:
            kernel.fit(X if Y is None else Y)
            learned = f"all {len(X)} {_noun(X)}" if Y is None else f"the {len(Y)} {_noun(Y)} of {args.against}"
            print(f"seqkern: kernel {kernel.name} fitted to {learned}", file=sys.stderr)
            clock.lap("fit")
        if args.explain_plan:
            _explain(kernel, X, Y, args.dtype)
            if not args.output and not args.spectrum:
                return
        options: dict[str, Any] = {
            "path": args.output,
            "memory_limit": args.memory,
            "dtype": args.dtype,
            "n_threads": args.threads,
            "extend": args.extend,
        }
        with progress_counter("gram", " entries") as show:
            if args.tile is None:
                gram = compute_gram(kernel, X, Y, progress=show, laps=clock.laps, **options)
                log_counts(gram.meta["counts"], source)
                rows, cols = gram.shape
                done = f"{rows} × {cols} {args.dtype}"
            else:
                share, shares = args.tile
                count = count_tiles(X, Y, args.dtype)
                mine = list(range(share - 1, count, shares))
                compute_tile(kernel, X, Y, mine, progress=show, cpu_start=clock.start, **options)
                done = f"{len(mine)} of {count} tiles" + ("" if mine else ", fewer than jobs")
    clock.lap("kernel")
    if args.spectrum:
        found = _spectrum(gram, args.output)
        clock.lap("spectrum")
    if args.cost:
        write_cost(args.cost, clock.laps)
    print(f"{args.output or source}: {done}")
    if args.spectrum:
        print(f"  {found}")


def _noun(X: Data) -> str:
    """Return the noun for the samples of a set."""
    return "sequences" if hasattr(X, "alphabet") else "samples"


def _spectrum(gram: GramMatrix, path: str | None) -> Spectrum:
    """Return the Spectrum of a matrix, cached in a file beside it."""
    # imported here to keep --help fast
    from seqkern.gram.stored_matrix import spectrum, store_spectrum

    found = spectrum(gram.values)
    if path and not store_spectrum(path, gram, found):
        print(f"seqkern: {path} was replaced by another process; its .spectrum.tsv is not written", file=sys.stderr)
    return found


def _kernel(args: GramRequest) -> Kernel:
    """Return the kernel named by the arguments, with a note if its transforms and repair are left out."""
    # imported here to keep --help fast
    from seqkern.study.kernel_entries import KernelEntry

    entry = _configured(args) if args.kernel is None else KernelEntry.parse(args.kernel)
    if entry.transforms:
        print(
            "seqkern: this matrix is without the kernel's transforms and repair, which seqkern train and seqkern "
            "evaluate fit on each training set",
            file=sys.stderr,
        )
    return entry.kernel


def _configured(args: GramRequest) -> KernelEntry:
    """Return the KernelEntry in the study's configuration."""
    # imported here to keep --help fast
    from seqkern.core.errors import ConfigError, unknown_name
    from seqkern.study.kernel_entries import KernelEntry
    from seqkern.study.study import Study

    kernels = Study.load(args.kernel_config).kernels
    if args.kernel_name is None:
        raise ConfigError(
            f"defines {len(kernels)} kernels",
            file=args.kernel_config,
            remedy=f"add --kernel-name {' or '.join(kernels)}",
        )
    if args.kernel_name not in kernels:
        raise unknown_name(f"kernel of {args.kernel_config}", args.kernel_name, kernels)
    entry = kernels[args.kernel_name]
    if not isinstance(entry, KernelEntry):
        names = " or ".join(one.name for one in entry.candidates)
        problem = f"{args.kernel_name!r} stands for several kernels"
        raise ConfigError(problem, file=args.kernel_config, remedy=f"add --kernel-name {names}")
    return entry


def _data(args: GramRequest, kernel: Kernel) -> tuple[Data, SequenceSet | None, str]:
    """Return rows, columns (or None) and the name of the source for messages."""
    # imported here to keep --help fast
    from seqkern.core.errors import ParameterError
    from seqkern.kernels.kernel_specs import check_kind

    several = read_given(args, kernel, args.policies | ({"alphabet": args.alphabet} if args.alphabet else {}))
    if bool(args.fasta or several) == bool(args.dataset):
        raise ParameterError("give one source of sequences", remedy="give either FASTA files or --dataset")
    if args.dataset:
        # imported here to keep --help fast
        from seqkern.study.dataset import load_dataset
        from seqkern.study.kernel_entries import check_stored

        given = {
            "--against": args.against,
            "--track": args.track,
            "--view": args.view,
            "--profiles or --search-profiles": args.profile_keys,
            "--window and --sites": args.window_keys,
            "--genome": args.region_keys,
        }
        for option, value in given.items():
            if value:
                raise ParameterError(f"{option} needs FASTA files", remedy=f"remove --dataset or {option}")
        dataset = load_dataset(args.dataset)
        check_stored(dataset, args.dataset)
        check_kind(kernel, dataset.kind, file=args.dataset)
        return dataset.X, None, args.dataset
    # imported here to keep --help fast
    from seqkern.sequences.fasta import read_fasta

    for path in args.fasta:
        if (Path(path) / "data.npz").is_file():
            raise ParameterError("is a data-set folder, not FASTA", file=path, remedy=f"give it as --dataset {path}")

    source = ", ".join(given_files(args))
    check_kind(kernel, "sequences", file=source)
    if several is not None:
        log_counts(several.counts, source)
        return read_views(args, kernel)(several), None, source
    if args.against and args.window_keys:
        raise ParameterError(
            "--against does not work with --window and --sites",
            remedy="cut the windows first, and give them as two files",
        )
    if args.profile_keys and args.window_keys:
        raise ParameterError(
            "profiles need whole sequences, not windows",
            remedy="remove --window and --sites, or cut the windows in a study",
        )
    with_letters, with_views = read_tracks(args, kernel), read_views(args, kernel)
    alphabet, columns = args.alphabet or kernel.alphabet, None
    if args.window_keys and args.region_keys:
        raise ParameterError("--genome does not work with --window and --sites", remedy="remove one of them")
    against = [args.against] if args.against else []
    files = [] if args.window_keys else as_sources([*args.fasta, *against], args)
    if args.genome:
        alphabet = alphabet or "dna"
    if args.against:
        columns = read_fasta(files.pop(), alphabet, **args.policies)
        log_counts(columns.counts, args.against)
        alphabet = columns.alphabet
    rows = _windows(args, alphabet) if args.window_keys else read_fasta(files, alphabet, **args.policies)
    log_counts(rows.counts, source)
    rows = with_views(with_letters(rows))
    return rows, None if columns is None else with_views(with_letters(columns)), source


def _windows(args: GramRequest, alphabet: str | Alphabet | None) -> SequenceSet:
    """Return the windows around sites of the FASTA files."""
    # imported here to keep --help fast
    from seqkern.sequences.fasta import read_records
    from seqkern.study.data_entry import SiteWindow
    from seqkern.study.readers import before_cutting, cut_around_sites

    policies = args.policies
    wanted = cast(SiteWindow, SiteWindow.parse({"fasta": args.fasta, **args.window_keys}))
    reading = read_records(args.fasta, alphabet, **policies | before_cutting(policies))
    where = ", ".join(args.fasta)
    return cut_around_sites(wanted, reading, ".", where, unknown=policies["unknown"], ids=policies["ids"])[0].windows


def _explain(kernel: Kernel, X: Data, Y: Data | None, dtype: str) -> None:
    """Print the kernel's plan and the size of the matrix."""
    # imported here to keep --help fast
    import numpy as np

    # imported here to keep --help fast
    from seqkern.core.memory import format_bytes

    plan = kernel.plan(X, Y)
    rows, cols = len(X), len(X if Y is None else Y)
    print(f"algorithm\t{plan.algorithm}")
    print(f"predicted CPU seconds\t{plan.seconds:.3g}")
    print(f"predicted working memory\t{format_bytes(plan.bytes)}")
    print(f"candidates\t{plan.reason or 'the only one'}")
    print(f"matrix\t{rows} × {cols} {dtype}, {format_bytes(rows * cols * np.dtype(dtype).itemsize)}", flush=True)
