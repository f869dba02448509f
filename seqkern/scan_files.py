"""Candidates as text: BED, bedGraph and tables. Numbers have 10 significant digits."""

import numpy as np

AT_ONCE = 1 << 15


def header(form, model):
    """Return the first line of a file, empty but for a table."""
    if form != "tsv":
        return ""
    return "\t".join(["record", "position", "strand", *decision_columns(model)]) + "\n"


def decision_columns(model):
    """Return the names of the columns of decisions, and of the probability where the model is calibrated."""
    if model.kind == "multiclass":
        return [f"decision:{name}" for name in model.classes]
    return ["decision"] + ["probability"] * (model.calibration is not None)


def lines(form, found, model, site):
    """Yield the lines of some candidates.

    Parameters
    ----------
    form : {"bed", "bedgraph", "tsv"}
    found : Candidates
    model : Model
    site : str
        The letters of a candidate.

    Yields
    ------
    str
        Many lines each.
    """
    for first in range(0, len(found), AT_ONCE):
        yield "".join(FORMS[form](found.take(slice(first, first + AT_ONCE)), model, site))


def _bed(found, model, site):
    """Return the lines of BED6 with the decision, and the probability if there is one."""
    name, ends = found.record, found.starts + found.width
    rows = zip(found.starts.tolist(), ends.tolist(), _strands(found), found.decisions.tolist(), strict=True)
    if model.calibration is None:
        return [f"{name}\t{start}\t{end}\t{site}\t0\t{strand}\t{value:.10g}\n" for start, end, strand, value in rows]
    chances = model.calibration.probabilities(found.decisions)
    scores = np.rint(1000 * chances).astype(np.int64).tolist()
    return [
        f"{name}\t{start}\t{end}\t{site}\t{score}\t{strand}\t{value:.10g}\t{chance:.10g}\n"
        for (start, end, strand, value), score, chance in zip(rows, scores, chances.tolist(), strict=True)
    ]


def _bedgraph(found, model, site):
    """Return the lines of a candidate's own first letter: the letters of two candidates may overlap, these do not."""
    name, rows = found.record, zip(found.positions.tolist(), found.decisions.tolist(), strict=True)
    return [f"{name}\t{position - 1}\t{position}\t{value:.10g}\n" for position, value in rows]


def _table(found, model, site):
    """Return the lines of a table."""
    name, rows = found.record, zip(found.positions.tolist(), _strands(found), strict=True)
    values = found.decisions if found.decisions.ndim == 2 else found.decisions[:, None]
    if model.calibration is not None:
        values = np.column_stack([values, model.calibration.probabilities(found.decisions)])
    if values.shape[1] == 1:
        return [
            f"{name}\t{position}\t{strand}\t{value:.10g}\n"
            for (position, strand), value in zip(rows, values[:, 0].tolist(), strict=True)
        ]
    return [
        f"{name}\t{position}\t{strand}\t" + "\t".join([f"{value:.10g}" for value in row]) + "\n"
        for (position, strand), row in zip(rows, values.tolist(), strict=True)
    ]


def _strands(found):
    """Return the strand of each candidate."""
    return np.where(found.reverse, "-", "+").tolist()


FORMS = {"bed": _bed, "bedgraph": _bedgraph, "tsv": _table}
