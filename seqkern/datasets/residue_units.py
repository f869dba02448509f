"""The key ``residues`` of a data-set entry: every residue of the chains becomes a unit with a window around it."""

from dataclasses import replace

import numpy as np

from seqkern.core.errors import ConfigError
from seqkern.residues import STATES, WINDOW, check_window, residue_units
from seqkern.residues.reductions import find_reduction, reduce_states
from seqkern.residues.states import state_classes

KEYS = ("window", "reduction")
NOT_WITH = ("window", "sites", "tasks", "features", "similarities", "dissimilarities")
LEFT_OUT = "chains without a known state left out"


def is_residue_entry(entry):
    """Tell whether the units of a study's data-set entry are residues."""
    return "residues" in entry


def check_entry_residues(entry):
    """Raise ConfigError or ParameterError unless an entry's key ``residues``, and labels from states, are possible."""
    of_states = entry.get("labels", {}).get("from") == "states"
    if of_states and "fasta" not in entry:
        raise ConfigError("states are read beside fasta", remedy="leave out labels: {from: states}")
    if "fasta" in entry and of_states != is_residue_entry(entry):
        raise ConfigError(
            "states are labels of residues" if of_states else "nothing says which states the residues have",
            remedy="give both: residues: {window: 15} and labels: {from: states, file: …}",
        )
    if not is_residue_entry(entry):
        return
    wanted = entry["residues"]
    for key in wanted:
        if key not in KEYS:
            raise ConfigError(f"unknown key {key!r}", remedy=f"known keys: {', '.join(KEYS)}")
    check_window(wanted.get("window", WINDOW))
    if "reduction" in wanted:
        find_reduction(wanted["reduction"])
    for key in NOT_WITH:
        if key in entry:
            raise ConfigError(f"residues do not go with {key}", remedy=f"leave out residues, or {key}")


def cut_residues(material, entry):
    """Return the material of chains as that of their residues.

    Parameters
    ----------
    material : Material
        Chains, with the track ``states`` and, where there are any, those of profiles; its columns are about chains.
    entry : dict
        With the key ``residues``.

    Returns
    -------
    material : Material
        One window for each residue; columns ``label`` (the state, empty where it is not known), ``group`` (by default
        the chain) and those that the chains have.
    residues : Residues

    Raises
    ------
    ConfigError
        If the chains have no states, or there is nothing to reduce.
    """
    wanted = entry["residues"]
    if STATES not in material.X.tracks:
        raise ConfigError(
            "nothing says which states the residues have",
            file=material.file,
            remedy="add labels: {from: states, file: …}, or leave out residues",
        )
    chains, columns = _with_known_states(material)
    if "reduction" in wanted:
        # runs of states end where their chain does
        chains = chains.compact()
        states = reduce_states(chains.tracks[STATES], chains.stops, wanted["reduction"], material.file)
        chains = chains.replace(tracks={**chains.tracks, STATES: states})
    windows, residues = residue_units(chains, wanted.get("window", WINDOW))
    states = residues.states()
    names = np.array(["" if code == 0 else chr(code) for code in range(256)])
    columns = {"group": np.array(chains.ids)} | {key: np.asarray(values) for key, values in columns.items()}
    columns = {key: values[residues.record] for key, values in columns.items()} | {"label": names[states]}
    options = {"classes": state_classes(states), **material.options}
    notes = material.notes | {"residues": {"window": WINDOW, **wanted}}
    return replace(material, X=windows, columns=columns, options=options, notes=notes), residues


def _with_known_states(material):
    """Return the chains with a known state, the others counted, and their columns."""
    X = material.X
    known = np.concatenate(([0], np.cumsum(X.tracks[STATES] != 0)))
    good = known[X.stops] > known[X.starts]
    if not good.any():
        raise ConfigError("no state is known", file=material.file, remedy="? and masked residues are not known states")
    if good.all():
        return X, material.columns
    rows = np.flatnonzero(good)
    counts = X.counts | {LEFT_OUT: int(len(X) - len(rows))}
    return X.take(rows).replace(counts=counts), {
        key: [values[i] for i in rows] for key, values in material.columns.items()
    }
