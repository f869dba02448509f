"""Two processes that write several files under the same names at once: all files are those of one of them."""

import json
import os
import shutil
import subprocess
import sys

import pytest

from seqkern.cli.main import main

ROUNDS = 3
BOTH = """
import json, os, sys, time
from seqkern.cli.main import main

pauses = []

def slow(*paths, replace=os.replace):
    time.sleep(pauses.pop(0) if pauses else 0)
    replace(*paths)

os.replace = slow
out = os.dup(1)
os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
for line in sys.stdin:
    commands, started = json.loads(line), []
    if len(commands) == 1:  # imports what the others need
        os.write(out, f"[{main(commands[0])}]\\n".encode())
        continue
    for words, own in zip(commands, ([0, 0.3], [0.1, 0])):  # one file, both of the other, one file
        child = os.fork()
        if child == 0:
            code, pauses = 98, own
            try:
                code = main(words)
            finally:
                os._exit(code)
        started.append(child)
    codes = [os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) for child in started]
    os.write(out, f"{codes}\\n".encode())
"""


@pytest.fixture(scope="module")
def both():
    """A process that runs two commands at once, in processes that are slow to give files their names."""
    process = subprocess.Popen(
        [sys.executable, "-c", BOTH],
        env={**os.environ, "OMP_NUM_THREADS": "1"},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )

    def run(*commands):
        process.stdin.write(json.dumps(commands) + "\n")
        process.stdin.flush()
        return process.stdout.readline().strip()

    yield run
    process.communicate(timeout=60)


def contents(folder):
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def check(both, tmp_path, commands):
    """Check that two commands with the output in OUT leave what one of them makes."""
    alone = []
    for number, command in enumerate(commands):
        folder = tmp_path / f"alone{number}"
        folder.mkdir()
        assert both([word.replace("OUT", str(folder)) for word in command]) == "[0]"
        alone.append(contents(folder))
    assert alone[0] != alone[1]
    folder = tmp_path / "both"
    folder.mkdir()
    for _ in range(ROUNDS):
        assert both(*[[word.replace("OUT", str(folder)) for word in command] for command in commands]) == "[0, 0]"
        assert contents(folder) in alone


def test_simulated_sequences_and_their_labels(both, tmp_path, capsys):
    words = ["simulate", "donor", "--n-decoy", "3", "-o", "OUT/donors", "--n-positive"]
    check(both, tmp_path, [[*words, count] for count in ("3", "4")])


@pytest.fixture(scope="module")
def donors(tmp_path_factory):
    """Sequences with labels, and a model of them."""
    folder = tmp_path_factory.mktemp("donors")
    assert main(["simulate", "donor", "--n-positive", "24", "--n-decoy", "24", "-o", str(folder / "donors")]) == 0
    kernel = "gapped_kmer:l=4,k=3,d=1,estimator=truncated,reverse_complement=true"
    words = ["train", f"{folder}/donors.fasta", "--labels", f"{folder}/donors.tsv", "--kernel", kernel]
    assert main([*words, "--solver", "csvc:C=1", "-o", f"{folder}/model"]) == 0
    return folder


def test_motifs_and_their_table(both, donors, tmp_path, capsys):
    words = ["-o", "OUT/m.meme", "--table", "OUT/m.tsv", "--minimum", "2"]
    model = ["motifs", f"{donors}/model"]
    check(both, tmp_path, [[*model, "--kmers", *words], [*model, f"{donors}/donors.fasta", *words]])


def test_a_model_and_its_features(both, donors, tmp_path, capsys):
    words = ["train", f"{donors}/donors.fasta", "--labels", f"{donors}/donors.tsv", "--solver", "psvc:kernel=features"]
    words += ["-o", "OUT/model", "--features", "OUT/features.tsv", "--kernel"]
    check(both, tmp_path, [[*words, f"spectrum:k={k}"] for k in (1, 2)])


def test_the_same_part(both, donors, tmp_path, capsys):
    words = ["predict", f"{donors}/model", f"{donors}/donors.fasta", "-o", f"{tmp_path}/a.tsv"]
    assert both([*words, "--part", "2/2"]) == "[0]"
    for _ in range(ROUNDS):
        assert both([*words, "--part", "1/2"], [*words, "--part", "1/2"]) == "[0, 0]"
        assert sorted(os.listdir(tmp_path / "a.tsv.parts")) == ["1-of-2", "2-of-2"]
        shutil.rmtree(tmp_path / "a.tsv.parts" / "1-of-2")
