"""The models that a command line names: files, folders of them, and files that hold several."""

from __future__ import annotations

import zipfile
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from seqkern.core.errors import ModelError
from seqkern.core.types import PathLike
from seqkern.models.lsgkm_file import is_lsgkm
from seqkern.models.pack_file import is_pack, read_pack, split_word

ENDINGS = (".gz", ".txt", ".seqkern", ".model", ".weights")
"""Left out of the names of models in a folder, in this order."""


@dataclass(frozen=True)
class GivenModel:
    """A model, and where it is.

    Attributes
    ----------
    name : str
        For columns and messages.
    word : str
        What `seqkern.models.loading.load_model` reads: a file, or ``FILE:NAME``.
    """

    name: str
    word: str

    @property
    def file(self) -> str:
        """The file that holds it."""
        return str(split_word(self.word)[0])


def given_models(words: Iterable[str]) -> list[GivenModel]:
    """Return the models that words name, each with a name of its own.

    Parameters
    ----------
    words : iterable of str
        Model files, files of several models (all of them), one of these as ``FILE:NAME``, or folders.

    Returns
    -------
    list of GivenModel
        In the order of the words; of a folder by name. Files are named up to the first dot of the name; of equal names
        the later ones get a number.

    Raises
    ------
    ModelError, FileError
        If a folder has no models, or a file of several models is corrupted.

    Examples
    --------
    >>> [one.name for one in given_models(["a/ctcf.seqkern", "b/ctcf.seqkern", "gata1.model.txt"])]
    ['ctcf', 'ctcf_2', 'gata1']
    """
    out: dict[str, GivenModel] = {}
    for word in words:
        for stem, source in _named(word):
            name, number = stem, 1
            while name in out:
                number += 1
                name = f"{stem}_{number}"
            out[name] = GivenModel(name, source)
    return list(out.values())


def _named(word: str) -> list[tuple[str, str]]:
    """Return (name, word) of each model that a word names."""
    if Path(word).is_dir():
        return [(model_name(path), str(path)) for path in models_in(word)[0]]
    if is_pack(word):
        return [(one.name, f"{word}:{one.name}") for one in read_pack(word)]
    name = split_word(word)[1]
    return [(name or Path(word).name.partition(".")[0] or "model", word)]


def model_name(path: PathLike) -> str:
    """Return the name of a model of a folder: that of its file without what says its kind.

    Parameters
    ----------
    path : path-like
        The file.

    Returns
    -------
    str

    Examples
    --------
    >>> model_name("zoo/GATA5.10mer.model.txt.gz"), model_name("zoo/ctcf.v2.seqkern")
    ('GATA5.10mer', 'ctcf.v2')
    """
    name = Path(path).name
    for ending in ENDINGS:
        name = name.removesuffix(ending)
    return name


def models_in(folder: PathLike) -> tuple[list[Path], list[Path]]:
    """Return the models in a folder, and the other files.

    Parameters
    ----------
    folder : path-like
        Its hidden files and its folders do not count.

    Returns
    -------
    models, others : list of Path
        By name of the model. Models are files of seqkern and of LS-GKM, intact or not, and weights of k-mers; files of
        several models are among the others.

    Raises
    ------
    ModelError
        If there are no models.
    """
    from seqkern.models.kmer_weights import is_kmer_weights  # imported here for fast start-up

    found = (path for path in Path(folder).iterdir() if path.is_file() and not path.name.startswith("."))
    files = sorted(found, key=lambda path: (model_name(path), path.name))
    alone = [path for path in files if not is_pack(path)]
    models = [path for path in alone if zipfile.is_zipfile(path) or is_lsgkm(path) or is_kmer_weights(path)]
    if not models:
        raise ModelError("no models in the folder", file=folder, remedy="give a folder of model files")
    return models, [path for path in files if path not in models]
