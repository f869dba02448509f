"""Read a study's results folder: what is there, and what of the configured grid is missing."""

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from seqkern.core.errors import ConfigError, FileError
from seqkern.report.dataset_results import DatasetResults, subfolders
from seqkern.report.files import read_config
from seqkern.study.study import Study


class StudyResults:
    """A results folder.

    Parameters
    ----------
    folder : path-like
        ``results/<study>``.
    config : dict, optional
        The resolved configuration; by default ``config.yaml`` of the folder, or of an earlier report in it.

    Attributes
    ----------
    study : Study
        What was configured; empty where that is not known: then the folders tell what was done.
    datasets : list of DatasetResults

    Raises
    ------
    ConfigError
        If the configuration is none.
    FileError
        If there is no such folder, or no data set in it.
    """

    def __init__(self, folder: str | os.PathLike[str], config: Mapping[str, Any] | None = None) -> None:
        self.folder = Path(folder)
        if not self.folder.is_dir():
            raise FileError("no such folder", file=self.folder, remedy="run the workflow first, or check the path")
        config = self._config() if config is None else config
        _check_mapping("the configuration", config, self.folder)
        for key in ("datasets", "kernels", "solvers"):
            _check_mapping(key, config.get(key) or {}, self.folder)
        self.study = Study.of_results(config, self.folder.resolve().name)
        names = list(self.study.datasets) or subfolders(self.folder / "datasets")
        if not names:
            raise FileError("holds no data sets", file=self.folder, remedy="run the workflow first")
        self.datasets = [DatasetResults(self.study, self.folder, name) for name in names]

    def _config(self) -> dict[str, Any]:
        """Return the configuration that lies in the folder, or that an earlier report left there."""
        return read_config(self.folder / "config.yaml") or read_config(self.folder / "report" / "config.yaml")


def _check_mapping(what: str, value: object, folder: Path) -> None:
    """Raise ConfigError unless `value` is a dict."""
    if not isinstance(value, dict):
        raise ConfigError(f"{what} is {value!r}, not keys and values", file=folder, remedy="see config/README.md")
