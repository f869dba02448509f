"""Cut the windows around sites of a data-set entry."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Any

from seqkern.core.errors import SequenceError
from seqkern.core.types import PathLike
from seqkern.datasets.data_entry import SiteWindow
from seqkern.datasets.label_sources import check_fields_once, header_fields, no_column, wanted_columns
from seqkern.sequences.cutting import Cut, cut_windows
from seqkern.sequences.fasta import Reading
from seqkern.sequences.sites import Sites, make_sites, read_sites


def cut_around_sites(
    wanted: SiteWindow,
    reading: Reading,
    base_dir: PathLike,
    where: str,
    *,
    unknown: str | None = None,
    ids: str | None = None,
) -> tuple[Cut, Sites]:
    """Cut the windows of an entry.

    Parameters
    ----------
    wanted : SiteWindow
        The window, and the source of the sites.
    reading : Reading
        The entry's records, with unknown letters masked.
    base_dir : path-like
        Base of relative paths.
    where : str
        The FASTA files, for messages.
    unknown, ids : str, optional
        Policies, as for `seqkern.sequences.cutting.cut_windows`.

    Returns
    -------
    cut : Cut
        The windows, with their sites and records.
    sites : Sites
        All sites.
    """
    policies = {key: value for key, value in {"unknown": unknown, "ids": ids}.items() if value is not None}
    policies |= wanted.given()
    if wanted.table is not None:
        sites = read_sites(Path(base_dir) / wanted.table)
        return cut_windows(reading.sequences, sites, wanted.window, **policies), sites
    sites = sites_of_headers(reading, where)
    return cut_windows(reading.sequences, sites, wanted.window, names=reading.sequences.ids, **policies), sites


def before_cutting(policies: Mapping[str, str]) -> dict[str, str]:
    """Return the policy for reading records from which windows are cut: most policies apply to the windows.

    Parameters
    ----------
    policies : mapping of str to str
        Those for the windows.

    Returns
    -------
    dict of str to str
    """
    return {"unknown": "mask" if policies.get("unknown", "mask") == "mask" else "mask_all"}


def sites_of_headers(reading: Reading, where: str) -> Sites:
    """Return the one site of each record, from the header fields ``position`` and ``strand`` (default: +).

    Parameters
    ----------
    reading : Reading
        Records with their headers.
    where : str
        The FASTA files, for messages.

    Returns
    -------
    Sites

    Raises
    ------
    SequenceError
        If a header has no position, or an invalid one.
    """
    check_fields_once(reading, ("position", "strand"), where)
    fields = [header_fields(header) for header in reading.headers]
    ids = list(reading.sequences.ids)
    for name, found in zip(ids, fields, strict=True):
        if "position" not in found:
            raise SequenceError(
                "has no field position=… in its header",
                file=where,
                record=name,
                remedy=f"add it, or give a table of sites (fields in the header: {', '.join(found) or 'none'})",
            )
    positions = [found["position"] for found in fields]
    return make_sites(ids, positions, [found.get("strand", "+") for found in fields], file=where)


def columns_of_sites(sites: Sites, kept: Collection[int], options: Mapping[str, Any]) -> dict[str, list[str]]:
    """Return the requested columns of the table of sites.

    Parameters
    ----------
    sites : Sites
        Read from a table.
    kept : collection of int
        Rows of the table with windows.
    options : mapping
        The labels of an entry: names of columns by meaning.

    Returns
    -------
    dict of str to list of str
        By meaning, one value for each of `kept`.

    Raises
    ------
    LabelError
        If one is missing.
    """
    columns = {}
    for meaning, name in wanted_columns(options).items():
        if name not in sites.columns:
            raise no_column(name, sites.columns, sites.file)
        columns[meaning] = [sites.columns[name][i] for i in kept]
    return columns


def places_of_sites(sites: Sites, kept: Collection[int]) -> dict[str, list[str]]:
    """Return the positions of sites, for folds by locus.

    Parameters
    ----------
    sites : Sites
        Read from a table.
    kept : collection of int
        Rows of the table with windows.

    Returns
    -------
    dict of str to list of str
        ``chromosome``, ``strand`` and ``position``, one value for each of `kept`.
    """
    strands = sites.strands
    return {
        "chromosome": [sites.records[i] for i in kept],
        "strand": [strands[i] for i in kept],
        "position": [str(sites.positions[i]) for i in kept],
    }
