"""The key ``repair`` from config and command line to the decisions about new sequences."""

import json
import warnings

import numpy as np
import pytest
from given import inputs

from seqkern.cli.main import main
from seqkern.core.errors import ConfigError, GramError
from seqkern.gram import compute_gram, open_gram
from seqkern.gram.stored_matrix import read_spectrum
from seqkern.gram.transforms import build_transform
from seqkern.kernels import build_kernel
from seqkern.methods.loading import load_model
from seqkern.methods.sources import StoredGram
from seqkern.methods.training import train_model
from seqkern.sequences.labels import make_labels
from seqkern.sequences.sequence_set import SequenceSet
from seqkern.study import Dataset, Task, save_dataset
from seqkern.study.kernel_entries import KernelEntry
from seqkern.study.study import Study

INDEFINITE = "sigmoid:gamma=2,coef0=-1,base=(spectrum:k=2)"
REPAIRS = ["clip", "flip", "shift", "empirical_map", "empirical_map:normalize=false,vector_kernel=rbf"]


def sequences(n=40, seed=0):
    """Return half A-rich and half T-rich strings."""
    rng = np.random.default_rng(seed)
    rich = [(0.4, 0.2, 0.2, 0.2), (0.2, 0.2, 0.2, 0.4)]
    strings = ["".join(rng.choice(list("ACGT"), 20, p=rich[i % 2])) for i in range(n)]
    return SequenceSet.from_strings(strings, "dna")


X, NEW = sequences(), sequences(12, seed=1)
LABELS = make_labels(X.ids, ["1" if i % 2 else "0" for i in range(40)])


@pytest.fixture
def files(tmp_path):
    """Return paths of FASTA files of the two classes, as text."""
    paths = []
    for i, name in enumerate(("positive", "negative")):
        paths.append(tmp_path / f"{name}.fa")
        paths[-1].write_text("".join(f">{name}{j}\n{text}\n" for j, text in enumerate(X.strings()[i::2])))
    return list(map(str, paths))


# ---- config -------------------------------------------------------------------------------------


def test_the_repair_comes_after_the_transforms():
    spec = {"kernel": "spectrum", "k": 3, "repair": "clip", "transforms": ["centre"], "solvers": ["psvc"]}
    entry = KernelEntry.parse(spec)
    assert entry.spec == {"kernel": "spectrum", "k": 3}
    assert entry.transform_specs == ("centre", {"transform": "repair", "method": "clip"})
    other = KernelEntry.parse(spec, transforms=["normalise"], repair="none")
    assert (other.spec, other.transform_specs) == (entry.spec, ("centre", "normalise"))
    shifted = KernelEntry.parse({"kernel": "spectrum"}, repair="shift")
    assert shifted.transform_specs == ({"transform": "repair", "method": "shift"},)


@pytest.fixture
def config():
    return {
        "study": "s",
        "datasets": {"d": {"fasta": "a.fa"}},
        "kernels": {"raw": {"kernel": "smith_waterman"}},
        "solvers": {"csvc": {"solver": "csvc"}},
    }


@pytest.mark.parametrize("repair", [None, "none", "clip", {"method": "empirical_map", "normalize": False}])
def test_a_config_takes_a_repair(config, repair):
    config["kernels"]["raw"]["repair"] = repair
    Study.parse(config)


@pytest.mark.parametrize(
    ("repair", "message"),
    [
        ("clap", r"kernels\.raw: repair='clap' is not possible; choose none or clip or flip or shift or empirical_map"),
        (["clip"], r"kernels\.raw\.repair: \['clip'\] is not text or a mapping or null"),
        ({"method": "empirical_map", "normalise": 1}, "did you mean 'normalize'"),
        ({"method": "clip", "normalize": True}, "repair 'clip' has no option 'normalize'"),
    ],
)
def test_what_is_no_repair_is_an_error_that_names_the_kernel(config, repair, message):
    config["kernels"]["raw"]["repair"] = repair
    with pytest.raises(ConfigError, match=message):
        Study.parse(config)


def test_kernels_that_differ_in_repair_share_one_matrix(config):
    raw = {"kernel": "smith_waterman"}
    config["kernels"] = {
        "map": {"kernel": "pairwise"},
        "raw": raw,
        "clip": {**raw, "repair": "clip", "transforms": ["normalise"]},
        "other": {**raw, "gap_open": 12},
        "twice": {"kernel": "pairwise", "base": {"kernel": "spectrum", "k": 2}},
        "again": {"kernel": "pairwise", "base": "spectrum:k=2", "vector_kernel": "rbf"},
        "learned": {"kernel": "salzberg"},
        "best": {"choose": ["raw", "clip"]},
    }
    homes = Study.parse(config).stored_grams
    assert {name: [home.name for home in own] for name, own in homes.items()} == {
        "map": ["raw"],
        "raw": ["raw"],
        "clip": ["raw"],
        "other": ["other"],
        "twice": ["twice"],
        "again": ["twice"],
    }
    config["kernels"] = {"clip": {**raw, "repair": "clip"}, "map": {"kernel": "pairwise"}, "raw": raw}
    assert {home.name for own in Study.parse(config).stored_grams.values() for home in own} == {"raw"}
    assert homes["map"][0].spec == raw
    assert homes["again"][0].kernel.name == "spectrum"


# ---- models -------------------------------------------------------------------------------------


@pytest.mark.parametrize("repair", REPAIRS)
@pytest.mark.parametrize("transforms", [(), ("centre",)], ids=str)
def test_a_model_repairs_the_rows_of_new_sequences(repair, transforms, tmp_path):
    kernel = build_kernel(INDEFINITE)
    chain = KernelEntry.parse(INDEFINITE, transforms=transforms, repair=repair).transforms
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = train_model(X, LABELS, kernel, "csvc", transforms=chain)
    K, diagonal = kernel(X), kernel.diagonal(X)
    assert np.linalg.eigvalsh(K)[0] < -0.1
    K_new, new_diagonal = kernel(NEW, X), kernel.diagonal(NEW)
    for transform in chain:
        transform.fit(K, diagonal)
        K_new, new_diagonal = transform.transform(K_new, new_diagonal)
        K, diagonal = transform.transform_train()
    assert np.linalg.eigvalsh(K)[0] > -1e-12
    machine = model.solver
    used = model.support.ids
    columns = [X.ids.index(name) for name in used]
    np.testing.assert_allclose(model.decision(NEW), machine.decision_function(K_new[:, columns]), atol=1e-9)
    model.save(tmp_path / "model.seqkern")
    np.testing.assert_array_equal(load_model(tmp_path / "model.seqkern").decision(NEW), model.decision(NEW))


@pytest.mark.parametrize("solver", ["csvc", "psvc"])
@pytest.mark.parametrize("spec", [INDEFINITE, "spectrum:k=2", "smith_waterman:matrix=NUC.4.4,gap_open=8"])
def test_an_indefinite_matrix_without_repair_is_warned_of(solver, spec, recwarn):
    train_model(X, LABELS, build_kernel(spec), solver)
    said = [str(warning.message) for warning in recwarn if "semi-definite" in str(warning.message)]
    assert len(said) == (solver == "csvc" and spec == INDEFINITE)
    assert all("choose a repair (clip, flip, shift, empirical_map), or solver psvc" in text for text in said)


@pytest.mark.parametrize("normalize", [False, True])
def test_the_map_of_a_kernel_that_folds(normalize):
    model = train_model(
        X,
        LABELS,
        build_kernel("spectrum:k=2"),
        "csvc",
        transforms=[build_transform(f"empirical_map:normalize={normalize}")],
    )
    assert (model._folded is None) == normalize
    prepared = model.kernel.prepare(NEW, like=model.columns)
    np.testing.assert_allclose(model.decision(NEW), model.by_matrix(prepared), atol=1e-9)


def test_a_sequence_like_no_training_sequence_is_named():
    strings = ["AACA", "ACAA", "CACC", "CCAC"] * 3
    labels = make_labels([str(i) for i in range(12)], ["1", "1", "0", "0"] * 3)
    train = SequenceSet.from_strings(strings, "dna")
    base = build_kernel("spectrum:k=2,normalize=false")
    model = train_model(train, labels, base, "csvc", transforms=[build_transform("empirical_map")])
    strangers = SequenceSet.from_strings(["AACC", "GGGG"], "dna", ids=["known", "stranger"])
    with pytest.raises(GramError, match=r"record 'stranger': .*zero_diagonal=zero"):
        model.decision(strangers)
    both = SequenceSet.from_strings([*strings, "GGGG"], "dna", ids=[*map(str, range(12)), "stranger"])
    form = base.stored_form.then({"transform": "empirical_map"})
    source = StoredGram(compute_gram(base, both), form=form, ids=both.ids)
    with pytest.raises(GramError, match="record 'stranger'"):
        inputs(source, np.arange(12), np.array([12]))


# ---- command line -------------------------------------------------------------------------------


def test_train_takes_a_repair_and_says_which(files, tmp_path, capsys):
    argv = ["train", "--verbose", *files, "--kernel", INDEFINITE, "--solver", "csvc", "-o", str(tmp_path / "m.seqkern")]
    assert main(argv) == 0
    assert capsys.readouterr().err.count("not positive semi-definite") == 1
    assert main([*argv, "--repair", "flip"]) == 0
    out, err = capsys.readouterr()
    assert "repair:method=flip" in out
    assert "semi-definite" not in err
    flipped = load_model(tmp_path / "m.seqkern").decision(NEW)
    argv[argv.index("--kernel") + 1] = f"{INDEFINITE},repair=flip"
    assert main(argv) == 0
    np.testing.assert_array_equal(load_model(tmp_path / "m.seqkern").decision(NEW), flipped)
    assert main([*argv, "--repair", "flap"]) == 1
    assert "repair='flap' is not possible" in capsys.readouterr().err


def test_evaluate_takes_the_same_spec(tmp_path):
    save_dataset(Dataset("toy", "sequences", X, {"all": Task("all", LABELS)}), tmp_path / "data")
    assert main(["folds", str(tmp_path / "data"), "--method", "stratified", "--k", "2", "-o", str(tmp_path / "f")]) == 0
    argv = ["evaluate", str(tmp_path / "data"), "--folds", str(tmp_path / "f"), "--solver", "csvc"]
    clip = {"transforms": ["repair:method=clip"]}
    for name, more in {"raw": {}, "key": {"repair": "clip"}, "transform": clip}.items():
        spec = json.dumps({"kernel": "sigmoid", "gamma": 2, "coef0": -1, "base": "spectrum:k=2", **more})
        assert main([*argv, "--kernel", spec, "-o", str(tmp_path / name)]) == 0
    table = {name: (tmp_path / name / "decisions.tsv").read_bytes() for name in ("raw", "key", "transform")}
    assert table["key"] == table["transform"] != table["raw"]


def test_gram_prints_and_keeps_the_spectrum(files, tmp_path, capsys):
    argv = ["gram", *files, "--kernel", INDEFINITE, "-o", str(tmp_path / "gram.npy"), "--spectrum"]
    assert main(argv) == 0
    values = np.linalg.eigvalsh(open_gram(tmp_path / "gram.npy").values)
    found = read_spectrum(tmp_path / "gram.spectrum.tsv")
    assert found.smallest == pytest.approx(values[0], rel=1e-8)
    assert found.exact
    out = capsys.readouterr().out
    assert f"smallest eigenvalue {values[0]:.4g}" in out
    assert f"{found.n_negative} of 40 negative, {100 * found.negative_share:.3g}% of the mass" in out
    assert main([*argv, "--tile", "1/2"]) == 1
    assert "--tile does not work with --spectrum" in capsys.readouterr().err
    argv[argv.index("--kernel") + 1] = "spectrum:k=3"
    assert main(argv[:-1]) == 0
    assert not (tmp_path / "gram.spectrum.tsv").exists()  # it was that of another matrix
