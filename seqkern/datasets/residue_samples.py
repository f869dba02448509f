"""Cut the residue windows of a data-set entry: each residue becomes a sample, with a window around it."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from seqkern.core.errors import ConfigError
from seqkern.datasets.data_entry import ResidueOptions
from seqkern.datasets.label_sources import Columns
from seqkern.residues import STATES, Residues, residue_samples
from seqkern.residues.reductions import reduce_states
from seqkern.residues.states import state_classes
from seqkern.sequences.sequence_set import SequenceSet

if TYPE_CHECKING:
    from seqkern.datasets.entries import Material

LEFT_OUT = "chains without a known state left out"


def cut_residues(material: Material, wanted: ResidueOptions) -> tuple[Material, Residues]:
    """Return the material of chains as material of their residues.

    Parameters
    ----------
    material : Material
        Chains, with the track ``states`` and, if any, profiles; its columns describe chains.
    wanted : ResidueOptions
        Number of residues of a window, and reduction of the states.

    Returns
    -------
    material : Material
        One window for each residue; columns ``label`` (the state, empty if unknown), ``group`` (default:
        the chain) and those of the chains.
    residues : Residues
        The residue and chain of each window.

    Raises
    ------
    ConfigError
        If the chains have no states, or nothing needs reduction.
    """
    if STATES not in material.X.tracks:
        raise ConfigError(
            "no states given for the residues",
            file=material.file,
            remedy="add labels: {from: states, file: …}, or remove residues",
        )
    chains, columns = _with_known_states(material)
    if wanted.reduction is not None:
        # runs of states end at the end of their chain
        chains = chains.compact()
        states = reduce_states(chains.tracks[STATES], chains.stops, wanted.reduction, material.file)
        chains = chains.replace(tracks={**chains.tracks, STATES: states})
    windows, residues = residue_samples(chains, wanted.window)
    states = residues.states()
    names = np.array(["" if code == 0 else chr(code) for code in range(256)])
    of_chains = {"group": np.array(chains.ids)} | {key: np.asarray(values) for key, values in columns.items()}
    of_residues = {key: values[residues.record] for key, values in of_chains.items()} | {"label": names[states]}
    options = {"classes": state_classes(states), **material.options}
    notes = material.notes | {"residues": wanted.note()}
    return replace(material, X=windows, columns=of_residues, options=options, notes=notes), residues


def _with_known_states(material: Material) -> tuple[SequenceSet, Columns]:
    """Return the chains with a known state, the others counted, and their columns."""
    X = material.X
    known = np.concatenate(([0], np.cumsum(X.tracks[STATES] != 0)))
    good = known[X.stops] > known[X.starts]
    if not good.any():
        raise ConfigError(
            "no residue has a known state",
            file=material.file,
            remedy="give states other than ?, for residues that are not masked",
        )
    if good.all():
        return X, material.columns
    rows = np.flatnonzero(good)
    counts = X.counts | {LEFT_OUT: int(len(X) - len(rows))}
    return X.take(rows).replace(counts=counts), {
        key: [values[i] for i in rows.tolist()] for key, values in material.columns.items()
    }
