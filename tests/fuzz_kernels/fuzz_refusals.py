"""What a random case may do besides succeed: refuse, in one line."""

from contextlib import contextmanager

from seqkern.core.errors import SeqkernError


class RefusedError(Exception):
    """The input is refused in one line that names the remedy: no failure."""


@contextmanager
def refusals():
    """Turn a user's error of one line into RefusedError; anything else is a failure."""
    try:
        yield
    except SeqkernError as error:
        if "\n" in str(error):
            raise AssertionError(f"more than one line: {error}") from error
        raise RefusedError(str(error)) from error
