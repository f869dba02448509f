"""``seqkern gram``: a Gram matrix of FASTA files or of a study's data set, on disk."""

from __future__ import annotations

import argparse
import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING, cast

from seqkern.cli.common import (
    add_sequence_arguments,
    add_threads,
    add_tracks,
    add_windows,
    naming_file,
    policies_of,
    read_tracks,
    tell_counts,
    windows_of,
)
from seqkern.cli.profiles import profiles_of

if TYPE_CHECKING:
    from seqkern.gram import GramMatrix
    from seqkern.gram.spectrum import Spectrum
    from seqkern.kernels.kernel import Kernel
    from seqkern.sequences.alphabets import Alphabet
    from seqkern.sequences.sequence_set import SequenceSet
    from seqkern.sequences.tables import Data
    from seqkern.study.kernel_entries import KernelEntry

EXAMPLE = "seqkern gram donors.fasta --kernel mismatch:k=5,m=1 -o gram.npy"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the verb's arguments.

    Parameters
    ----------
    parser : ArgumentParser
        That of the verb alone.
    """
    parser.add_argument("fasta", nargs="*", help="FASTA, plain or compressed; - is standard input")
    parser.add_argument("--dataset", metavar="DIR", help="instead of FASTA: a folder of seqkern datasets")
    parser.add_argument("--against", metavar="FASTA", help="the columns (default: the rows themselves)")
    kernel = parser.add_mutually_exclusive_group(required=True)
    kernel.add_argument("--kernel", help="kernel, as text or JSON, such as spectrum:k=3")
    kernel.add_argument("--kernel-config", metavar="YAML", help="take the kernel from a study's config")
    parser.add_argument("--kernel-name", metavar="NAME", help="the kernel's name in that config")
    parser.add_argument("-o", "--output", metavar="NPY", help="the matrix; a .json is put beside it")
    add_sequence_arguments(parser)
    add_windows(parser)
    add_tracks(parser)
    work = parser.add_argument_group("the work")
    work.add_argument("--dtype", choices=("float64", "float32"), default="float64", help="default: float64")
    work.add_argument("--memory", metavar="SIZE", help="limit, such as 2GB (default: half of what is free)")
    add_threads(work)
    work.add_argument(
        "--tile",
        type=_share,
        metavar="I/N",
        help="compute only the I-th of N shares of the tiles; without it, the missing ones, and assemble",
    )
    work.add_argument(
        "--explain-plan",
        action="store_true",
        help="say first which algorithm runs, and its cost; without -o, nothing else is done",
    )
    work.add_argument(
        "--spectrum",
        action="store_true",
        help="print the smallest and largest eigenvalue and the share of negative mass, and keep them beside the "
        "matrix in .spectrum.tsv; without -o, only print them",
    )
    work.add_argument("--cost", metavar="JSON", help="write what each stage cost")


def run(args: argparse.Namespace) -> None:
    """Run the verb.

    Parameters
    ----------
    args : Namespace
        What `add_arguments` declares, with the values given.
    """
    # loaded when the verb runs: its help needs none of it
    from seqkern.core.archive import check_writable
    from seqkern.core.cost import Clock, write_cost
    from seqkern.core.errors import ParameterError
    from seqkern.core.progress import progress_counter
    from seqkern.gram import compute_gram, compute_tile, count_tiles

    if not args.output and not args.explain_plan and not args.spectrum:
        remedy = "give -o FILE.npy, or --explain-plan or --spectrum without it"
        raise ParameterError("there is no place for the matrix", remedy=remedy)
    if args.spectrum and (args.against or args.tile):
        raise ParameterError("--spectrum is of a whole square matrix", remedy="leave out --against and --tile")
    clock = Clock()
    kernel = _kernel(args)
    if args.cost:
        check_writable(args.cost)
    X, Y, source = _data(args, kernel)
    clock.lap("read")
    with naming_file(source):
        if kernel.data_dependent:
            kernel.fit(X if Y is None else Y)
            learned = f"all {len(X)} {_noun(X)}" if Y is None else f"the {len(Y)} {_noun(Y)} of {args.against}"
            print(f"seqkern: kernel {kernel.name} learned from {learned}", file=sys.stderr)
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
        }
        with progress_counter("gram", " entries") as show:
            if args.tile is None:
                gram = compute_gram(kernel, X, Y, progress=show, **options)
                tell_counts(gram.meta["counts"], source)
                rows, cols = gram.shape
                done = f"{rows} × {cols} {args.dtype}"
            else:
                share, shares = args.tile
                count = count_tiles(X, Y, args.dtype)
                mine = list(range(share - 1, count, shares))
                compute_tile(kernel, X, Y, mine, progress=show, **options)
                done = f"{len(mine)} of {count} tiles"
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
    """Return what the samples of a set are called."""
    return "sequences" if hasattr(X, "alphabet") else "units"


def _spectrum(gram: GramMatrix, path: str | None) -> Spectrum:
    """Return the Spectrum of a matrix, kept in its file beside it if it has one."""
    # loaded when the verb runs: its help needs none of it
    from seqkern.gram.matrix import spectrum_path
    from seqkern.gram.spectrum import spectrum, write_spectrum

    found = spectrum(gram.values)
    if path:
        write_spectrum(spectrum_path(path), found)
    return found


def _share(text: str) -> tuple[int, int]:
    """Return i and n of ``i/n``."""
    match = re.fullmatch(r"(\d+)/(\d+)", text)
    if match is None or not 1 <= int(match[1]) <= int(match[2]):
        raise argparse.ArgumentTypeError(f"{text!r} is no share; write it like 3/8")
    return int(match[1]), int(match[2])


def _kernel(args: argparse.Namespace) -> Kernel:
    """Return the kernel that the arguments name; say so if its transforms and repair are left out."""
    # loaded when the verb runs: its help needs none of it
    from seqkern.study.kernel_entries import KernelEntry

    entry = _configured(args) if args.kernel is None else KernelEntry.parse(args.kernel)
    if entry.transforms:
        print(
            "seqkern: transforms and repair are fitted on a training part: train and evaluate apply them; "
            "this is the matrix without",
            file=sys.stderr,
        )
    return entry.kernel


def _configured(args: argparse.Namespace) -> KernelEntry:
    """Return the KernelEntry in the study's configuration."""
    # loaded when the verb runs: its help needs none of it
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
        problem = f"{args.kernel_name!r} is a choice of kernels"
        raise ConfigError(problem, file=args.kernel_config, remedy=f"add --kernel-name {names}")
    return entry


def _data(args: argparse.Namespace, kernel: Kernel) -> tuple[Data, SequenceSet | None, str]:
    """Return rows, columns (or None) and what to call them in messages."""
    # loaded when the verb runs: its help needs none of it
    from seqkern.core.errors import ParameterError
    from seqkern.kernels import check_kind

    if bool(args.fasta) == bool(args.dataset):
        raise ParameterError("one source of sequences is needed", remedy="give FASTA files, or --dataset")
    if args.dataset:
        # loaded when the verb runs: its help needs none of it
        from seqkern.datasets import load_dataset
        from seqkern.study.stored_grams import check_stored

        given = {
            "--against": args.against,
            "--track": args.track,
            "--profiles or --search-profiles": profiles_of(args),
            "--window and --sites": windows_of(args),
        }
        for option, value in given.items():
            if value:
                raise ParameterError(f"{option} goes with FASTA files", remedy=f"leave out --dataset or {option}")
        dataset = load_dataset(args.dataset)
        check_stored(dataset, args.dataset)
        check_kind(kernel, dataset.kind, file=args.dataset)
        return dataset.X, None, args.dataset
    # loaded when the verb runs: its help needs none of it
    from seqkern.sequences.fasta import read_fasta

    for path in args.fasta:
        if (Path(path) / "data.npz").is_file():
            raise ParameterError("is the folder of a data set", file=path, remedy=f"give it as --dataset {path}")

    source = ", ".join(args.fasta)
    check_kind(kernel, "sequences", file=source)
    if args.against and windows_of(args):
        raise ParameterError("--against goes without windows", remedy="cut both, and give them as two files")
    if profiles_of(args) and windows_of(args):
        raise ParameterError("profiles are of whole sequences", remedy="cut no windows here, or do it in a study")
    with_tracks = read_tracks(args, kernel)
    alphabet, columns = args.alphabet or kernel.alphabet, None
    if args.against:
        columns = read_fasta(args.against, alphabet, **policies_of(args))
        tell_counts(columns.counts, args.against)
        alphabet = columns.alphabet
    rows = _windows(args, alphabet) if windows_of(args) else read_fasta(args.fasta, alphabet, **policies_of(args))
    tell_counts(rows.counts, source)
    return with_tracks(rows), None if columns is None else with_tracks(columns), source


def _windows(args: argparse.Namespace, alphabet: str | Alphabet | None) -> SequenceSet:
    """Return the windows around sites of the FASTA files."""
    # loaded when the verb runs: its help needs none of it
    from seqkern.datasets.data_entry import SiteWindow
    from seqkern.datasets.site_windows import cut_around_sites
    from seqkern.sequences.fasta import read_records

    policies = policies_of(args)
    wanted = cast(SiteWindow, SiteWindow.parse({"fasta": args.fasta, **windows_of(args)}))
    reading = read_records(args.fasta, alphabet, **policies | {"unknown": "mask"})
    where = ", ".join(args.fasta)
    return cut_around_sites(wanted, reading, ".", where, unknown=policies["unknown"], ids=policies["ids"])[0].windows


def _explain(kernel: Kernel, X: Data, Y: Data | None, dtype: str) -> None:
    """Print the kernel's plan and the size of the matrix."""
    # loaded when the verb runs: its help needs none of it
    import numpy as np

    # loaded when the verb runs: its help needs none of it
    from seqkern.core.memory import format_bytes

    plan = kernel.plan(X, Y)
    rows, cols = len(X), len(X if Y is None else Y)
    print(f"algorithm\t{plan.algorithm}")
    print(f"predicted CPU seconds\t{plan.seconds:.3g}")
    print(f"predicted working memory\t{format_bytes(plan.bytes)}")
    print(f"candidates\t{plan.reason or 'the only one'}")
    print(f"matrix\t{rows} × {cols} {dtype}, {format_bytes(rows * cols * np.dtype(dtype).itemsize)}", flush=True)
