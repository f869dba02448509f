"""Data sets of residues: from users' files, generated and public; folds and leakage by chain."""

import json
from dataclasses import replace

import numpy as np
import pytest
from test_profile_files import pssm_text

from seqkern.cli.main import main
from seqkern.core.errors import ConfigError, FoldError, LabelError, ParameterError, SequenceError
from seqkern.evaluation import FoldSet, Split, make_folds, read_folds
from seqkern.evaluation.folds import chain_folds, chain_labels
from seqkern.evaluation.leakage import find_links, leakage_rows
from seqkern.formats.profiles import check_tracks
from seqkern.sequences.labels import UNLABELLED, Labels
from seqkern.simulate import simulate, write_simulated
from seqkern.study import load_dataset, make_dataset, save_dataset
from seqkern.study.adapters import cb513, jpred4, qian_sejnowski, rs126
from seqkern.study.study import Study, check_dataset_entry

CHAINS = {"one": "MKVLAAGW", "two": "ARNDCQEGH", "three": "MKV", "four": "WWYYAC"}
STATES = {"one": "HHHHGCCE", "two": "CCEEBTTSS", "three": "C-L", "four": "??HHEE"}
GENERATED = {"simulate": {"kind": "secondary_structure", "n_chains": 12, "mean_length": 40}, "residues": {"window": 7}}


def fasta(records):
    return "".join(f">{name} fold={i % 2} family=f{i // 2}\n{text}\n" for i, (name, text) in enumerate(records.items()))


@pytest.fixture
def files(tmp_path):
    (tmp_path / "chains.fa").write_text(fasta(CHAINS))
    (tmp_path / "chains.ss").write_text(fasta(STATES))
    both = {name: f"{CHAINS[name]}\n{STATES[name]}" for name in CHAINS}
    (tmp_path / "chains.ss3").write_text(fasta(both))
    return tmp_path


def entry_of(labels=None, **residues):
    labels = {"from": "states", "file": "chains.ss"} | (labels or {})
    return {"fasta": "chains.fa", "labels": labels, "residues": {"window": 5} | residues}


def test_every_residue_is_a_unit_with_its_state(files):
    made = make_dataset("d", entry_of(reduction="HGI_EB"), files)
    labels = made.task().labels
    assert labels.classes == ("H", "E", "C")
    assert "".join(labels.names()).startswith("HHHHHCCE")
    assert labels.y[20:22].tolist() == [UNLABELLED] * 2
    assert labels.ids[:2] == ["one:1", "one:2"]
    assert labels.groups.tolist() == [name for name, text in CHAINS.items() for _ in text]
    # the residues without a state are neighbours all the same
    assert made.X.strings()[22] == "WWYYA"
    assert made.notes["residues"] == {"window": 5, "reduction": "HGI_EB"}


def test_without_a_reduction_all_states_are_classes(files):
    labels = make_dataset("d", entry_of(), files).task().labels
    assert labels.classes == tuple("HECGBTS")


def test_letters_and_states_may_stand_in_one_file_and_headers_name_folds_and_groups(files):
    entry = {
        "fasta": "chains.ss3",
        "labels": {"from": "states", "fold": "fold", "group": "family", "positive": "H"},
        "residues": {"window": 3, "reduction": "H_E"},
    }
    labels = make_dataset("d", entry, files).task().labels
    assert labels.kind == "binary"
    assert labels.groups.tolist() == [f"f{i // 2}" for i, text in enumerate(CHAINS.values()) for _ in text]
    assert labels.folds.tolist() == [str(i % 2) for i, text in enumerate(CHAINS.values()) for _ in text]


def test_a_chain_without_a_known_state_is_left_out_and_counted(files):
    (files / "chains.ss").write_text(fasta(STATES | {"three": "???"}))
    made = make_dataset("d", entry_of(), files)
    assert made.residues.chains.ids == ["one", "two", "four"]
    assert made.X.counts == {"chains without a known state left out": 1}
    (files / "chains.ss").write_text(fasta({name: "?" * len(text) for name, text in STATES.items()}))
    with pytest.raises(ConfigError, match="no residue has a known state"):
        make_dataset("d", entry_of(), files)


def test_a_data_set_of_residues_is_saved_once_for_each_letter(files, tmp_path):
    (files / "pssms").mkdir()
    for name, letters in CHAINS.items():
        (files / "pssms" / f"{name}.pssm").write_text(pssm_text(letters))
    made = make_dataset("d", entry_of(window=15) | {"profiles": {"files": "pssms"}}, files)
    save_dataset(made, tmp_path / "out")
    again = load_dataset(tmp_path / "out")
    assert again.X.digest() == made.X.digest()
    assert again.X.strings() == made.X.strings()
    assert sorted(again.X.tracks) == ["profile", "pssm"]
    assert sorted(again.residues.chains.tracks) == ["states"]
    assert np.array_equal(again.residues.states(), made.residues.states())
    assert again.residues.window == 15
    assert again.task().labels.digest() == made.task().labels.digest()
    told = json.loads((tmp_path / "out" / "summary.json").read_text())
    assert told["n"] == 26
    assert told["chains"] == {"n": 4, "min": 3, "median": 7.0, "max": 9}
    with np.load(tmp_path / "out" / "data.npz") as archive:
        assert len(archive["X/codes"]) == 26 + 5 * 7


def test_a_profile_of_other_letters_is_refused(files):
    (files / "pssms").mkdir()
    for name, letters in CHAINS.items():
        (files / "pssms" / f"{name}.pssm").write_text(pssm_text(letters.replace("W", "F")))
    with pytest.raises(SequenceError, match="record 'one': at position 8 the profile has F, but the sequence has W"):
        make_dataset("d", entry_of() | {"profiles": {"files": "pssms"}}, files)


def test_kernels_that_need_a_profile_everywhere_tell_that_windows_reach_beyond_the_ends(files):
    (files / "pssms").mkdir()
    for name, letters in CHAINS.items():
        (files / "pssms" / f"{name}.pssm").write_text(pssm_text(letters))
    X = make_dataset("d", entry_of() | {"profiles": {"files": "pssms"}}, files).X
    with pytest.raises(SequenceError, match="record 'one:1': at position 1 it extends past the end of its chain"):
        check_tracks(X, ("profile",))
    check_tracks(X, ("pssm",))


IMPOSSIBLE = [
    (entry_of(window=14), "window=14 is even, so it has no middle residue; use 13 or 15"),
    (entry_of(reduction="HGI_BE"), "unknown reduction of states 'HGI_BE'; did you mean 'HGI_E'"),
    (entry_of(labels={"from": "header"}), "no states given for the residues; give both"),
    ({"fasta": "a.fa", "labels": {"from": "states", "file": "b.ss"}}, "labels from states need residues; give both"),
    (entry_of() | {"window": "-5:+5", "sites": "header"}, "residues do not work with window"),
    (GENERATED | {"tasks": "families"}, "residues do not work with tasks"),
    ({"features": "t.tsv", "residues": {}}, "residues do not work with features"),
    (GENERATED | {"labels": {"from": "states"}}, "labels from states need fasta"),
]


@pytest.mark.parametrize(("entry", "message"), IMPOSSIBLE)
def test_impossible_entries_are_found_before_anything_is_read(entry, message):
    with pytest.raises(ConfigError, match=message) as caught:
        check_dataset_entry("d", entry, file="study.yaml")
    assert str(caught.value).startswith("study.yaml: datasets.d")
    with pytest.raises((ConfigError, ParameterError), match=message):
        make_dataset("d", entry)


@pytest.mark.parametrize(
    ("kernel", "message"),
    [
        ({"kernel": "pssm_window"}, "kernel 'k' needs profiles; add profiles: to the data set, or list"),
        ({"kernel": "profile", "search": "training"}, "kernel 'k' would search with windows around residues, not with"),
    ],
)
def test_profiles_of_residues_belong_to_the_data_set(kernel, message):
    solvers = {"s": {"solver": "csvc"}}
    study = {"study": "s", "datasets": {"d": GENERATED}, "kernels": {"k": kernel}, "solvers": solvers}
    with pytest.raises(ConfigError, match=f"datasets.d: {message}"):
        Study.parse(study)


def test_an_unknown_key_of_residues_is_named():
    with pytest.raises(ConfigError, match=r"datasets.d.residues: unknown key 'extent'; choose from: reduction, window"):
        check_dataset_entry("d", GENERATED | {"residues": {"extent": 3}}, file="study.yaml")


def test_chains_without_the_key_and_the_key_without_states_are_told():
    with pytest.raises(LabelError, match=r"has states of residues as labels; add residues: {window: 15}"):
        make_dataset("d", {"simulate": GENERATED["simulate"]})
    with pytest.raises(ConfigError, match="no states given for the residues"):
        make_dataset("d", {"simulate": {"kind": "donor"}, "residues": {}})


def test_generated_chains_are_learnable_and_written(tmp_path):
    data = simulate("secondary_structure", seed=3, n_chains=50, mean_length=60)
    X = data.sequences
    assert simulate("secondary_structure", seed=3, n_chains=50, mean_length=60).sequences.digest() == X.digest()
    states, alanine, valine = X.tracks["states"], X.codes == X.alphabet.letters.index("A"), X.codes == 17
    assert alanine[states == ord("H")].mean() > 2 * alanine[states == ord("E")].mean()
    assert valine[states == ord("E")].mean() > 2 * valine[states == ord("C")].mean()
    paths = write_simulated(data, tmp_path / "chains")
    assert [path.name for path in paths] == ["chains.fasta", "chains.tsv", "chains.states"]
    entry = {"fasta": "chains.fasta", "labels": {"from": "states", "file": "chains.states"}, "residues": {"window": 7}}
    made = make_dataset("d", entry, tmp_path)
    assert np.array_equal(made.residues.states(), states)
    with pytest.raises(ParameterError, match="helix_length"):
        simulate("secondary_structure", helix_length=3.0)


@pytest.fixture
def generated(tmp_path):
    save_dataset(make_dataset("d", GENERATED, seed=2), tmp_path / "d")
    return tmp_path / "d"


def folds_of(folder, *arguments):
    assert main(["folds", str(folder), "-o", str(folder / "folds"), *arguments]) == 0
    rows = [line.split("\t") for line in (folder / "folds" / "all.tsv").read_text().splitlines()]
    leakage = [line.split("\t") for line in (folder / "folds" / "leakage.tsv").read_text().splitlines()]
    return rows[0], rows[1:], leakage[1:]


def test_no_fold_divides_a_chain_by_default(generated):
    names, rows, leakage = folds_of(generated, "--k", "3")
    assert names == ["id", "group", "1", "2", "3"]
    parts = {}
    for row in rows:
        parts.setdefault(row[0].split(":")[0], set()).add(tuple(row[2:]))
    assert len(parts) == 12
    assert all(len(found) == 1 for found in parts.values())
    assert not leakage


@pytest.mark.parametrize(
    "method", [["stratified", "--k", "2"], ["grouped", "--k", "3"], ["five_by_two"], ["leave-one-out"]]
)
def test_no_method_divides_a_chain(generated, method):
    names, rows, leakage = folds_of(generated, "--method", *method)
    for split in range(2, len(names)):
        sides = [{row[0].split(":")[0] for row in rows if row[split] == part} for part in ("train", "test")]
        assert not sides[0] & sides[1]
        assert len(sides[0] | sides[1]) == 12
    assert not leakage
    if method == ["leave-one-out"]:
        assert len(names) == 2 + 12


@pytest.mark.parametrize("method", ["stratified", "five_by_two", "leave-one-out"])
def test_given_groups_of_chains_stay_whole_too(method):
    chains, families = np.repeat(np.arange(24), 20), np.repeat(np.arange(12), 40)
    y = np.random.default_rng(1).integers(0, 3, 480)
    labels = Labels([f"u{i}" for i in range(480)], y, "multiclass", tuple("HEC"), groups=families)
    for split in make_folds(labels, method=method, chains=chains):
        assert not set(families[split.train]) & set(families[split.test])
    bare = replace(labels, groups=None)
    for split in make_folds(bare, method=method, chains=chains):
        assert not set(chains[split.train]) & set(chains[split.test])


def test_given_parts_that_divide_a_chain_are_refused():
    chains = np.repeat(np.arange(4), 10)
    labels = Labels([f"u{i}" for i in range(40)], np.arange(40) % 2, "binary", ("n", "y"))
    roles = np.where(np.arange(40) < 15, "train", "test")
    with pytest.raises(
        FoldError, match=r"record 'u15': is in the test set of split '1', but other residues of its chain"
    ):
        make_folds(labels, method="predefined", roles=roles, chains=chains)


def test_a_file_of_folds_that_divides_a_chain_is_refused(generated, capsys):
    folds_of(generated, "--k", "2")
    file = generated / "folds" / "all.tsv"
    lines = [line.split("\t") for line in file.read_text().splitlines()]
    without = ["\t".join([line[0], *line[2:]]) for line in lines]
    dataset = load_dataset(generated)
    given = (dataset.X.ids, dataset.task().labels, dataset.chains)

    def read(rows):
        file.write_text("\n".join(rows) + "\n")
        return read_folds(file, *given)

    assert np.array_equal(read(without).groups, dataset.residues.record)
    other = lines[5][:2] + lines[5][:1:-1]
    with pytest.raises(FoldError, match=r"record 'chain1:(1|5)': is in the test set of split '1', but other residues"):
        read(["\t".join(line) for line in [*lines[:5], other, *lines[6:]]])
    with pytest.raises(FoldError, match="record 'chain1:5': belongs to another group than the preceding residues"):
        read(["\t".join(line) for line in [*lines[:5], [lines[5][0], "11", *lines[5][2:]], *lines[6:]]])
    file.write_text("\n".join("\t".join(line) for line in [*lines[:5], other, *lines[6:]]) + "\n")
    arguments = ["--folds", str(file.parent), "--methods", '{"a": {"solver": "csvc"}}']
    assert main(["check", str(generated), *arguments]) == 1
    assert "but other residues of its chain are in the training set" in capsys.readouterr().err


def test_no_gram_matrix_of_all_residues_is_made_or_taken(generated, tmp_path, capsys):
    folds_of(generated, "--k", "2")
    np.save(tmp_path / "g.npy", np.eye(3))
    message = "samples are residues, for which no Gram matrix over all samples is computed; run seqkern evaluate"
    output = str(tmp_path / "out.npy")
    assert main(["gram", "--dataset", str(generated), "--kernel", "window", "-o", output]) == 1
    assert message in capsys.readouterr().err
    assert main(["gram", str(generated), "--kernel", "window", "-o", output]) == 1
    assert f"is a data-set folder, not FASTA; give it as --dataset {generated}" in capsys.readouterr().err
    how = ["--folds", str(generated / "folds"), "--kernel", "window", "-o", str(tmp_path / "e")]
    assert main(["evaluate", str(generated), *how, "--solver", "csvc", "--gram", str(tmp_path / "g.npy")]) == 1
    assert message in capsys.readouterr().err
    how[3] = "window:vector_kernel=linear"
    assert main(["evaluate", str(generated), *how, "--solver", "linear_svc"]) == 1
    assert "choose a solver that takes its features, such as primal_svc; or " in capsys.readouterr().err


def test_a_missing_file_of_states_is_named_with_its_place_in_the_study(files, monkeypatch, capsys):
    monkeypatch.chdir(files)
    study = {
        "study": "s",
        "datasets": {"d": entry_of({"file": "nope"})},
        "kernels": {"w": {"kernel": "window", "vector_kernel": "linear"}},
        "solvers": {"p": {"solver": "primal_svc"}},
    }
    (files / "s.yaml").write_text(json.dumps(study))
    assert main(["datasets", "s.yaml", "--name", "d", "-o", "out"]) == 1
    assert "s.yaml: datasets.d.labels.file: no such file: 'nope'; check the path" in capsys.readouterr().err


def test_remedies_of_grouped_data_do_not_divide_groups():
    y = np.tile([0, 1], 8)
    labels = Labels([f"u{i}" for i in range(16)], y, "binary", ("n", "y"), groups=np.repeat(list("abcd"), 4))
    with pytest.raises(
        FoldError, match="has 4 groups, too few for five different halvings; choose the fold method grouped"
    ):
        make_folds(labels, method="five_by_two")
    with pytest.raises(
        FoldError, match="has 4 chains, too few for five different halvings; choose the fold method grouped"
    ):
        make_folds(labels, method="five_by_two", chains=np.repeat(np.arange(4), 4))


def test_a_state_in_a_single_chain_calls_for_a_reduction_or_more_chains():
    y = np.repeat([0, 1, 0, 1, 0, 2], 4)
    labels = Labels([f"u{i}" for i in range(24)], y, "multiclass", tuple("HEG"), groups=np.repeat(list("abc"), 8))
    chains = np.repeat(np.arange(3), 8)
    with pytest.raises(FoldError, match=r"'G' has 1 chain for 2 folds in task 'all'; reduce the states \(res"):
        make_folds(labels, method="grouped", k=2, chains=chains)
    with pytest.raises(FoldError, match=r"no sample of class 'G'; use other folds, reduce the states .* or give more"):
        make_folds(labels, method="leave-one-group-out", chains=chains)


def test_a_chain_in_both_parts_leaks_and_windows_alike_do_not(generated):
    dataset = load_dataset(generated)
    residues, rows = dataset.residues, np.arange(len(dataset.X))
    halves = FoldSet("all", tuple(dataset.X.ids), (Split("1", rows[::2], rows[1::2]),))
    links = find_links(residues.chains)
    leakage = leakage_rows(links, chain_folds(halves, residues), chain_labels(links.identical, residues))
    assert {(row[2], row[3]) for row in leakage} == {("identical", f"chain{i}") for i in range(1, 13)}


def test_chains_repeated_across_folds_are_found_and_kept_together(tmp_path):
    letters = ["MKVLAAGWHHKLEDDQ", "MKVLAAGWHHKLEDDQ", "ACDEFGHIKLMNPQRSTVWY", "HIKLMNPQRSTVW", "QNGRFFWA"]
    states = ["HHHHHHHHCCCCEEEE", "HHHHHHHHCCCCEEEC", "HHHHHHHEEEEEEECCCCCC", "HEEEECCCCCHEC", "HHHEEECC"]
    (tmp_path / "a.ss3").write_text(
        "".join(f">c{i} fold={i % 2}\n{a}\n{b}\n" for i, (a, b) in enumerate(zip(letters, states, strict=True)))
    )
    entry = {"fasta": "a.ss3", "labels": {"from": "states", "fold": "fold"}, "residues": {"window": 3}}
    save_dataset(make_dataset("d", entry, tmp_path), tmp_path / "d")
    names, _, leakage = folds_of(tmp_path / "d")
    assert names == ["id", "group", "0", "1"]  # the given folds are used where no method is named
    assert ["all", "", "conflict", "c0", "c1", "1"] in leakage
    assert ["all", "0", "identical", "c0", "c1", "1"] in leakage
    assert ["all", "0", "contained", "c2", "c3", "1"] in leakage
    _, rows, leakage = folds_of(tmp_path / "d", "--method", "grouped", "--k", "2", "--keep-together")
    part = {row[0]: row[2] for row in rows}
    assert part["c0:1"] == part["c1:1"]
    assert part["c2:1"] == part["c3:5"]
    assert [row[2] for row in leakage] == ["conflict"]


def test_masked_parts_of_one_chain_do_not_contradict_each_other(tmp_path):
    text = ">a\nMKVLAAGW\nHHHHE???\n>b\nMKVLAAGW\n???HECCC\n>c\nWWWWACD\nHHEECCC\n>d\nACCCCCD\nHHEECCC\n"
    (tmp_path / "a.ss3").write_text(text)
    entry = {"fasta": "a.ss3", "labels": {"from": "states"}, "residues": {"window": 3}}
    save_dataset(make_dataset("d", entry, tmp_path), tmp_path / "d")
    leakage = folds_of(tmp_path / "d", "--k", "2", "--keep-together")[2]
    assert not leakage


@pytest.mark.parametrize("method", ["grouped", "predefined"])
def test_smaller_training_parts_are_whole_chains_and_nested(method):
    made = make_dataset(
        "d", GENERATED | {"simulate": {"kind": "secondary_structure", "n_chains": 40, "mean_length": 40}}
    )
    labels = made.task().labels
    if method == "predefined":
        labels = replace(labels, folds=(made.residues.record % 3).astype(str))
    k = {"k": 3} if method == "grouped" else {}
    whole = make_folds(labels, made.X, method, seed=1, **k)
    smaller = [make_folds(labels, made.X, method, seed=1, train_size=size, **k) for size in (400, 700)]
    for full, small, large in zip(whole, *smaller, strict=True):
        assert set(small.train) < set(large.train) < set(full.train)
        assert len(small.train) <= 400
        assert 640 < len(large.train) <= 700
        assert np.array_equal(small.test, full.test)
        for part in (small, large):
            chains = set(labels.groups[part.train])
            assert set(part.train) == {row for row in full.train if labels.groups[row] in chains}
    other = make_folds(labels, made.X, method, seed=2, train_size=400, **k)
    if method == "predefined":
        assert any(set(a.train) != set(b.train) for a, b in zip(other, smaller[0], strict=True))
    with pytest.raises(FoldError, match=r"training set of task 'all' has \d+ samples, but train_size is 5000"):
        make_folds(labels, made.X, method, train_size=5000, **k)


FORMATS = [
    (
        rs126,
        "states",
        ">1ABC-AX\nMKV*\nHHC\n",
        "record '1ABC-AX': does not consist of residues and states, each ending in",
    ),
    (rs126, "states", ">1ABC-AX\nMKV*\nHC*\n", "record '1ABC-A': has 2 states, but its sequence has length 3"),
    (
        cb513,
        "table",
        "input,dssp3,cb513_mask\nM K V,H C,1.0 0.0 1.0\n",
        "record '1': has 3 residues, 2 states and 3 mask values",
    ),
    (jpred4, "states", ">d1 fold=1\nMKV\nH-\n", "record 'd1': has 3 residues and 2 states"),
    (jpred4, "states", ">d1\nMKV\nH--\n", "record 'd1': has no field fold="),
    (qian_sejnowski, "train", "<>\nM h\nK\n<end>\n", "line 3 is not a residue and a state"),
    (qian_sejnowski, "train", "<>\nM h\nK x\n<end>\n", "record 'train1': unknown state 'x' at position 2"),
]


@pytest.mark.parametrize(("read", "role", "text", "message"), FORMATS)
def test_damaged_files_of_public_formats_name_the_record(tmp_path, read, role, text, message):
    (tmp_path / "in").write_text(text)
    (tmp_path / "test").write_text("<>\nM h\n<end>\n")
    with pytest.raises((SequenceError, LabelError), match=message) as caught:
        read({"test": tmp_path / "test", role: tmp_path / "in"}, {"alphabet": "protein"})
    assert str(caught.value).startswith(str(tmp_path / "in"))
    assert caught.value.remedy


def test_separators_of_qian_and_sejnowski_end_a_chain(tmp_path):
    (tmp_path / "train").write_text("<>\nM h\nK h\n<end>\n<>\nV e\n<>\nA _\nC _\nend\n")
    (tmp_path / "test").write_text("# a remark\n<>\nW _\n")
    made = qian_sejnowski({part: tmp_path / part for part in ("train", "test")}, {"alphabet": "protein"})
    assert made.X.strings() == ["MK", "V", "AC", "W"]
    assert made.X.ids == ["train1", "train2", "train3", "test1"]
    assert bytes(made.X.tracks["states"]) == b"HHECCC"
    assert made.columns["split"] == ["train"] * 3 + ["test"]


PUBLIC = {
    "rs126": ({}, 126, 23251, {"H": 7390, "E": 4958, "C": 10903}),
    "qian_sejnowski": ({"window": 13}, 128, 21625, {"H": 5450, "E": 4384, "C": 11791}),
    "cb513": ({}, 509, 83991, {"H": 29102, "E": 18690, "C": 36199}),
    "cb513_dssp": ({"reduction": "HGI_EB"}, 509, 83991, {"H": 29102, "E": 18690, "C": 36199}),
    "jpred4": ({}, 1348, 218421, {"H": 77742, "E": 48588, "C": 92091}),
}


@pytest.mark.parametrize("name", PUBLIC)
def test_public_sets_have_the_residues_that_are_published(shared_data, name):
    wanted, n_chains, n_used, counts = PUBLIC[name]
    made = make_dataset(name, {"public": name, "residues": wanted}, data_dir=shared_data)
    labels = made.task().labels
    assert len(made.residues.chains) == n_chains
    assert labels.used().sum() == n_used
    assert labels.class_counts() == counts
    assert len(made.X) == made.residues.chains.lengths.sum()
    if name == "cb513":
        assert made.X.counts["chains without a known state left out"] == 2
        assert len(np.unique(labels.groups)) == 430
    if name == "jpred4":
        assert np.unique(labels.folds).tolist() == list("1234567")
    if name == "qian_sejnowski":
        split = made.task().split
        assert [np.unique(made.residues.record[split == part]).size for part in ("train", "test")] == [111, 17]


def test_the_public_profiles_are_those_of_the_chains(shared_data, monkeypatch):
    monkeypatch.delenv("SEQKERN_DATA", raising=False)
    entry = {"public": "jpred4", "profiles": {"files": "public:jpred4_profiles"}, "residues": {"window": 15}}
    made = make_dataset("jpred4", entry, data_dir=shared_data)
    row = made.X.ids.index("d1a62a1:1")
    rows = made.X.tracks["pssm"][made.X.starts[row] : made.X.stops[row]]
    assert np.all(rows[:7] == 0)
    assert made.X.string(row) == "*******MNLTELKN"
    # most residues score above 0 in their own row (88 of 100); in a row of another residue a quarter would
    own = made.residues.positions()
    codes = made.residues.chains.codes[own]
    middle = made.X.tracks["pssm"][made.X.starts + 7]
    known = codes < 20
    assert np.mean(middle[known, codes[known]] > 0) > 0.8
    assert made.notes["profiles"]["files"] == "public:jpred4_profiles"
