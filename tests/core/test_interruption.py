"""Signals end commands by exceptions, at once or after steps that belong together."""

import os
import signal
import subprocess
import sys

import pytest

from seqkern.core.archive import atomic_write
from seqkern.core.interruption import Terminated, remove_tree, stoppable, uninterrupted

KINDS = [(signal.SIGINT, KeyboardInterrupt), (signal.SIGTERM, Terminated), (signal.SIGHUP, Terminated)]


@pytest.fixture
def interruptible():
    """Let signals interrupt that a process in the background of a shell, or under nohup, ignores."""
    usual = {signal.SIGINT: signal.default_int_handler, signal.SIGHUP: signal.SIG_DFL}
    before = {number: signal.signal(number, handler) for number, handler in usual.items()}
    yield
    for number, handler in before.items():
        signal.signal(number, handler)


@pytest.mark.parametrize(("number", "kind"), KINDS)
def test_a_signal_raises_at_once_or_after_the_steps_and_leaves_no_file(number, kind, tmp_path, interruptible):
    before = [signal.getsignal(one) for one, _ in KINDS]
    reached = []
    with stoppable(), pytest.raises(kind) as raised:  # noqa: PT012  # the place is the point
        with atomic_write(tmp_path / "new" / "a.txt", "w") as file, uninterrupted():
            file.write("half")
            with uninterrupted():
                os.kill(os.getpid(), number)
                reached.append("inside")
            reached.append("still inside")
        reached.append("not reached")
    assert type(raised.value) is kind
    assert reached == ["inside", "still inside"]
    assert not list(tmp_path.iterdir())
    assert [signal.getsignal(one) for one, _ in KINDS] == before


def test_a_second_signal_does_not_disturb_the_clearing_up():
    reached = []

    def stopped():
        try:
            os.kill(os.getpid(), signal.SIGTERM)
        finally:
            os.kill(os.getpid(), signal.SIGINT)
            reached.append("cleared")

    with stoppable(), pytest.raises(Terminated):
        stopped()
    assert reached == ["cleared"]


def test_processes_started_inside_end_as_usual():
    code = (
        "import os, signal, sys\nfrom seqkern.core.interruption import stoppable\n"
        "with stoppable():\n child = os.fork()\n if not child:\n  signal.raise_signal(signal.SIGTERM)\n  os._exit(0)\n"
        " print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert (done.stdout.strip(), done.stderr) == ("-15", "")


def test_a_signal_waits_until_a_folder_is_removed(tmp_path, monkeypatch):
    (tmp_path / "parts" / "1-of-2").mkdir(parents=True)

    def stopped(path, *, close=os.close):
        close(path)
        signal.raise_signal(signal.SIGTERM)

    monkeypatch.setattr(os, "close", stopped)
    with stoppable(), pytest.raises(Terminated):
        remove_tree(tmp_path / "parts", ignore_errors=False)
    assert not (tmp_path / "parts").exists()


class Slow:
    """An object that is interrupted while Python removes it."""

    def __del__(self):
        os.kill(os.getpid(), signal.SIGINT)


def test_a_signal_while_an_object_is_removed_is_not_lost(interruptible):
    with pytest.raises(KeyboardInterrupt), stoppable():
        Slow()
    done = []
    with pytest.raises(KeyboardInterrupt), stoppable():  # noqa: PT012  # the place is the point
        Slow()
        with uninterrupted():
            done.append("steps")
        done.append("more")
    assert done == ["steps"]
