"""Progress on standard error: a bar on a terminal, for work of some seconds; elsewhere a line each half minute.

Lines are written only within `reporting`, as the command line does: a library says nothing unasked.
"""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Callable, Iterator, Sequence
from typing import TypeVar

from seqkern.core.progress_log import ProgressLog

DELAY = 3

Item = TypeVar("Item")
Show = Callable[..., None]

_log: ProgressLog | None = None
_forked = False


_telling = False
_told: set[str] = set()


def tell(line: str) -> None:
    """Print a line to standard error within `reporting`, once; a library says nothing unasked.

    Parameters
    ----------
    line : str
        What a user should know before long work begins.

    Examples
    --------
    >>> tell("about 2 hours of one processor core are predicted")
    """
    if _telling and not _forked and line not in _told:
        _told.add(line)
        print(f"seqkern: {line}", file=sys.stderr, flush=True)


@contextlib.contextmanager
def reporting() -> Iterator[None]:
    """Write progress of the body to standard error each half minute, unless that is a terminal."""
    global _log, _telling
    if _telling or _forked or sys.stderr is None:
        yield
        return
    _telling = True
    if not _on_terminal():
        _log = ProgressLog()
        _log.start()
    try:
        yield
    finally:
        _telling = False
        _told.clear()
        if _log is not None:
            _log.stop()
            _log = None


def progress_bar(items: Sequence[Item], description: str) -> Iterator[Item]:
    """Iterate over a list, and show the progress.

    Parameters
    ----------
    items : sequence
        The items to process.
    description : str
        What they are.

    Returns
    -------
    iterator
        Over the items, in order.

    Examples
    --------
    >>> [name.upper() for name in progress_bar(["globin", "kinase"], "families")]
    ['GLOBIN', 'KINASE']
    """
    return iter(items) if _log is None and not _on_terminal() else _counted(items, description)


def _counted(items: Sequence[Item], description: str) -> Iterator[Item]:
    """Yield the items and count them."""
    with progress_counter(description) as show:
        if show is not None:
            show(0, len(items))
        for done, item in enumerate(items, start=1):
            yield item
            if show is not None:
                show(done, len(items))


@contextlib.contextmanager
def progress_counter(description: str, unit: str = "") -> Iterator[Show | None]:
    """Show progress that is not a loop over a list.

    Parameters
    ----------
    description : str
        What is done.
    unit : str
        The unit, with a space before it.

    Yields
    ------
    callable or None
        ``show(done, total=None)``, both counted from the start; None if nobody would see it.
    """
    if _log is not None:
        yield from _logged(_log, description, unit)
    elif _on_terminal():
        yield from _drawn(description, unit)
    else:
        yield None


def _logged(log: ProgressLog, description: str, unit: str) -> Iterator[Show]:
    """Yield a counter of a log."""
    task = log.begin(description, unit)

    def _show(done: int, total: int | None = None) -> None:
        log.update(task, done, total)
        log.start()  # again, after a fork

    try:
        yield _show
    finally:
        log.end(task)


def _drawn(description: str, unit: str) -> Iterator[Show]:
    """Yield a counter that draws a bar."""
    from tqdm import tqdm  # imported here for fast start-up

    with tqdm(desc=description, unit=unit, unit_scale=True, delay=DELAY, leave=False, file=sys.stderr) as bar:

        def _show(done: int, total: int | None = None) -> None:
            if done < bar.n:  # a new pass begins
                bar.reset()
            bar.total = total
            bar.update(done - bar.n)

        yield _show


def _on_terminal() -> bool:
    """Return whether standard error is a terminal on which this process may draw."""
    return sys.stderr is not None and sys.stderr.isatty() and not _forked


def _stop_before_fork() -> None:
    """End the thread of the log."""
    if _log is not None:
        _log.stop()


def _be_silent() -> None:
    """Show nothing in a fork: its parent counts."""
    global _forked, _log
    _forked, _log = True, None


if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=_stop_before_fork, after_in_child=_be_silent)
