"""``seqkern gram``: a Gram matrix of FASTA files or of a study's data set, on disk."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING, cast

from seqkern.cli.common import (
    FASTA_POLICIES,
    add_sequence_arguments,
    add_study,
    add_threads,
    add_tracks,
    add_windows,
    log_counts,
    naming_file,
    policies_of,
    profiles_of,
    read_study,
    read_tracks,
    refuse_unused,
    share_of,
    windows_of,
)
from seqkern.cli.regions import add_regions, as_sources, regions_of
from seqkern.cli.several_sequences import given_files, read_given, read_views

if TYPE_CHECKING:
    from seqkern.gram.matrix import GramMatrix
    from seqkern.gram.stored_matrix import Spectrum
    from seqkern.kernels.kernel import Kernel
    from seqkern.sequences.alphabets import Alphabet
    from seqkern.sequences.sequence_set import SequenceSet
    from seqkern.sequences.tables import Data
    from seqkern.study.kernel_entries import KernelEntry

EXAMPLE = "seqkern gram donors.fasta --kernel mismatch:k=5,m=1 -o gram.npy"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the verb's arguments."""
    parser.add_argument(
        "fasta", nargs="*", help="FASTA files, - for standard input; BED with --genome; or a table with --sequences"
    )
    add_study(parser, {"dtype": "float64", "memory": None, "kernel_config": None})
    parser.add_argument("--dataset", metavar="DIR", help="folder that seqkern datasets wrote, instead of FASTA")
    parser.add_argument("--against", metavar="FASTA", help="sequences for the columns (default: the same as the rows)")
    kernel = parser.add_mutually_exclusive_group(required=True)
    kernel.add_argument("--kernel", help="kernel, such as spectrum:k=3, or as JSON; with --study the name of a matrix")
    kernel.add_argument("--kernel-config", metavar="YAML", help="take the kernel from a study's configuration")
    parser.add_argument("--kernel-name", metavar="NAME", help="name of the kernel in that configuration")
    parser.add_argument("-o", "--output", metavar="NPY", help="output file; its metadata go to a .json file beside it")
    parser.add_argument(
        "--extend",
        metavar="NPY",
        help="finished matrix of the same kernel: entries between records that it has too are copied from it",
    )
    add_sequence_arguments(parser)
    add_windows(parser)
    add_regions(parser)
    add_tracks(parser)
    work = parser.add_argument_group("resources and output")
    work.add_argument("--dtype", choices=("float64", "float32"), default="float64", help="default: float64")
    work.add_argument("--memory", metavar="SIZE", help="memory limit, such as 2GB (default: half of what is left)")
    add_threads(work)
    work.add_argument(
        "--tile",
        type=share_of,
        metavar="I/N",
        help="compute only the I-th of N shares of the tiles; without it, compute the missing tiles and assemble all",
    )
    work.add_argument(
        "--explain-plan",
        action="store_true",
        help="print the chosen algorithm and its predicted cost first; without -o, stop there",
    )
    work.add_argument(
        "--spectrum",
        action="store_true",
        help="print the smallest and largest eigenvalue and the share of negative mass; with -o, also write them to "
        ".spectrum.tsv beside the matrix",
    )
    work.add_argument("--cost", metavar="JSON", help="write the cost of each stage to this file")


def run(args: argparse.Namespace) -> None:
    """Run the verb."""
    # imported here to keep --help fast
    from seqkern.core.archive import check_writable
    from seqkern.core.errors import ParameterError
    from seqkern.core.progress import Clock, progress_counter, write_cost
    from seqkern.gram.compute import compute_gram, compute_tile, count_tiles

    if not args.output and not args.explain_plan and not args.spectrum:
        remedy = "add -o FILE.npy, or --explain-plan or --spectrum to print only"
        raise ParameterError("no output file given for the matrix", remedy=remedy)
    if args.spectrum and (args.against or args.tile):
        raise ParameterError("--spectrum needs the whole square matrix", remedy="remove --against and --tile")
    if args.tile:
        refuse_unused(args, "needs the whole matrix, not --tile", {"cost": None})
    if args.kernel is not None:
        refuse_unused(args, "needs --kernel-config", {"kernel_name": None})
    if args.dataset is not None:
        refuse_unused(args, "does not work with --dataset, which is read already", {**FASTA_POLICIES, "alphabet": None})
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
        options = {
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


def _kernel(args: argparse.Namespace) -> Kernel:
    """Return the kernel named by the arguments, with a note if its transforms and repair are left out.

    The kernel of a study's matrix brings the numbers and the memory limit of the matrix with it.
    """
    # imported here to keep --help fast
    from seqkern.study.kernel_entries import KernelEntry

    if args.study is not None:
        study = read_study(args)
        settings = study.settings_of("gram", kernel=args.kernel)
        args.kernel, args.dtype, args.memory = settings["kernel"], settings["dtype"], study.memory_limit
    entry = _configured(args) if args.kernel is None else KernelEntry.parse(args.kernel)
    if entry.transforms:
        print(
            "seqkern: this matrix is without the kernel's transforms and repair, which seqkern train and seqkern "
            "evaluate fit on each training set",
            file=sys.stderr,
        )
    return entry.kernel


def _configured(args: argparse.Namespace) -> KernelEntry:
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


def _data(args: argparse.Namespace, kernel: Kernel) -> tuple[Data, SequenceSet | None, str]:
    """Return rows, columns (or None) and the name of the source for messages."""
    # imported here to keep --help fast
    from seqkern.core.errors import ParameterError
    from seqkern.kernels.kernel_specs import check_kind

    several = read_given(args, kernel, policies_of(args) | ({"alphabet": args.alphabet} if args.alphabet else {}))
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
            "--profiles or --search-profiles": profiles_of(args),
            "--window and --sites": windows_of(args),
            "--genome": regions_of(args),
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
    if args.against and windows_of(args):
        raise ParameterError(
            "--against does not work with --window and --sites",
            remedy="cut the windows first, and give them as two files",
        )
    if profiles_of(args) and windows_of(args):
        raise ParameterError(
            "profiles need whole sequences, not windows",
            remedy="remove --window and --sites, or cut the windows in a study",
        )
    with_letters, with_views = read_tracks(args, kernel), read_views(args, kernel)
    alphabet, columns = args.alphabet or kernel.alphabet, None
    if windows_of(args) and regions_of(args):
        raise ParameterError("--genome does not work with --window and --sites", remedy="remove one of them")
    against = [args.against] if args.against else []
    files = [] if windows_of(args) else as_sources([*args.fasta, *against], args)
    if args.genome:
        alphabet = alphabet or "dna"
    if args.against:
        columns = read_fasta(files.pop(), alphabet, **policies_of(args))
        log_counts(columns.counts, args.against)
        alphabet = columns.alphabet
    rows = _windows(args, alphabet) if windows_of(args) else read_fasta(files, alphabet, **policies_of(args))
    log_counts(rows.counts, source)
    rows = with_views(with_letters(rows))
    return rows, None if columns is None else with_views(with_letters(columns)), source


def _windows(args: argparse.Namespace, alphabet: str | Alphabet | None) -> SequenceSet:
    """Return the windows around sites of the FASTA files."""
    # imported here to keep --help fast
    from seqkern.sequences.fasta import read_records
    from seqkern.study.data_entry import SiteWindow
    from seqkern.study.readers import before_cutting, cut_around_sites

    policies = policies_of(args)
    wanted = cast(SiteWindow, SiteWindow.parse({"fasta": args.fasta, **windows_of(args)}))
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
