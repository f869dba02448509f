"""Models: trained, cut down, kept in one file, read again with equal decisions; strange files refused."""

import contextlib
import io
import json
import pickle
import zipfile

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

from seqkern.core.archive import load_archive, save_archive
from seqkern.core.errors import FileError, GramError, LabelError, ModelError, SequenceError
from seqkern.gram.transforms import build_transform
from seqkern.kernels import build_kernel
from seqkern.methods import model as model_module
from seqkern.methods.loading import load_model
from seqkern.methods.training import train_model
from seqkern.sequences.labels import Labels, make_labels
from seqkern.sequences.sequence_set import SequenceSet
from seqkern.sequences.tables import FeatureTable, SimilarityTable
from seqkern.solvers import make_solver

MOTIFS = {"negative": "ACACAC", "positive": "GTTGTT", "third": "CCGGCC"}


def make_data(n=60, classes=("negative", "positive"), seed=0):
    """Random DNA, each class with a motif of its own in most of its members."""
    rng = np.random.default_rng(seed)
    names = [classes[i % len(classes)] for i in range(n)]
    strings = []
    for name in names:
        letters = rng.choice(list("ACGT"), 40)
        if rng.random() < 0.8:
            place = rng.integers(0, 34)
            letters[place : place + 6] = list(MOTIFS[name])
        strings.append("".join(letters))
    X = SequenceSet.from_strings(strings, "dna", [f"s{i}" for i in range(n)])
    return X, make_labels(X.ids, names)


def new_sequences(n=25):
    return make_data(n, seed=99)[0]


CASES = {
    "csvc": ("spectrum:k=3", "csvc:C=1", [], 2),
    "psvc": ("spectrum:k=3", "psvc:epsilon=0.3", [], 2),
    "not normalised": ("spectrum:k=2,normalize=false", "csvc:C=0.1", [], 2),
    "centred": ("spectrum:k=3", "csvc:C=1", ["centre"], 2),
    "normalised afterwards": ("spectrum:k=3,normalize=false", "psvc:epsilon=0.3", ["normalise"], 2),
    "chain": ("spectrum:k=3,normalize=false", "csvc:C=1", ["normalise", "centre", "repair:method=shift"], 2),
    "learning": ("pairwise:base=(spectrum:k=2)", "csvc:C=100", [], 2),
    "sum of parts": ("spectrum:k=2,part=0:20 + spectrum:k=3,part=20:40", "csvc:C=1", [], 2),
    "classes": ("spectrum:k=3", "csvc:C=1", [], 3),
    "classes centred": ("spectrum:k=3", "psvc:epsilon=0.3", ["centre"], 3),
}


def train_case(name):
    kernel, solver, transforms, n_classes = CASES[name]
    X, labels = make_data(classes=list(MOTIFS)[:n_classes])
    return train_model(
        X, labels, build_kernel(kernel), solver, transforms=[build_transform(item) for item in transforms]
    )


def whole_decisions(name, new):
    """The decisions of the same method, nothing left out and nothing cut down."""
    kernel, solver, transforms, n_classes = CASES[name]
    X, labels = make_data(classes=list(MOTIFS)[:n_classes])
    y = labels.signs() if labels.kind == "binary" else labels.y
    kernel = build_kernel(kernel).fit(X, y)
    K, K_new = kernel(X), kernel(new, X)
    diagonal, new_diagonal = kernel.diagonal(X), kernel.diagonal(new)
    for item in transforms:
        transform = build_transform(item).fit(K, diagonal)
        K_new, new_diagonal = transform.transform(K_new, new_diagonal)
        K, diagonal = transform.transform_train()
    return make_solver(solver, labels.kind).fit(np.ascontiguousarray(K), y).decision_function(K_new)


@pytest.fixture(scope="module")
def plain():
    return train_case("csvc")


@pytest.mark.parametrize("name", CASES)
def test_decisions_are_those_of_the_whole_method(name):
    model, new = train_case(name), new_sequences()
    by_matrix = model.by_matrix(model.kernel.prepare(new, like=model.columns))
    assert by_matrix.tobytes() == whole_decisions(name, new).tobytes()
    folded = model.decision(new)
    np.testing.assert_allclose(folded, by_matrix, rtol=1e-12, atol=1e-12 * np.abs(by_matrix).max())
    assert (model._folded is None) == (model.kind == "multiclass")
    one_by_one = [model.decision(new.take([i])) for i in range(len(new))]
    assert np.concatenate(one_by_one).tobytes() == folded.tobytes()
    needs_all = any(transform.needs_all() for transform in model.transforms)
    assert (len(model.support) == 60) == needs_all
    assert len(model.support.codes) == model.support.lengths.sum()  # compact


@pytest.mark.parametrize("name", CASES)
def test_file_gives_the_same_decisions_to_the_bit(tmp_path, name):
    model, new, path = train_case(name), new_sequences(), tmp_path / "m.seqkern"
    model.save(path)
    again = load_model(path)
    assert again.decision(new).tobytes() == model.decision(new).tobytes()
    assert again.predict(new).tolist() == model.predict(new).tolist()
    assert (again.kind, again.classes, again.record) == (model.kind, model.classes, model.record)
    again.save(tmp_path / "again.seqkern")
    assert (tmp_path / "again.seqkern").read_bytes() == path.read_bytes()
    train_case(name).save(path)
    assert (tmp_path / "again.seqkern").read_bytes() == path.read_bytes()  # same input, same bytes


@pytest.mark.parametrize("name", ["csvc", "chain", "learning", "classes"])
def test_batches_change_no_bit(monkeypatch, name):
    model, new = train_case(name), new_sequences()
    whole = model.decision(new)
    parts = [model.decision(new.take(slice(start, start + 4))) for start in range(0, len(new), 4)]
    assert np.concatenate(parts).tobytes() == whole.tobytes()
    monkeypatch.setattr(model_module, "CHUNK_BYTES", 8 * 60 * 3)
    assert model.decision(new, n_threads=1).tobytes() == whole.tobytes()


def test_predictions_follow_from_decisions():
    model, new = train_case("csvc"), new_sequences()
    expected = np.where(model.decision(new) > 0, "positive", "negative")
    assert model.predict(new).tolist() == expected.tolist()
    assert np.mean(model.predict(new) == np.array(make_data(25, seed=99)[1].names())) > 0.7
    model = train_case("classes")
    decisions = model.decision(new)
    assert decisions.shape == (25, 3)
    assert model.predict(new).tolist() == [model.classes[i] for i in decisions.argmax(axis=1)]
    assert model.decision(new.strings()).tobytes() == decisions.tobytes()  # strings will do


def test_features():
    rng = np.random.default_rng(4)
    values = rng.normal(size=(40, 3))
    labels = make_labels([str(i) for i in range(40)], ["ab"[int(row[0] > 0)] for row in values])
    X = FeatureTable(values, columns=["height", "width", "depth"])
    model = train_model(X, labels, build_kernel("rbf:gamma=0.5"), "csvc:C=10")
    new = FeatureTable(rng.normal(size=(9, 3)), columns=X.columns)
    assert model.decision(new).tobytes() == model.decision(new.values).tobytes()
    assert model.predict(values).tolist() == labels.names()
    for wrong in (FeatureTable(new.values), new.values[:, :2]):
        with pytest.raises(ModelError, match="the features differ from those of the model"):
            model.decision(wrong)


def test_real_labels():
    X, labels = make_data()
    real = Labels(X.ids, labels.y * 2.5 - 1, "real")
    model = train_model(X, real, build_kernel("spectrum:k=3"), "psvr:epsilon=0.1")
    new = new_sequences()
    assert model.classes == ()
    np.testing.assert_array_equal(model.predict(new), model.decision(new))
    assert np.corrcoef(model.predict(X), real.y)[0, 1] > 0.8


def test_choice_by_cross_validation_is_recorded():
    X, labels = make_data()
    grid = [{"solver": "csvc", "C": 1e-6}, {"solver": "csvc", "C": 1.0}, {"solver": "psvc", "epsilon": 2.0}]
    model = train_model(X, labels, build_kernel("spectrum:k=3"), grid, folds=4, seed=3)
    search = model.record["search"]
    assert search["specs"] == grid
    assert np.shape(search["scores"]) == (3, 4)
    means = np.mean(search["scores"], axis=1)
    assert means[2] == 0.5  # the P-SVM without any support vector
    assert means[0] == means[1] == means.max()
    assert model.record["solver"] == grid[1]  # at C = 1e-6 it ranks as well, and puts everything in one class
    assert search["score"] == pytest.approx(means.max(), abs=1e-15)
    assert (search["metric"], search["folds"], model.record["seed"]) == ("auc", 4, 3)
    assert model.record["solver"]["C"] == model.solver.C
    fixed = train_model(X, labels, build_kernel("spectrum:k=3"), "csvc:C=1")
    assert fixed.record["search"] is None


def test_inner_fits_and_weights_that_do_not_converge_are_told_once():
    X, labels = make_data()
    grid = [{"solver": "csvc", "C": 0.1, "max_iter": 1}, {"solver": "csvc", "C": 1.0, "max_iter": 1}]
    parts = "combination:parts=[(spectrum:k=2),(spectrum:k=3)],weights=mkl,tol=1e-9,max_iter=1"
    with pytest.warns(ConvergenceWarning) as told:
        model = train_model(X, labels, build_kernel(parts), grid, folds=3, threshold="sensitivity=0.9")
    # 2 candidates in 3 folds, whose decisions the threshold uses; and the weights of each fold
    assert model.record["inner_not_converged"] == 9
    texts = [str(warning.message) for warning in told if issubclass(warning.category, ConvergenceWarning)]
    assert sum("9 fits of the cross-validation did not converge" in text for text in texts) == 1
    assert sum("multiple kernel learning stopped" in text for text in texts) == 1
    assert len(texts) == 3
    fine = train_model(X, labels, build_kernel("spectrum:k=3"), "csvc:C=[0.1,1]", folds=3)
    assert fine.record["inner_not_converged"] == 0


def test_record_says_how_the_model_was_made(plain):
    X, _ = make_data()
    record = plain.record
    assert record["training_digest"] == X.digest()
    assert record["classes"] == {"negative": 30, "positive": 30}
    assert record["n"] == 60
    assert record["report"]["converged"]
    assert {"seqkern", "build", "python", "numpy", "scikit-learn"} <= set(record["versions"])


def test_units_without_a_label_are_left_out():
    X, labels = make_data()
    values = labels.names()
    values[10:40] = [""] * 30
    model = train_model(X, make_labels(X.ids, values), build_kernel("spectrum:k=3"), "csvc:C=1")
    assert model.record["n"] == 30
    assert not set(model.support.ids) & set(X.ids[10:40])
    with pytest.raises(LabelError, match="60 labels for 59 samples"):
        train_model(X.take(slice(0, 59)), labels, build_kernel("spectrum:k=3"), "csvc:C=1")


def test_model_without_support_vectors_predicts_its_constant(tmp_path):
    X, labels = make_data()
    model = train_model(X, labels, build_kernel("spectrum:k=3"), "psvc:epsilon=2")
    assert model.record["report"]["n_support"] == 0
    model.save(tmp_path / "m.seqkern")
    assert set(load_model(tmp_path / "m.seqkern").decision(new_sequences())) == {0.0}


def test_similarities_are_refused():
    labels = make_labels(["1", "2"], ["a", "b"])
    with pytest.raises(ModelError, match="cannot be applied to new samples"):
        train_model(SimilarityTable(np.eye(2)), labels, build_kernel("precomputed"), "csvc:C=1")


def test_another_alphabet_is_refused(plain):
    with pytest.raises(ModelError, match="trained on dna, but these sequences are rna"):
        plain.decision(SequenceSet.from_strings(["ACGU"], "rna"))
    with pytest.raises(SequenceError, match="not in the alphabet dna"):
        plain.decision(["ACGU"])


# ---- the file -------------------------------------------------------------------------------------------


@pytest.fixture
def saved(tmp_path, plain):
    plain.save(tmp_path / "m.seqkern")
    return tmp_path / "m.seqkern"


def test_nothing_is_pickled(saved):
    with zipfile.ZipFile(saved) as archive:
        for member in archive.infolist():
            assert member.filename.endswith(".npy")
            assert member.compress_type == zipfile.ZIP_STORED
            array = np.load(io.BytesIO(archive.read(member)), allow_pickle=False)
            assert not array.dtype.hasobject


def test_missing_file(tmp_path):
    with pytest.raises(FileError, match=r"m\.seqkern: no such file"):
        load_model(tmp_path / "m.seqkern")


class Bomb:
    """Would leave a trace if it were unpickled."""

    def __reduce__(self):
        return (exec, ("import builtins; builtins.SEQKERN_WAS_PICKLED = True",))


def npz(**arrays):
    buffer = io.BytesIO()
    np.savez(buffer, **arrays)
    return buffer.getvalue()


def packed(name, content):
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(name, content)
    return buffer.getvalue()


def huge():
    """An array that says to have 10^15 numbers, and has none."""
    buffer = io.BytesIO()
    header = {"descr": "<f8", "fortran_order": False, "shape": (10**15,)}
    np.lib.format.write_array_header_1_0(buffer, header)
    stored = io.BytesIO()
    with zipfile.ZipFile(stored, "w") as archive:
        archive.writestr("json.npy", buffer.getvalue())
    return stored.getvalue()


def text(value):
    return np.frombuffer(value.encode(), dtype=np.uint8)


FOREIGN = {
    "empty": b"",
    "text": b"id\tlabel\na\t1\n",
    "noise": np.random.default_rng(0).bytes(5000),
    "pickle": pickle.dumps(Bomb()),
    "pickled array": npz(json=np.array([Bomb()], dtype=object)),
    "npz": npz(values=np.arange(3)),
    "no json": npz(json=text("{")),
    "deep json": npz(json=text("[" * 100_000)),
    "other json": npz(json=text('{"format": "something else"}')),
    "list": npz(json=text("[1, 2]")),
    "bomb": packed("json.npy", npz(a=np.zeros(10**6))),
    "huge": huge(),
}


@pytest.mark.parametrize("name", FOREIGN)
def test_foreign_files_are_refused(tmp_path, name):
    path = tmp_path / "m.seqkern"
    path.write_bytes(FOREIGN[name])
    with pytest.raises(ModelError, match=r"m\.seqkern: is (not a (seqkern )?model|empty)") as caught:
        load_model(path)
    assert "\n" not in str(caught.value)
    import builtins

    assert not hasattr(builtins, "SEQKERN_WAS_PICKLED")


def test_damage_is_found_or_harmless(saved, plain):
    content, new = saved.read_bytes(), new_sequences(3)
    expected = plain.decision(new).tobytes()
    rng = np.random.default_rng(1)
    for place in rng.integers(0, len(content), 300):
        damaged = bytearray(content)
        damaged[place] ^= 1 << rng.integers(8)
        saved.write_bytes(damaged)
        with contextlib.suppress(ModelError):
            assert load_model(saved).decision(new).tobytes() == expected
    for size in (1, 100, len(content) // 2, len(content) - 1):
        saved.write_bytes(content[:size])
        with pytest.raises(ModelError):
            load_model(saved)


def set_item(*keys, value):
    def change(header, arrays):
        target = header
        for key in keys[:-1]:
            target = target[key]
        target[keys[-1]] = value

    return change


def set_array(key, change):
    def apply(header, arrays):
        arrays[key] = change(arrays[key])

    return apply


TAMPERED = {
    "no kernel": lambda header, arrays: header.pop("kernel"),
    "unknown kernel": set_item("kernel", "spec", "kernel", value="rootkit"),
    "unknown parameter": set_item("kernel", "spec", "evil", value=1),
    "impossible parameter": set_item("kernel", "spec", "k", value=10**9),
    "unknown solver": set_item("solver", "spec", "solver", value="rootkit"),
    "other columns": set_item("solver", "columns", value=10**6),
    "other kind": set_item("kind", value="real"),
    "one class": set_item("classes", value=["positive"]),
    "equal classes": set_item("classes", value=["positive", "positive"]),
    "other data": set_item("data", value="features"),
    "alphabet of one letter": set_item("support", "alphabet", "letters", value="A"),
    "transform that is not there": set_item("n_transforms", value=1),
    "ids of others": set_item("support", "ids", value=["a"]),
    "offsets past the end": set_array("support/offsets", lambda offsets: offsets + 10**9),
    "offsets backwards": set_array("support/offsets", lambda offsets: offsets[::-1].copy()),
    "codes outside the alphabet": set_array("support/codes", lambda codes: codes + np.uint8(100)),
    "support past the end": set_array("solver/support", lambda rows: rows + 10**9),
    "negative support": set_array("solver/support", lambda rows: rows - 10**9),
    "too few coefficients": set_array("solver/coef", lambda coef: coef[:1]),
    "coefficients of another type": set_array("solver/coef", lambda coef: coef.astype(str)),
    "coefficients of NaN": set_array("solver/coef", lambda coef: coef * np.nan),
    "recognised of a list": set_item("record", "recognised", value=[1]),
    "means of text": set_item("record", "training_means", value={"least": "a", "greatest": 1}),
    "one mean": set_item("record", "training_means", value={"least": 1.0}),
    "window of text": set_item("record", "window", value={"left": "x", "right": 2, "site": ""}),
    "window of other sequences": set_item("record", "window", value={"left": 500, "right": 2, "site": ""}),
    "no arrays": lambda header, arrays: arrays.clear(),
    "other diagonal": set_array("diagonal", lambda diagonal: diagonal[:-1]),
}


@pytest.mark.parametrize("name", TAMPERED)
def test_tampered_files_are_refused(saved, name):
    header, arrays = load_archive(saved)
    TAMPERED[name](header, arrays)
    save_archive(saved, header, arrays)
    with pytest.raises(ModelError, match=r"m\.seqkern: is not usable.*; train the model again") as caught:
        load_model(saved)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    "change",
    [
        set_item("transform2", "spec", "transform", value="rootkit"),
        set_item("transform1", "learned", "mean_", value="text"),
        set_item("transform0", "columns", value=10**6),
        set_array("transform0/diagonal_", lambda diagonal: diagonal.astype(str)),
        set_array("transform1/means_", lambda means: means[:-1]),
        set_item("transform2", "learned", "values_", value=[-1.0, -2.0]),
    ],
)
def test_tampered_transforms_are_refused(tmp_path, change):
    X, labels = make_data()
    chain = [build_transform(name) for name in ("normalise", "centre", "repair:method=flip")]
    model = train_model(X, labels, build_kernel("spectrum:k=3"), "csvc:C=1", transforms=chain)
    model.save(tmp_path / "m.seqkern")
    header, arrays = load_archive(tmp_path / "m.seqkern")
    change(header, arrays)
    save_archive(tmp_path / "m.seqkern", header, arrays)
    with pytest.raises(ModelError, match=r"m\.seqkern: is not usable.*; train the model again"):
        load_model(tmp_path / "m.seqkern")


@pytest.mark.parametrize("kernel", ["spectrum:k=3", "spectrum:k=3,normalize=false", "oligo:k=2,sigma=2"])
@pytest.mark.parametrize("solver", ["csvc", "svr", "gp_regression"])
def test_decisions_that_are_not_finite_are_refused(tmp_path, kernel, solver):
    X, labels = make_data(20)
    if solver != "csvc":
        labels = make_labels(X.ids, np.arange(20.0), kind="real")
    header, arrays = train_model(X, labels, build_kernel(kernel), solver).state()
    arrays["solver/coef"] = np.full(len(arrays["solver/coef"]), 1e308)
    save_archive(tmp_path / "m.seqkern", header, arrays)
    model, new = load_model(tmp_path / "m.seqkern"), new_sequences(5)
    for decide in (model.decision, model.predict, model.decide, model.decision_and_variances):
        with pytest.raises((ModelError, GramError), match=r"the decision (of solver .* )?is (nan|-?inf)") as caught:
            decide(new)
        assert "\n" not in str(caught.value)
    if solver != "gp_regression":  # a folded sum
        assert str(caught.value).startswith("record 's0': ")


def test_other_kernel_values_than_in_training_are_noticed(saved):
    header, arrays = load_archive(saved)
    arrays["diagonal"] = arrays["diagonal"] * 1.001
    save_archive(saved, header, arrays)
    with pytest.raises(ModelError, match="computes different kernel values than the version"):
        load_model(saved)


def test_file_that_cannot_be_written(tmp_path, plain):
    (tmp_path / "file").write_text("")
    with pytest.raises(FileError, match="cannot be written"):
        plain.save(tmp_path / "file" / "m.seqkern")


def test_header_is_readable_json(saved):
    with zipfile.ZipFile(saved) as archive:
        header = json.loads(np.load(io.BytesIO(archive.read("json.npy"))).tobytes())
    assert header["format"] == "seqkern model"
    assert header["classes"] == ["negative", "positive"]
