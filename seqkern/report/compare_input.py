"""What `seqkern compare` is given: folders of studies, or of evaluated methods, as data sets with methods."""

import os
from collections.abc import Sequence
from functools import cached_property
from pathlib import Path

from seqkern.core.errors import FileError
from seqkern.report.dataset_results import DatasetResults, Method
from seqkern.report.results import StudyResults
from seqkern.study.dataset_entries import DatasetEntry
from seqkern.study.study import Study


class Evaluated(DatasetResults):
    """Folders that `seqkern evaluate` wrote, one for each method, as one data set.

    Parameters
    ----------
    folders : list of Path
        Folders of evaluated methods.
    """

    def __init__(self, folders: Sequence[Path]) -> None:
        self.study = Study.of_results({})
        self.home = Path()
        self.entry = DatasetEntry.of_results({}, "")
        self.places = dict(zip(_names(folders), folders, strict=True))
        self.methods = list(self.places)
        parents = {folder.resolve().parents[1] for folder in folders}
        self.name = parents.pop().name if len(parents) == 1 else "the methods given"

    @cached_property
    def summary(self) -> None:
        """None: the folders of methods hold no summary of the data set."""
        return None

    @cached_property
    def composition(self) -> None:
        """None: the folders of methods hold no tables of folds."""
        return None

    @cached_property
    def kind(self) -> str:
        """``"binary"``, ``"multiclass"`` or ``"real"``, by the metrics that were written."""
        if "rmse" in self.metrics:
            return "real"
        with open(next(iter(self.places.values())) / "decisions.tsv", encoding="utf-8") as file:
            columns = file.readline().rstrip("\n").split("\t")
        return "binary" if "decision" in columns else "multiclass"

    def _path(self, method: Method, file: str, stage: str = "evaluate") -> Path:
        # separate inner loops are part of a study only
        return self.places[method] / (file if stage == "evaluate" else f"{stage}/{file}")


def _names(folders: Sequence[Path]) -> list[Method]:
    """Return a Method for each folder: kernel and solver by the last two parts of its path, or the path itself."""
    names = [Method(folder.resolve().parent.name, folder.resolve().name) for folder in folders]
    if len(set(names)) < len(names):
        names = [Method(str(folder.parent), folder.name) for folder in folders]
    for name, folder in zip(names, folders, strict=True):
        if names.count(name) > 1:
            raise FileError("is given twice", file=folder, remedy="name each folder once")
    return names


def read_input(paths: Sequence[str | os.PathLike[str]]) -> list[tuple[str | None, DatasetResults]]:
    """Return the data sets in folders: those of each study, or one made of all folders of evaluated methods.

    Parameters
    ----------
    paths : list of path-like
        Folders of studies, or of evaluated methods.

    Returns
    -------
    list of (str or None, DatasetResults)
        With the study's name (its folder, where two have the same), if there are several.

    Raises
    ------
    FileError
        If a folder is missing or neither, or both kinds are given.
    """
    folders = [Path(path) for path in paths]
    evaluated: list[Path] = []
    for folder in folders:
        if not folder.is_dir():
            raise FileError("no such folder", file=folder, remedy="check the path")
        is_method = (folder / "metrics.tsv").is_file() and (folder / "decisions.tsv").is_file()
        is_study = (folder / "evaluate").is_dir()
        if not is_method and not is_study:
            raise FileError(
                "holds neither a study nor an evaluated method",
                file=folder,
                remedy="give results/STUDY, or folders that seqkern evaluate wrote",
            )
        evaluated += [folder] if is_method else []
    if evaluated and len(evaluated) < len(folders):
        raise FileError("is an evaluated method, others are studies", file=evaluated[0], remedy="give one kind only")
    if evaluated:
        return [(None, Evaluated(evaluated))]
    found = [StudyResults(folder) for folder in folders]
    if len(found) == 1:
        return [(None, dataset) for dataset in found[0].datasets]
    names = [results.study.name for results in found]
    titles = [one.study.name if names.count(one.study.name) == 1 else str(one.folder) for one in found]
    return [(title, dataset) for title, results in zip(titles, found, strict=True) for dataset in results.datasets]
