"""A study as typed objects: what is built how often, what its entries say, and where a message points."""

import copy
import dataclasses
import time

import pytest
import yaml
from conftest import ROOT

from seqkern.cli.main import main
from seqkern.core.errors import ConfigError, ParameterError
from seqkern.solvers import solver_specs
from seqkern.study import (
    InnerSettings,
    KernelChoice,
    MethodEntry,
    SolverEntry,
    Study,
    kernel_entries,
    schema,
)
from seqkern.study.schema import Places, check_written

TEXT = """\
study: small
seed: 3
datasets:
  donors:
    simulate: {kind: donor, n_positive: 20, n_decoy: 30}
    folds: {method: stratified, k: 2}
  chains:
    simulate: {kind: secondary_structure, n_chains: 6}
    residues: {window: 7}
    solvers: [layered]
    selection_bias: true
kernels:
  three: {kernel: spectrum, k: 3}
  centred:
    kernel: spectrum
    k: 3
    transforms: [centre]
    repair: clip
    solvers: [svm]
  best:
    choose: [three, centred]
solvers:
  svm:
    solver: csvc
    C: [0.1, 1, 10]
  layered:
    solver: csvc
    layers: [{layer: structure, window: 5}, segments]
"""


@pytest.fixture
def config():
    return yaml.safe_load(TEXT)


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "study.yaml"
    path.write_text(TEXT)
    return path


def counted(monkeypatch, module, name):
    """Return a list to which every call of a function from outside itself adds its first argument."""
    calls, function, depth = [], getattr(module, name), []

    def call(spec, *args, **kwargs):
        if not depth:
            calls.append(spec)
        depth.append(name)
        try:
            return function(spec, *args, **kwargs)
        finally:
            depth.pop()

    monkeypatch.setattr(module, name, call)
    return calls


# ---- built once ---------------------------------------------------------------------------------


def test_every_entry_is_built_once(config, monkeypatch):
    kernels = counted(monkeypatch, kernel_entries, "build_kernel")
    transforms = counted(monkeypatch, kernel_entries, "build_transform")
    solvers = counted(monkeypatch, solver_specs, "build_solver")
    study = Study.parse(config)
    assert kernels == [{"kernel": "spectrum", "k": 3}] * 2
    assert transforms == ["centre", {"transform": "repair", "method": "clip"}]
    points = [spec for spec in solvers if isinstance(spec, dict)]
    assert points == [{"solver": "csvc", "C": c} for c in (0.1, 1, 10)] + [{"solver": "csvc"}]
    del kernels[:], transforms[:], solvers[:]
    for dataset in study.datasets:
        assert study.methods(dataset)
        assert study.checked_solvers(dataset)
    assert [home.files() for home in study.homes.values()] == [[]]
    assert [entry.files() for entry in study.kernels.values()] == [[], [], []]
    assert study.grams_of("donors", "best", "svm") == ["three", "three"]
    assert (kernels, transforms) == ([], [])
    assert not [spec for spec in solvers if isinstance(spec, dict)]


def test_a_solver_inside_another_is_built_with_it(monkeypatch):
    built = counted(monkeypatch, solver_specs, "build_solver")
    entry = SolverEntry.parse({"solver": "one_against_rest", "binary": {"solver": "csvc", "C": [1, 10]}})
    assert [solver.binary.C for solver in entry.grid] == [1, 10]
    assert len([spec for spec in built if isinstance(spec, dict)]) == 2


# ---- what the objects say -----------------------------------------------------------------------


def test_a_study_and_its_parts(config):
    study = Study.parse(config)
    assert (study.name, study.seed, study.memory_limit, study.tiles) == ("small", 3, "2GB", 1)
    assert study.inner == InnerSettings()
    assert study.method_names("donors") == [
        ("three", "svm"),
        ("centred", "svm"),
        ("best", "svm"),
    ]
    assert study.method_names("chains") == [("three", "layered")]
    best = study.kernels["best"]
    assert isinstance(best, KernelChoice)
    assert best.candidates == (study.kernels["three"], study.kernels["centred"])
    assert best.learns
    assert not study.kernels["three"].learns
    chains = study.datasets["chains"]
    assert (chains.kind, chains.of_residues, chains.data.residues.window) == ("sequences", True, 7)
    assert chains.selection_bias
    assert not chains.searches
    (method,) = study.methods("chains")
    assert (method.kernels, method.transforms) == ({"three": study.kernels["three"].kernel}, {"three": ()})
    assert [layer.name for layer in method.layers.layers] == ["structure", "segments"]
    assert not method.chooses
    assert method.candidates() == [("three", {"solver": "csvc"})]


def test_combinations_without_the_input_of_the_solver_are_named(config):
    config["solvers"]["lvq"] = {"solver": "gmlvq"}
    del config["kernels"]["centred"]["solvers"]  # which has transforms
    config["kernels"]["align"] = {"kernel": "local_alignment"}
    study = Study.parse(config)
    assert ("three", "lvq") in study.method_names("donors")
    assert study.unsuitable("donors") == [("centred", "lvq"), ("best", "lvq"), ("align", "lvq")]
    assert not study.unsuitable("chains")


def test_layers_leave_calibration_and_threshold_to_themselves(config):
    config["inner"] = {"calibration": "platt", "threshold": "sensitivity=0.9"}
    study = Study.parse(config)
    (layered,) = study.methods("chains")
    plain = study.methods("donors")[0]
    assert (layered.calibration, layered.threshold) == (None, None)
    assert (plain.calibration, plain.threshold) == ("platt", "sensitivity=0.9")


def test_a_frozen_study_leaves_its_configuration_alone(config):
    before = copy.deepcopy(config)
    study = Study.parse(config)
    assert config == before
    with pytest.raises(dataclasses.FrozenInstanceError):
        study.seed = 2
    study.to_dict()["inner"]["folds"] = 99
    assert Study.parse(study.to_dict()).inner.folds == 3
    division = {"tiles": 1, "share_seconds": 600}
    assert study.settings_of("report") | division == study.to_dict()


def test_jobs_are_given_what_concerns_them(config):
    study = Study.parse(config)
    assert study.datasets["chains"].to_dict() == {
        "simulate": {"kind": "secondary_structure", "n_chains": 6},
        "residues": {"window": 7},
    }
    centred = {"kernel": "spectrum", "k": 3, "transforms": ["centre"], "repair": "clip"}
    assert study.settings_of("evaluate", "donors", "centred", "svm")["kernel"] == centred
    three = {"name": "three", "kernel": "spectrum", "k": 3}
    best = study.settings_of("evaluate", "donors", "best", "svm")
    assert best["kernel"] == {"choose": [three, {"name": "centred", **centred}]}
    method = MethodEntry.parse(best)
    assert [entry.name for entry in method.kernel.candidates] == ["three", "centred"]
    assert [len(entry.transforms) for entry in method.kernel.candidates] == [0, 2]
    assert (method.seed, method.solver.specs) == (3, study.solvers["svm"].specs)
    layered = study.settings_of("evaluate", "chains", "three", "layered")
    assert (layered["solver"], layered["selection_bias"]) == ({"solver": "csvc"}, True)
    assert layered["layers"] == [{"layer": "structure", "window": 5}, "segments"]


def test_candidates_are_those_of_the_grid_or_drawn():
    entry = SolverEntry.parse("csvc:C=[1,10]", "svm")
    assert [(kernel, spec["C"]) for kernel, spec in entry.candidates(["a", "b"])] == [
        ("a", 1),
        ("a", 10),
        ("b", 1),
        ("b", 10),
    ]
    with pytest.raises(ParameterError, match="range of values"):
        SolverEntry.parse("csvc:C=0.01..100")
    drawn = SolverEntry.parse("csvc:C=0.01..100", ranges=True).candidates(["a"], draws=5, seed=1)
    assert len({spec["C"] for _, spec in drawn}) == 5
    assert SolverEntry.parse({"solver": "csvc", "C": "0.01..100"}, ranges=True).searched() == {"C": [0.01, 100]}


# ---- what is written down of a study that has been run ------------------------------------------


def test_a_report_is_read_of_a_study_with_names_that_are_not_known_here(config):
    config["kernels"]["new"] = {"kernel": "of_tomorrow", "k": 3}
    config["kernels"]["either"] = {"choose": ["three", "new"]}
    config["solvers"]["later"] = {"solver": "of_tomorrow", "C": [1, 10]}
    config["datasets"]["donors"] = {"title": "Of somewhere"}
    study = Study.of_results(config)
    assert not study.kernels["new"].known
    with pytest.raises(ParameterError, match="unknown kernel 'of_tomorrow'"):
        _ = study.kernels["new"].kernel
    assert [entry.known for entry in study.kernels["either"].candidates] == [True, False]
    assert study.solvers["later"].searched() == {"C": [1, 10]}
    assert (study.datasets["donors"].kind, study.datasets["donors"].data.title) == ("", "Of somewhere")
    names = study.method_names("donors")
    assert {("new", "later"), ("either", "svm"), ("three", "later"), ("centred", "svm")} <= set(names)
    assert study.to_dict() == config
    assert Study.of_results({}, "folder").name == "folder"


# ---- messages -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("old", "new", "line", "said"),
    [
        ("seed: 3", "seed: -1", 2, "seed: -1 is less than the minimum"),
        ("seed: 3", "sead: 3", 2, "top level: unknown key 'sead'; did you mean 'seed'?"),
        ("k: 2}", "kk: 2}", 6, "datasets.donors.folds: unknown option of fold method 'stratified' 'kk'"),
        ("window: 7}", "width: 7}", 9, "datasets.chains.residues: unknown key 'width'"),
        ("[layered]", "[layred]", 10, "datasets.chains.solvers: 'layred' is not defined; did you mean 'layered'?"),
        ("spectrum, k: 3}", "spectrun, k: 3}", 13, "kernels.three: unknown kernel 'spectrun'; did you mean 'spectrum'"),
        ("repair: clip", "repair: clap", 14, "kernels.centred: repair='clap' is not possible"),
        ("[three, centred]", "[three, centered]", 21, "kernels.best.choose: 'centered' is not defined"),
        ("10]", "-10]", 23, "solvers.svm: C=-10 is not possible"),
        ("segments]", "segment]", 28, "solvers.layered.layers: unknown layer 'segment'; did you mean 'segments'"),
    ],
)
def test_messages_name_file_and_line(file, old, new, line, said):
    file.write_text(TEXT.replace(old, new))
    with pytest.raises(ConfigError) as caught:
        Study.load(file)
    message = str(caught.value)
    assert message.startswith(f"line {line} of {file}: {said}")
    assert (caught.value.line, "\n" in message) == (line, False)


def test_a_missing_file_of_a_data_set_is_named_with_its_line(tmp_path, config):
    config["datasets"] = {"mine": {"fasta": {"positive": "none.fa", "negative": "none.fa"}, "solvers": ["svm"]}}
    path = tmp_path / "study.yaml"
    path.write_text(yaml.safe_dump(config, sort_keys=False))
    line = path.read_text().splitlines().index("      negative: none.fa") + 1
    study = Study.load(path)
    with pytest.raises(ConfigError, match=rf"^line {line - 1} of .*: datasets\.mine\.fasta\.positive: no such file"):
        study.check_files(file=path)


def test_lines_of_several_files_and_of_the_command_line(tmp_path):
    first, second = tmp_path / "first.yaml", tmp_path / "second.yaml"
    first.write_text("study: one\nseed: 1\nshared: &shared\n  folds: 5\ninner:\n  <<: *shared\n  rule: best\n")
    second.write_text("# changes\nseed: 2\n")
    merged = {"study": "one", "seed": 2, "inner": {"folds": 5, "rule": "best", "metric": "auc"}, "tiles": 4}
    places = Places(merged, [first, second])
    assert places.find(("seed",)) == (second, 2)
    assert places.find(("study",)) == (first, 1)
    assert places.find(("inner", "folds")) == (first, 4)
    assert places.find(("inner", "metric")) == (first, 5)  # where it should be
    assert places.find(("tiles",)) == (second, None)
    assert Places(merged | {"seed": 7}, [first, second]).find(("seed",)) == (second, None)
    assert Places(merged, [tmp_path / "none.yaml"]).find(("seed",)) == (tmp_path / "none.yaml", None)
    assert Places(merged).find(("seed",)) == (None, None)


def test_a_verb_names_the_line_of_the_study(file, capsys, tmp_path):
    file.write_text(TEXT.replace("spectrum, k: 3}", "spectrum, k: 0}"))
    assert main(["datasets", str(file), "--name", "donors", "-o", str(tmp_path / "d")]) == 1
    assert f"line 13 of {file}: kernels.three: k=0" in capsys.readouterr().err
    file.write_text(TEXT)
    assert main(["gram", "--kernel-config", str(file), "--kernel-name", "best", "x.fa", "-o", "g.npy"]) == 1
    told = capsys.readouterr().err
    assert "'best' stands for several kernels; add --kernel-name three or centred" in told


# ---- configurations that were written before ----------------------------------------------------


@pytest.mark.parametrize(
    "path", sorted(set((ROOT / "config").glob("*.yaml")) - {ROOT / "config" / "apply.yaml"}), ids=lambda path: path.stem
)
def test_a_completed_configuration_is_read_as_the_same_study(path, tmp_path):
    study = Study.load(path)
    for again in (Study.parse(study.to_dict()), Study.of_results(study.to_dict()), Study.load(study.save(tmp_path))):
        assert again.settings_of("report") == study.settings_of("report")
        assert again.inner == study.inner
        for name in study.datasets:
            assert again.method_names(name) == study.method_names(name)
        homes = {name: [home.name for home in own] for name, own in study.stored_grams.items()}
        assert homes == {name: [home.name for home in own] for name, own in again.stored_grams.items()}


def every_job(study):
    """Yield the job and the names of all jobs of a study but the report's."""
    yield from (("gram", "", home) for home in study.homes)
    for name, entry in study.datasets.items():
        yield from ((job, name) for job in ("datasets", "folds", "plan"))
        yield from ((job, name, *method) for job in ("inner", "evaluate") for method in study.method_names(name))
        yield from ((job, name) for job in ("importance", "motifs", "variants") if getattr(entry, job) is not None)


@pytest.mark.parametrize("name", ["config", "peaks", "secondary_structure", "auto", "test"])
def test_a_job_reads_from_the_file_of_the_workflow_what_the_workflow_tracks(name, tmp_path, monkeypatch):
    study = Study.load(ROOT / "config" / f"{name}.yaml")
    path = study.save(tmp_path)
    assert path == study.save(tmp_path)
    assert path != dataclasses.replace(study, config={**study.config, "seed": 9}).save(tmp_path)
    jobs = list(every_job(study))
    tracked = [study.settings_of(*job) for job in jobs]
    built = counted(monkeypatch, kernel_entries, "build_kernel")
    saved = Study.load(path)
    assert not built
    assert [saved.settings_of(*job) for job in jobs] == tracked
    for job, settings in zip(jobs, tracked, strict=True):
        if job[0] == "evaluate":
            entry = MethodEntry.parse(settings)
            assert entry.solver.specs == study.solvers[job[3]].specs


def test_a_file_of_another_build_is_checked_again(config, tmp_path):
    path = Study.parse({**config, "seed": 7}).save(tmp_path)
    path.write_text(path.read_text().replace('"seed":7', '"seed":-7').replace('"build":"', '"build":"of another '))
    with pytest.raises(ConfigError, match="seed: -7 is less than the minimum"):
        Study.load(path)


SEVERAL = """\
study: pairs
datasets:
  table:
    table: {file: r.tsv, id: id, sequences: {alpha: {column: alpha, alphabet: protein}, beta: beta}, missing: keep}
    labels: {label: label}
  simulated: {simulate: {kind: receptors}}
  files:
    views: {alpha: a.fa, beta: {file: b.fa, alphabet: protein}, esm: esm.npz}
    labels: {from: tsv, file: r.tsv}
    missing: skip
  single: {fasta: {positive: p.fa, negative: n.fa}}
kernels:
  whole: {kernel: spectrum, k: 2}
  alpha: {kernel: spectrum, k: 2, view: alpha}
  part: {kernel: spectrum, k: 1, part: [1, -1], view: beta}
  each: {kernel: each_view, base: {kernel: local_alignment, normalize: true}}
  vectors: {kernel: rbf, view: esm}
  auto: {kernel: auto}
solvers: {csvc: {solver: csvc}}
"""


def several(**changes):
    """Return the study above, with other keys of its kernels."""
    config = yaml.safe_load(SEVERAL)
    config["kernels"].update(changes)
    return config


def test_kernels_run_where_their_sequences_are():
    study = Study.parse(several())
    runs = {name: [method.kernel.name for method in study.methods(name)] for name in study.datasets}
    of_sequences = ["whole", "alpha", "part", "each"]
    assert runs["table"] == runs["simulated"] == [*of_sequences, "auto"]
    assert runs["files"] == [*of_sequences, "vectors", "auto"]
    assert runs["single"] == ["whole", "auto"]
    assert study.datasets["files"].data.files() == ["a.fa", "b.fa", "r.tsv", "esm.npz"]


@pytest.mark.parametrize(
    ("kernel", "problem"),
    [
        ({"kernel": "spectrum", "view": "alfa"}, "no data set has the view 'alfa'; did you mean 'alpha'"),
        ({"kernel": "rbf", "view": "alpha"}, "compares vectors, and the view 'alpha' holds sequences"),
        ({"kernel": "spectrum", "view": "esm"}, "compares sequences, and the view 'esm' holds vectors"),
    ],
)
def test_views_that_do_not_suit_a_kernel_are_named(kernel, problem):
    with pytest.raises(ConfigError, match=problem):
        Study.parse(several(wrong=kernel))


@pytest.mark.parametrize("most", [5_000, schema.MOST_VALUES])
@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        (
            "kernels:\n",
            "kernels:\n  a0: &a0 {kernel: spectrum, k: 3}\n"
            + "".join(f"  a{i}: &a{i} {{kernel: sum, parts: [*a{i - 1}, *a{i - 1}]}}\n" for i in range(1, 20)),
            "has more than 50,000 values",
        ),
        ("seed: 3\n", "seed: 3\nseed: 4\n", "repeats the key 'seed' (lines 2 and 3)"),
        ("seed: 3\n", "seed: 3\n'seed': 3\n", "repeats the key 'seed' (lines 2 and 3)"),
        ("spectrum, k: 3}", "spectrum, k: 3, k: 4}", "repeats the key 'k' (lines 13 and 13)"),
        ("seed: 3\n", f"seed: 3\ndescription: {'x' * 2_000_000}\n", "has more than 1,000,000 characters"),
        ("seed: 3\n", f"seed: 3\nmany: [{'[],' * 200_000}]\n", "has more than 50,000 values"),
        ("seed: 3\n", "seed: 3\na: &a [*a]\n", "has more than 50,000 values"),
        (
            "seed: 3\n",
            "seed: 3\na0: &a0 {b: 1}\n"
            + "".join(f"a{i}: &a{i} {{<<: [*a{i - 1}, *a{i - 1}]}}\n" for i in range(1, 40)),
            "has more than 50,000 values",
        ),
    ],
    ids=["kernels", "repeated", "repeated in quotes", "repeated within a line", "long", "many", "endless", "doubled"],
)
def test_repeated_keys_and_sizes_are_refused(file, monkeypatch, old, new, said, most):
    monkeypatch.setattr(schema, "MOST_VALUES", most)
    file.write_text(TEXT.replace(old, new))
    start = time.process_time()
    for read in (Study.load, lambda path: check_written([path])):
        with pytest.raises(ConfigError) as caught:
            read(file)
        message = str(caught.value)
        assert message.startswith(f"{file}: {said.replace('50,000', f'{most:,}')}")
        assert ("\n" in message, len(message) < 2000) == (False, True)
    assert time.process_time() - start < 5


def test_what_snakemake_reads_otherwise_is_left_to_it(tmp_path):
    tabs = tmp_path / "tabs.json"
    tabs.write_text('{\n\t"seed": 3\n}\n')
    check_written([tabs, tmp_path / "none.yaml"])
