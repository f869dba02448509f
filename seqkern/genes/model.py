"""A model of genes: classifiers of splice sites, content and weights of the grammar, in one file."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from seqkern.core.archive import load_archive, nest, save_archive, unnest
from seqkern.core.file_kinds import GENES, MODEL
from seqkern.core.types import Source
from seqkern.genes.boundaries import DONORS, Gene, Scorer, find_boundaries
from seqkern.genes.content import LONGEST, Content
from seqkern.genes.decoding import Limits, as_genes, decode
from seqkern.genes.grammar import CURVES, Grammar
from seqkern.genome.site_tables import chromosomes
from seqkern.models.loading import model_from_state
from seqkern.models.model import Model
from seqkern.models.scan import Scanner
from seqkern.sequences.alphabets import DNA, MASK

SITES = ("donor", "acceptor")
Codes = npt.NDArray[np.uint8]


@dataclass(frozen=True, eq=False)
class GeneModel:
    """What finds genes in a genome.

    Attributes
    ----------
    sites : dict of str to Model
        Of windows around ``donor`` and ``acceptor`` sites.
    content : Content
        Scores of coding and intron sequence.
    grammar : Grammar
        Lengths, and what the weights stand for.
    weights : ndarray of float64
        Of the grammar.
    record : dict
        JSON: how it was learned.
    """

    sites: dict[str, Model]
    content: Content
    grammar: Grammar
    weights: npt.NDArray[np.float64]
    record: dict[str, Any]

    def find(self, codes: Codes, *, n_threads: int | None = None) -> list[Gene]:
        """Return the genes of a chromosome.

        Parameters
        ----------
        codes : ndarray of uint8
            The chromosome.
        n_threads : int, optional
            Of the classifiers; default: the number of cores.

        Returns
        -------
        list of Gene
            Ascending, without overlap.
        """
        scorers = {name: site_scorer(model, n_threads) for name, model in self.sites.items()}
        boundaries = find_boundaries(codes, scorers, self.content)
        scores = self.grammar.scores(boundaries, self.weights)
        return as_genes(boundaries, decode(boundaries, scores, self.grammar.limits)[1], scores)

    def find_all(
        self, genome: Source, *, n_threads: int | None = None, progress: Callable[[int], None] | None = None
    ) -> Iterator[tuple[str, Codes, list[Gene]]]:
        """Yield the genes of each chromosome.

        Parameters
        ----------
        genome : path-like, ``"-"`` or file object
            FASTA, plain or compressed; GenBank or EMBL.
        n_threads : int, optional
            Default: the number of cores.
        progress : callable, optional
            Called with the number of bases done.

        Yields
        ------
        (str, ndarray of uint8, list of Gene)
            Its name, its codes, and its genes.
        """
        done = 0
        for name, codes in chromosomes(genome):
            yield name, codes, self.find(codes, n_threads=n_threads)
            done += len(codes)
            if progress is not None:
                progress(done)

    def save(self, path: str | Path) -> None:
        """Write the model to one file.

        Parameters
        ----------
        path : path-like
            The file.

        Raises
        ------
        FileError
            If the file cannot be written.
        """
        limits = self.grammar.limits
        header = {**GENES.stamp(), "limits": vars(limits), "record": self.record}
        arrays = {"weights": self.weights, "coding": self.content.coding, "intron": self.content.intron}
        arrays |= nest("knots", self.grammar.knots)
        for name, model in self.sites.items():
            header[name], own = model.state()
            arrays |= nest(name, own)
        save_archive(path, header, arrays)


def load_gene_model(path: str | Path) -> GeneModel:
    """Read a model of `GeneModel.save`.

    Parameters
    ----------
    path : path-like
        The file.

    Returns
    -------
    GeneModel

    Raises
    ------
    ModelError
        If the file is not such a model, corrupted, or of a newer version.
    FileError
        If there is no such file.
    """
    header, arrays = load_archive(path, GENES)
    with GENES.damaged(path, "is not usable"):
        for name in SITES:
            MODEL.check(header[name], path)
        limits = Limits(**header["limits"])
        grammar = Grammar(limits, {name: unnest("knots", arrays)[name] for name in CURVES})
        content = Content(arrays["coding"], arrays["intron"])
        sites = {name: model_from_state(header[name], unnest(name, arrays)) for name in SITES}
        _check(grammar, content, sites, arrays["weights"])
        return GeneModel(sites, content, grammar, arrays["weights"], dict(header["record"]))


def _check(grammar: Grammar, content: Content, sites: dict[str, Model], weights: npt.NDArray[np.float64]) -> None:
    """Raise ValueError unless the parts fit each other: compiled code relies on them."""
    for knots in grammar.knots.values():
        if knots.dtype != np.float64 or knots.ndim != 1 or len(knots) < 2 or not np.all(np.diff(knots) > 0):
            raise ValueError("knots that do not ascend")
    if content.order not in range(LONGEST + 1) or content.intron.shape != (4 ** (content.order + 1),):
        raise ValueError("the content has no order")
    if content.coding.shape != (3, content.intron.size) or weights.shape != (grammar.n_weights,):
        raise ValueError("shapes that do not match")
    for array in (*grammar.knots.values(), content.coding, content.intron, weights):
        if array.dtype != np.float64 or not np.isfinite(array).all():
            raise ValueError("numbers that are not finite")
    for name, model in sites.items():
        if model.kind != "binary" or model.alphabet != DNA or model.window is None:
            raise ValueError(f"the model of {name} sites does not classify windows of DNA")
        Scanner(model, DONORS[0])


def site_scorer(model: Model, n_threads: int | None = None) -> Scorer:
    """Return a function for `find_boundaries` that applies a classifier of sites.

    Parameters
    ----------
    model : Model
        Of windows around sites.
    n_threads : int, optional
        Default: the number of cores.

    Returns
    -------
    callable
        Takes the codes of a strand and the places of the sites' first bases, and returns decision values: NaN where
        the window contains masked letters or extends beyond an end.
    """
    scanner = Scanner(model, DONORS[0], n_threads=n_threads)  # the window does not depend on the letters
    window = scanner.window

    def score(codes: Codes, places: npt.NDArray[np.int64]) -> npt.NDArray[np.float64]:
        out = np.full(len(places), np.nan)
        starts = places - window.left
        inside = np.flatnonzero((starts >= 0) & (starts + window.length <= len(codes)))
        masked = np.concatenate(([0], np.cumsum(codes == MASK)))
        starts = starts[inside]
        clear = masked[starts + window.length] == masked[starts]
        if clear.any():
            names = np.full(int(clear.sum()), "site", dtype=object)
            out[inside[clear]] = scanner.values(codes, starts[clear], names)
        return out

    return score
