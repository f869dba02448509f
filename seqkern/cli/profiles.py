"""Arguments for the source of profiles."""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from seqkern.core.errors import ParameterError

if TYPE_CHECKING:
    from seqkern.kernels.kernel import Kernel


def add_profiles(group: argparse._ActionsContainer) -> None:
    """Add the sources of profiles."""
    group.add_argument(
        "--profiles",
        metavar="PATH",
        help="profiles, for kernels that need them: a file, folder or tar archive of ASCII PSSMs from PSI-BLAST, or of "
        "HMMER models; matched by id or by sequence",
    )
    group.add_argument(
        "--search-profiles",
        metavar="FASTA",
        help="build profiles by an iterated search of each sequence against this file; they are cached",
    )
    group.add_argument(
        "--profile-iterations", type=int, metavar="N", help="maximum number of search iterations (default: 3)"
    )


def profiles_of(args: argparse.Namespace) -> dict[str, Any] | None:
    """Return the data-set entry ``profiles`` given by the arguments."""
    if args.profiles and args.search_profiles:
        raise ParameterError("two sources of profiles given", remedy="remove --profiles or --search-profiles")
    if args.profile_iterations is not None and not args.search_profiles:
        raise ParameterError("--profile-iterations needs a search", remedy="add --search-profiles FASTA")
    # imported here to keep --help fast
    from seqkern.formats.profile_sources import ALL

    if args.profiles:
        return {"files": args.profiles}
    if args.search_profiles == ALL:
        raise ParameterError(
            "--search-profiles takes a FASTA file",
            remedy="write ./all for a file of that name; to search the training sequences, give the kernel "
            "search=training",
        )
    if args.search_profiles:
        iterations = {} if args.profile_iterations is None else {"iterations": args.profile_iterations}
        return {"search": args.search_profiles, **iterations}
    return None


def check_wanted(entry: Mapping[str, Any] | None, kernel: Kernel, made: Mapping[str, Any] | None = None) -> None:
    """Raise an error for profiles that a kernel does not read, or for missing ones."""
    # imported here to keep --help fast
    from seqkern.formats.profiles import TRACKS

    wanted = [track for track in kernel.tracks if track in TRACKS]
    if entry and not wanted:
        raise ParameterError(
            f"the kernel {kernel.name!r} reads no profiles", remedy="remove --profiles and --search-profiles"
        )
    if wanted and not entry:
        remedy = "add --profiles PATH (from PSI-BLAST or HMMER) or --search-profiles FASTA"
        if made is not None and "search" in made:
            more = f" --profile-iterations {made['iterations']}" if "iterations" in made else ""
            remedy = f"make them as in training: add --search-profiles {made['search']}{more}"
        elif made is not None:
            remedy = f"make them as in training ({made['files']}) and add --profiles PATH"
        raise ParameterError(f"the kernel {kernel.name!r} needs profiles of the sequences", remedy=remedy)
