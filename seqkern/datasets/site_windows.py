"""Windows of a data-set entry: the keys ``window``, ``sites``, ``site``, ``other_sites`` and ``past_end``."""

from pathlib import Path

from seqkern.core.errors import ConfigError, SequenceError
from seqkern.datasets.label_sources import header_fields, no_column, wanted_columns
from seqkern.sequences.windows import as_window, cut_windows, make_sites, read_sites

HEADER = "header"
KEYS = ("window", "sites", "site", "other_sites", "past_end")


def entry_window(entry):
    """Return the Window of a data-set entry, or None if it cuts none.

    Raises
    ------
    ConfigError
        If one of its keys is there without the others that it needs, or without FASTA.
    ParameterError
        If the window is none.
    """
    given = [key for key in KEYS if key in entry]
    if not given:
        return None
    if "fasta" not in entry:
        raise ConfigError(f"{given[0]!r} goes with fasta", remedy="leave it out, or cut the windows yourself")
    for key in ("window", "sites"):
        if key not in entry:
            raise ConfigError(
                f"{given[0]!r} needs {key!r}",
                remedy="give both: window: '-60:+80' and sites: a table, or header",
            )
    return as_window(entry["window"], entry.get("site", ""))


def sites_file(entry):
    """Return the table of sites that an entry names, or None."""
    return entry["sites"] if entry.get("sites", HEADER) != HEADER else None


def cut_entry(entry, reading, base_dir, where):
    """Cut the windows of an entry.

    Parameters
    ----------
    entry : dict
        With a window.
    reading : Reading
        Its records; unknown letters masked.
    base_dir : path-like
        Where relative paths start.
    where : str
        The FASTA files, for messages.

    Returns
    -------
    cut : Cut
    sites : Sites
    """
    window, table = entry_window(entry), sites_file(entry)
    policies = {key: entry[key] for key in ("other_sites", "past_end", "unknown", "ids") if key in entry}
    if table is not None:
        sites = read_sites(Path(base_dir) / table)
        return cut_windows(reading.sequences, sites, window, **policies), sites
    sites = sites_of_headers(reading, where)
    return cut_windows(reading.sequences, sites, window, names=reading.sequences.ids, **policies), sites


def sites_of_headers(reading, where):
    """Return the one site of each record: the fields ``position`` and ``strand`` (left out: +) of its header.

    Raises
    ------
    SequenceError
        If a header has no position, or one that is not possible.
    """
    fields = [header_fields(header) for header in reading.headers]
    ids = list(reading.sequences.ids)
    for name, found in zip(ids, fields, strict=True):
        if "position" not in found:
            raise SequenceError(
                "its header has no field position=…",
                file=where,
                record=name,
                remedy=f"fields there: {', '.join(found) or 'none'}; or give a table of sites",
            )
    positions = [found["position"] for found in fields]
    return make_sites(ids, positions, [found.get("strand", "+") for found in fields], file=where)


def columns_of_sites(sites, kept, options):
    """Return the wanted columns of the table of sites for the sites `kept`.

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


def places_of_sites(sites, kept):
    """Return where the sites `kept` lie, for folds by locus: the columns chromosome, strand and position."""
    strands = sites.strands
    return {
        "chromosome": [sites.records[i] for i in kept],
        "strand": [strands[i] for i in kept],
        "position": [str(sites.positions[i]) for i in kept],
    }
