"""Training with several candidate kernels: one choice, and matrices that are computed once."""

import numpy as np
import pytest

from seqkern.gram import compute_gram
from seqkern.gram.transforms import build_transform
from seqkern.kernels import build_kernel
from seqkern.methods import training as module
from seqkern.methods.method import Method
from seqkern.methods.training import train_model
from seqkern.sequences.labels import make_labels
from seqkern.sequences.sequence_set import as_sequences

RNG = np.random.default_rng(3)


def peaks(n=40):
    """Random DNA, of which every second sequence holds a motif."""
    texts = ["".join(RNG.choice(list("ACGT"), 30)) for _ in range(n)]
    texts = [text[:10] + "GATTACA" + text[17:] if i % 2 else text for i, text in enumerate(texts)]
    X = as_sequences(texts, "dna")
    return X, make_labels(X.ids, ["peak" if i % 2 else "other" for i in range(n)], positive="peak")


def test_the_chosen_kernel_is_that_of_the_better_score():
    X, labels = peaks()
    kernels = {"letters": build_kernel("spectrum:k=1"), "words": build_kernel("spectrum:k=4")}
    both = train_model(X, labels, kernels, "csvc:C=1", seed=4)
    alone = {name: train_model(X, labels, kernel, "csvc:C=[1,1.0000001]", seed=4) for name, kernel in kernels.items()}
    scores = {name: model.record["search"]["scores"][0] for name, model in alone.items()}
    assert both.record["search"]["scores"] == [scores["letters"], scores["words"]]
    assert both.record["kernel"] == max(scores, key=lambda name: np.mean(scores[name])) == "words"
    assert both.record["search"]["kernels"] == ["letters", "words"]
    np.testing.assert_array_equal(both.decide(X)[0], alone["words"].decide(X)[0])


def test_candidates_may_name_their_kernel_and_have_transforms_of_their_own():
    X, labels = peaks()
    kernels = {"a": build_kernel("spectrum:k=2"), "b": build_kernel("spectrum:k=3")}
    model = train_model(
        X,
        labels,
        kernels,
        [("a", {"solver": "csvc", "C": 1}), ("b", {"solver": "psvc", "epsilon": 0.1})],
        transforms={"b": [build_transform("centre")]},
    )
    assert len(model.transforms) == (model.record["kernel"] == "b")
    assert len(model.record["search"]["scores"]) == 2


@pytest.mark.parametrize(
    "learned", ["combination:parts=[(spectrum:k=2),(spectrum:k=3)]", "pairwise:base=(spectrum:k=2)"]
)
def test_a_matrix_that_two_candidates_need_is_computed_once(learned, monkeypatch):
    X, labels = peaks(20)
    counted = []
    monkeypatch.setattr(
        module, "compute_gram", lambda kernel, **rest: counted.append(1) or compute_gram(kernel, **rest)
    )
    kernels = {"short": build_kernel("spectrum:k=2"), "learned": build_kernel(learned)}
    if learned.startswith("pairwise"):
        kernels["short"] = kernels["learned"].stored_form.kernels[0]
    method = Method(kernels, "csvc:C=1")
    module.collect_training_data(method, X, labels)
    needed = {kernel.stored_form.kernels[0].identity() for kernel in kernels.values()}
    needed |= {one.identity() for kernel in kernels.values() for one in kernel.stored_form.kernels}
    assert len(counted) == len(needed) < sum(len(kernel.stored_form.kernels) for kernel in kernels.values())
    assert train_model(X, labels, kernels, "csvc:C=1").record["kernel"] in kernels


def test_a_stored_matrix_is_used_without_the_tiles_that_a_killed_run_has_left(tmp_path):
    X, labels = peaks(12)
    method, stored = Method(build_kernel("spectrum:k=2"), "csvc:C=1"), tmp_path / "k.npy"
    module.collect_training_data(method, X, labels, gram_files=[stored])
    before = sorted(path.name for path in tmp_path.iterdir())
    tiles = tmp_path / "k.npy.tiles" / "c0ffee"
    tiles.mkdir(parents=True)
    (tiles / "rows-000000-000012.npy").write_bytes(b"of a killed run")
    module.collect_training_data(method, X, labels, gram_files=[stored])
    assert sorted(path.name for path in tmp_path.iterdir()) == before == ["k.json", "k.npy"]
