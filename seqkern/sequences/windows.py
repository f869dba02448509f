"""Windows around sites of long records."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from seqkern.core.checks import check_choice, check_integer, whole_number
from seqkern.core.errors import ParameterError, SequenceError
from seqkern.core.text_files import source_name
from seqkern.core.tsv import check_columns, read_cells
from seqkern.core.types import Bools, Codes, Header, Ints, PathLike, Source
from seqkern.sequences.alphabets import MASK, UNKNOWN, Alphabet
from seqkern.sequences.fasta import unique_ids
from seqkern.sequences.sequence_set import PIECE, SequenceSet
from seqkern.sequences.views import Segments

# Windows of one length around sites, with the letters required at the site.
#
# The convention: the window ``-60:+80`` has 60 bases before the base at the site's position (offset 0), that base,
# and 80 after it, 141 in all. Positions count from 1 along the record as written, on both strands. On strand − the
# offsets run along the reverse complement: the base at the position itself, complemented, is offset 0, and the window
# contains the 80 bases before it in the record and the 60 after it.
#
# The letters required at a site (``AG``) start at offset 0, read along the site's strand.

WINDOW = re.compile(r"-([0-9]{1,9}):\+?([0-9]{1,9})")
LARGEST = 10**9


@dataclass(frozen=True)
class Window:
    """A window around a site: residues before and after its position, and the letters required there."""

    left: int  # Residues before and after the one at the site's position
    right: int  # Residues before and after the one at the site's position
    site: str = ""  # The letters required from offset 0 on, upper case; empty for any

    def __post_init__(self) -> None:
        check_integer("left", self.left, 0, LARGEST)
        check_integer("right", self.right, 0, LARGEST)
        if len(self.site) > self.right + 1:
            raise ParameterError(
                f"the site {self.site!r} does not fit into the window {self}", remedy="choose a larger window"
            )

    @property
    def length(self) -> int:
        """Number of residues in the window."""
        return self.left + 1 + self.right

    def __str__(self) -> str:
        return f"-{self.left}:+{self.right}"

    def site_codes(self, alphabet: Alphabet) -> Codes:
        """Return the codes of the letters required at the site."""
        return site_codes(self.site, alphabet)

    def record(self) -> Header:
        """Return a JSON dict for models and data sets; `as_window` converts it back."""
        return {"left": self.left, "right": self.right, "site": self.site}


def site_codes(site: str, alphabet: Alphabet) -> Codes:
    """Return the codes of a site's letters."""
    codes = alphabet.encode(site.encode("ascii", "replace"))
    if (codes == MASK).any():
        raise ParameterError(
            f"the site {site!r} contains letters outside the alphabet {alphabet.name}",
            remedy=f"use letters of {alphabet.letters}",
        )
    return codes


def as_window(window: str | Mapping[str, Any] | Window, site: str = "") -> Window:
    """Return the Window for a text, a dict, or a Window.

    >>> from seqkern.sequences.windows import as_window
    >>> as_window("-60:+80", site="ag")
    Window(left=60, right=80, site='AG')
    """
    if isinstance(window, Window):
        return window
    if isinstance(window, dict) and {"left", "right"} <= set(window) <= {"left", "right", "site"}:
        return Window(window["left"], window["right"], str(window.get("site", site) or "").upper())
    match = WINDOW.fullmatch(window.strip()) if isinstance(window, str) else None
    if match is None:
        raise ParameterError(
            f"{window!r} is not a window",
            remedy="give the numbers of positions before and after the site, such as -60:+80",
        )
    return Window(int(match[1]), int(match[2]), str(site or "").upper())


# Sites: positions on records, with a strand and further columns.

STRANDS = ("+", "-")
SUFFIX = re.compile(r"\.(bed|narrowpeak|broadpeak)(\.(gz|bz2|xz|zst))?$", re.IGNORECASE)


@dataclass(frozen=True, eq=False)
class Sites:
    """Sites on records: positions from 1, strands, and further columns such as ``label``."""

    records: list[str]  # length m: The id of the record of each site
    positions: Ints  # shape (m,): From 1
    reverse: Bools  # shape (m,): True on strand −
    columns: dict[str, list[str]] = field(default_factory=dict)  # Further columns, such as ``label``
    file: str | None = None  # Used in messages

    def __len__(self) -> int:
        return len(self.records)

    @property
    def strands(self) -> list[str]:
        """Strand of each site, ``"+"`` or ``"-"``."""
        return ["-" if reverse else "+" for reverse in self.reverse.tolist()]


def make_sites(
    records: Sequence[str],
    positions: Sequence[str | int],
    strands: Sequence[str] | None = None,
    columns: dict[str, list[str]] | None = None,
    file: PathLike | None = None,
) -> Sites:
    """Return Sites made from texts; an empty strand means ``"+"``.

    >>> from seqkern.sequences.windows import make_sites
    >>> sites = make_sites(["chr1", "chr2"], ["301", "17"], ["+", "-"])
    >>> sites.positions.tolist(), sites.reverse.tolist()
    ([301, 17], [False, True])
    """
    signs = ["+"] * len(records) if strands is None else [strand or "+" for strand in strands]
    numbers = np.zeros(len(records), dtype=np.int64)
    for i, (record, position, strand) in enumerate(zip(records, positions, signs, strict=True)):
        text = str(position).strip()
        if not whole_number(text):
            raise SequenceError(
                f"invalid position {text!r}",
                file=file,
                record=record,
                remedy="give an integer; the first position of a record is 1",
            )
        if strand not in STRANDS:
            raise SequenceError(f"invalid strand {strand!r}", file=file, record=record, remedy="give + or -")
        numbers[i] = int(text)
    reverse = np.array([strand == "-" for strand in signs], dtype=bool)
    return Sites(list(records), numbers, reverse, dict(columns or {}), None if file is None else str(file))


def read_sites(source: Source) -> Sites:
    r"""Read sites from a tab-separated table with the columns ``record``, ``position`` and, optionally, ``strand``.

    >>> import io
    >>> from seqkern.sequences.windows import read_sites
    >>> read_sites(io.StringIO("record\tposition\tlabel\nchr1\t301\tdonor\n")).columns["label"]
    ['donor']
    """
    name = source_name(source)
    if SUFFIX.search(name):
        raise SequenceError(
            "is a BED file, not a table of sites",
            file=name,
            remedy="give it in place of the FASTA, with --genome FASTA and --width W instead of --sites and --window",
        )
    header, *rows = read_cells(source)
    check_columns(header, name)
    for column in ("record", "position"):
        if column not in header:
            raise SequenceError(
                f"has no column {column!r}",
                file=name,
                remedy=f"add the columns record and position (and strand); columns: {', '.join(header)[:200]}",
            )
    if not rows:
        raise SequenceError("contains no site", file=name, remedy="give one row for each site below the header line")
    columns = dict(zip(header, map(list, zip(*rows, strict=True)), strict=True))
    return make_sites(columns["record"], columns["position"], columns.get("strand"), columns, name)


# Windows of one length, cut around sites; for the convention see `seqkern.sequences.windows`.


@dataclass(frozen=True, eq=False)
class Cut:
    """Windows cut from records, with the site and the record of each."""

    windows: SequenceSet  # All of one length
    kept: Ints  # shape (n,): The site of each window
    records: Ints  # shape (n,): The record of each window


def cut_windows(
    X: SequenceSet,
    sites: Sites,
    window: Window,
    *,
    other_sites: str = "error",
    past_end: str = "error",
    unknown: str = "mask",
    ids: str = "header",
    names: Sequence[str] | None = None,
) -> Cut:
    """Cut a window around each site."""
    check_choice("other_sites", other_sites, ("error", "skip"))
    check_choice("past_end", past_end, ("error", "skip"))
    check_choice("unknown", unknown, UNKNOWN)
    counts = {key: n for key, n in X.counts.items() if key != "lower-case letters" and not key.startswith("masked ")}
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
            f"the window {window} around position {sites.positions[i]} ({sites.strands[i]}) extends past the {edge}",
            "remove the site, choose a smaller window, or add --past-end skip",
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
            "check that positions count from 1 and are those of the site's first letter on its strand, or "
            "add --other-sites skip",
        )
    counts["other sites left out"] = int(np.count_nonzero(other))
    kept = kept[~other]

    names = _names(sites) if names is None else names
    starts = X.starts[records[kept]] + places[kept] - before[kept]
    windows = X.parts(starts, starts + window.length, [names[i] for i in kept], records[kept]).replace(counts=counts)
    masked = _masked(windows)
    if masked.any() and unknown == "error":
        j = int(np.argmax(masked > 0))
        raise _error(
            sites,
            int(kept[j]),
            f"the window {window} around position {sites.positions[kept[j]]} ({sites.strands[kept[j]]}) contains "
            f"letters outside the alphabet {X.alphabet.name}",
            "remove the site, or add --unknown mask or skip",
        )
    if unknown == "skip":
        counts["windows with unknown letters left out"] = int(np.count_nonzero(masked))
        windows, kept, masked = windows.take(masked == 0), kept[masked == 0], masked[masked == 0]
    counts["masked letters"] = int(masked.sum())
    if not len(kept):
        listed = ", ".join(f"{count} {what}" for what, count in counts.items() if count)
        raise SequenceError(
            f"no window is left: {listed}", file=sites.file, remedy="check the sites, the window and the policies"
        )
    if sites.reverse[kept].any():
        windows = _reverse_complemented(windows, sites.reverse[kept])
    if ids == "header":
        _check_single(windows.ids, sites)
    named, repeats = unique_ids(list(windows.ids), ids, file=sites.file)
    counts["repeated ids"] = repeats
    windows = windows.replace(ids=named, counts={key: count for key, count in counts.items() if count})
    return Cut(windows, kept, records[kept])


def _check_single(names: Sequence[str], sites: Sites) -> None:
    """Raise SequenceError for a duplicate site."""
    seen = set()
    for name in names:
        if name in seen:
            raise SequenceError(
                f"duplicate site {name}",
                file=sites.file,
                remedy="remove one of them, or add --ids suffix to keep both",
            )
        seen.add(name)


def letters_at_sites(windows: SequenceSet, window: Window, reverse: Bools, n: int = 2) -> dict[str, tuple[str, float]]:
    """Return, for each strand with sites, the most frequent letters from offset 0 on and their share."""
    found = {}
    site = windows.part(window.left, min(window.left + n, window.length))
    for strand, rows in (("+", np.flatnonzero(~reverse)), ("-", np.flatnonzero(reverse))):
        if len(rows):
            letters, counts = np.unique(site.take(rows).strings(), return_counts=True)
            found[strand] = str(letters[counts.argmax()]), float(counts.max() / len(rows))
    return found


def _error(sites: Sites, i: int, problem: str, remedy: str) -> SequenceError:
    """Return a SequenceError about site `i`."""
    return SequenceError(problem, file=sites.file, record=sites.records[i], remedy=remedy)


def _names(sites: Sites) -> list[str]:
    """Return an id for the window of each site."""
    return [
        f"{record}:{position}:{strand}"
        for record, position, strand in zip(sites.records, sites.positions.tolist(), sites.strands, strict=True)
    ]


def _places(X: SequenceSet, sites: Sites) -> tuple[Ints, Ints]:
    """Return each site's record and 0-based place in it, int64 (m,) each; raise SequenceError for an unknown record."""
    rows = {name: i for i, name in enumerate(X.ids)}
    records = np.zeros(len(sites), dtype=np.int64)
    for i, name in enumerate(sites.records):
        if name not in rows:
            raise _error(
                sites,
                i,
                "there is no such record among the sequences",
                f"use the ids of the records:  {', '.join(X.ids[:5])}{', …' if len(X) > 5 else ''}",
            )
        records[i] = rows[name]
    places = sites.positions - 1
    beyond = places >= X.lengths[records]
    if beyond.any():
        i = int(np.argmax(beyond))
        raise _error(
            sites,
            i,
            f"position {sites.positions[i]} is outside the record of length {X.lengths[records[i]]}",
            "count positions from 1 along the record",
        )
    return records, places


def _letters(X: SequenceSet, places: Ints, reverse: Bools, n: int) -> Codes:
    """Return the codes at offsets 0 to n − 1 of sites at `places` in ``X.codes``, uint8 (m, n), read along their
    strands.
    """
    steps = np.where(reverse, -1, 1)
    found = X.codes[places[:, None] + steps[:, None] * np.arange(n)]
    if reverse.any():
        found[reverse] = X.alphabet.complement_codes[found[reverse]]
    return found


def _masked(windows: SequenceSet) -> Ints:
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


def _reverse_complemented(windows: SequenceSet, reverse: Bools) -> SequenceSet:
    """Return a compact copy of windows of one length, with those marked by `reverse` reverse-complemented."""
    compact = windows.compact()
    codes = compact.codes.reshape(len(windows), -1).copy()
    codes[reverse] = windows.alphabet.complement_codes[codes[reverse, ::-1]]
    offsets = np.arange(len(windows) + 1) * codes.shape[1]
    views = {
        name: view.reversed(windows.lengths, reverse) if isinstance(view, Segments) else view
        for name, view in compact.views.items()
    }
    return SequenceSet.from_offsets(
        codes.ravel(), offsets, windows.ids, windows.alphabet, counts=windows.counts, views=views
    )
