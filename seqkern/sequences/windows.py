"""Windows of one length around given sites, cut from longer records.

The convention: the window ``-60:+80`` has 60 letters before the letter at the site's position (offset 0), that letter,
and 80 after it, 141 in all. Positions count from 1 along the record as it is written, on both strands. On strand − the
offsets run along the reverse complement: the letter at the position itself, complemented, is offset 0, and the window
takes the 80 letters before it in the record and the 60 after it.

Letters expected at a site (``AG``) stand from offset 0 on, read along the site's strand.
"""

import re
from dataclasses import dataclass, field

import numpy as np

from seqkern.core.checks import check_choice, check_integer
from seqkern.core.errors import ParameterError, SequenceError
from seqkern.core.text_files import check_columns, read_cells, source_name
from seqkern.sequences.alphabets import MASK
from seqkern.sequences.sequence_set import PIECE, SequenceSet, unique_ids

WINDOW = re.compile(r"-([0-9]{1,9}):\+?([0-9]{1,9})")
LARGEST = 10**9
STRANDS = ("+", "-")


@dataclass(frozen=True)
class Window:
    """Which letters around a site.

    Attributes
    ----------
    left, right : int
        Letters before and after the one at the site's position.
    site : str
        The letters expected from offset 0 on, upper case; empty for any.
    """

    left: int
    right: int
    site: str = ""

    def __post_init__(self):
        check_integer("left", self.left, 0, LARGEST)
        check_integer("right", self.right, 0, LARGEST)
        if len(self.site) > self.right + 1:
            raise ParameterError(
                f"the site {self.site!r} does not fit into the window {self}", remedy="take a larger window"
            )

    @property
    def length(self):
        """Number of letters."""
        return self.left + 1 + self.right

    def __str__(self):
        return f"-{self.left}:+{self.right}"

    def site_codes(self, alphabet):
        """Return the codes of the letters expected at the site, uint8.

        Raises
        ------
        ParameterError
            For a letter outside the alphabet.
        """
        return site_codes(self.site, alphabet)

    def record(self):
        """Return what a model or data set keeps: a JSON dict, of which `as_window` makes the Window again."""
        return {"left": self.left, "right": self.right, "site": self.site}


def site_codes(site, alphabet):
    """Return the codes of a site's letters, uint8; ParameterError for a letter outside the alphabet."""
    codes = alphabet.encode(site.encode("ascii", "replace"))
    if (codes == MASK).any():
        raise ParameterError(
            f"the site {site!r} has letters outside the alphabet {alphabet.name}",
            remedy=f"give letters among {alphabet.letters}",
        )
    return codes


def as_window(window, site=""):
    """Return the Window meant by a text such as ``-60:+80``, by a dict of left and right, or by a Window.

    Parameters
    ----------
    window : str, dict or Window
    site : str, optional
        The letters expected at the site, where `window` does not say.

    Raises
    ------
    ParameterError
        If it is none of these.
    """
    if isinstance(window, Window):
        return window
    if isinstance(window, dict) and {"left", "right"} <= set(window) <= {"left", "right", "site"}:
        return Window(window["left"], window["right"], str(window.get("site", site) or "").upper())
    match = WINDOW.fullmatch(window.strip()) if isinstance(window, str) else None
    if match is None:
        raise ParameterError(
            f"{window!r} is no window",
            remedy="write letters before and after the site's position, like -60:+80",
        )
    return Window(int(match[1]), int(match[2]), str(site or "").upper())


@dataclass(frozen=True, eq=False)
class Sites:
    """Places on records.

    Attributes
    ----------
    records : list of str, length m
        The id of each site's record.
    positions : ndarray of int64, shape (m,)
        From 1.
    reverse : ndarray of bool, shape (m,)
        True on strand −.
    columns : dict of str to list of str
        What else is known of each site, such as ``label``.
    file : str, optional
        Named in messages.
    """

    records: list
    positions: np.ndarray
    reverse: np.ndarray
    columns: dict = field(default_factory=dict)
    file: str | None = None

    def __len__(self):
        return len(self.records)

    @property
    def strands(self):
        """``"+"`` or ``"-"`` of each site."""
        return np.where(self.reverse, "-", "+").tolist()


def make_sites(records, positions, strands=None, columns=None, file=None):
    """Return Sites of texts.

    Parameters
    ----------
    records : sequence of str, length m
    positions : sequence of str or int, length m
        Whole numbers from 1.
    strands : sequence of str, length m, optional
        ``"+"`` or ``"-"``; empty or left out: ``"+"``.
    columns : dict of str to list of str, optional
    file : path-like, optional

    Raises
    ------
    SequenceError
        For a position or a strand that is none.
    """
    strands = ["+"] * len(records) if strands is None else [strand or "+" for strand in strands]
    numbers = np.zeros(len(records), dtype=np.int64)
    for i, (record, position, strand) in enumerate(zip(records, positions, strands, strict=True)):
        text = str(position).strip()
        if not (text.isascii() and text.isdigit() and len(text) < 19 and int(text) > 0):
            raise SequenceError(
                f"position {text!r} is not possible",
                file=file,
                record=record,
                remedy="give a whole number; the first letter of a record has the position 1",
            )
        if strand not in STRANDS:
            raise SequenceError(f"strand {strand!r} is not possible", file=file, record=record, remedy="give + or -")
        numbers[i] = int(text)
    reverse = np.array([strand == "-" for strand in strands], dtype=bool)
    return Sites(list(records), numbers, reverse, dict(columns or {}), None if file is None else str(file))


def read_sites(source):
    """Read sites from a table.

    Parameters
    ----------
    source : path-like, ``"-"`` or file object
        Tab-separated, with a header line that names the columns ``record`` and ``position``, and ``strand`` where not
        all are ``+``; any others are kept as text.

    Returns
    -------
    Sites

    Raises
    ------
    FileError, SequenceError
        If it cannot be read, lacks a column, or holds no site.
    """
    header, *rows = read_cells(source)
    name = source_name(source)
    check_columns(header, name)
    for column in ("record", "position"):
        if column not in header:
            raise SequenceError(
                f"has no column {column!r}",
                file=name,
                remedy=f"sites need the columns record and position, and strand; there are: {', '.join(header)[:200]}",
            )
    if not rows:
        raise SequenceError("has no site", file=name, remedy="give a row for each, below the header line")
    columns = dict(zip(header, map(list, zip(*rows, strict=True)), strict=True))
    return make_sites(columns["record"], columns["position"], columns.get("strand"), columns, name)


@dataclass(frozen=True, eq=False)
class Cut:
    """Windows that were cut.

    Attributes
    ----------
    windows : SequenceSet, n windows
    kept : ndarray of int64, shape (n,)
        The site of each.
    records : ndarray of int64, shape (n,)
        The record of each.
    """

    windows: SequenceSet
    kept: np.ndarray
    records: np.ndarray


def cut_windows(X, sites, window, *, other_sites="error", past_end="error", unknown="error", ids="header", names=None):
    """Cut a window around each site.

    Parameters
    ----------
    X : SequenceSet
        The records; letters outside the alphabet masked.
    sites : Sites
    window : Window
    other_sites : {"error", "skip"}
        Sites that do not have the window's site letters.
    past_end : {"error", "skip"}
        Windows that run past an end of their record.
    unknown : {"error", "skip", "mask"}
        Windows with masked letters.
    ids : {"header", "number", "suffix"}
        What to do about a site that is given twice, as `seqkern.sequences.sequence_set.unique_ids`.
    names : list of str, optional
        The ids of the windows, one for each site; by default ``record:position:strand``.

    Returns
    -------
    Cut
        Its windows are a view of `X` where all lie on strand +, else a compact copy without tracks. Their counts say
        what was left out.

    Raises
    ------
    SequenceError
        For a site on an unknown record or outside its record, for what a policy does not allow, and if no window is
        left.
    ParameterError
        If there is a site on strand − and the alphabet has no complement.
    """
    check_choice("other_sites", other_sites, ("error", "skip"))
    check_choice("past_end", past_end, ("error", "skip"))
    check_choice("unknown", unknown, ("error", "skip", "mask"))
    counts = {key: n for key, n in X.counts.items() if key not in ("masked letters", "lower-case letters")}
    expected = window.site_codes(X.alphabet)
    if sites.reverse.any():
        X.alphabet.complement_codes  # noqa: B018 - raises the error that says so
    records, places = _places(X, sites)

    before = np.where(sites.reverse, window.right, window.left)
    outside = (places < before) | (places - before + window.length > X.lengths[records])
    if outside.any() and past_end == "error":
        i = int(np.argmax(outside))
        edge = "beginning" if places[i] < before[i] else f"end of {X.lengths[records[i]]} letters"
        raise _error(
            sites,
            i,
            f"the window {window} around position {sites.positions[i]} ({sites.strands[i]}) runs past the {edge}",
            "leave the site out, take a smaller window, or choose past_end=skip (--past-end skip)",
        )
    kept = np.flatnonzero(~outside)
    counts["windows past an end left out"] = len(sites) - len(kept)

    found = _letters(X, X.starts[records[kept]] + places[kept], sites.reverse[kept], len(expected))
    other = (found != expected).any(axis=1)
    if other.any() and other_sites == "error":
        j = int(np.argmax(other))
        letters = SequenceSet(found[j], [0], [len(expected)], ["site"], X.alphabet).string(0)
        raise _error(
            sites,
            int(kept[j]),
            f"position {sites.positions[kept[j]]} ({sites.strands[kept[j]]}) holds {letters!r}, not {window.site!r}",
            "check that positions count from 1 and name the site's first letter along its strand, or choose "
            "other_sites=skip (--other-sites skip)",
        )
    counts["other sites left out"] = int(np.count_nonzero(other))
    kept = kept[~other]

    names = _names(sites) if names is None else names
    starts = X.starts[records[kept]] + places[kept] - before[kept]
    windows = SequenceSet(
        X.codes, starts, starts + window.length, [names[i] for i in kept], X.alphabet, X.tracks, counts
    )
    masked = _masked(windows)
    if masked.any() and unknown == "error":
        j = int(np.argmax(masked > 0))
        raise _error(
            sites,
            int(kept[j]),
            f"the window {window} around position {sites.positions[kept[j]]} ({sites.strands[kept[j]]}) holds letters "
            f"outside the alphabet {X.alphabet.name}",
            "leave the site out, or choose the policy unknown=mask or unknown=skip (--unknown mask or skip)",
        )
    if unknown == "skip":
        counts["windows with unknown letters left out"] = int(np.count_nonzero(masked))
        windows, kept, masked = windows.take(masked == 0), kept[masked == 0], masked[masked == 0]
    counts["masked letters"] = int(masked.sum())
    if not len(kept):
        told = ", ".join(f"{count} {what}" for what, count in counts.items() if count)
        raise SequenceError(
            f"no window is left: {told}", file=sites.file, remedy="check the sites, the window and the policies"
        )
    if sites.reverse[kept].any():
        windows = _turned(windows, sites.reverse[kept])
    if ids == "header":
        _check_single(windows.ids, sites)
    named, repeats = unique_ids(windows.ids, ids, file=sites.file)
    counts["repeated ids"] = repeats
    windows = windows.replace(ids=named, counts={key: count for key, count in counts.items() if count})
    return Cut(windows, kept, records[kept])


def _check_single(names, sites):
    """Raise SequenceError for a site that is there twice."""
    seen = set()
    for name in names:
        if name in seen:
            raise SequenceError(
                f"the site {name} is there twice",
                file=sites.file,
                remedy="leave one out, or choose the policy ids=suffix (--ids suffix) to keep both",
            )
        seen.add(name)


def letters_at_sites(windows, window, reverse, n=2):
    """Return the commonest letters from offset 0 on, and their share, for each strand that has sites.

    Parameters
    ----------
    windows : SequenceSet
        Of a Cut.
    window : Window
    reverse : ndarray of bool, shape (len(windows),)
    n : int
        How many letters.

    Returns
    -------
    dict of str to (str, float)
        For ``"+"`` and ``"-"``.
    """
    found = {}
    site = windows.part(window.left, min(window.left + n, window.length))
    for strand, rows in (("+", np.flatnonzero(~reverse)), ("-", np.flatnonzero(reverse))):
        if len(rows):
            words, counts = np.unique(site.take(rows).strings(), return_counts=True)
            found[strand] = str(words[counts.argmax()]), float(counts.max() / len(rows))
    return found


def _error(sites, i, problem, remedy):
    """Return a SequenceError about site `i`."""
    return SequenceError(problem, file=sites.file, record=sites.records[i], remedy=remedy)


def _names(sites):
    """Return an id for the window of each site."""
    return [
        f"{record}:{position}:{strand}"
        for record, position, strand in zip(sites.records, sites.positions.tolist(), sites.strands, strict=True)
    ]


def _places(X, sites):
    """Return each site's record and its place from 0 there, int64 (m,) each; SequenceError if there is none."""
    rows = {name: i for i, name in enumerate(X.ids)}
    records = np.zeros(len(sites), dtype=np.int64)
    for i, name in enumerate(sites.records):
        if name not in rows:
            raise _error(
                sites,
                i,
                "there is no such record among the sequences",
                f"their ids are {', '.join(X.ids[:5])}{', …' if len(X) > 5 else ''}",
            )
        records[i] = rows[name]
    places = sites.positions - 1
    beyond = places >= X.lengths[records]
    if beyond.any():
        i = int(np.argmax(beyond))
        raise _error(
            sites,
            i,
            f"position {sites.positions[i]} lies outside its {X.lengths[records[i]]} letters",
            "positions count from 1 along the record",
        )
    return records, places


def _letters(X, places, reverse, n):
    """Return the codes at offsets 0 to n − 1 of sites at `places` in ``X.codes``, uint8 (m, n), along their strands."""
    steps = np.where(reverse, -1, 1)
    found = X.codes[places[:, None] + steps[:, None] * np.arange(n)]
    if reverse.any():
        found[reverse] = X.alphabet.complement_codes[found[reverse]]
    return found


def _masked(windows):
    """Return the number of masked letters of each window, int64 (n,)."""
    masked = np.zeros(len(windows), dtype=np.int64)
    if not len(windows):
        return masked
    step = max(1, PIECE // int(windows.lengths[0]))
    for start in range(0, len(windows), step):
        part = windows.take(slice(start, start + step))
        letters = windows.codes[part.positions()].reshape(len(part), -1)
        masked[start : start + step] = np.count_nonzero(letters == MASK, axis=1)
    return masked


def _turned(windows, reverse):
    """Return windows of one length as a compact copy, those of `reverse` as their reverse complements."""
    compact = windows.compact()
    codes = compact.codes.reshape(len(windows), -1).copy()
    codes[reverse] = windows.alphabet.complement_codes[codes[reverse, ::-1]]
    offsets = np.arange(len(windows) + 1) * codes.shape[1]
    return SequenceSet.from_offsets(codes.ravel(), offsets, windows.ids, windows.alphabet, counts=windows.counts)
