"""The inner loop for remote homologs in ``seqkern evaluate``: clusters held out, and one choice for all tasks.

A pooled choice takes two calls: the first writes the inner loops of each data set, the second chooses.
"""

from __future__ import annotations

import argparse
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from seqkern.core.errors import FileError, ParameterError
from seqkern.core.values import whole_number

if TYPE_CHECKING:
    from seqkern.datasets import Dataset
    from seqkern.evaluation.candidates import Candidate
    from seqkern.evaluation.pooled import PooledChoice
    from seqkern.folds import Split
    from seqkern.models.data import Data
    from seqkern.models.method import Method
    from seqkern.models.search import Search

INNER = "inner.json"
"""Name of the file with the inner loops of a data set."""


def add_pooled(parser: argparse.ArgumentParser) -> None:
    """Add the arguments for clusters in place of inner folds, and for one choice over several tasks.

    Parameters
    ----------
    parser : ArgumentParser
        The parser of the verb.
    """
    parser.add_argument(
        "--inner-clusters",
        type=_clusters,
        metavar="N",
        help="for remote homologs: hold out each of N clusters of similar positive samples (auto: 10), not folds",
    )
    group = parser.add_mutually_exclusive_group()
    group.add_argument(
        "--inner-only",
        action="store_true",
        help=f"only run the inner loop of every training set and write its scores to {INNER}, for --pooled",
    )
    group.add_argument(
        "--pooled",
        nargs="+",
        default=[],
        metavar="FILE",
        help="files of --inner-only, of this data set and of others: instead of searching, choose the candidate with "
        "the best mean rank over all tasks (tasks that share positive samples are not pooled)",
    )


def _clusters(text: str) -> int:
    """Return a number of clusters."""
    # imported here to keep --help fast
    from seqkern.evaluation.clusters import AUTO

    if text == "auto":
        return AUTO
    number = whole_number(text)
    if number is None or number < 2:
        raise argparse.ArgumentTypeError(f"{text!r} is neither auto nor a number of clusters, 2 or more")
    return number


def check_pooled(args: argparse.Namespace, search: Search, candidates: Sequence[Candidate]) -> None:
    """Raise ParameterError for a pooled choice where there is nothing to choose, and for kernel auto.

    Parameters
    ----------
    args : Namespace
        With the arguments of `add_pooled`.
    search : Search
        How the method chooses.
    candidates : sequence of (str, dict)
        Its candidates.
    """
    if search.budget is not None and (args.inner_only or args.pooled or args.inner_clusters is not None):
        raise ParameterError(
            "kernel auto works neither with pooled choices nor with clusters",
            remedy="remove --inner-only, --pooled and --inner-clusters, or give a choice of kernels",
        )
    if (args.inner_only or args.pooled) and len(candidates) == 1:
        option = "--inner-only" if args.inner_only else "--pooled"
        raise ParameterError(
            "there is nothing to choose: one kernel, and one value for each parameter of the solver",
            remedy=f"remove {option}",
        )


class InnerLoops:
    """The inner loops of one method on the training sets of a data set.

    Parameters
    ----------
    candidates : sequence of (str, dict)
        The candidates of the method.
    dataset : Dataset
        All samples.
    identity : str
        What the scores depend on besides the training set.
    """

    def __init__(self, candidates: Sequence[Candidate], dataset: Dataset, identity: str) -> None:
        self.candidates, self.dataset, self.identity = list(candidates), dataset, identity

    def run(self, method: Method, data: Data, task: str, split: Split, key: str) -> dict[str, Any]:
        """Run an inner loop.

        Parameters
        ----------
        method : Method
            The method with these candidates.
        data : Data
            With the labels of the task.
        task : str
            Its name.
        split : Split
            Its training set is searched.
        key : str
            Of this training set.

        Returns
        -------
        dict
            Its scores and cost.
        """
        # imported here to keep --help fast
        from seqkern.core.cost import Clock
        from seqkern.evaluation.pooled_files import stored_loop

        clock = Clock()
        choice = method.choose(data, split.train)
        clock.lap("choose")
        loop = stored_loop(task, split, self.identity + key, data.labels, choice)
        place = {"task": task, "split": split.name}
        return {"loop": asdict(loop), "cost": [place | lap for lap in clock.laps]}

    def write(self, output: Path, finished: Sequence[Mapping[str, Any]]) -> None:
        """Write the finished inner loops.

        Parameters
        ----------
        output : Path
            The folder.
        finished : sequence of dict
            As from `run`, of all training sets, in order.
        """
        # imported here to keep --help fast
        from seqkern.evaluation.pooled_files import StoredLoop, write_inner_loops

        loops = [StoredLoop(**one["loop"]) for one in finished]
        write_inner_loops(output / INNER, self.dataset.name, self.dataset.X, self.candidates, loops)

    def pooled(self, files: list[str], keys: list[str]) -> Mapping[str, PooledChoice]:
        """Return the choice for each training set over the inner loops of files.

        Parameters
        ----------
        files : list of str
            Files of `write`, one of them of this data set.
        keys : list of str
            Those of all training sets.

        Returns
        -------
        mapping of str to PooledChoice
            By key.

        Raises
        ------
        FileError
            If a file is unsuitable, or has no inner loop for one of the training sets.
        """
        # imported here to keep --help fast
        from seqkern.core import file_kinds
        from seqkern.evaluation.pooled import pooled_choice
        from seqkern.evaluation.pooled_files import digest, read_inner_loops
        from seqkern.solvers import make_solver

        loops, own = read_inner_loops(files, self.dataset.name, self.candidates)
        kind = next(iter(self.dataset.tasks.values())).labels.kind
        if kind != "binary":
            loops = []
        sizes = [make_solver(spec, kind).complexity() for _, spec in self.candidates]
        choices = {}
        for key in keys:
            loop = own.get(digest(self.identity + key))
            if loop is None:
                problem = f"has no inner loops for these settings and folds of data set {self.dataset.name!r}"
                raise FileError(problem, file=files[0], remedy=file_kinds.INNER.again)
            choices[key] = pooled_choice(loop, loops, sizes)
        return choices
