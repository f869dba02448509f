"""What the fuzzer knows of a reader of files, and what counts as a failure of one."""

import contextlib
import os
import re
import signal
import sys
import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from seqkern.core.errors import SeqkernError

LIMIT_SECONDS = 5
"""CPU time of one input: a busy machine is not a hang."""
PATIENCE = 20
"""A reader that waits, and uses no CPU, hangs after this multiple of it on the clock."""
TICKS = 10
"""In how many steps this time is measured: a timer that runs on costs less than one for each input."""
LONGEST_MESSAGE = 3000
CONTROL = re.compile("[\x00-\x1f\x7f-\x9f\ud800-\udfff]")
INTERNALS = re.compile(r"Traceback|site-packages|\.py\b.*line \d|\.pyx\b| at 0x[0-9a-f]{6}|<(class|function|built-in) ")


@dataclass(frozen=True)
class Reader:
    """A way in which seqkern reads what a user gives.

    Attributes
    ----------
    name : str
    read : callable
        Takes the path of a file, and does what the commands do with it until it is known to be usable. Of texts that
        are no files (`of_text`), it takes the text.
    seeds : callable
        Returns valid inputs, small ones; called once.
    options : sequence of str
        The options and arguments of the command line that lead to this reader, as ``--labels`` or ``train fasta``.
    suffix, file : str
        Ending of the file's name, or the name.
    prepare : callable, optional
        Takes the folder of the file, and writes files that lie beside it.
    form : {"plain", "gzip", "zip"}
        How valid inputs are packed: the fuzzer changes what is inside, too.
    of_text : bool
        Whether the input is a text, not a file.
    own_process : bool
        Whether it calls a library that is known to end the process.
    slow : bool
        Whether the test suite tries fewer inputs.
    weight : float
        Factor of the least number of inputs: larger for files that people take from strangers.
    """

    name: str
    read: Callable[..., object]
    seeds: Callable[[], Sequence[bytes]]
    options: Sequence[str] = ()
    suffix: str = ""
    prepare: Callable[[Path], object] | None = None
    form: str = "plain"
    of_text: bool = False
    own_process: bool = False
    slow: bool = False
    file: str = ""
    weight: float = 1


class FailureError(Exception):
    """A reader neither accepted an input nor refused it in one line."""

    def __init__(self, kind: str, detail: str, place: str = "") -> None:
        super().__init__(f"{kind}: {detail}" + (f" ({place})" if place else ""))
        self.kind, self.detail, self.place = kind, detail, place

    @property
    def key(self) -> str:
        """What failures of one cause have in common."""
        return f"{self.kind} {self.place or self.detail[:60]}"


class HangError(BaseException):
    """The time is over; not an Exception, so that readers do not catch it."""


class Harness:
    """A reader with a folder for its files.

    Parameters
    ----------
    reader : Reader
    folder : path-like
        Best in memory, such as /dev/shm. What the reader prints goes to a file there.
    """

    def __init__(self, reader: Reader, folder: str | Path) -> None:
        self.reader, self.folder = reader, Path(folder)
        self.path = self.folder / (reader.file or f"input{reader.suffix}")
        if reader.prepare is not None:
            reader.prepare(self.folder)
        self._keep = {self.path.name, *os.listdir(self.folder)}
        self._watching = self._reading = False
        self._began = (0.0, 0.0)
        self._said: list[str] = []

    @contextlib.contextmanager
    def watch(self) -> Iterator[None]:
        """Catch warnings and measure the time of all inputs that are read within; `one` does so for a single one."""
        previous = signal.signal(signal.SIGALRM, self._tick)
        signal.siginterrupt(signal.SIGALRM, False)
        self._watching = True
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("always")
                warnings.simplefilter("ignore", ResourceWarning)  # perhaps of an earlier input
                warnings.showwarning = lambda text, kind, *_, **__: self._said.append(f"{kind.__name__}: {text}")
                signal.setitimer(signal.ITIMER_REAL, LIMIT_SECONDS / TICKS, LIMIT_SECONDS / TICKS)
                yield
        finally:
            self._watching = False
            signal.setitimer(signal.ITIMER_REAL, 0)
            signal.signal(signal.SIGALRM, previous)

    def _tick(self, *_: object) -> None:
        if self._reading and self._late():
            raise HangError

    def _late(self) -> bool:
        """Return whether the input has taken too long."""
        cpu, clock = self._began
        used, waited = time.process_time() - cpu, time.perf_counter() - clock
        return used > LIMIT_SECONDS or waited > PATIENCE * LIMIT_SECONDS

    def one(self, data: bytes) -> str:
        """Read one input.

        Parameters
        ----------
        data : bytes

        Returns
        -------
        {"accepted", "refused"}

        Raises
        ------
        FailureError
            For another exception, a message that is not one line about this file, a hang, or too much memory.
        """
        if not self._watching:
            with self.watch():
                return self.one(data)
        self._said.clear()
        self._began = time.process_time(), time.perf_counter()
        try:
            self._reading = True
            self._read(data)
            outcome = "accepted"
        except SeqkernError as error:
            self._check_message(error)
            outcome = "refused"
        except HangError as error:
            raise FailureError("hang", f"over {LIMIT_SECONDS} s", _place(error)) from None
        except MemoryError as error:
            raise FailureError("memory", str(error), _place(error)) from error
        except Exception as error:
            raise FailureError("traceback", f"{type(error).__name__}: {error}"[:300], _place(error)) from error
        finally:
            self._reading = False
        if self._late():
            raise FailureError("hang", f"over {LIMIT_SECONDS} s")
        if self._said:
            raise FailureError("warning", self._said[0])
        return outcome

    def _read(self, data: bytes) -> None:
        """Call the reader."""
        if self.reader.of_text:
            # as Python decodes arguments of the command line, which cannot contain zeros
            self.reader.read(os.fsdecode(data.replace(b"\0", b"")))
            return
        for name in self._keep.symmetric_difference(os.listdir(self.folder)) - {self.path.name}:  # such as an index
            (self.folder / name).unlink()
        with open(self.path, "wb", buffering=0) as file:
            file.write(data)
        self.reader.read(self.path)

    def _check_message(self, error: SeqkernError) -> None:
        """Raise FailureError unless the message is one line that names the file and no internals."""
        message = str(error)
        cause: BaseException | None = error
        while cause is not None:
            if isinstance(cause, MemoryError) and not isinstance(cause, SeqkernError):
                raise FailureError("memory", message[:300], _place(cause))
            cause = cause.__cause__ or cause.__context__
        if CONTROL.search(message):
            raise FailureError("control characters in the message", repr(message[:300]), _place(error))
        if len(message) > LONGEST_MESSAGE:
            raise FailureError("long message", f"{len(message)} characters: {message[:100]}", _place(error))
        if not self.reader.of_text and str(self.folder) not in message:
            raise FailureError("message without the file", message[:300], _place(error))
        if found := INTERNALS.search(message):
            raise FailureError("internals in the message", f"{found[0]!r}: {message[:300]}", _place(error))


def _place(error: BaseException) -> str:
    """Return where in seqkern an exception was raised, as file:line."""
    trace, place = error.__traceback__, ""
    while trace is not None:
        file = trace.tb_frame.f_code.co_filename
        if f"{os.sep}seqkern{os.sep}" in file:
            place = f"{file.rpartition(f'{os.sep}seqkern{os.sep}')[2]}:{trace.tb_lineno}"
        trace = trace.tb_next
    return place


@contextlib.contextmanager
def limited_memory(size: int):
    """Let the process take at most `size` bytes more of addresses; needs Linux, elsewhere there is no limit.

    Parameters
    ----------
    size : int
    """
    if not sys.platform.startswith("linux"):
        yield
        return
    import resource

    pages = int(Path("/proc/self/statm").read_text().split()[0])
    soft, hard = resource.getrlimit(resource.RLIMIT_AS)
    limit = pages * resource.getpagesize() + size
    if hard != resource.RLIM_INFINITY:
        limit = min(limit, hard)
    resource.setrlimit(resource.RLIMIT_AS, (limit, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_AS, (soft, hard))
