"""Methods that a study trains for one purpose: to score variants, and to find motifs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from seqkern.core.errors import ConfigError


@dataclass(frozen=True)
class VariantEffects:
    """A method to train on each training set; the report shows the effects of variants on held-out chromosomes.

    Attributes
    ----------
    kernel, solver : str
        Names in the study.
    file : str
        The variants: VCF.
    genome : str
        Their genome.
    truth : str, optional
        Field of INFO with the known effects.
    threshold : float
        True are known effects above ± this.

    Examples
    --------
    >>> given = {"kernel": "gkm", "solver": "svm", "file": "asb.vcf", "truth": "ASB"}
    >>> wanted = VariantEffects.parse(given, "hg38.fa")
    >>> wanted.genome, wanted.words()
    ('hg38.fa', ['--truth=ASB', '--threshold=0'])
    """

    kernel: str
    solver: str
    file: str
    genome: str
    truth: str | None = None
    threshold: float = 0.0

    @classmethod
    def parse(cls, given: Mapping[str, Any], genome: str | None) -> VariantEffects:
        """Return the settings of an entry.

        Parameters
        ----------
        given : mapping
            The value of ``variants``, valid under the schema.
        genome : str or None
            That of the data set, the default.

        Returns
        -------
        VariantEffects

        Raises
        ------
        ConfigError
            If there is no file or no genome.
        """
        settings = {"genome": genome, **given}
        if "file" not in settings:
            raise ConfigError("has no file", remedy="add file: variants.vcf")
        if settings["genome"] is None:
            raise ConfigError("has no genome", remedy="add genome: FASTA, to the data set or here")
        return cls(**settings)

    def words(self) -> list[str]:
        """Return the options for the command line."""
        return [] if self.truth is None else [f"--truth={self.truth}", f"--threshold={self.threshold:g}"]


@dataclass(frozen=True)
class MotifSearch:
    """A method to train on all samples; the report shows the motifs that it has learned.

    Attributes
    ----------
    kernel, solver : str
        Names in the study.
    known : str, optional
        A file of known motifs to compare with.
    """

    kernel: str
    solver: str
    known: str | None = None
