"""``seqkern train`` for states of residues."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Any

from seqkern.cli.common import policies_of
from seqkern.cli.profiles import profiles_of
from seqkern.cli.true_states import is_one_file
from seqkern.core.errors import ParameterError
from seqkern.core.values import whole_number
from seqkern.solvers.thresholds import PLAIN

if TYPE_CHECKING:
    from seqkern.sequences.labels import Labels

REDUCTIONS = ("HGI_EB", "HGI_E", "HG_EB", "H_EB", "H_E", "frishman_argos")
"""Names in `seqkern.residues.reductions`, listed here to keep ``--help`` fast."""


def check_layers(args: argparse.Namespace) -> None:
    """Raise an error for residue options without states, and options that do not work with states.

    Parameters
    ----------
    args : Namespace
        The parsed arguments of ``seqkern train``; ``layers`` become specs.

    Raises
    ------
    ParameterError
        If such an option is given, or a layer is invalid.
    """
    if args.states is None:
        for name, value in (("layers", args.layers), ("reduction", args.reduction)):
            if value:
                raise ParameterError(f"--{name} needs --states", remedy=f"add --states, or remove --{name}")
        return
    # imported here to keep --help fast
    from seqkern.layers import Layers

    others = {"labels": args.labels, "sites": args.sites, "format": getattr(args, "format", "seqkern") != "seqkern"}
    for name, value in others.items():
        if value:
            raise ParameterError(f"--{name} does not work with --states", remedy="remove one of them")
    for text in args.layers:
        if _joined(text):
            raise ParameterError(
                f"--layers {text!r}: a comma separates parameters of one layer",
                remedy="separate layers by spaces: --layers structure segments probabilities",
            )
    args.layers = Layers(args.layers).specs()


def _joined(text: str) -> bool:
    """Return whether a text holds several layers separated by commas."""
    # imported here to keep --help fast
    from seqkern.layers import LAYERS

    if text.lstrip().startswith(("[", "{")):  # JSON
        return False
    names = [word.strip().partition(":")[0] for word in text.split(",")[1:]]
    return text.endswith(",") or any(name in LAYERS.names for name in names)


def check_probabilities(args: argparse.Namespace, labels: Labels) -> None:
    """Raise an error for probabilities and a threshold with several states.

    Parameters
    ----------
    args : Namespace
        With ``states``, ``calibration`` and ``threshold``.
    labels : Labels
        The states of the residues.

    Raises
    ------
    ParameterError
        If they are requested with more than two states.
    """
    wanted = args.calibration or args.threshold not in (None, PLAIN)
    if args.states is None or labels.kind != "multiclass" or not wanted:
        return
    name = "calibration" if args.calibration else "threshold"
    layers = ", and add --layers probabilities for the probabilities of all states" if args.calibration else ""
    raise ParameterError(
        f"--{name} needs two classes, but there are {len(labels.classes)} states: {', '.join(labels.classes)}",
        remedy=f"remove --{name}{layers}; or train one state against the others: --positive {labels.classes[0]}",
    )


def states_entry(args: argparse.Namespace, alphabet: Any) -> dict[str, Any]:
    """Return the data-set entry of chains and their states.

    Parameters
    ----------
    args : Namespace
        The parsed arguments of ``seqkern train``.
    alphabet : Alphabet or str, optional
        Of the kernel, if the arguments give none; default: protein.

    Returns
    -------
    dict
        For `seqkern.datasets.make_dataset`.

    Raises
    ------
    ParameterError
        If the window is not an odd number of residues.
    """
    # imported here to keep --help fast
    from seqkern.residues import WINDOW

    window = str(WINDOW if args.window is None else args.window)
    if whole_number(window) is None:
        raise ParameterError(
            f"--window {window} does not work with --states",
            remedy="give an odd number of residues, such as --window 15",
        )
    residues = {"window": int(window)} | ({"reduction": args.reduction} if args.reduction else {})
    together = len(args.fasta) == 1 and is_one_file(args.fasta[0], args.states)
    labels = {"from": "states"} | ({} if together else {"file": args.states})
    entry = {
        "fasta": args.fasta,
        "labels": labels | ({"positive": args.positive} if args.positive else {}),
        "residues": residues,
        **policies_of(args),
        "alphabet": args.alphabet or alphabet or "protein",
    }
    if profiles_of(args):
        entry["profiles"] = profiles_of(args)
    return entry
