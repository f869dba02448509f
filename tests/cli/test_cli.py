"""The command line as a whole: help, exit codes, one-line errors."""

import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from conftest import ROOT

from seqkern.cli.main import VERBS, build_parser, main, request_class


def test_the_first_help_fits_a_terminal_and_the_rest_is_behind_help_all(capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    pages = {}
    for line in ("--help", "help", "--help-all", "train --help", "help train", "cv -h"):
        assert main(line.split()) == 0
        pages[line] = capsys.readouterr().out
    assert pages["--help"] == pages["help"]
    assert pages["train --help"] == pages["help train"]
    verbs = [name for name in VERBS if f"\n  {name} " in pages["--help"]]
    assert {"train", "predict", "kernels"} <= set(verbs)
    assert not {"evaluate", "gram", "plan"} & set(verbs)
    assert [name for name in VERBS if f"\n  {name} " in pages["--help-all"]] == list(VERBS)
    for line, most in (("--help", 30), ("train --help", 40), ("cv -h", 40)):
        lines = pages[line].splitlines()
        assert len(lines) <= most
        assert max(map(len, lines)) <= 80


def test_every_verb_has_an_example_few_options_in_its_help_and_all_in_help_all(capsys):
    for verb in VERBS:
        everyday = {name for base in request_class(verb).__mro__ for name in vars(base).get("_everyday", ())}
        assert everyday <= set(request_class(verb).declarations()), verb
        options = set(build_parser(verb)._option_string_actions) - {"-h", "--help", "--help-all"}
        assert main([verb, "--help"]) == 0
        short = capsys.readouterr().out
        assert main([verb, "--help-all"]) == 0
        full = capsys.readouterr().out
        assert "example:" in short, verb
        assert f"seqkern {verb}" in short
        assert [name for name in options if name not in full] == [], verb
        assert len(re.findall(r"^  -", short, flags=re.MULTILINE)) <= 20, verb
        assert (short == full) == ("--help-all" not in short), verb


def test_more_examples_of_help_are_read_by_the_parser(capsys):
    lines = request_class("train").MORE_EXAMPLES
    assert main(["train", "--help-all"]) == 0
    out = capsys.readouterr().out
    for line in lines:
        assert line in out
        program, *argv = shlex.split(line)
        assert (program, argv[0]) == ("seqkern", "train")
        args = build_parser("train").parse_args(argv[1:])
        assert (args.repair == "empirical_map") == ("--repair" in argv)


ELSEWHERE = (
    "audit",
    "demo",
    "discover",
    "effects",
    "grammar",
    "genes",
    "models",
    "motifs",
    "splice-scores",
    "variants",
)
"""Verbs that run in other tests: demo and grammar take long, the others take files that no example writes."""


def test_the_examples_run_one_after_the_other(tmp_path, monkeypatch, capsys):
    shutil.copytree(ROOT / "config", tmp_path / "config")
    monkeypatch.chdir(tmp_path)
    jobs = ("simulate", "datasets", "folds", "gram", "baseline", "evaluate")
    for verb in (*jobs, *(verb for verb in VERBS if verb not in jobs)):
        line, _, output = request_class(verb).EXAMPLE.partition(" > ")
        program, *argv = shlex.split(line)
        assert (program, argv[0]) == ("seqkern", verb)
        if verb in ELSEWHERE:
            build_parser(verb).parse_args(argv[1:])
            continue
        if verb == "sites":  # takes a genome with its annotation
            assert main(["simulate", "genes", "-o", "genes"]) == 0
        if verb == "train":  # takes a file of each class
            donors = Path("donors.fasta").read_text().split(">")[1:]
            for name, label in (("positive", "label=donor"), ("negative", "label=decoy")):
                own = [f">{one}" for one in donors if label in one]
                Path(f"{name}.fa").write_text("".join(own[:40]))
        if verb == "suggest":  # takes records without a label
            shutil.copy("donors.fasta", "pool.fasta")
        if verb == "compare":  # takes two methods
            other = request_class("evaluate").EXAMPLE.replace("k=3", "k=1").replace("um3", "um1")
            assert main(shlex.split(other)[1:]) == 0
        assert main(argv) == 0, f"{line}: {capsys.readouterr().err}"
        told = capsys.readouterr().out
        if output:
            (tmp_path / output).write_text(told)
    assert "donors" in (tmp_path / "results/demo/report/index.html").read_text()
    assert (tmp_path / "predictions.tsv").read_text().count("\n") == 601


def test_help_imports_nothing_heavy():
    code = (
        "import sys; from seqkern.cli.main import main; main(['--help']); "
        "print([m for m in ('numpy', 'scipy', 'sklearn', 'pandas', 'Bio', 'matplotlib') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "[]"


def test_the_version_names_the_build(capsys):
    assert main(["--version"]) == 0
    assert capsys.readouterr().out.startswith("seqkern 0.")


def test_no_verb_and_an_unknown_verb_are_wrong_usage(capsys):
    assert main([]) == 2
    assert main(["grm"]) == 2
    assert "did you mean seqkern gram?" in capsys.readouterr().err


def test_an_error_of_input_is_one_line_and_exit_1(tmp_path, capsys):
    path = tmp_path / "empty.fa"
    path.write_text("")
    assert main(["gram", str(path), "--kernel", "spectrum:k=3", "-o", str(tmp_path / "gram.npy")]) == 1
    err = capsys.readouterr().err
    assert err.count("\n") == 1
    assert err.startswith("seqkern: ")
    assert "empty.fa" in err
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize(
    ("kernel", "nearest"), [("spectrm:k=3", "spectrum"), ("spectrum:kk=3", "k"), ("mismatch:k=3,n=1", "m")]
)
def test_unknown_kernels_and_parameters_name_the_nearest(kernel, nearest, tmp_path, capsys):
    path = tmp_path / "two.fa"
    path.write_text(">a\nACGTACGT\n>b\nACGTTTTT\n")
    assert main(["gram", str(path), "--kernel", kernel, "-o", str(tmp_path / "gram.npy")]) == 1
    err = capsys.readouterr().err
    assert err.count("\n") == 1
    assert f"'{nearest}'" in err or f"{nearest}," in err


def test_an_unknown_level_of_vector_instructions(monkeypatch, capsys):
    monkeypatch.setenv("SEQKERN_SIMD", "sse2")
    assert main(["kernels"]) == 1
    err = capsys.readouterr().err
    assert err.startswith("seqkern: SEQKERN_SIMD=sse2 in the environment is not a level of vector instructions; set it")


@pytest.mark.parametrize(("level", "number"), [("plain", 0), ("avx2", 1), ("avx512", 2)])
def test_the_level_of_vector_instructions_can_be_lowered(level, number, monkeypatch):
    monkeypatch.delenv("SEQKERN_SIMD", raising=False)
    code = "from seqkern.kernels.positional._position_weights import highest_level; print(highest_level())"
    highest = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    env = {**os.environ, "SEQKERN_SIMD": level}
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, env=env)
    assert int(found.stdout) == min(number, int(highest.stdout))
