"""Readers accept an input or refuse it in one line that names the file, whatever it holds."""

import os
import random
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import pytest
from fuzz_known import KNOWN
from fuzz_minimise import minimised
from fuzz_mutator import mutate
from fuzz_reader import FailureError, Harness, Reader, limited_memory
from fuzz_readers import READERS, TABLES

from seqkern.cli.main import VERBS, build_parser
from seqkern.core.checks import check_int, check_number
from seqkern.core.declarations import Number
from seqkern.core.errors import FileError

INPUTS = 120
BY_DAY = 40
HERE = Path(__file__).parent
PENDING: dict[str, str] = {}
"""Readers whose failures are known and not yet fixed."""

NAMES = [
    pytest.param(name, marks=pytest.mark.xfail(reason=PENDING[name])) if name in PENDING else name for name in READERS
]
IN_PROCESS = [one for one, name in zip(NAMES, READERS, strict=True) if not READERS[name].own_process]
IN_THEIR_OWN = [one for one, name in zip(NAMES, READERS, strict=True) if READERS[name].own_process]
OUTPUTS = {"-o", "--cost", "--plot", "--table", "--contributions"}
WORDS = {  # names, numbers and choices: nothing that is parsed by a reader of its own
    *("--alphabet", "--around", "--chain", "--control", "--cores", "--data-dir", "--fdr", "--inner-clusters"),
    *("--inner-metric", "--kernel-name", "--label-field", "--match", "--metric", "--minimum", "--motif", "--name"),
    *("--null", "--pair", "--plots", "--positive", "--reduction", "--scan", "--section", "--significance", "--site"),
    *("--threads", "--top", "--truth", "--width", "simulate kind", "kernels name", "solvers name", "init folder"),
    *("--similar-by", "--task", "demo folder", "test model", "page model", "--keep", "--positions"),
}


@pytest.fixture
def harness():
    """Return a function that gives a reader a folder, in memory where there is such a place."""
    place = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None
    with tempfile.TemporaryDirectory(dir=place) as folder:
        yield lambda name: Harness(READERS[name], folder)


@pytest.mark.parametrize("name", IN_PROCESS)
def test_changed_inputs(harness, name, request):
    reader = READERS[name]
    one, seeds = harness(name).one, list(reader.seeds())
    assert {one(seed) for seed in seeds} >= {"accepted"}
    with limited_memory(1 << 30):
        for index in range((INPUTS if request.config.option.all_cases else BY_DAY) // (4 if reader.slow else 1)):
            one(mutate(seeds, random.Random(index), reader.form))


@pytest.mark.fuzz
@pytest.mark.parametrize("name", IN_THEIR_OWN)
def test_changed_inputs_of_libraries_that_may_end_the_process(name):
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, str(HERE / "fuzz_run.py"), "--readers", name, "--inputs", str(INPUTS)]
        environment = os.environ | {"PYTHONPATH": os.pathsep.join([str(HERE), os.environ.get("PYTHONPATH", "")])}
        command += ["--findings", folder]
        ran = subprocess.run(command, capture_output=True, text=True, timeout=120, env=environment, check=False)
        found = "".join(path.read_text() for path in Path(folder).glob("*.jsonl"))
    assert ran.returncode == 0, ran.stdout + ran.stderr + found


@pytest.mark.parametrize("known", KNOWN, ids=lambda known: f"{known.reader}: {known.what}")
def test_inputs_that_failed_before(harness, known):
    one = harness(known.reader).one
    for seed in READERS[known.reader].seeds():
        one(seed)
    assert one(known.make()) == known.answer


def test_same_seed_same_inputs():
    seeds = [b"id\tlabel\na\t1.5\n", b">a\nACGT\n"]
    first, again = ([mutate(seeds, random.Random(i)) for i in range(300)] for _ in range(2))
    assert first == again
    assert len(set(first)) > 200
    assert max(map(len, first)) <= 1 << 16


def _fails(error):
    def read(path):
        data = path.read_bytes()
        if b"x" in data:
            raise error(path)
        if b"loop" in data:
            while True:
                pass

    return Reader("toy", read, lambda: [b"a"])


@pytest.mark.parametrize(
    ("error", "kind"),
    [
        (lambda path: KeyError("x"), "traceback"),
        (lambda path: MemoryError(), "memory"),
        (lambda path: FileError("is bad"), "message without the file"),
        (lambda path: FileError("is <object at 0x7f0012345678>", file=path), "internals in the message"),
    ],
)
def test_what_counts_as_failure(tmp_path, error, kind):
    harness = Harness(_fails(error), tmp_path)
    assert harness.one(b"good") == "accepted"
    with pytest.raises(FailureError) as found:
        harness.one(b"12345x67890")
    assert found.value.kind == kind
    assert minimised(harness, b"12345x67890" * 3, found.value.key) == b"x"


def test_hang_is_a_failure(tmp_path, monkeypatch):
    monkeypatch.setattr("fuzz_reader.LIMIT_SECONDS", 0.1)
    with pytest.raises(FailureError, match="hang"):
        Harness(_fails(KeyError), tmp_path).one(b"loop")
    waits = Harness(Reader("toy", lambda path: time.sleep(0.3), lambda: [b"a"]), tmp_path)
    assert waits.one(b"") == "accepted"  # as on a busy machine
    monkeypatch.setattr("fuzz_reader.PATIENCE", 1)
    with pytest.raises(FailureError, match="hang"):
        waits.one(b"")


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="no such limit")
def test_memory_is_limited(tmp_path):
    with limited_memory(1 << 28), pytest.raises(FailureError, match="memory"):
        Harness(Reader("toy", lambda path: bytes(1 << 29), lambda: [b""]), tmp_path).one(b"")


def test_names_of_readers_are_unique():
    assert len(READERS) == sum(len(table.READERS) for table in TABLES)


def test_every_option_has_a_reader_or_is_a_word():
    known = {option for reader in READERS.values() for option in reader.options} | OUTPUTS | WORDS
    missing = set()
    for verb in VERBS:
        actions = build_parser(verb)._actions
        for action in actions:
            fixed = action.nargs == 0 or action.choices or action.type in (check_int, check_number)
            fixed = fixed or isinstance(getattr(action, "declared", None), Number) or action.dest == "help"
            names = {*action.option_strings, f"{verb} {action.dest}"}
            if not fixed and not names & known:
                missing.add(" or ".join(sorted(names)))
    assert not missing, f"fuzz them (tests/fuzz), or name them in WORDS: {', '.join(sorted(missing))}"
