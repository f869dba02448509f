"""Write the models of a folder to one file."""

from __future__ import annotations

import inspect
import zipfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

from seqkern.core.archive import load_archive
from seqkern.core.errors import ModelError
from seqkern.core.progress import progress_bar
from seqkern.core.types import Arrays, PathLike
from seqkern.models.given_models import model_name, models_in
from seqkern.models.loading import load_model
from seqkern.models.lsgkm_file import is_lsgkm
from seqkern.models.model import Model
from seqkern.models.pack_file import NAME, PackedModel, write_pack

if TYPE_CHECKING:
    from seqkern.kernels.kernel import Kernel


def pack_folder(folder: PathLike, path: PathLike) -> tuple[int, list[Path]]:
    """Write all models of a folder to one file.

    Parameters
    ----------
    folder : path-like
        Models of seqkern and of LS-GKM.
    path : path-like
        The file to write.

    Returns
    -------
    count : int
        How many models were packed.
    others : list of Path
        Files of the folder that are not models, or hold several, except the file to write.

    Raises
    ------
    ModelError
        If there are no models, one is corrupted, or two have one name.
    FileError
        If a file cannot be read or written.
    """
    files, others = models_in(folder)
    found: dict[str, tuple[PackedModel, dict[str, Any], Arrays]] = {}
    for file in progress_bar(files, "models"):
        name = model_name(file)
        if not NAME.fullmatch(name):
            raise ModelError(
                "a name of a model has letters, digits and the characters ._+- alone", file=file, remedy="rename it"
            )
        if name in found:
            raise ModelError(f"and {found[name][0].file} get one name, {name}", file=file, remedy="rename one of them")
        found[name] = _packed(name, file)
    write_pack(path, list(found.values()))
    return len(found), [file for file in others if not file.samefile(path)]


def _packed(name: str, file: Path) -> tuple[PackedModel, dict[str, Any], Arrays]:
    """Return what is said of a model, its header and its arrays; it is read as a model to check it."""
    lsgkm = is_lsgkm(file)
    if not lsgkm and not zipfile.is_zipfile(file):
        raise ModelError("has weights of k-mers, not a model", file=file, remedy="move it out of the folder")
    model = load_model(file)
    header, arrays = model.state() if lsgkm else load_archive(file)
    windows = model if isinstance(model, Model) else model.windows
    alphabet = "features" if windows.alphabet is None else windows.alphabet.name
    words = alphabet, _words(windows.kernel), ", ".join(windows.classes), windows.n_columns, file.name
    return PackedModel(name, *words), header, arrays


def _words(kernel: Kernel) -> str:
    """Return a kernel as on the command line, with l, k and the parameters that differ from their defaults."""
    declared = inspect.signature(type(kernel)).parameters
    shown = [
        f"{name}={str(value).lower() if isinstance(value, bool) else value}"
        for name, value in kernel.get_params(deep=False).items()
        if declared[name].kind is not inspect.Parameter.KEYWORD_ONLY or value != declared[name].default
    ]
    return f"{kernel.name}{':' * bool(shown)}{','.join(shown)}"
