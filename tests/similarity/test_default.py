"""Similar sequences stay together by default: in the search of train, in calibration, and in folds."""

import numpy as np
import pytest
from sklearn.metrics import roc_auc_score
from test_search import encoded, families, mutated, random_strings

from seqkern.cli.main import main
from seqkern.evaluation import make_folds
from seqkern.evaluation.leakage import find_links, leakage_rows
from seqkern.evaluation.selection import inner_folds
from seqkern.kernels import SpectrumKernel
from seqkern.methods.training import group_samples, train_model
from seqkern.sequences.labels import make_labels
from seqkern.study import Dataset, Task, save_dataset

GRID = [{"solver": "csvc", "C": 0.1}, {"solver": "csvc", "C": 10}]


def random_labels(X, blocks, seed=0):
    """Labels of a coin for each block of similar sequences, half of them positive."""
    coin = np.random.default_rng(seed).permutation(blocks) % 2
    return make_labels(X.ids, np.where(np.repeat(coin, len(X) // blocks), "yes", "no").tolist(), positive="yes")


def copies(n=60):
    """Proteins that are present twice, with a few substitutions."""
    rng = np.random.default_rng(5)
    return encoded(
        [s for one in random_strings(n, 100, 160, "protein", 4) for s in (one, mutated(one, 0.04, rng, "protein"))],
        "protein",
    )


def test_proteins_present_twice_do_not_make_coin_flips_predictable():
    X = copies()
    labels, said = random_labels(X, 60), []
    found = {}
    for allow in (False, True):
        model = train_model(
            X, labels, SpectrumKernel(3), GRID, calibration="platt", allow_similar=allow, tell=said.append
        )
        found[allow] = model.record["search"]["score"], model.calibration.slope
    assert 0.25 < found[False][0] < 0.75
    assert found[True][0] > 0.95
    assert abs(found[False][1]) < abs(found[True][1]) / 2
    assert said == [
        "similar sequences: 120 of 120 are in 60 groups (largest 2), kept together in folds; --allow-similar to split "
        "them"
    ]


def test_nothing_is_looked_for_where_nothing_is_divided():
    X, said = copies(10), []
    train_model(X, random_labels(X, 10), SpectrumKernel(3), "csvc:C=1", tell=said.append)
    assert said == []


@pytest.mark.parametrize(("alphabet", "share"), [("dna", 0.04), ("protein", 0.04)])
def test_families_of_four_are_not_split(alphabet, share):
    X = encoded(families(30, 4, 100, 120, share, alphabet), alphabet)
    labels = random_labels(X, 30)
    links = find_links(X, identity="auto")
    split = make_folds(labels, k=5, seed=1)
    kinds = {row[2] for row in leakage_rows(links, split, labels)}
    assert kinds & {"similar", "overlapping"}
    whole = make_folds(labels, k=5, seed=1, similar=links.similar(labels.y).groups)
    assert leakage_rows(links, whole, labels) == []
    assert whole.remarks == ()
    kernel = SpectrumKernel(4 if alphabet == "dna" else 2)(X)
    near = {}
    for name, folds in (("split", split), ("whole", whole)):
        # the most similar training sequence decides
        scores = np.zeros(len(X))
        for part in folds:
            nearest = part.train[np.argmax(kernel[np.ix_(part.test, part.train)], axis=1)]
            scores[part.test] = labels.y[nearest]
        near[name] = roc_auc_score(labels.y, scores)
    assert near["split"] > 0.95
    assert near["whole"] < 0.7


def test_overlapping_peaks_stay_in_one_inner_fold():
    genome = random_strings(1, 60_000, 60_000, seed=7)[0]
    peaks = [genome[at : at + 200] for locus in range(0, 60_000, 1000) for at in (locus, locus + 160)]
    X = encoded(peaks)
    labels = random_labels(X, 60)
    groups = group_samples(labels, X).groups
    assert len(np.unique(groups)) == 60
    for train, valid in inner_folds(labels, 5, 1, groups):
        assert not set(train // 2) & set(valid // 2)
    assert group_samples(labels, X, allow_similar=True).groups is None


def test_a_class_of_one_family_is_split_all_the_same():
    family = families(1, 8, 150, 150, 0.02, "protein")
    X = encoded([family[0]] * 5 + random_strings(20, 150, 150, "protein", 3), "protein")
    labels = make_labels(X.ids, ["globin"] * 5 + ["other"] * 20, positive="globin")
    said = []
    model = train_model(X, labels, SpectrumKernel(2), GRID, tell=said.append)
    assert model.record["search"]["score"] > 0.9
    assert any("class 'globin' has 1 group of similar samples" in text for text in said)
    foldset = make_folds(labels, k=5, similar=find_links(X).similar(labels.y).groups)
    assert all(labels.y[split.test].sum() == 1 for split in foldset)
    assert len(foldset.remarks) == 1


def test_predefined_sets_are_reported_and_not_moved():
    X = copies(20)
    labels = random_labels(X, 20)
    links = find_links(X, identity="auto")
    roles = np.where(np.arange(len(X)) % 2, "train", "test")
    foldset = make_folds(labels, method="predefined", roles=roles, similar=links.similar(labels.y).groups)
    assert foldset.splits[0].test.tolist() == list(range(0, 40, 2))
    assert len(leakage_rows(links, foldset, labels)) == 20
    assert foldset.groups.tolist() == np.repeat(range(20), 2).tolist()


def test_the_commands(tmp_path, capsys):
    X = copies()
    labels = random_labels(X, 60)
    for name in ("yes", "no"):
        rows = [i for i, label in enumerate(labels.names()) if label == name]
        text = "".join(f">{name}{i}\n{X.string(i)}\n" for i in rows)
        (tmp_path / f"{name}.fa").write_text(text)
    train = [*("train", str(tmp_path / "yes.fa"), str(tmp_path / "no.fa"), "--kernel", "spectrum:k=3")]
    train += [*("--solver", "csvc:C=[0.1,10]", "--search", "-o")]
    models = {}
    for threads in ("1", "2"):
        model = tmp_path / f"{threads}.seqkern"
        assert main([*train, str(model), "--threads", threads]) == 0
        models[threads] = model.read_bytes()
        assert "similar sequences: 120 of 120 are in 60 groups" in capsys.readouterr().err
    assert models["1"] == models["2"]
    assert main([*train, str(tmp_path / "b.seqkern"), "--allow-similar"]) == 0
    assert "120 of 120 are in 60 groups (largest 2), in different folds" in capsys.readouterr().err
    save_dataset(Dataset("d", "sequences", X, {"all": Task("all", labels)}), tmp_path / "d")
    assert main(["folds", str(tmp_path / "d"), "-o", str(tmp_path / "folds")]) == 0
    out = capsys.readouterr()
    assert "leakage: none found" in out.out
    assert "kept together in folds" in out.err
    assert (tmp_path / "folds/similar.tsv").read_text().splitlines()[1] == "all\t120\t120\t60\t2\t0\t\tfolds\t"
    for switch in (
        ["--allow-similar"],
        ["--leakage", '{"allow_similar": true}'],
        ["--leakage", '{"keep_together": false}'],
    ):
        assert main(["folds", str(tmp_path / "d"), *switch, "-o", str(tmp_path / "split")]) == 0
        out = capsys.readouterr()
        assert "similar to one" in out.out
        assert "only reported" in out.err
