"""Where profiles come from: entries of data sets, the command line, models, the report."""

import numpy as np
import pytest
from test_profile_files import pssm_text

from seqkern.cli.main import main
from seqkern.core.errors import ConfigError, SequenceError
from seqkern.formats.profile_sources import ProfileFiles, ProfileSearch, ProfileSource, describe, differs
from seqkern.kernels import ProfileKernel
from seqkern.methods.loading import load_model
from seqkern.sequences.fasta import read_fasta
from seqkern.study import DataEntry, load_dataset, make_dataset
from seqkern.study.study import Study

LETTERS = "ACDEFGHIKLMNPQRSTVWY"
FILES = ("positive", "negative", "new")
KERNEL = "profile:k=2,sigma=4"


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """Go to a folder with two families, new sequences of the first, and a PSSM for each."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "pssm").mkdir()
    for number, name in enumerate(FILES):
        ancestor, rng, text = np.random.default_rng(number % 2).integers(20, size=40), np.random.default_rng(number), ""
        for i in range(4):
            codes = np.where(rng.random(40) < 0.3, rng.integers(20, size=40), ancestor)
            letters = "".join(LETTERS[code] for code in codes)
            text += f">{name}{i}\n{letters}\n"
            (tmp_path / "pssm" / f"{name}{i}.pssm").write_text(pssm_text(letters))
        (tmp_path / f"{name}.fa").write_text(text)
    return tmp_path


def entry(**profiles):
    return {"fasta": ["positive.fa", "negative.fa"], "labels": {}, "alphabet": "protein", "profiles": profiles}


def argv(verb, *more):
    first = {"train": [*FILES[:2]], "gram": [FILES[2]]}[verb]
    parts = [verb, *(f"{name}.fa" for name in first), "--alphabet", "protein", "--kernel", KERNEL]
    return [*parts, *(["--solver", "csvc:C=1", "-o", "m.seqkern"] if verb == "train" else ["-o", "g.npy"]), *more]


def test_a_data_set_carries_its_profiles(folder):
    X = read_fasta(["positive.fa", "negative.fa"], "protein")
    expected = {
        "files": ProfileFiles("pssm").add_to(X),
        "fasta": ProfileSearch(read_fasta("new.fa", "protein"), iterations=2).add_to(X),
        "all": ProfileSearch(X, iterations=1).add_to(X),
    }
    given = {
        "files": {"files": "pssm", "format": "psiblast"},
        "fasta": {"search": "new.fa", "iterations": 2},
        "all": {"search": "all", "iterations": 1, "transductive": True},
    }
    for name, profiles in given.items():
        data = make_dataset("d", entry(**profiles))
        for track in ("pssm", "profile"):
            np.testing.assert_array_equal(data.X.tracks[track], expected[name].tracks[track])
        assert data.notes["profiles"].items() >= profiles.items()
        assert ("transductive" in describe(data.notes["profiles"])) == (name == "all")
    pssms = [f"pssm/{name}{i}.pssm" for name in sorted(FILES) for i in range(4)]
    assert DataEntry.parse(entry(**given["files"])).files() == ["positive.fa", "negative.fa", *pssms]
    assert DataEntry.parse(entry(**given["fasta"])).files()[2:] == ["new.fa"]
    assert DataEntry.parse(entry(**given["all"])).files()[2:] == []
    assert DataEntry.parse({"public": "cb513", "profiles": {"files": "pssm"}}).files() == pssms


def test_a_change_in_a_folder_is_seen(folder):
    (folder / "pssm" / ".hidden").write_text("x")
    source = ProfileSource({"files": "pssm"})
    notes = [source.note()]
    assert [*notes[0]] == ["files", "sha256"]
    assert ProfileSource({"files": str(folder / "pssm")}).note()["sha256"] == notes[0]["sha256"]
    file = folder / "pssm" / "new1.pssm"
    file.write_text(file.read_text() + "\n")
    notes.append(source.note())
    file.rename(folder / "pssm" / "new9.pssm")
    notes.append(source.note())
    assert len({note["sha256"] for note in notes}) == 3
    assert "pssm/new9.pssm" in DataEntry.parse(entry(files="pssm")).files()
    # other sequences have other files: that is no reason to warn
    assert not differs(notes[0], notes[1])
    assert DataEntry.parse(entry(files="nowhere")).files()[2:] == ["nowhere"]


def test_the_verb_writes_it_and_gram_reads_it(folder):
    text = (
        '{"fasta": ["positive.fa", "negative.fa"], "labels": {}, "alphabet": "protein", "profiles": {"files": "pssm"}}'
    )
    assert main(["datasets", "--name", "d", "--entry", text, "-o", "d", "--threads", "1"]) == 0
    assert load_dataset("d").X.tracks["profile"].shape == (320, 20)
    assert main(["gram", "--dataset", "d", "--kernel", KERNEL, "-o", "g.npy"]) == 0
    X = ProfileFiles("pssm").add_to(read_fasta(["positive.fa", "negative.fa"], "protein"))
    np.testing.assert_array_equal(np.load("g.npy"), ProfileKernel(2, 4)(X))


def test_windows_are_cut_from_sequences_with_profiles(folder):
    (folder / "sites.tsv").write_text("record\tposition\tlabel\npositive1\t10\t1\nnegative2\t25\t0\n")
    cut = entry(files="pssm") | {"sites": "sites.tsv", "window": {"left": 3, "right": 3}}
    X = make_dataset("d", cut).X
    whole = ProfileFiles("pssm").add_to(read_fasta(["positive.fa", "negative.fa"], "protein"))
    start = whole.starts[1] + 6
    np.testing.assert_array_equal(X.compact().tracks["pssm"][:7], whole.tracks["pssm"][start : start + 7])


@pytest.mark.parametrize(
    ("profiles", "words"),
    [
        ({}, "need exactly one source"),
        ({"files": "a", "search": "b"}, "need exactly one source"),
        ({"search": "all"}, "profiles built from all sequences use the test sequences; confirm"),
        ({"search": "x.fa", "transductive": True}, "use the test sequences"),
        ({"files": "a", "iterations": 2}, "'iterations' does not work with files"),
        ({"files": "a", "format": "blast"}, "format"),
    ],
)
def test_impossible_entries_are_refused_before_any_work(profiles, words):
    study = {
        "study": "s",
        "datasets": {"d": entry(**profiles)},
        "kernels": {"p": {"kernel": "profile"}},
        "solvers": {"c": {"solver": "csvc"}},
    }
    with pytest.raises(ConfigError, match=words) as error:
        Study.parse(study)
    assert "datasets.d" in str(error.value)


def test_a_kernel_without_profiles_is_found_before_any_work():
    study = {
        "study": "s",
        "datasets": {"d": {"fasta": ["a.fa", "b.fa"]}},
        "kernels": {"p": {"kernel": "sum", "parts": [{"kernel": "profile"}]}, "s": {"kernel": "spectrum"}},
        "solvers": {"c": {"solver": "csvc"}},
    }
    with pytest.raises(ConfigError, match=r"datasets\.d: kernel 'p' needs profiles; add profiles: to the data set"):
        Study.parse(study)
    study["datasets"]["d"]["kernels"] = ["s"]
    Study.parse(study)
    study["datasets"]["d"] = {"fasta": ["a.fa", "b.fa"]}
    study["kernels"]["p"] = {"kernel": "profile", "search": "training"}
    Study.parse(study)
    study["datasets"]["d"] = {"features": "a.tsv", "profiles": {"files": "x"}}
    with pytest.raises(ConfigError, match="profiles need sequences"):
        Study.parse(study)


def test_gram_train_predict_and_explain(folder, capsys):
    X = read_fasta("new.fa", "protein")
    assert main(argv("gram", "--profiles", "pssm")) == 0
    np.testing.assert_array_equal(np.load("g.npy"), ProfileKernel(2, 4)(ProfileFiles("pssm").add_to(X)))
    assert main(argv("train", "--profiles", "pssm")) == 0
    model = load_model("m.seqkern")
    assert model.record["profiles"] == ProfileSource({"files": "pssm"}).note()
    expected = model.decision(ProfileFiles("pssm").add_to(X))
    capsys.readouterr()
    assert main(["predict", "m.seqkern", "new.fa", "--profiles", "pssm"]) == 0
    out, err = capsys.readouterr()
    assert err == ""
    np.testing.assert_allclose([float(row.split("\t")[1]) for row in out.splitlines()[1:]], expected, rtol=1e-9)
    assert main(["explain", "m.seqkern", "new.fa", "--profiles", "pssm", "-o", "out", "--plots", "0"]) == 0


def test_a_model_says_how_its_profiles_are_made(folder, capsys):
    assert main(argv("train", "--search-profiles", "positive.fa", "--profile-iterations", "2")) == 0
    capsys.readouterr()
    assert main(["predict", "m.seqkern", "new.fa"]) == 1
    wanted = "make them as in training: add --search-profiles positive.fa --profile-iterations 2"
    assert wanted in capsys.readouterr().err
    for more, doubt in (("2", False), ("1", True)):
        options = ["--search-profiles", "positive.fa", "--profile-iterations", more]
        assert main(["predict", "m.seqkern", "new.fa", *options]) == 0
        err = capsys.readouterr().err
        assert ("differ from those used in training" in err) == doubt
        assert ("up to 1 times" in err and "those were built by iterated search, up to 2 times" in err) == doubt


def test_a_model_that_searches_needs_no_file(folder, capsys):
    kernel = f"{KERNEL},search=training,iterations=1"
    assert main([item if item != KERNEL else kernel for item in argv("train")]) == 0
    for name in ("positive.fa", "negative.fa"):
        (folder / name).unlink()
    assert main(["predict", "m.seqkern", "new.fa"]) == 0
    assert capsys.readouterr().out.count("positive\n") >= 4


@pytest.mark.parametrize(
    ("given", "words"),
    [
        (argv("gram"), "needs profiles of the sequences; add --profiles PATH (from PSI-BLAST or HMMER) or --search"),
        (argv("gram", "--profiles", "a", "--search-profiles", "b"), "--search-profiles does not work with --profiles"),
        (
            argv("gram", "--profiles", "pssm", "--profile-iterations", "2"),
            "needs --search-profiles; add --search-profiles",
        ),
        (
            argv("gram", "--search-profiles", "all"),
            "takes a FASTA file; write ./all for a file of that name",
        ),
        (argv("gram", "--profiles", "pssm", "--track", "profile=x"), "the track 'profile' holds profiles, not letters"),
        (argv("gram", "--profiles", "nowhere"), "nowhere: no such file"),
        ([item if item != KERNEL else "spectrum" for item in argv("gram", "--profiles", "pssm")], "reads no profiles"),
        (argv("gram", "--profiles", "new.fa"), "new.fa: is neither an ASCII PSSM from PSI-BLAST nor"),
    ],
)
def test_one_line_for_a_mistake(folder, given, words, capsys):
    assert main(given) == 1
    err = capsys.readouterr().err
    assert words in err
    assert err.count("\n") == 1


def test_a_record_without_profile_is_named(folder):
    (folder / "pssm" / "new2.pssm").unlink()
    X = read_fasta("new.fa", "protein")
    with pytest.raises(
        SequenceError, match=r"pssm: record 'new2': has no profile: none of 11 matches its id.*; add a file"
    ):
        ProfileFiles("pssm").add_to(X)
    with pytest.raises(
        SequenceError, match=r"record 'new1': has no profile: none of 1 matches its id.*; add a model whose"
    ):
        ProfileFiles("pssm/new0.pssm").add_to(X)


def test_a_file_may_be_called_all(folder):
    (folder / "all").write_text((folder / "positive.fa").read_text())
    assert main(argv("gram", "--search-profiles", "./all")) == 0
