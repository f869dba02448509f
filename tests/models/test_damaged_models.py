"""Damaged models: refused with one line, or used without a traceback."""

import os
import time

import numpy as np
import pytest
from damage import damage, read_npz, write_npz

from seqkern.core.errors import ModelError, SeqkernError
from seqkern.kernels import SpectrumKernel, build_kernel
from seqkern.kernels.kernel import Kernel
from seqkern.methods.loading import load_model
from seqkern.methods.residue_model import ResidueModel
from seqkern.methods.training import train_model
from seqkern.sequences.sequence_set import SequenceSet
from seqkern.study import make_dataset

TRIES = int(os.environ.get("SEQKERN_DAMAGED", "25"))
"""Damaged copies of each model; thousands by hand."""
SEED = int(os.environ.get("SEQKERN_DAMAGED_SEED", "7"))
DONORS = {"simulate": {"kind": "donor", "n_positive": 8, "n_decoy": 12}}
METHODS = {
    "support": ("spectrum:k=2", "csvc:C=1"),
    "table": ("gapped_kmer:l=4,k=2", "csvc:C=1"),
    "landmarks": ("nystroem:base=(oligo:k=2),n_components=5", "primal_svc"),
    "neighbours": ("weighted_degree:degree=2", "kernel_neighbors"),
    "potential": ("rbf:base=(spectrum:k=2),gamma=1", "psvc"),
}


@pytest.fixture(scope="module")
def intact(tmp_path_factory):
    """Models by kind: of windows with various parts, and of residues."""
    folder = tmp_path_factory.mktemp("models")
    donors = make_dataset("donors", DONORS)
    for name, (kernel, solver) in METHODS.items():
        train_model(donors.X, donors.task().labels, build_kernel(kernel), solver).save(folder / name)
    entry = {"simulate": {"kind": "secondary_structure", "n_chains": 6, "mean_length": 30}, "residues": {"window": 5}}
    chains = make_dataset("chains", entry)
    labels = chains.task().labels
    train_model(chains.X, labels, SpectrumKernel(1), "csvc:C=1", residues=chains.residues).save(folder / "residues")
    return folder


def use(path):
    """Load a model, and let it decide about sequences of different lengths."""
    model = load_model(path)
    if isinstance(model, ResidueModel):
        model.decide(SequenceSet.from_strings(["GSAEELLAKAGPSGGSAEELLAKAGPSG", "PGEE"], "protein"), n_threads=1)
    else:
        model.predict(["ACGTTGCAGGTAAGTACGTTGCAGGTAAGTACGTTGCAGGTAAGTACGTTGCAGGTAAGT"[:60]], n_threads=1)


@pytest.mark.parametrize("kind", [*METHODS, "residues"])
def test_a_damaged_model_is_refused_with_one_line(intact, tmp_path, kind):
    rng, refused = np.random.default_rng(SEED), 0
    use(intact / kind)
    for _ in range(TRIES):
        damage(intact / kind, tmp_path / "x.seqkern", rng)
        try:
            use(tmp_path / "x.seqkern")
        except SeqkernError as error:
            assert "\n" not in str(error)  # noqa: PT017 - most are used, or fail later
            refused += isinstance(error, ModelError)
    assert refused > TRIES // 3


@pytest.mark.parametrize("count", [1 << 63, 1 << 31, -1, "3", None])
def test_a_count_in_the_header_makes_no_list(intact, tmp_path, count):
    header, arrays = read_npz(intact / "support")
    write_npz(tmp_path / "x.seqkern", header | {"n_transforms": count}, arrays)
    start = time.process_time()
    with pytest.raises(ModelError, match=r"x\.seqkern: is not usable"):
        load_model(tmp_path / "x.seqkern")
    assert time.process_time() - start < 2


def test_arrays_that_do_not_fit_each_other_are_found_before_prediction(intact, tmp_path):
    header, arrays = read_npz(intact / "landmarks")
    short = arrays | {"kernel/map": arrays["kernel/map"][:-1]}
    places = arrays | {"solver/support": np.full_like(arrays["solver/support"], -(1 << 31))}
    for damaged in (short, places):
        write_npz(tmp_path / "x.seqkern", header, damaged)
        with pytest.raises(ModelError, match=r"x\.seqkern: is not usable"):
            load_model(tmp_path / "x.seqkern")


def test_the_decision_on_loading_takes_one_kernel_value_whatever_the_number_of_support_samples(intact, monkeypatch):
    shapes, block = [], Kernel.block
    monkeypatch.setattr(
        Kernel, "block", lambda self, rows, cols, out: shapes.append(out.shape) or block(self, rows, cols, out)
    )
    assert len(load_model(intact / "support").columns) > 1
    assert shapes == [(1, 1)]
