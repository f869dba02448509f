"""Damaged HMMER files are refused with one line, before pyhmmer parses what would end the process."""

import io
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from seqkern.core.errors import FileError
from seqkern.formats.hmmer import parse_hmms

pyhmmer = pytest.importorskip("pyhmmer")
TRIES = int(os.environ.get("SEQKERN_DAMAGED", "150"))
"""Damaged copies of a file; thousands by hand."""
SEED = int(os.environ.get("SEQKERN_DAMAGED_SEED", "7"))


def hmm_text(alphabet="amino", strings=("GSAEELLAKA", "GSAEEL-AKA"), name=b"fam"):
    """Return the text of a small HMM."""
    kind = getattr(pyhmmer.easel.Alphabet, alphabet)()
    rows = [pyhmmer.easel.TextSequence(name=b"%d" % i, sequence=text) for i, text in enumerate(strings)]
    msa = pyhmmer.easel.TextMSA(name=name, sequences=rows).digitize(kind)
    hmm = pyhmmer.plan7.Builder(kind).build_msa(msa, pyhmmer.plan7.Background(kind))[0]
    file = io.BytesIO()
    hmm.write(file)
    return file.getvalue().decode()


def without(text, tag):
    """Return a text without the line of a tag."""
    return "".join(line for line in text.splitlines(keepends=True) if not line.startswith(tag))


def changed(text, old, new):
    """Return a text with its first occurrence of a text replaced."""
    assert old in text
    return text.replace(old, new, 1)


FIRST = "\n      1   "
DAMAGE = {
    "no ALPH": (lambda text: without(text, "ALPH"), "has no line ALPH"),
    "ALPH behind HMM": (lambda text: without(text, "ALPH").replace("\n//", "\nALPH  amino\n//"), "has no line ALPH"),
    "no LENG": (lambda text: without(text, "LENG"), "has no line LENG"),
    "no NAME": (lambda text: without(text, "NAME"), "has no line NAME"),
    "no HMM": (lambda text: without(text, "HMM "), "m->m|has no line HMM"),
    "two ALPH": (lambda text: changed(text, "ALPH  amino\n", "ALPH  amino\nALPH  DNA\n"), "several lines ALPH"),
    "another alphabet": (lambda text: changed(text, "ALPH  amino", "ALPH  DNA"), "has 20 letters in the line HMM"),
    "unknown alphabet": (lambda text: changed(text, "ALPH  amino", "ALPH  dice"), "has the alphabet 'dice'"),
    "huge": (lambda text: changed(text, "LENG  10", "LENG  2000000000"), "has 2000000000 match states"),
    "longer": (lambda text: changed(text, "LENG  10", "LENG  11"), "has '//' where match state 11"),
    "shorter": (lambda text: changed(text, "LENG  10", "LENG  9"), "behind its last match state"),
    "LENG of text": (lambda text: changed(text, "LENG  10", "LENG  x"), "has the line LENG 'x'"),
    "not a number": (lambda text: changed(text, FIRST, FIRST + "nan  "), "damaged line of match state 1"),
    "no end": (lambda text: changed(text, "\n//", ""), "is truncated"),
}


@pytest.mark.parametrize("kind", DAMAGE)
def test_damage_is_named(kind):
    damage, problem = DAMAGE[kind]
    with pytest.raises(FileError, match=rf"^record 'HMM 1': .*({problem})"):
        parse_hmms(damage(hmm_text()))
    with pytest.raises(FileError, match=rf"^record 'HMM 2': .*({problem})"):
        parse_hmms(hmm_text() + damage(hmm_text()))


@pytest.mark.parametrize("place", [1, 2, 3])
def test_probabilities_that_do_not_sum_to_1_are_refused(place):
    lines = hmm_text().splitlines()
    first = next(i for i, line in enumerate(lines) if line.split()[:1] == ["1"]) + place - 1
    numbers = lines[first].split()
    at = numbers[1] if place == 1 else numbers[0]
    for new in (f"{float(at) + 0.01:.5f}", "*", "-3.00000"):
        damaged = [*lines]
        damaged[first] = lines[first].replace(at, new, 1)
        with pytest.raises(FileError, match="state 1 do not sum to 1"):
            parse_hmms("\n".join(damaged))


def test_intact_files_pass():
    for text in (hmm_text(), hmm_text("dna", ["ACGACGA"]), hmm_text("rna", ["ACGACGA", "ACCACGA"]) * 2):
        assert len(parse_hmms(text)) == text.count("\n//")
    commented = hmm_text().replace("\nLENG", "\n# a comment\n\nLENG")
    assert len(parse_hmms(commented)) == 1


def mutated(text, rng):
    """Return a text with lines or bytes removed, repeated, swapped or changed."""
    lines = text.split("\n")
    i, j = (int(rng.integers(len(lines))) for _ in range(2))
    tokens = lines[i].split(" ")
    kind = rng.integers(8)
    if kind == 0:
        del lines[i]
    elif kind == 1:
        lines.insert(j, lines[i])
    elif kind == 2:
        lines[i], lines[j] = lines[j], lines[i]
    elif kind == 3:
        lines[i] = lines[i][: int(rng.integers(len(lines[i]) + 1))]
    elif kind == 4:
        del lines[min(i, j) : max(i, j)]
    elif kind == 5:
        new = ["-1", "0", "99999999999999999999", "nan", "inf", "*", "1e308", "", "x" * 5000, "%s%n", "\0", "#", "-"]
        tokens[int(rng.integers(len(tokens)))] = str(rng.choice(new))
        lines[i] = " ".join(tokens)
    else:
        letters = [*text]
        for _ in range(int(rng.integers(1, 9))):
            letters[int(rng.integers(len(letters)))] = chr(int(rng.integers(1, 256)))
        return "".join(letters)
    return "\n".join(lines)


def parse_many(count, seed, parse):
    """Parse damaged texts; return the numbers of accepted and of refused ones."""
    rng, accepted, refused = np.random.default_rng(seed), 0, 0
    texts = [hmm_text(), hmm_text("dna", ["ACGACGA", "ACCACGA"]), hmm_text("rna", ["ACGUCGA"]) * 2]
    for number in range(count):
        text = texts[number % len(texts)]
        for _ in range(int(rng.integers(1, 4))):
            text = mutated(text, rng)
        try:
            parse(text)
            accepted += 1
        except FileError as error:
            refused += 1
            assert "\n" not in str(error)  # noqa: PT017 - some are accepted
    return accepted, refused


def test_no_damaged_file_ends_the_process():
    code = f"import test_damaged_hmmer_files as t; print(*t.parse_many({TRIES}, {SEED}, t.parse_hmms))"
    folder = str(Path(__file__).parent)
    path = os.pathsep.join([folder, *filter(None, sys.path)])
    child = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=False, env=os.environ | {"PYTHONPATH": path}
    )
    assert child.returncode == 0, child.stderr[-2000:]
    accepted, refused = map(int, child.stdout.split())
    assert accepted + refused == TRIES
    assert refused > TRIES // 4
