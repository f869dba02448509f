"""A uniform end of commands by Ctrl-C, SIGTERM or a closed terminal (SIGHUP): all raise an exception.

So nothing half-written is left. A few steps, such as creating a temporary file and noting its name, belong together:
`uninterrupted` holds the signal until they are done.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import sys
import threading
import time
from collections.abc import Iterator
from types import FrameType
from typing import Any

SAME = 2.0
"""Seconds in which further signals count as the same request: a terminal and a scheduler often send several."""


class Terminated(KeyboardInterrupt):
    """An exception for a received SIGTERM or SIGHUP.

    >>> isinstance(Terminated(), KeyboardInterrupt)
    True
    """


_steps = 0  # nested `uninterrupted` of the main thread
_pending: type[KeyboardInterrupt] | None = None  # to be raised where the steps, or the block of `stoppable`, end
_last = -SAME


@contextlib.contextmanager
def uninterrupted() -> Iterator[None]:
    """Hold a signal that `stoppable` handles until the end of the block; without effect in other threads.

    >>> with uninterrupted():
    ...     pass
    """
    global _steps, _pending
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    _steps += 1
    try:
        yield
    finally:
        _steps -= 1
        if not _steps and _pending is not None:
            kind, _pending = _pending, None
            raise kind


def remove_tree(folder: str | os.PathLike[str], *, ignore_errors: bool = True) -> None:
    """Remove a folder with its contents; a signal waits until this is done.

    >>> import tempfile
    >>> folder = tempfile.mkdtemp()
    >>> remove_tree(folder)
    >>> os.path.exists(folder)
    False
    """
    with uninterrupted():  # an interrupted rmtree may close a file twice: that error would hide the signal
        shutil.rmtree(folder, ignore_errors=ignore_errors)


@contextlib.contextmanager
def stoppable() -> Iterator[None]:
    """Let SIGINT raise KeyboardInterrupt, SIGTERM and SIGHUP `Terminated` in the block; no effect in other threads.

    A signal that the caller ignores stays ignored; processes started in the block end as usual. Python drops exceptions
    raised in ``__del__`` (of a ZipFile, say) and in other callbacks: such a signal is raised again at the end of
    the next
    `uninterrupted` steps, or at the latest at the end of the block.

    >>> with stoppable():
    ...     pass
    """
    global _last, _pending
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    home, hook = os.getpid(), sys.unraisablehook

    def dropped(told: Any) -> None:
        global _pending
        if isinstance(told.exc_value, KeyboardInterrupt):
            _pending = type(told.exc_value)
        else:
            hook(told)

    def stop(number: int, frame: FrameType | None) -> None:
        global _pending, _last
        if os.getpid() != home:
            signal.signal(number, signal.SIG_DFL)
            os.kill(os.getpid(), number)
            return
        now = time.monotonic()
        if now - _last < SAME:
            return
        _last = now
        kind = KeyboardInterrupt if number == signal.SIGINT else Terminated
        if _steps:
            _pending = kind
        else:
            raise kind

    usual: dict[int, Any] = {signal.SIGINT: signal.default_int_handler, signal.SIGTERM: signal.SIG_DFL}
    if hasattr(signal, "SIGHUP"):  # not on Windows
        usual[signal.SIGHUP] = signal.SIG_DFL
    changed = [number for number, handler in usual.items() if signal.getsignal(number) == handler]
    _last, _pending, sys.unraisablehook = -SAME, None, dropped
    try:
        for number in changed:
            signal.signal(number, stop)
        yield
        if _pending is not None:
            raise _pending
    finally:
        _pending, sys.unraisablehook = None, hook
        for number in changed:
            signal.signal(number, usual[number])
