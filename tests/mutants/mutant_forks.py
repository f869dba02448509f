"""Tests that run in forks of one process: see ``run_mutants.py``."""

import contextlib
import os
import pickle
import resource
import signal
import sys
import threading
import time

from _pytest.runner import runtestprotocol
from mutant_operators import compiled

# bytes of addresses: a mutant that asks for everything ends
MEMORY = 16 << 30


def in_fork(work, seconds):
    """Return what ``work()`` returns in a fork of this process; None if it took longer or ended otherwise."""
    sys.stdout.flush()
    sys.stderr.flush()
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            # a group of its own: what the test starts ends with it
            os.setpgid(0, 0)
            os.close(reading)
            resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
            resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
            nothing = os.open(os.devnull, os.O_RDWR)
            for standard in range(3):
                os.dup2(nothing, standard)
            with os.fdopen(writing, "wb") as stream:
                pickle.dump(work(), stream)
        finally:
            os._exit(0)
    os.close(writing)
    clock = threading.Timer(seconds, _kill, [child])
    clock.start()
    try:
        with os.fdopen(reading, "rb") as stream:
            sent = stream.read()
    finally:
        clock.cancel()
        _kill(child)
        os.waitpid(child, 0)
    return pickle.loads(sent) if sent else None


def _kill(child):
    for end in (os.killpg, os.kill):
        with contextlib.suppress(ProcessLookupError, PermissionError):
            end(child, signal.SIGKILL)


def reached(items, files, slowest):
    """Run tests; return (seconds, lines of these files) of each that passes in ``slowest`` seconds; and all modules."""
    found = {}
    for item, following in zip(items, [*items[1:], None], strict=True):
        lines = set()

        def of_line(frame, event, _, lines=lines):
            if event == "line":
                lines.add((frame.f_code.co_filename, frame.f_lineno))
            return of_line

        def of_call(frame, *_, of_line=of_line):
            return of_line if frame.f_code.co_filename in files else None

        started = time.process_time()
        threading.settrace(of_call)
        sys.settrace(of_call)
        try:
            passed = _passes(item, following)
        finally:
            sys.settrace(None)
            threading.settrace(None)
        seconds = time.process_time() - started
        if passed and seconds <= slowest:
            found[item.nodeid] = seconds, lines
    return found, list(sys.modules)


def _passes(item, following):
    reports = runtestprotocol(item, nextitem=following, log=False)
    return all(report.passed for report in reports)


def outcome(module, tree, mutant, functions, tests):
    """Return what the tests made of a mutant: killed, survived or not reached; None if Python refuses it."""
    if not tests:
        return "not reached"
    # generous: a busy computer is not a mutant that hangs
    limit = 30 + 20 * sum(seconds for _, seconds, _ in tests)
    # a mutant that never ends, or ends the process, is noticed, too
    verdict = in_fork(lambda: (_verdict(module, tree, mutant, functions, [item for item, *_ in tests]),), limit)
    return verdict[0] if verdict else "killed"


def _verdict(module, tree, mutant, functions, items):
    for (name, line), changed in compiled(tree, mutant, module.__file__).items():
        for function in functions.get((module.__file__, name, line), []):
            try:
                function.__code__ = changed
            except ValueError:
                # a name of an outer function is no longer used
                return None
    for item, following in zip(items, [*items[1:], None], strict=True):
        if not _passes(item, following):
            return "killed"
    return "survived"
