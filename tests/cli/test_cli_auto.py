"""``--kernel auto``, alternatives and default grids of kernels, on the command line and in a study's job."""

import copy
import re
from unittest import mock

import numpy as np
import pytest
from test_cli_predict import fails

from seqkern.cli.main import main
from seqkern.core.tsv import read_cells
from seqkern.evaluation.selection import Search
from seqkern.kernels import LikelihoodKernel
from seqkern.methods import method
from seqkern.methods.loading import load_model
from seqkern.methods.training import automatic_method
from seqkern.sequences.labels import make_labels
from seqkern.sequences.sequence_set import SequenceSet
from seqkern.solvers import GPR
from seqkern.study.kernel_entries import AutoKernel

SITE = "CAGGTAAGT"


@pytest.fixture(scope="module")
def donors(tmp_path_factory):
    """Two FASTA files: sequences with a site in the middle, and without."""
    folder = tmp_path_factory.mktemp("donors")
    rng = np.random.default_rng(1)
    for name, site in (("pos", SITE), ("neg", "")):
        lines = []
        for i in range(30):
            letters = rng.choice(list("ACGT"), 40)
            if site and rng.random() < 0.9:
                letters[15:24] = list(site)
            lines.append(f">{name}{i}\n{''.join(letters)}\n")
        (folder / f"{name}.fa").write_text("".join(lines))
    return folder


def train(donors, output, *options):
    """Train on both files; return the path of the model."""
    path = donors / output
    main(["train", "--verbose", str(donors / "pos.fa"), str(donors / "neg.fa"), "-o", str(path), *options])
    return path


def test_two_files_are_enough(donors, capsys):
    train(donors, "auto.seqkern", "--folds", "2", "--cv", "3")
    text = capsys.readouterr().out
    for word in ("kernel", "tried", "why", "estimate", "95% interval", "60 DNA sequences of 40 bases"):
        assert word in text
    main(["predict", str(donors / "auto.seqkern"), str(donors / "pos.fa"), "-o", str(donors / "out.tsv")])
    assert (donors / "out.tsv").exists()


def test_the_same_seed_gives_the_same_model(donors):
    one, two = (train(donors, f"{i}.seqkern", "--cv", "0", "--folds", "2", "--threads", str(i)) for i in (1, 2))
    assert one.read_bytes() == two.read_bytes()


def test_less_time_means_fewer_samples_at_first_or_the_same_comparison(donors, capsys):
    train(donors, "quick.seqkern", "--cv", "0", "--folds", "2", "--time", "1s")
    assert "kernels on" in capsys.readouterr().out


@pytest.mark.nightly
def test_json_means_the_same_as_the_word(donors, capsys):
    text = train(donors, "w.seqkern", "--folds", "2", "--cv", "2").read_bytes()
    capsys.readouterr()
    assert (
        train(donors, "j.seqkern", "--kernel", '{"kernel": "auto"}', "--folds", "2", "--cv", "2").read_bytes() == text
    )
    assert "estimate" in capsys.readouterr().out


def test_the_memory_limit_holds(donors, capsys):
    argv = ["train", str(donors / "pos.fa"), str(donors / "neg.fa"), "-o", str(donors / "never.seqkern")]
    for cv in ("0", "5"):  # refused for the model, before the folds
        assert main([*argv, "--memory", "1kB", "--cv", cv]) == 1
        said = capsys.readouterr().err
        assert said.startswith("seqkern: no kernel of the portfolio fits in memory: the smallest needs ")
        assert "of memory, but the limit is 1 kB; raise it to " in said


def test_many_sequences_are_trained_on_without_a_gram_matrix(donors, capsys, monkeypatch):
    monkeypatch.setattr("seqkern.evaluation.auto.LARGEST_GRAM", 50)
    path = train(donors, "large.seqkern", "--folds", "2", "--cv", "0")
    assert "linear_svc:C=" in capsys.readouterr().out
    assert main(["predict", str(path), str(donors / "neg.fa")]) == 0


def test_alternatives_and_default_grids_are_searched(donors, capsys):
    train(donors, "a.seqkern", "--kernel", "spectrum:k=2|3", "--solver", "csvc:C=1", "--folds", "2")
    assert "of spectrum:k=2|3" in capsys.readouterr().out
    train(donors, "b.seqkern", "--kernel", "weighted_degree", "--solver", "csvc:C=1", "--search", "--folds", "2")
    assert "of weighted_degree" in capsys.readouterr().out


def test_a_kernel_without_a_solver_gets_a_searched_one(donors, capsys):
    train(donors, "c.seqkern", "--kernel", "spectrum:k=3", "--folds", "2")
    assert "csvc:C=" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        (["--kernel", "spectrum:k=3", "--solver", "csvc", "--time", "1m"], "--time needs --kernel auto"),
        (["--time", "soon"], "is not a duration"),
        (["--transform", "centre"], "--transform does not work with --kernel auto"),
        (["--draws", "5"], "--draws does not work with --kernel auto"),
        (["--kernel", "spectrum:k=3|"], "is empty"),
        (["--kernel", "auto:time=5m"], "with --time"),
    ],
)
def test_mistakes_are_one_line(donors, capsys, options, problem):
    argv = ["train", str(donors / "pos.fa"), str(donors / "neg.fa"), "-o", str(donors / "never.seqkern"), *options]
    assert problem in fails(capsys, *argv)
    assert not (donors / "never.seqkern").exists()


def test_numbers_as_labels_are_a_regression(donors, capsys):
    rng = np.random.default_rng(2)
    strings = ["".join(rng.choice(list("ACGT"), 30)) for _ in range(40)]
    (donors / "real.fa").write_text("".join(f">r{i}\n{one}\n" for i, one in enumerate(strings)))
    rows = "".join(f"r{i}\t{one.count('A') + i / 100}\n" for i, one in enumerate(strings))
    (donors / "real.tsv").write_text(f"id\tlabel\n{rows}")
    argv = [
        "train",
        "--verbose",
        str(donors / "real.fa"),
        "--labels",
        str(donors / "real.tsv"),
        "-o",
        str(donors / "real.seqkern"),
    ]
    main([*argv, "--folds", "2", "--cv", "2"])
    printed = capsys.readouterr()
    assert "the labels are numbers: regression" in printed.err
    assert "gp_regression" in printed.out
    assert "R²" in printed.out


def test_unlabelled_sequences_leave_nothing_to_choose_by(donors, capsys):
    assert "no labels" in fails(capsys, "train", str(donors / "pos.fa"), "-o", str(donors / "never.seqkern"))


@pytest.fixture
def variants(tmp_path):
    """Write a table of 60 variants of a protein whose value depends on two of three varied positions."""
    rng, parent = np.random.default_rng(1), list("MKVLAAGIVGLPEQ" * 4)
    rows = ["sequence,fitness"]
    for _ in range(60):
        for place in (10, 20, 30):
            parent[place] = "ACDEFGHIKLMNPQRSTVWY"[rng.integers(20)]
        value = 3 * (parent[10] in "ILVMFWY") + (parent[20] in "DEKRHNQ") + rng.normal(0, 0.1)
        rows.append(f"{''.join(parent)},{value:.3f}")
    (tmp_path / "variants.csv").write_text("\n".join(rows) + "\n")
    return tmp_path / "variants.csv"


def test_measured_variants_get_a_process_and_a_kernel_of_positions(variants, capsys):
    assert main(["train", str(variants), "-o", str(variants.parent / "m.seqkern"), "--verbose", "--cv", "3"]) == 0
    out = capsys.readouterr().out
    assert "likelihood:base=(lock)" in out
    assert "4 kernels on 60 samples; log marginal likelihood of a sample" in out
    assert "They are variants of one length, with a number each" in out
    assert "best of 4: log marginal likelihood of a sample" in out
    assert "one-hot ridge" in out
    model = load_model(variants.parent / "m.seqkern")
    assert model.solver.name == "gp_regression"


def test_the_kernel_of_the_greatest_evidence_is_chosen_and_fitted_once(variants):
    sequences, values = zip(*read_cells(variants)[1:], strict=True)
    X = SequenceSet.from_strings(sequences, "protein")
    labels = make_labels(X.ids, list(values), kind="real")
    made = automatic_method(X, kind="real", entry=AutoKernel.parse("auto"), search=Search(metric="evidence"))
    with mock.patch.object(LikelihoodKernel, "_fit", autospec=True, side_effect=LikelihoodKernel._fit) as learned:
        fitted = made.fit(made.data(X, labels))
    assert learned.call_count == 1
    evidence = {}
    for name, kernel in made.kernels.items():
        kernel = copy.deepcopy(kernel).fit(X, labels.y)
        solver = GPR(noise="prior", most_samples=1000).fit(kernel(X), labels.y)
        evidence[name] = solver.report_["log_marginal_likelihood"] / len(X)
    assert fitted.choice.kernel == max(evidence, key=evidence.get)
    assert dict(zip([name for name, _ in fitted.choice.candidates], fitted.choice.scores[:, 0], strict=True)) == (
        pytest.approx(evidence, rel=1e-6)
    )


def test_choices_that_share_no_fits_divide_the_time(variants, capsys):
    given = ["train", str(variants), "-o", str(variants.parent / "m.seqkern"), "--time", "60s"]
    with mock.patch.object(method, "schedule", side_effect=method.schedule) as planned:
        assert main(given) == 0
    assert [call.args[2] for call in planned.call_args_list] == [10.0] * 6


def test_a_time_too_short_for_any_kernel_is_told_with_the_least_that_suffices(donors, capsys):
    given = ["train", str(donors / "pos.fa"), str(donors / "neg.fa"), "-o", str(donors / "m.seqkern"), "--cv", "0"]
    assert main([*given, "--time", "0.01s"]) == 0
    (line,) = [line for line in capsys.readouterr().err.splitlines() if "too short" in line]
    least = re.search(r"it takes at least ([0-9.]+) CPU seconds \(--time \1s\)$", line)[1]
    assert main([*given, "--time", f"{least}s"]) == 0
    assert "too short" not in capsys.readouterr().err


def test_evidence_needs_a_process(variants, capsys):
    given = ["cv", str(variants), "--kernel", "spectrum:k=1", "--solver", "svr:C=0.1|1", "--metric", "evidence"]
    assert main(given) == 1
    assert "solver 'svr' has no marginal likelihood for the inner metric 'evidence'" in capsys.readouterr().err
