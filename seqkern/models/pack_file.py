"""Files that hold several models: ``zoo.seqkern`` means all of them, ``zoo.seqkern:NAME`` one.

The file is an archive (`seqkern.core.archive`). Its JSON part lists the models. What the file of model number i would
hold alone has ``i/`` before its name, so that the name of a model never becomes part of a path.
"""

from __future__ import annotations

import difflib
import re
import zipfile
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from seqkern.core.archive import JSON_ENTRY, as_bytes, from_bytes, load_archive, nest, save_archive, unnest
from seqkern.core.errors import ModelError, SeqkernError
from seqkern.core.file_kinds import MODEL, PACK
from seqkern.core.types import Arrays, PathLike

NAME = re.compile(r"[\w.+-]+")


@dataclass(frozen=True)
class PackedModel:
    """What a file of several models says about one.

    Attributes
    ----------
    name : str
        Of the model.
    alphabet, kernel, classes : str
        In words, for the list of models.
    support : int
        How many support samples it has.
    file : str
        Name of the file that it was read from.
    """

    name: str
    alphabet: str
    kernel: str
    classes: str
    support: int
    file: str


def split_word(word: PathLike) -> tuple[PathLike, str | None]:
    """Return the file that a word names, and the model in it.

    Parameters
    ----------
    word : path-like
        A file, or ``FILE:NAME``.

    Returns
    -------
    file : path-like
    name : str or None
        None for a file, of whatever content.

    Examples
    --------
    >>> split_word("model.seqkern"), split_word("missing.seqkern:CTCF")
    (('model.seqkern', None), ('missing.seqkern:CTCF', None))
    """
    file, _, name = str(word).rpartition(":")
    if name and Path(file).is_file() and not Path(word).exists():
        return file, name
    return word, None


def is_pack(path: PathLike) -> bool:
    """Return whether a file holds several models.

    Parameters
    ----------
    path : path-like
        The file; it need not exist.

    Returns
    -------
    bool
    """
    try:
        if not Path(path).is_file() or not zipfile.is_zipfile(path):
            return False
        header, _ = load_archive(path, wanted=lambda name: False)
    except (SeqkernError, OSError):
        return False
    return isinstance(header, dict) and header.get("format") == PACK.format


def read_pack(path: PathLike) -> tuple[PackedModel, ...]:
    """Return what is in a file of several models, without their arrays.

    Parameters
    ----------
    path : path-like
        The file.

    Returns
    -------
    tuple of PackedModel

    Raises
    ------
    ModelError
        If it is not such a file, or is corrupted.
    FileError
        If it cannot be read.
    """
    header, _ = load_archive(path, PACK, wanted=lambda name: False)
    with PACK.damaged(path, "is not usable"):
        found = tuple(PackedModel(**one) for one in header["models"])
        if not found or len({one.name for one in found}) < len(found):
            raise ValueError("no models, or two of one name")
        for one in found:
            if not NAME.fullmatch(one.name) or type(one.support) is not int:
                raise ValueError("an invalid entry")
    return found


def read_packed(path: PathLike, name: str) -> tuple[dict[str, Any], Arrays]:
    """Return header and arrays of one model, as in a file of its own.

    Parameters
    ----------
    path : path-like
        The file.
    name : str
        Of the model.

    Returns
    -------
    header : dict
    arrays : dict of str to ndarray

    Raises
    ------
    ModelError
        If the file is corrupted, or has no such model.
    FileError
        If it cannot be read.
    """
    found = read_pack(path)
    names = [one.name for one in found]
    if name not in names:
        near = difflib.get_close_matches(name, names, 1)
        hint = f"did you mean {near[0]!r}? " if near else ""
        raise ModelError(f"has no model {name!r}", file=path, remedy=f"{hint}seqkern models list {path} lists them")
    start = f"{names.index(name)}/"
    _, arrays = load_archive(path, PACK, wanted=lambda entry: entry.startswith(start))
    with PACK.damaged(path, "is not usable"):
        arrays = unnest(start[:-1], arrays)
        header = from_bytes(arrays.pop(JSON_ENTRY))
        MODEL.check(header, f"{path}:{name}")
        return header, arrays


def write_pack(path: PathLike, models: Sequence[tuple[PackedModel, dict[str, Any], Arrays]]) -> None:
    """Write several models to one file; equal models give equal bytes.

    Parameters
    ----------
    path : path-like
        The file.
    models : sequence of (PackedModel, dict, dict of str to ndarray)
        Each with header and arrays, as from `seqkern.models.model.Model.state`.

    Raises
    ------
    FileError
        If the file cannot be written.

    Examples
    --------
    >>> import tempfile
    >>> import numpy as np
    >>> ctcf = PackedModel("CTCF", "dna", "spectrum", "no, yes", 40, "CTCF.seqkern")
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_pack(f"{folder}/zoo.seqkern", [(ctcf, MODEL.stamp(), {"w": np.ones(2)})])
    ...     header, arrays = read_packed(f"{folder}/zoo.seqkern", "CTCF")
    >>> header["format"], arrays
    ('seqkern model', {'w': array([1., 1.])})
    """
    arrays: Arrays = {}
    for number, (_, header, own) in enumerate(models):
        arrays.update(nest(str(number), {JSON_ENTRY: as_bytes(header), **own}))
    entries = [asdict(model) for model, _, _ in models]
    save_archive(path, {**PACK.stamp(), "models": entries}, arrays)
