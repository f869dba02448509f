"""Models that keep sums over k-mers, against the models with support sequences that they are made of."""

from dataclasses import replace

import numpy as np
import pytest

from seqkern.cli.main import main
from seqkern.core.archive import load_archive, save_archive
from seqkern.core.errors import ModelError, ParameterError
from seqkern.kernels import build_kernel
from seqkern.methods import Explainer, explain
from seqkern.methods.loading import kmer_tables, load_kmer_tables, load_model
from seqkern.methods.lsgkm import write_lsgkm
from seqkern.methods.table_model import TableModel, smaller, tabulated
from seqkern.methods.training import train_model
from seqkern.sequences.labels import make_labels
from seqkern.sequences.sequence_set import SequenceSet

BOTH = "reverse_complement=true"
KERNELS = [
    f"gapped_kmer:l=4,k=2,{BOTH}",
    "gapped_kmer:l=5,k=3,normalize=false",
    f"gapped_kmer:l=5,k=3,d=2,estimator=truncated,{BOTH}",
    f"gapped_kmer:l=4,k=3,center_weighted=true,{BOTH}",
    f"mismatch:k=4,m=1,{BOTH}",
    "wildcard:k=4,m=1,decay=0.4",
    f"spectrum:k=3,{BOTH}",
    "spectrum:k=1+2+3,normalize=false",
    f"0.5*(gapped_kmer:l=4,k=2,{BOTH})+2*(spectrum:k=2)",
    "(gapped_kmer:l=4,k=2,normalize=false)+(mismatch:k=3,m=1,normalize=false)",
]
WITHOUT = ["mismatch:k=4,m=1,presence=true", "spectrum:k=3,presence=true", "weighted_degree:degree=3", "spectrum:k=13"]
NO_TABLES = ("center_weighted", "0.5*")


def random_set(n=40, seed=0, length=30):
    rng = np.random.default_rng(seed)
    letters = rng.choice(list("ACGT"), (n, length))
    letters[::2, 5:11] = list("TGACTC")
    letters[rng.random((n, length)) < 0.005] = "N"
    return SequenceSet.from_strings(["".join(row) for row in letters], "dna")


def trained(text, solver="csvc:C=2", **options):
    X = random_set()
    names = ["bound" if i % 2 == 0 else "free" for i in range(len(X))]
    return train_model(X, make_labels(X.ids, names, positive="bound"), build_kernel(text), solver, **options)


def bound_of(model, X):
    """Return the largest error of the decision about each record, from the rounding in the model's record."""
    length = min(map(len, map(str, kmer_tables(model).tables)), default=1)
    windows = X.lengths - length + 1
    root = np.sqrt(model.kernel.prepare(X).raw_diagonal) if model.kernel.normalize else 1.0
    return windows * len(kmer_tables(model).tables) * model.record["rounding"] / root


@pytest.mark.parametrize("text", KERNELS)
def test_decisions_and_contributions_are_those_of_the_support(text, tmp_path):
    model, new = trained(text), random_set(n=15, seed=3)
    table = tabulated(model)
    assert isinstance(table, TableModel)
    assert not len(table.support)
    difference = np.abs(table.decision(new) - model.decision(new))
    np.testing.assert_allclose(difference, 0, atol=1e-6)
    if not any(word in text for word in NO_TABLES):
        assert 0 < table.record["rounding"] < 1e-6
        assert np.all(difference <= bound_of(table, new) + 1e-12)
    np.testing.assert_allclose(table.form().attributions(new), model.form().attributions(new), atol=1e-6)
    table.save(tmp_path / "table.seqkern")
    read = load_model(tmp_path / "table.seqkern")
    assert isinstance(read, TableModel)
    np.testing.assert_array_equal(read.decision(new), table.decision(new))
    assert read.decision(new.take([])).shape == (0,)
    np.testing.assert_array_equal(read.predict(new), model.predict(new))
    assert Explainer(read).letters(new)[0].shape == (15,)


@pytest.mark.parametrize("text", KERNELS)
def test_weights_of_kmers_are_those_of_the_support(text, tmp_path):
    model, new = trained(text), random_set(n=5, seed=4)
    table = tabulated(model)
    found, expected = explain(table, new), explain(model, new)
    known = dict(zip(expected.words, expected.weights, strict=True))
    assert found.words
    np.testing.assert_allclose(found.weights, [known[word] for word in found.words], atol=1e-6)
    table.save(tmp_path / "table.seqkern")
    if any(word in text for word in NO_TABLES):
        with pytest.raises(ModelError, match=r"table\.seqkern: the decisions of kernel '\w+' are not sums over k-mers"):
            load_kmer_tables(tmp_path / "table.seqkern")
        return
    weights, others = load_kmer_tables(tmp_path / "table.seqkern"), kmer_tables(model)
    assert weights.both_strands == others.both_strands == (BOTH in text)
    for length, values in others.tables.items():
        np.testing.assert_allclose(weights.tables[length], values, atol=1e-6)


def test_the_tables_are_the_decisions_of_single_kmers():
    """Of a kernel that is not normalised, a k-mer's weight is its decision value without the bias."""
    model = trained("(spectrum:k=3,normalize=false)+2*(gapped_kmer:l=3,k=2,normalize=false)")
    kmers = [a + b + c for a in "ACGT" for b in "ACGT" for c in "ACGT"]
    weights = kmer_tables(model)
    np.testing.assert_allclose(weights.tables[3] + weights.constant, model.decision(kmers), atol=1e-12)


@pytest.mark.parametrize("text", WITHOUT)
def test_other_kernels_keep_their_support(text):
    model = trained(text)
    assert tabulated(model) is None
    assert smaller(model) is model


def test_transforms_and_several_classes_keep_the_support():
    model = trained("spectrum:k=3")
    assert tabulated(replace(model, kind="multiclass")) is None
    assert tabulated(replace(model, transforms=[object()])) is None


def test_the_smaller_file_is_kept():
    assert isinstance(smaller(trained(f"gapped_kmer:l=4,k=2,{BOTH}")), TableModel)
    long = trained(f"gapped_kmer:l=9,k=4,{BOTH}")
    assert smaller(long) is long


def test_what_needs_the_support_is_refused(tmp_path):
    table = tabulated(trained(f"gapped_kmer:l=4,k=2,{BOTH}"))
    with pytest.raises(ModelError, match=r"keeps sums over the k-mers .*; train again with --format lsgkm"):
        write_lsgkm(table, tmp_path / "model.txt")
    with pytest.raises(ParameterError, match="keeps sums over the k-mers of its support sequences"):
        _ = table.form().support


@pytest.mark.parametrize("spoil", ["width", "number", "dtype", "infinite"])
def test_a_corrupted_table_is_refused(spoil, tmp_path):
    path = tmp_path / "table.seqkern"
    tabulated(trained("spectrum:k=2+3")).save(path)
    header, arrays = load_archive(path)
    name = "tally/0"
    if spoil == "number":
        header["tally"]["n"] = 1
    elif spoil == "infinite":
        arrays[name][0] = np.inf
    else:
        arrays[name] = arrays[name][:-1] if spoil == "width" else arrays[name].astype(np.float64)
    save_archive(path, header, arrays)
    with pytest.raises(ModelError, match="is not usable"):
        load_model(path)


def test_the_command_line_applies_a_table(tmp_path, capsys):
    table, new = tabulated(trained(f"gapped_kmer:l=4,k=2,{BOTH}")), random_set(n=4, seed=5)
    table.save(tmp_path / "table.seqkern")
    fasta = tmp_path / "new.fa"
    fasta.write_text("".join(f">s{i}\n{text.replace('*', 'N')}\n" for i, text in enumerate(new.strings())))
    assert main(["predict", str(tmp_path / "table.seqkern"), str(fasta)]) == 0
    rows = [line.split("\t") for line in capsys.readouterr().out.splitlines()[1:]]
    np.testing.assert_allclose([float(row[1]) for row in rows], table.decision(new), rtol=1e-9)
