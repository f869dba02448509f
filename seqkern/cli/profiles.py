"""Arguments that say where profiles come from."""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from seqkern.core.errors import ParameterError

if TYPE_CHECKING:
    from seqkern.kernels.kernel import Kernel


def add_profiles(group: argparse._ActionsContainer) -> None:
    """Add the sources of profiles.

    Parameters
    ----------
    group : ArgumentParser or group of arguments
        Where they are added.
    """
    group.add_argument(
        "--profiles",
        metavar="PATH",
        help="profiles for a kernel that needs some: a file, a folder or a tar archive of PSSMs that PSI-BLAST wrote "
        "in ASCII, or of HMMER's models; found by id, or by their letters",
    )
    group.add_argument(
        "--search-profiles",
        metavar="FASTA",
        help="build the profiles by iterated search of each sequence against this file; they are kept in the cache",
    )
    group.add_argument(
        "--profile-iterations", type=int, metavar="N", help="searches of a sequence at most (default: 3)"
    )


def profiles_of(args: argparse.Namespace) -> dict[str, Any] | None:
    """Return the entry ``profiles`` of a data set that the arguments make.

    Parameters
    ----------
    args : Namespace
        With what `add_profiles` adds.

    Returns
    -------
    dict or None
        None where there are no profiles.

    Raises
    ------
    ParameterError
        If they contradict one another.
    """
    if args.profiles and args.search_profiles:
        raise ParameterError("there are two sources of profiles", remedy="leave out --profiles or --search-profiles")
    if args.profile_iterations is not None and not args.search_profiles:
        raise ParameterError("--profile-iterations is of a search", remedy="add --search-profiles FASTA")
    # loaded when a verb runs: its help needs none of it
    from seqkern.profiles.sources import ALL

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
    """Refuse profiles that a kernel does not read, and a lack of those that it needs.

    Parameters
    ----------
    entry : mapping or None
        As `profiles_of` returns it.
    kernel : Kernel
        Its tracks say whether it reads profiles.
    made : mapping, optional
        How those of a model's training sequences were made.

    Raises
    ------
    ParameterError
        With the option that is to be left out, or added.
    """
    # loaded when a verb runs: its help needs none of it
    from seqkern.profiles.profile import TRACKS

    wanted = [track for track in kernel.tracks if track in TRACKS]
    if entry and not wanted:
        raise ParameterError(
            f"the kernel {kernel.name!r} reads no profiles", remedy="leave out --profiles and --search-profiles"
        )
    if wanted and not entry:
        remedy = "add --profiles PATH (of PSI-BLAST or HMMER), or --search-profiles FASTA"
        if made is not None and "search" in made:
            more = f" --profile-iterations {made['iterations']}" if "iterations" in made else ""
            remedy = f"make them as in training: add --search-profiles {made['search']}{more}"
        elif made is not None:
            remedy = f"make them as in training ({made['files']}) and add --profiles PATH"
        raise ParameterError(f"the kernel {kernel.name!r} needs profiles of the sequences", remedy=remedy)
