"""A progress bar on standard error: only on a terminal, and only when the work takes some seconds."""

import contextlib
import sys

DELAY = 3


@contextlib.contextmanager
def progress_bar(description, unit=""):
    """Show a bar while the body runs.

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
    if not sys.stderr.isatty():
        yield None
        return
    from tqdm import tqdm

    with tqdm(desc=description, unit=unit, unit_scale=True, delay=DELAY, leave=False, file=sys.stderr) as bar:

        def show(done, total=None):
            if done < bar.n:  # another pass begins
                bar.reset()
            bar.total = total
            bar.update(done - bar.n)

        yield show
