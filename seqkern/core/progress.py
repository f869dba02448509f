"""A progress bar on standard error: only on a terminal, and only for work of some seconds."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Callable, Iterator, Sequence
from typing import Any, TypeVar

DELAY = 3

Item = TypeVar("Item")
Show = Callable[..., None]


def progress_bar(items: Sequence[Item], description: str) -> Iterator[Item]:
    """Iterate over a list with a progress bar.

    Parameters
    ----------
    items : sequence
        The items to process.
    description : str
        Text before the bar.

    Returns
    -------
    iterator
        Over the items, in order.

    Examples
    --------
    >>> [name.upper() for name in progress_bar(["globin", "kinase"], "families")]
    ['GLOBIN', 'KINASE']
    """
    bar = _bar(description, total=len(items))
    return iter(items) if bar is None else iter(_filled(bar, items))


def _filled(bar: Any, items: Sequence[Item]) -> Iterator[Item]:
    """Yield the items and count them."""
    with bar:
        for item in items:
            yield item
            bar.update(1)


@contextlib.contextmanager
def progress_counter(description: str, unit: str = "") -> Iterator[Show | None]:
    """Show progress that is not a loop over a list.

    Parameters
    ----------
    description : str
        Text before the bar.
    unit : str
        The unit, with a space before it.

    Yields
    ------
    callable or None
        ``show(done, total=None)``, both counted from the start; None if standard error is not a terminal.
    """
    bar = _bar(description, unit=unit, unit_scale=True)
    if bar is None:
        yield None
        return

    def _show(done: int, total: int | None = None) -> None:
        if done < bar.n:  # a new pass begins
            bar.reset()
        bar.total = total
        bar.update(done - bar.n)

    with bar:
        yield _show


def _bar(description: str, **options: Any) -> Any:
    """Return a tqdm bar, or None if nobody would see it."""
    if not sys.stderr.isatty():
        return None
    from tqdm import tqdm  # imported here for fast start-up

    return tqdm(desc=description, delay=DELAY, leave=False, file=sys.stderr, **options)
