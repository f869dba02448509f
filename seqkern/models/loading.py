"""Read a model of any kind from its file."""

import contextlib
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from seqkern.core.archive import load_archive, unnest
from seqkern.core.errors import FileError, GramError, ModelError
from seqkern.core.file_kinds import MODEL
from seqkern.core.text_files import ZIP
from seqkern.gram.transforms import transform_from_state
from seqkern.kernels import kernel_from_state
from seqkern.models.lsgkm_file import is_lsgkm
from seqkern.models.model import DATA, MEANS_KEY, Model
from seqkern.models.pack_file import read_packed, split_word
from seqkern.models.residue_model import ResidueModel
from seqkern.models.trial import try_chain, try_model
from seqkern.sequences.sequence_set import SequenceSet
from seqkern.solvers import solver_from_state

LONGEST_HEAD = 4096


def load_model(path: str | Path) -> Model | ResidueModel:
    """Read a model of `Model.save`, or of LS-GKM (`seqkern.models.lsgkm`).

    Parameters
    ----------
    path : path-like
        The file; of several models in one file ``FILE:NAME``.

    Returns
    -------
    Model or ResidueModel

    Raises
    ------
    ModelError
        If the file is not a model, corrupted, or of a newer version, or if this version of seqkern computes
        different kernel values than the version that trained the model.
    FileError
        If there is no such file, or it is a pipe.
    """
    packed, name = split_word(path)
    if name is not None:
        return model_from_archive(path, *read_packed(packed, name))
    if Path(path).is_fifo():  # its bytes can be read once only
        raise FileError("is a pipe, but a model is read in parts", file=path, remedy="write it to a file first")
    if is_lsgkm(path):
        from seqkern.models.lsgkm import read_lsgkm  # imported here for fast start-up

        return read_lsgkm(path)
    try:
        content = load_archive(path, MODEL)
    except ModelError as error:
        error.problem, error.remedy = _what_it_is(path) or (error.problem, error.remedy)
        raise
    return model_from_archive(path, *content)


def model_from_archive(
    path: str | Path, header: dict[str, Any], arrays: dict[str, npt.NDArray[Any]]
) -> Model | ResidueModel:
    """Return the model that a file holds.

    Parameters
    ----------
    path : path-like
        The file, for messages.
    header : dict
        Its JSON part.
    arrays : dict of str to ndarray
        By name.

    Returns
    -------
    Model or ResidueModel

    Raises
    ------
    ModelError
        As for `load_model`.
    """
    with MODEL.damaged(path, "is not usable"):
        model = model_from_state(header, arrays)
        if "residues" in header:
            of_residues = ResidueModel.from_state(model, header["residues"], unnest("residues", arrays))
            try_chain(of_residues)
            return of_residues
    return model


def _what_it_is(path: str | Path) -> tuple[str, str] | None:
    """Return problem and remedy for an empty file, FASTA, or the beginning of a model; None for others."""
    with Path(path).open("rb") as file:
        head = file.read(LONGEST_HEAD)
    if not head:
        return "is empty", "copy the model again, or train it again"
    if head.lstrip(b"\xef\xbb\xbf \t\r\n").startswith(b">"):
        return "is FASTA, not a model", "the model comes first, then the sequences"
    if head.startswith(ZIP) and not zipfile.is_zipfile(path):
        return "is cut off or damaged", "copy the model again, or train it again"
    return None


def model_from_state(header: dict[str, Any], arrays: dict[str, npt.NDArray[Any]]) -> Model:
    """Return a Model from `Model.state`, as read from a file, and check it.

    Parameters
    ----------
    header : dict
        The JSON part.
    arrays : dict of str to ndarray
        By name.

    Returns
    -------
    Model

    Raises
    ------
    Exception
        Of any kind, if the parts do not fit each other.
    """
    model = _from_parts(header, arrays)
    _check_whole(model)
    try_model(model)
    return model


def _from_parts(header: dict[str, Any], arrays: dict[str, npt.NDArray[Any]]) -> Model:
    """Return the Model from the content of a file."""
    # what a count names must be there, so that no count can make a list of any length
    transforms = _named(header, "transform", header["n_transforms"])
    kind: type[Model] = Model
    own: dict[str, Any] = {}
    if "features" in header:
        from seqkern.models.feature_model import FeatureModel  # imported here for fast start-up

        columns = unnest("features", arrays)["columns"]
        kind, own = FeatureModel, {"features": columns, "names": tuple(header["features"]["names"])}
    if "tally" in header:
        from seqkern.models.table_model import TableModel  # imported here for fast start-up

        sums = unnest("tally", arrays)
        kind, own = TableModel, {"tally": tuple(sums[name] for name in _named(sums, "", header["tally"]["n"]))}
    return kind(
        kernel=kernel_from_state(header["kernel"], unnest("kernel", arrays)),
        transforms=[transform_from_state(header[name], unnest(name, arrays)) for name in transforms],
        solver=solver_from_state(header["solver"], unnest("solver", arrays)),
        support=DATA[header["data"]].from_state(header["support"], unnest("support", arrays)),
        diagonal=arrays["diagonal"],
        kind=header["kind"],
        classes=tuple(header["classes"]),
        policies=dict(header["policies"]),
        record=header["record"],
        **own,
    )


def _named(parts: Mapping[str, Any], prefix: str, count: int) -> list[str]:
    """Return `count` names: the prefix and a number from 0; raise ValueError if there are fewer parts."""
    if not 0 <= count <= len(parts):
        raise ValueError(f"{count} parts, but {len(parts)} are there")
    return [f"{prefix}{number}" for number in range(count)]


def _check_whole(model: Model) -> None:
    """Raise an error unless the parts are consistent and work: compiled code relies on the columns."""
    X, solver = model.support, model.solver
    model.check_own()
    good = len(X.ids) == len(X) and solver.support_.dtype == np.int64 and solver.support_.ndim == 1
    width = model.n_columns
    good = good and solver.n_features_in_ == width
    good = good and np.all((solver.support_ >= 0) & (solver.support_ < width))
    good = good and all(transform.n_columns_ == width for transform in model.transforms)
    if not good or model.kind not in solver.targets:
        raise ValueError("inconsistent parts")
    for transform in model.transforms:
        with contextlib.suppress(GramError):  # it may reject a sample unlike all others
            transform.transform(np.zeros((1, width)), np.ones(1))
    # weights that are not finite would affect every result
    constant = solver.decision_function(np.zeros((1, width)))
    arrays = solver.state()[1].values()
    if not all(np.isfinite(array).all() for array in (constant, *arrays) if array.dtype.kind == "f"):
        raise ValueError("the solver contains numbers that are not finite")
    _check_window(model)
    if not isinstance(model.record.get("recognised", {}), dict):
        raise ValueError("the table of recognised classes is invalid")
    if MEANS_KEY in model.record:
        means = model.record[MEANS_KEY]
        if set(means) != {"least", "greatest"} or not all(isinstance(mean, float) for mean in means.values()):
            raise ValueError("the means of the training samples are invalid")
    if (model.calibration is not None or model.threshold is not None) and model.kind != "binary":
        raise ValueError("probabilities or a threshold without two classes")
    if model.projects:
        if constant.shape != (1, len(model.classes)):
            raise ValueError("the components do not match the solver")
    elif model.kind != "real" and (len(model.classes) != len(solver.classes_) or len(set(model.classes)) < 2):
        raise ValueError("the classes do not match the solver")


def _check_window(model: Model) -> None:
    """Raise an error if the window in the record is invalid, or does not match the support."""
    window = model.window
    X = model.support
    if window is not None and (not isinstance(X, SequenceSet) or np.any(X.lengths != window.length)):
        raise ValueError(f"the sequences are not windows {window}")
