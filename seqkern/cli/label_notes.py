"""Notes on standard error about labels that are probably not what was meant."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from seqkern.datasets import Dataset
    from seqkern.sequences.labels import Labels


def tell_unlabelled(dataset: Dataset, source: str, learned: bool | None = False) -> None:
    """Print how many records have an empty label, and which is the first.

    Parameters
    ----------
    dataset : Dataset
        With any number of tasks; nothing is printed for several, each of which leaves records out, or for residues.
    source : str
        The file, for the message.
    learned : bool or None
        Whether the solver learns from them too; None if it is not known yet.
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
            False: "left out",
            None: "left out, but for solvers that learn from them",
        }
        print(f"seqkern: {source}: {count} without a label {what[learned]}: {first}", file=sys.stderr)


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
