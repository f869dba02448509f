"""Notes on standard error about labels that are probably not what was meant."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from seqkern.datasets import Dataset
    from seqkern.models.method import Method
    from seqkern.sequences.labels import Labels


def tell_unlabelled(dataset: Dataset, source: str, learned: bool | None = False, reason: str = "") -> None:
    """Print how many records have no label, what becomes of them, and which is the first.

    Parameters
    ----------
    dataset : Dataset
        With any number of tasks; nothing is printed for several, each of which leaves records out, or for residues.
    source : str
        The file, for the message.
    learned : bool or None
        Whether the solver learns from them too; None if it is not known yet.
    reason : str
        Why it does not.
    """
    if len(dataset.tasks) != 1 or dataset.residues is not None:
        return
    labels = dataset.task().labels
    missing = [name for name, used in zip(labels.ids, labels.used().tolist(), strict=True) if not used]
    if missing:
        count = "1 record" if len(missing) == 1 else f"{len(missing)} records"
        first = repr(missing[0]) if len(missing) == 1 else f"{missing[0]!r}, …"
        what = {
            True: "in every training set",
            False: f"left out{reason and f', since {reason}'}",
            None: "left out, but for solvers that learn from them",
        }
        print(f"seqkern: {source}: {count} without a label {what[learned]}: {first}", file=sys.stderr)


def why_left_out(method: Method) -> str:
    """Return why a method leaves out records without a label.

    Parameters
    ----------
    method : Method
        That does not accept them.

    Returns
    -------
    str
        A clause.
    """
    # imported here to keep --help fast
    from seqkern.solvers import build_solver

    for spec in method.specs:
        if not build_solver(spec).accepts_unlabelled:
            return f"solver {spec['solver']!r} does not learn from them"
    return "kernels that are fitted to each training set do not use them"


def tell_similar_classes(labels: Labels, source: str) -> None:
    """Print a warning about two classes whose names differ only in case.

    Parameters
    ----------
    labels : Labels
        Of the training set.
    source : str
        The file, for the message.
    """
    seen: dict[str, str] = {}
    for name in labels.classes:
        other = seen.setdefault(name.casefold(), name)
        if other != name:
            print(
                f"seqkern: warning: {source}: the classes {other!r} and {name!r} differ only in case; if they are one "
                "class, write them alike",
                file=sys.stderr,
            )
