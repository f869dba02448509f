"""Data sets of a simulated genome with peaks: its files are made first, and then read like others."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from seqkern.core.errors import unknown_name
from seqkern.datasets.data_entry import SOURCES
from seqkern.simulate import parameters

KIND = "peaks"
FASTA, PEAKS, VARIANTS, MOTIFS = "genome.fa", "peaks.narrowPeak", "variants.vcf", "motifs.meme"
FILES = (FASTA, PEAKS, "sites.bed", VARIANTS, MOTIFS)
TRUTH = "EFFECT"
POSITIVE = "peak"


@dataclass(frozen=True)
class SimulatedGenome:
    """A genome that `seqkern simulate peaks` makes for a data set.

    Attributes
    ----------
    options : mapping
        Parameters of `seqkern.simulate.peaks.peak_genome`, perhaps with ``seed``.
    folder : str
        Where its files are.

    Examples
    --------
    >>> given = {"simulate": {"kind": "peaks", "n_peaks": 50}, "width": 200, "variants": {"kernel": "k", "solver": "s"}}
    >>> genome = SimulatedGenome.parse(given, "results/peaks/simulated/small")
    >>> entry = genome.resolved(given)
    >>> entry["fasta"], entry["background"], entry["variants"]["truth"]
    ({'peak': 'results/peaks/simulated/small/peaks.narrowPeak'}, 1, 'EFFECT')
    >>> genome.words(seed=7)
    ['--n-peaks=50', '--seed=7']
    """

    options: Mapping[str, Any]
    folder: str

    @classmethod
    def parse(cls, given: Mapping[str, Any], folder: str) -> SimulatedGenome | None:
        """Return the genome of an entry, or None if it does not simulate one.

        Parameters
        ----------
        given : mapping
            As configured.
        folder : str
            For its files.

        Returns
        -------
        SimulatedGenome or None
        """
        others = [key for key in (*SOURCES, "genome") if key in given and key != "simulate"]
        if given.get("simulate", {}).get("kind") != KIND or others:
            return None
        return cls({key: value for key, value in given["simulate"].items() if key != "kind"}, folder)

    def check(self) -> None:
        """Raise ParameterError for an unknown parameter, with the nearest name."""
        known = [*parameters(KIND), "seed"]
        for name in self.options:
            if name not in known:
                raise unknown_name(f"parameter of {KIND!r}", name, known)

    def file(self, name: str) -> str:
        """Return the path of one of `FILES`.

        Parameters
        ----------
        name : str
            Its name.

        Returns
        -------
        str
        """
        return f"{self.folder}/{name}"

    def resolved(self, given: Mapping[str, Any]) -> dict[str, Any]:
        """Return the entry with the files of the genome in place of its simulation.

        Parameters
        ----------
        given : mapping
            As configured.

        Returns
        -------
        dict
            Its keys override the files; as many background regions as peaks by default.
        """
        entry: dict[str, Any] = {"fasta": {POSITIVE: self.file(PEAKS)}, "genome": self.file(FASTA), "background": 1}
        entry |= {key: value for key, value in given.items() if key != "simulate"}
        if "variants" in given:
            own = {"file": self.file(VARIANTS), "genome": self.file(FASTA), "truth": TRUTH}
            entry["variants"] = own | dict(given["variants"])
        if "motifs" in given:
            entry["motifs"] = {"known": self.file(MOTIFS), **given["motifs"]}
        return entry

    def words(self, seed: int) -> list[str]:
        """Return the options for the command line of ``seqkern simulate``.

        Parameters
        ----------
        seed : int
            Used unless the entry has one.

        Returns
        -------
        list of str
        """
        options = {"seed": seed, **self.options}
        return sorted(f"--{key.replace('_', '-')}={value}" for key, value in options.items())
