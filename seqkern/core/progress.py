"""A progress bar on standard error: only on a terminal, and only when the work takes some seconds."""

import contextlib
import sys

DELAY = 3


def progress_bar(items, description):
    """Return an iterator over the list `items` that shows how far it has come."""
    bar = _bar(description, total=len(items))
    return iter(items) if bar is None else iter(_filled(bar, items))


def _filled(bar, items):
    """Yield the items and count them."""
    with bar:
        for item in items:
            yield item
            bar.update(1)


@contextlib.contextmanager
def progress_counter(description, unit=""):
    """Show how far work has come that is no loop over a list.

    Parameters
    ----------
    description : str
        What is being done.
    unit : str
        What is being counted.

    Yields
    ------
    callable or None
        ``show(done, total=None)``, both counted from the start; None when standard error is no terminal.
    """
    bar = _bar(description, unit=unit, unit_scale=True)
    if bar is None:
        yield None
        return

    def show(done, total=None):
        if done < bar.n:  # another pass begins
            bar.reset()
        bar.total = total
        bar.update(done - bar.n)

    with bar:
        yield show


def _bar(description, **options):
    """Return a tqdm bar, or None where nobody would see it."""
    if not sys.stderr.isatty():
        return None
    # loaded only where used: costs start-up
    from tqdm import tqdm

    return tqdm(desc=description, delay=DELAY, leave=False, file=sys.stderr, **options)
