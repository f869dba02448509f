"""What ``seqkern train`` is asked about states of residues."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Any

from seqkern.cli.common import policies_of
from seqkern.cli.profiles import profiles_of
from seqkern.cli.true_states import is_one_file
from seqkern.core.errors import ParameterError

if TYPE_CHECKING:
    from seqkern.kernels.kernel import Kernel
    from seqkern.sequences.labels import Labels

REDUCTIONS = ("HGI_EB", "HGI_E", "HG_EB", "H_EB", "H_E", "frishman_argos")
"""Names in `seqkern.residues.reductions`, for a help that imports none of it."""


def check_layers(args: argparse.Namespace) -> None:
    """Refuse options of residues without states, and those that do not go with states.

    Parameters
    ----------
    args : Namespace
        What ``seqkern train`` declares, with the values given; ``layers`` become specs.

    Raises
    ------
    ParameterError
        If there is one, or a layer cannot be read.
    """
    if args.states is None:
        for name, value in (("layers", args.layers), ("reduction", args.reduction)):
            if value:
                raise ParameterError(
                    f"--{name} is of states of residues", remedy=f"add --states, or leave out --{name}"
                )
        return
    # loaded when a verb runs: its help needs none of it
    from seqkern.layers import Layers

    others = {"labels": args.labels, "sites": args.sites, "format": args.format != "seqkern"}
    for name, value in others.items():
        if value:
            raise ParameterError(f"--{name} does not go with --states", remedy="leave out one of them")
    for text in args.layers:
        if _joined(text):
            raise ParameterError(
                f"--layers {text!r}: a comma stands between parameters of one layer",
                remedy="separate layers by spaces, as in --layers structure segments probabilities",
            )
    args.layers = Layers(args.layers).specs()


def _joined(text: str) -> bool:
    """Tell whether a text holds layers that are separated by commas."""
    # loaded when a verb runs: its help needs none of it
    from seqkern.layers import LAYERS

    if text.lstrip().startswith(("[", "{")):  # JSON
        return False
    names = [word.strip().partition(":")[0] for word in text.split(",")[1:]]
    return text.endswith(",") or any(name in LAYERS.names for name in names)


def check_probabilities(args: argparse.Namespace, labels: Labels) -> None:
    """Refuse probabilities and a threshold where there are several states.

    Parameters
    ----------
    args : Namespace
        With ``states``, ``calibration`` and ``threshold``.
    labels : Labels
        The states of the residues.

    Raises
    ------
    ParameterError
        If they are wanted of more than two states.
    """
    if args.states is None or labels.kind != "multiclass" or not (args.calibration or args.threshold):
        return
    name = "calibration" if args.calibration else "threshold"
    layers = ", and --layers probabilities gives the probabilities of all" if args.calibration else ""
    raise ParameterError(
        f"--{name} is for two classes, here are the states {', '.join(labels.classes)}",
        remedy=f"leave out --{name}{layers}; or set one state against the others: --positive {labels.classes[0]}",
    )


def states_entry(args: argparse.Namespace, kernel: Kernel) -> dict[str, Any]:
    """Return the entry of the data set of chains and their states.

    Parameters
    ----------
    args : Namespace
        What ``seqkern train`` declares, with the values given.
    kernel : Kernel
        Names the alphabet where the arguments do not.

    Returns
    -------
    dict
        As `seqkern.datasets.make_dataset` takes it.

    Raises
    ------
    ParameterError
        If the window is not a number of residues.
    """
    # loaded when a verb runs: its help needs none of it
    from seqkern.residues import WINDOW

    window = str(WINDOW if args.window is None else args.window)
    if not window.isdecimal():
        raise ParameterError(
            f"--window {window} is not possible with --states",
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
        "alphabet": args.alphabet or kernel.alphabet or "protein",
    }
    if profiles_of(args):
        entry["profiles"] = profiles_of(args)
    return entry
