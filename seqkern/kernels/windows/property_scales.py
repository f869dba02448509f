"""Scales of physico-chemical properties: those of amino acids shipped with seqkern, or custom ones.

`resources/property_scales.tsv` has six of the amino acids, and tells where each is from. A file of your own looks the
same: tab-separated, lines that begin with # are comments, the first column of the header may be called anything, each
other one is the name of a scale, and each line has a letter and its value on each scale.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
import numpy.typing as npt

from seqkern.core.errors import FileError, ParameterError, SequenceError
from seqkern.core.resource_files import resource_path
from seqkern.core.text_files import open_lines
from seqkern.core.types import Arrays, Header, PathLike
from seqkern.core.values import read_number
from seqkern.sequences.alphabets import DNA, RNA, Alphabet

if TYPE_CHECKING:
    from seqkern.kernels.kernel import SequenceKernel as _Base
else:
    _Base = object

OWN = "property_scales.tsv"


@dataclass(frozen=True)
class PropertyScales:
    """Values of letters on scales.

    Attributes
    ----------
    names : tuple of str
        Of the scales.
    letters : str
        Letters with values.
    values : ndarray of float64, shape (letters, scales)
        As published, or as in the file.
    file : str or None
        Source file; None for the amino acid scales shipped with seqkern.

    Examples
    --------
    >>> charge = amino_acid_scales().choose(["charge"])
    >>> dict(zip(charge.letters, charge.values[:, 0].tolist(), strict=True))["D"]
    -1.0
    """

    names: tuple[str, ...]
    letters: str
    values: npt.NDArray[np.float64] = field(repr=False)
    file: str | None = None

    def choose(self, names: Sequence[str]) -> PropertyScales:
        """Return some of the scales.

        Parameters
        ----------
        names : list of str
            Names, in the wanted order.

        Returns
        -------
        PropertyScales

        Raises
        ------
        ParameterError
            If a scale is unknown or given twice, or none is given.
        """
        for name in names:
            if name not in self.names:
                raise ParameterError(
                    f"there is no scale {name!r}", remedy=f"choose all, some of {', '.join(self.names)}, or a file"
                )
        if not len(names) or len(set(names)) < len(names):
            raise ParameterError(f"scales={list(names)!r} is not possible", remedy="give each scale once")
        return PropertyScales(tuple(names), self.letters, self.values[:, [self.names.index(name) for name in names]])

    def standardised(self, alphabet: Alphabet) -> npt.NDArray[np.float64]:
        """Return the values by the codes of an alphabet, each scale with mean 0 and variance 1 over its letters.

        Parameters
        ----------
        alphabet : Alphabet
            That of the sequences.

        Returns
        -------
        ndarray of float64, shape (size + 1, scales)
            NaN in rows of letters without values, and in the last row, for masked residues.

        Raises
        ------
        ParameterError
            If the scales are those of the amino acids and the alphabet is DNA or RNA, no letter of the alphabet has
            values, a scale is constant, or its values are too large.
        """
        if self.file is None and alphabet in (DNA, RNA):
            raise ParameterError(
                f"the scales are for amino acids, the alphabet is {alphabet.name}",
                remedy="give a file with your own scales, or protein sequences",
            )
        if not set(alphabet.letters) & set(self.letters):
            raise ParameterError(
                f"no letter of the alphabet {alphabet.name} has a value on the scales",
                file=self.file,
                remedy="give a file with its letters",
            )
        with np.errstate(over="ignore", invalid="ignore"):
            spread = self.values.std(axis=0)
        if not np.isfinite(spread).all():
            raise ParameterError(
                f"the values of the scale {self.names[int(np.argmin(np.isfinite(spread)))]!r} are too large",
                file=self.file,
                remedy="give the scale in another unit",
            )
        if not (spread > 0).all():
            raise ParameterError(
                f"all letters have the same value on the scale {self.names[int(np.argmin(spread > 0))]!r}",
                file=self.file,
                remedy="remove the scale",
            )
        table = np.full((alphabet.size + 1, len(self.names)), np.nan)
        for code, letter in enumerate(alphabet.letters):
            if letter in self.letters:
                place = self.letters.index(letter)
                table[code] = (self.values[place] - self.values.mean(axis=0)) / spread
        return table


@lru_cache(maxsize=1)
def amino_acid_scales() -> PropertyScales:
    """Return the scales of the 20 amino acids shipped with seqkern.

    Examples
    --------
    >>> amino_acid_scales().names
    ('hydrophobicity', 'charge', 'mass', 'volume', 'polarity', 'bulkiness')
    """
    names, letters, values = _parse(resource_path(OWN))
    values.flags.writeable = False
    return PropertyScales(names, letters, values)


def read_scales(path: PathLike) -> PropertyScales:
    r"""Read scales from a file, compressed or not.

    Parameters
    ----------
    path : path-like
        A table like resources/property_scales.tsv.

    Returns
    -------
    PropertyScales

    Raises
    ------
    FileError
        If it cannot be read, or is not such a table.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder) / "bases.tsv"
    ...     _ = path.write_text("base\tbonds\trings\nA\t2\t2\nC\t3\t1\nG\t3\t2\nT\t2\t1\n")
    ...     scales = read_scales(path)
    >>> scales.names, scales.letters
    (('bonds', 'rings'), 'ACGT')
    """
    return PropertyScales(*_parse(path), str(path))


def _parse(path: PathLike) -> tuple[tuple[str, ...], str, npt.NDArray[np.float64]]:
    """Return names, letters and values of a file."""
    try:
        with open_lines(path) as (lines, name):
            rows = [(i, line.rstrip("\r\n").split("\t")) for i, line in enumerate(lines, start=1)]
    except SequenceError as error:  # it is empty
        raise FileError(error.problem, file=error.file, remedy=error.remedy) from error
    rows = [(i, row) for i, row in rows if row != [""] and not row[0].startswith("#")]

    def bad(problem: str, remedy: str) -> FileError:
        return FileError(problem, file=name, remedy=remedy)

    names = tuple(cell.strip() for cell in rows[0][1][1:]) if rows else ()
    if not names or not all(names) or len(set(names)) < len(names):
        raise bad("has no header with the names of scales", "give a tab-separated table as in property_scales.tsv")
    letters = ""
    values: list[list[float]] = []
    for number, (letter, *cells) in rows[1:]:
        letter = letter.strip().upper()
        if len(letter) != 1 or letter in letters:
            raise bad(f"line {number}: {letter!r} is not one new letter", "give one line for each letter")
        row = [read_number(cell) for cell in cells]
        if len(row) != len(names) or any(map(math.isnan, row)):
            raise bad(f"line {number} is not a letter and {len(names)} numbers", "give one value for each scale")
        letters += letter
        values.append(row)
    if len(letters) < 2:
        raise bad("has values for fewer than two letters", "give one line for each letter")
    return names, letters, np.array(values)


class ScaleParameter(_Base):
    """Mixin of kernels with a parameter that names scales, `scale_parameter`, read once from a file if needed.

    Values read from a file are part of the identity of the kernel and of saved models.
    """

    missing_file_remedy: ClassVar[str] = "check the path, or choose scales such as hydrophobicity"
    scale_parameter: ClassVar[str] = "scales"
    other_choices: ClassVar[tuple[str, ...]] = ()  # values of the parameter that are not scales
    _read: Any = None  # (value of the parameter, PropertyScales), once read from a file

    def property_scales(self) -> PropertyScales:
        """Return the named scales."""
        chosen = getattr(self, self.scale_parameter)
        if self.files():
            if self._read is None or self._read[0] != chosen:
                self.check_files()
                self._read = chosen, read_scales(chosen)
            return self._read[1]
        known = amino_acid_scales()
        if isinstance(chosen, str):
            return known if chosen == "all" else known.choose([chosen])
        if not isinstance(chosen, (list, tuple)):
            raise ParameterError(
                f"{self.scale_parameter}={chosen!r} is not possible", remedy="give all, a list of scales, or a file"
            )
        return known.choose(list(chosen))

    def files(self) -> tuple[str, ...]:
        """Return the path of the file of scales, if there is one."""
        chosen = getattr(self, self.scale_parameter)
        own = ("all", *amino_acid_scales().names, *self.other_choices)
        return (chosen,) if isinstance(chosen, str) and chosen not in own else ()

    def fitted_state(self) -> tuple[Header, Arrays]:
        """Return (JSON dict, dict of arrays): the contents of a file."""
        header, arrays = super().fitted_state()
        if not self.files():
            return header, arrays
        scales = self.property_scales()
        told = {"names": list(scales.names), "letters": scales.letters}
        return header | {"scales": told}, arrays | {"scales": scales.values}

    def restore_fitted(self, header: Header, arrays: Arrays) -> None:
        """Restore what `fitted_state` returned.

        Parameters
        ----------
        header : dict
            Its JSON part.
        arrays : dict of str to ndarray
            Its arrays.
        """
        super().restore_fitted(header, arrays)
        if "scales" in header:
            chosen = getattr(self, self.scale_parameter)
            values = np.array(arrays["scales"], dtype=np.float64)
            told = header["scales"]
            self._read = chosen, PropertyScales(tuple(told["names"]), told["letters"], values, str(chosen))
