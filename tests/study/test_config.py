"""The configuration: defaults, and one line for whatever does not fit."""

import copy

import pytest
import yaml
from conftest import ROOT

from seqkern.core.errors import ConfigError
from seqkern.core.memory import parse_bytes
from seqkern.core.progress import reporting
from seqkern.kernels import build_kernel
from seqkern.study.study import Study

STUDIES = sorted(set((ROOT / "config").glob("*.yaml")) - {ROOT / "config" / "apply.yaml"})


@pytest.fixture
def config():
    return yaml.safe_load((ROOT / "config" / "config.yaml").read_text())


@pytest.mark.parametrize("path", STUDIES, ids=lambda path: path.stem)
def test_every_study_that_ships_fits_the_schema(path):
    study = Study.load(path)
    assert study.inner.folds >= 2
    assert parse_bytes(study.memory_limit) <= 8e9


def test_the_study_of_residues_that_is_shown_fits_the_schema():
    shown = (ROOT / "config" / "README.md").read_text().split("#### A study of your own chains\n\n```yaml\n")[1]
    study = Study.parse(yaml.safe_load(shown.split("```")[0]))
    assert study.method_names("mine") == [("letters", "svm"), ("blosum", "svm"), ("blosum", "two_layers")]
    Study.parse({**study.to_dict(), "inner": {**study.to_dict()["inner"], "metric": "q3"}})


def test_the_given_configuration_is_not_changed(config):
    before = copy.deepcopy(config)
    Study.parse(config)
    assert config == before


def broken(config, path, value):
    """Return `config` with the value at a dotted path set."""
    *way, last = path.split(".")
    place = config
    for key in way:
        place = place[key]
    place[last] = value
    return config


@pytest.mark.parametrize(
    ("path", "value", "words"),
    [
        ("kernel", {}, ["unknown key 'kernel'", "kernels"]),
        ("inner.pooled", "all", ["inner.pooled", "none", "tasks"]),
        ("inner.clusters", 1, ["inner.clusters", "minimum of 2"]),
        ("inner", {"pooled": "tasks", "rule": "one_standard_error"}, ["inner.rule", "no effect", "mean rank"]),
        ("inner.fold", 3, ["inner", "unknown key 'fold'", "folds"]),
        ("datasets.donors.alphabt", "dna", ["datasets.donors", "'alphabt'", "alphabet"]),
        ("kernels.spectrum6.kernel", "spectrun", ["kernels.spectrum6", "spectrun", "spectrum"]),
        ("kernels.spectrum6.kk", 3, ["kernels.spectrum6", "kk"]),
        ("kernels.spectrum6.k", 0, ["kernels.spectrum6", "k=0"]),
        ("kernels.best", {"choose": ["spectrum6", "spectrun3"]}, ["kernels.best.choose", "'spectrum3'"]),
        ("kernels.best", {"choose": ["spectrum6", "best"]}, ["kernels.best.choose", "'best' is not defined"]),
        ("kernels.best", {"choose": ["spectrum6"]}, ["kernels.best.choose", "too short"]),
        ("kernels.best", {"choose": ["spectrum6", "spectrum3"], "k": 3}, ["kernels.best", "unknown key 'k'"]),
        ("kernels.spectrum6.solvers", ["csvm"], ["kernels.spectrum6.solvers", "'csvm' is not defined", "'csvc'"]),
        ("kernels.spectrum6.solvers", [], ["kernels.spectrum6.solvers", "non-empty"]),
        ("kernels.spectrum6.solvers", "csvc", ["kernels.spectrum6.solvers", "is not a list"]),
        ("solvers.csvc.solver", "csvm", ["solvers.csvc", "csvm", "csvc"]),
        ("solvers.csvc.C", [1, -1], ["solvers.csvc", "C=-1"]),
        ("solvers.csvc.C", "0.01..1", ["solvers.csvc", "range of values", "search: random"]),
        ("inner.rule", "simplest", ["inner.rule", "simplest", "one_standard_error"]),
        ("inner.calibration", "beta", ["inner.calibration", "beta", "isotonic"]),
        ("inner.threshold", "recall=0.9", ["inner", "recall=0.9", "sensitivity=0.95"]),
        ("datasets.donors.kernels", ["spectrun6"], ["datasets.donors.kernels", "spectrum6"]),
        ("datasets.donors.public", "uci_splice", ["datasets.donors", "exactly one source"]),
        ("datasets.donors.track", "1abc", ["datasets.donors: track needs residues", "add residues: {window: 15}"]),
        (
            "datasets.donors.residues",
            {"window": 15, "track": "1abc"},
            ["datasets.donors.residues: unknown key 'track'", "move track to the data set itself"],
        ),
        ("datasets.donors.importance.solver", "csvm", ["datasets.donors.importance.solver: 'csvm' is not defined"]),
        ("study", "../escape", ["study", "../escape"]),
        ("study", "a/b", ["study", "a/b"]),
        ("seed", -1, ["seed", "-1"]),
        ("inner.folds", 1, ["inner.folds", "1"]),
        ("inner.draws", 5, ["inner.draws", "5 has no effect", "search: random"]),
    ],
)
def test_what_does_not_fit_is_named(config, path, value, words):
    with pytest.raises(ConfigError) as caught:
        Study.parse(broken(config, path, value), file="study.yaml")
    message = str(caught.value)
    assert message.startswith("study.yaml: ")
    assert "\n" not in message
    for word in words:
        assert word in message


@pytest.mark.parametrize("text", ["study: [", "", "- a\n- b\n"])
def test_files_that_hold_no_configuration(tmp_path, text):
    path = tmp_path / "study.yaml"
    path.write_text(text)
    with pytest.raises(ConfigError, match=r"study\.yaml"):
        Study.load(path)


def test_a_missing_file(tmp_path):
    with pytest.raises(ConfigError, match="check the path"):
        Study.load(tmp_path / "none.yaml")


def test_what_runs_on_a_data_set(config):
    study = Study.parse(config)
    assert study.method_names("homologs")[:2] == [("mismatch51", "csvc"), ("mismatch51", "psvc")]
    assert len(study.methods("homologs")) == 6
    config["kernels"] = {"text": {"kernel": "spectrum", "k": 2}, "numbers": {"kernel": "linear"}}
    config["datasets"] = {"plain": {"fasta": "a.fa"}, "table": {"features": "f.tsv", "solvers": ["psvc"]}}
    study = Study.parse(config)
    assert study.method_names("plain") == [("text", "csvc"), ("text", "psvc")]
    assert study.method_names("table") == [("numbers", "psvc")]
    assert len(study.methods("plain", kind="")) == 4


def test_kernels_to_choose_among_run_where_all_of_them_can(config):
    config["kernels"] = {
        "two": {"kernel": "spectrum", "k": 2},
        "three": {"kernel": "spectrum", "k": 3},
        "numbers": {"kernel": "linear"},
        "text": {"choose": ["two", "three"]},
        "mixed": {"choose": ["two", "numbers"]},
    }
    config["datasets"] = {
        "plain": {"fasta": "a.fa", "solvers": ["csvc"]},
        "few": {"fasta": "a.fa", "kernels": ["text"]},
    }
    study = Study.parse(config)
    assert study.method_names("plain") == [("two", "csvc"), ("three", "csvc"), ("text", "csvc")]
    assert study.method_names("few") == [("text", "csvc"), ("text", "psvc")]
    assert [entry.name for entry in study.kernels["text"].candidates] == ["two", "three"]
    assert [entry.name for entry in study.kernels["two"].candidates] == ["two"]
    config["datasets"]["few"]["kernels"] = ["mixed"]
    with pytest.raises(ConfigError, match=r"kernels\.mixed: kernel 'linear' takes features"):
        Study.parse(config)


def test_a_kernel_may_name_its_solvers(config):
    config["kernels"] = {
        "raw": {"kernel": "spectrum", "k": 2, "solvers": ["psvc"]},
        "three": {"kernel": "spectrum", "k": 3},
        "best": {"choose": ["raw", "three"]},
        "own": {"choose": ["three", "four"], "solvers": ["csvc"]},
        "four": {"kernel": "spectrum", "k": 4},
    }
    config["datasets"] = {"plain": {"fasta": "a.fa"}}
    study = Study.parse(config)
    methods = study.method_names("plain")
    of = {name: [solver for kernel, solver in methods if kernel == name] for name in config["kernels"]}
    assert of == {
        "raw": ["psvc"],
        "three": ["csvc", "psvc"],
        "best": ["psvc"],
        "own": ["csvc"],
        "four": ["csvc", "psvc"],
    }
    raw = study.kernels["raw"]
    assert (raw.spec, raw.transforms) == ({"kernel": "spectrum", "k": 2}, ())
    config["datasets"]["plain"] |= {"kernels": ["raw"], "solvers": ["csvc"]}
    with pytest.raises(ConfigError, match=r"datasets\.plain: raw would never run: a kernel runs only with the solvers"):
        Study.parse(config)


def test_a_missing_file_of_a_kernel_is_found_before_any_work(config, tmp_path, monkeypatch):
    path = tmp_path / "motifs.dat"
    monkeypatch.setattr(type(build_kernel("spectrum:k=1")), "_files", lambda self: (path, "public:prosite1995"))
    with pytest.raises(ConfigError, match=r"kernels\.spectrum3: there is no file '.*motifs\.dat'; check the path"):
        Study.parse(config)
    path.touch()
    Study.parse(config)


@pytest.mark.parametrize(
    ("kernel", "remedy"),
    [
        ({"kernel": "smith_waterman", "matrix": "BLOSSUM62"}, "or choose a matrix of Biopython such as BLOSUM62"),
        ({"kernel": "motif", "motifs": "W-W-W"}, "or put patterns in brackets"),
    ],
)
def test_a_name_that_is_no_file_is_told_with_what_else_it_may_be(config, kernel, remedy):
    for spec in (kernel, {"kernel": "pairwise", "base": kernel}):
        with pytest.raises(ConfigError, match=rf"kernels\.spectrum6: there is no file .*; check the path, {remedy}"):
            Study.parse({**config, "kernels": {**config["kernels"], "spectrum6": spec}})


@pytest.mark.parametrize(
    ("entry", "key"),
    [
        ({"fasta": "none"}, "fasta"),
        ({"fasta": ["here", "none"]}, "fasta"),
        ({"fasta": {"positive": "here", "negative": "none"}}, "fasta.negative"),
        ({"fasta": "here", "labels": {"from": "tsv", "file": "none"}}, "labels.file"),
        ({"fasta": "here", "sites": "none", "window": "-1:+1"}, "sites"),
        ({"features": "none"}, "features"),
        ({"public": "globins", "profiles": {"files": "none"}}, "profiles"),
    ],
)
def test_a_missing_file_of_a_data_set_is_named_with_its_key(entry, key, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "here").touch()
    with pytest.raises(ConfigError) as caught:
        Study.of_results({"datasets": {"mine": entry}}).check_files(file="study.yaml")
    assert str(caught.value).startswith(f"study.yaml: datasets.mine.{key}: no such file: 'none'; check the path")
    (tmp_path / "none").touch()
    Study.of_results({"datasets": {"mine": entry}}).check_files()


def test_a_completed_study_fits_again(config):
    completed = Study.parse(config)
    assert completed.inner.draws == 20
    assert Study.parse(completed.to_dict()).to_dict() == completed.to_dict()
    searched = Study.parse({**config, "inner": {"search": "random", "draws": 5}})
    assert searched.inner.draws == 5


@pytest.mark.parametrize(
    ("solver", "problem"),
    [
        ({"solver": "primal_svc"}, "solver 'primal_svc' decides by features"),
        ({"solver": "primal_svc", "C": [1, 10], "layers": ["structure"]}, "solver 'primal_svc' decides by features"),
        ({"solver": "pairwise_voting", "binary": "primal_svc"}, "solver 'primal_svc' decides by features"),
        ({"solver": "psvc", "kernel": ["precomputed", "features"]}, "takes"),
        ({"solver": "psvc", "kernel": "features"}, "solver 'psvc' decides by features"),
        ({"solver": "kernel_neighbors"}, "solver 'kernel_neighbors' decides not by weighted sums"),
        (
            {"solver": "filtered", "binary": "kernel_neighbors"},
            "solver 'kernel_neighbors' decides not by weighted sums",
        ),
        ({"solver": "one_against_rest", "binary": "csvc"}, "'one_against_rest' has no binary classifier"),
    ],
)
@pytest.mark.parametrize("residues", [False, True])
def test_importance_asks_for_a_solver_that_can_be_explained(config, solver, problem, residues):
    wanted = {"kernel": "window", "solver": "one"}
    simulated = {"kind": "secondary_structure", "n_chains": 4}
    entry = {"simulate": simulated, "residues": {"window": 15}} if residues else {"fasta": "windows.fa"}
    config["datasets"] = {"mine": {**entry, "solvers": ["csvc"], "importance": wanted}}
    config["kernels"] = {"window": {"kernel": "weighted_degree", "degree": 2}}
    config["solvers"] |= {"one": solver}
    place = "solvers.one" if problem == "takes" else "datasets.mine.importance.solver"
    with pytest.raises(ConfigError, match=rf"study\.yaml: {place}: .*{problem}"):
        Study.parse(config, file="study.yaml")
    for able in (
        {"solver": "csvc", "layers": ["segments"]},
        {"solver": "linear_svc"},
        {"solver": "decision_dag", "binary": "csvc"},
    ):
        Study.parse({**config, "solvers": {**config["solvers"], "one": able}})


def test_clusters_of_the_inner_loop_need_solvers_with_a_gram_matrix(config):
    config["inner"] = {"clusters": "auto"}
    assert Study.parse(config).inner.clusters == "auto"
    config["solvers"]["linear"] = {"solver": "linear_svc"}
    with pytest.raises(ConfigError, match=r"inner\.clusters: .* the solver 'linear' does not take"):
        Study.parse(config)


def peaks(**changes):
    """Return the study of a simulated genome, with other keys in its data set."""
    config = yaml.safe_load((ROOT / "config" / "peaks.yaml").read_text())
    for key, value in changes.items():
        config["datasets"]["peaks"][key] = value
    return config


def test_a_simulated_genome_gives_its_files(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    study = Study.parse(peaks(variants={"kernel": "gkm", "solver": "primal_svc", "threshold": 1.5}))
    study.check_files()  # those that the workflow makes need not be there
    entry, folder = study.datasets["peaks"], "results/peaks/simulated/peaks"
    assert entry.data.files() == [f"{folder}/peaks.narrowPeak", f"{folder}/genome.fa"]
    assert (entry.variants.file, entry.variants.genome) == (f"{folder}/variants.vcf", f"{folder}/genome.fa")
    assert (entry.variants.truth, entry.variants.threshold) == ("EFFECT", 1.5)
    assert entry.motifs.known == f"{folder}/motifs.meme"
    assert "motifs" not in entry.to_dict()
    assert "variants" not in entry.to_dict()
    assert "--n-peaks=400" in entry.simulated.words(3)
    assert study.to_dict()["datasets"]["peaks"]["simulate"]["kind"] == "peaks"


@pytest.mark.parametrize(
    ("changes", "problem"),
    [
        ({"simulate": {"kind": "peaks", "n_peak": 5}}, "datasets.peaks.simulate: .*'n_peak'.*n_peaks"),
        ({"motifs": {"kernel": "gkn", "solver": "csvc"}}, "datasets.peaks.motifs.kernel: 'gkn' is not defined"),
        ({"motifs": {"kernel": "gkm", "solver": "primal_svc"}}, "datasets.peaks.motifs.solver: .*by features"),
        ({"variants": {"kernel": "gkm", "solver": "svm"}}, "datasets.peaks.variants.solver: 'svm' is not defined"),
        ({"variants": {"kernel": "gkm"}}, "datasets.peaks.variants"),
        ({"genome": "hg38.fa"}, "datasets.peaks: a genome needs regions"),
    ],
)
def test_motifs_and_variants_name_methods_of_the_study(changes, problem):
    with pytest.raises(ConfigError, match=problem):
        Study.parse(peaks(**changes), file="study.yaml")


def test_variants_of_files_need_these(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    wanted = {"kernel": "gkm", "solver": "csvc"}
    config = peaks(fasta="peaks.fa", labels={"from": "header"}, variants=wanted)
    for key in ("simulate", "width", "background", "motifs"):
        del config["datasets"]["peaks"][key]
    with pytest.raises(ConfigError, match=r"datasets\.peaks\.variants: has no file"):
        Study.parse(config)
    wanted["file"] = "v.vcf"
    with pytest.raises(ConfigError, match=r"datasets\.peaks\.variants: has no genome"):
        Study.parse(config)
    wanted["genome"] = "g.fa"
    (tmp_path / "peaks.fa").write_text(">a\nACGT\n")
    with pytest.raises(ConfigError, match=r"datasets\.peaks\.variants\.file: no such file: 'v.vcf'"):
        Study.parse(config).check_files()


@pytest.mark.parametrize("form", [{}, {"format": 2}])
def test_a_list_for_a_parameter_of_a_kernel_is_a_grid(form):
    kernels = {"wd": {"kernel": "weighted_degree", "degree": [4, 8]}}
    entry = {"simulate": {"kind": "donor"}}
    config = {"study": "s", "datasets": {"d": entry}, "kernels": kernels, "solvers": {"svm": {"solver": "csvc"}}}
    study = Study.parse({**config, **form})
    assert study.method_names("d") == [("wd", "svm")]
    assert [one.name for one in study.kernels["wd"].candidates] == ["wd.degree4", "wd.degree8"]
    assert study.grams_of("d", "wd", "svm") == ["wd.degree4", "wd.degree8"]
    with pytest.raises(ConfigError, match="degree0: degree=0 is not possible"):
        Study.parse({**config, **form, "kernels": {"wd": {"kernel": "weighted_degree", "degree": [4, 0]}}})


def test_a_list_of_k_is_a_sum_without_format_2_and_a_grid_with_it(tmp_path, capsys):
    path = tmp_path / "study.yaml"
    head = "study: s\ndatasets: {d: {simulate: {kind: donor}}}\nsolvers: {svm: {solver: csvc}}\nkernels:\n"
    text = head + "  one: {kernel: rbf, gamma: 1, base: {kernel: spectrum, k: %s}}\n"
    forms = [("", "[3, 4]"), ("format: 1\n", "[3, 4]"), ("format: 2\n", "{sum: [3, 4]}"), ("", "3+4")]
    read = {}
    for first, k in [*forms, ("format: 2\n", "[3, 4]")]:
        path.write_text(first + text % k)
        with reporting():
            study = Study.load(path)
        told = capsys.readouterr().err
        assert ("k: [3, 4] is one kernel, the sum" in told) == (not first and k == "[3, 4]")
        read[first, k] = [one.kernel.base.k for one in study.kernels["one"].candidates]
        again = Study.parse(study.config)
        assert again.config == study.config
        assert Study.load(study.save(tmp_path)).kernels["one"].name == "one"
    assert read.pop(("format: 2\n", "[3, 4]")) == [3, 4]
    assert set(map(str, read.values())) == {"[[3, 4]]"}


def test_a_choice_may_name_a_grid():
    kernels = {"grid": {"kernel": "spectrum", "k": [2, 3], "solvers": ["svm"]}, "wd": {"kernel": "weighted_degree"}}
    kernels["best"] = {"choose": ["grid", "wd"]}
    config = {"study": "s", "datasets": {"d": {"simulate": {"kind": "donor"}}}, "solvers": {"svm": {"solver": "csvc"}}}
    study = Study.parse({"format": 2, "kernels": kernels, **config})
    assert [one.name for one in study.kernels["best"].candidates] == ["grid.k2", "grid.k3", "wd"]
    assert study.method_names("d") == [("grid", "svm"), ("wd", "svm"), ("best", "svm")]


@pytest.mark.parametrize(("written", "line"), [("seed: 1_000", 2), ("{x: [1, 1.0e+400]}", 3)])
def test_numbers_that_yaml_reads_otherwise_than_they_look(tmp_path, written, line):
    path = tmp_path / "study.yaml"
    path.write_text(f"# a study\n{'' if line == 2 else 'datasets:' + chr(10) + '  '}{written}\n")
    with pytest.raises(ConfigError, match=rf"line {line} of .*study\.yaml: .* is not a finite number of digits only"):
        Study.load(path)
