"""Decisions of trained models taken apart: sums, words, profiles, pages."""

import csv
import dataclasses
import re
import xml.etree.ElementTree as ElementTree
from html.parser import HTMLParser

import numpy as np
import pytest
from naive import encode, kmers, random_strings
from test_additive import OF_SEQUENCES, wordless
from test_kernel_contract import EXAMPLES, random_sequences

from seqkern.core.errors import ModelError, ParameterError
from seqkern.gram.transforms import build_transform
from seqkern.kernels import SpectrumKernel, blocks, build_kernel
from seqkern.kernels.decisions import kmer_weights
from seqkern.kernels.occurrences import KmerWeights
from seqkern.kernels.view_kernels import PartKernel
from seqkern.methods import Explainer, explain
from seqkern.methods import explanation as explanation_module
from seqkern.methods import explanation as words_module
from seqkern.methods.explanation import KmerTable
from seqkern.methods.loading import load_model
from seqkern.methods.training import train_model
from seqkern.report.explanation_page import Summary, render_page, write_explanation
from seqkern.report.profile_pictures import MOST_LETTERS, profile
from seqkern.sequences.labels import make_labels
from seqkern.sequences.sequence_set import SequenceSet
from seqkern.sequences.tables import FeatureTable
from seqkern.simulate import simulate


def record_sums(explanation):
    return np.array([explanation.of(i).sum() for i in range(len(explanation.decision))])


def check_sums(explanation):
    difference = record_sums(explanation) - (explanation.decision - explanation.bias)
    assert np.abs(difference).max() <= 1e-9


@pytest.mark.contract
@pytest.mark.parametrize("solver", ["csvc:C=1", "psvc:epsilon=0.1"])
@pytest.mark.parametrize("kernel", OF_SEQUENCES.values(), ids=OF_SEQUENCES)
def test_contributions_sum_to_the_decision_minus_the_bias(kernel, solver):
    X, new = random_sequences(kernel, seed=4), random_sequences(kernel, seed=5)
    labels = make_labels(X.ids, ["a" if i % 3 == 0 else "b" for i in range(len(X))])
    model = train_model(X, labels, kernel, solver)
    explanation = explain(model, new)
    check_sums(explanation)
    by_matrix = model.by_matrix(model.kernel.prepare(new, like=model.columns))
    limit = 1e-5 if getattr(kernel, "precision", "double") == "single" else 1e-9
    np.testing.assert_allclose(explanation.decision, by_matrix, rtol=limit, atol=limit)
    assert len(explanation.words) == len(explanation.weights)
    # lengths of a string kernel's words have no limit where it is given as text
    assert (len(explanation.words) == 0) == (kernel is EXAMPLES["string-3"] or wordless(kernel))
    assert np.all(np.diff(np.abs(explanation.weights)) <= 0)


# ---- donor sites ------------------------------------------------------------------------------------------


def donors(seed=1):
    data = simulate("donor", seed, n_positive=60, n_decoy=120)
    return data.sequences, make_labels(data.sequences.ids, data.table["label"], positive="donor")


def train(kernel="spectrum:k=3", solver="csvc:C=1", transforms=(), data=None):
    X, labels = data or donors()
    return train_model(X, labels, build_kernel(kernel), solver, transforms=[build_transform(t) for t in transforms])


@pytest.fixture(scope="module")
def model():
    return train()


def test_the_site_stands_out():
    kernel = "spectrum:k=3,part=20:32 + spectrum:k=3,part=28:40"
    new, labels = donors(seed=2)
    explanation = explain(train(kernel), new)
    mean = explanation.contributions.reshape(len(new), 60)[labels.y == labels.classes.index("donor")].mean(axis=0)
    site = slice(27, 36)  # -3 to +6 of the cut after letter 30
    assert mean[site].sum() > 0.8 * np.abs(mean).sum()
    assert {29, 30, 31, 32} >= set(np.argsort(mean)[-3:].tolist())
    assert {"GTA [28:40]", "GGT [28:40]"} & set(explanation.words[:6])


@pytest.mark.parametrize(
    "transforms", [["centre"], ["normalise"], ["normalise", "centre"], ["repair:method=shift", "normalise"]], ids=str
)
def test_transforms_are_worked_in(transforms):
    new = donors(seed=2)[0].take(slice(0, 10))
    check_sums(explain(train("spectrum:k=3,normalize=false", transforms=transforms), new))


def test_the_model_file_explains_alike(tmp_path, model):
    model.save(tmp_path / "m.seqkern")
    new = donors(seed=2)[0]
    first, second = explain(model, new), explain(load_model(tmp_path / "m.seqkern"), new.strings())
    assert first.contributions.tobytes() == second.contributions.tobytes()
    assert first.words == second.words


def test_real_labels_are_explained():
    X, _ = donors()
    model = train(
        "spectrum:k=2",
        "psvr:epsilon=0.05",
        data=(X, make_labels(X.ids, [f"{i / 9}" for i in range(len(X))], kind="real")),
    )
    assert model.kind == "real"
    check_sums(explain(model, X.take(slice(0, 20))))


def test_a_machine_of_two_classes_is_explained():
    X, labels = donors()
    names = ["three" if i % 3 == 0 else labels.classes[y] for i, y in enumerate(labels.y)]
    model = train(data=(X, make_labels(X.ids, names)))
    assert model.kind == "multiclass"
    with pytest.raises(ParameterError, match="--pair, such as decoy:donor") as caught:
        explain(model, X)
    assert "\n" not in str(caught.value)
    with pytest.raises(ParameterError, match="no two classes 'donor:donor'"):
        explain(model, X, pair="donor:donor")
    for pair in ("donor:three", "three:donor", "decoy:three"):
        explanation = explain(model, X.take(slice(0, 9)), pair=pair)
        check_sums(explanation)
        assert Explainer(model, pair).model.classes == tuple(sorted(pair.split(":")))
    pairs = [("decoy", "donor"), ("decoy", "three"), ("donor", "three")]
    votes = np.zeros((len(X), 3))
    for a, b in pairs:
        decision = Explainer(model, f"{a}:{b}").model.decision(X)
        votes[np.arange(len(X)), [model.classes.index(b if value > 0 else a) for value in decision]] += 1
    assert np.array_equal(votes, np.round(model.decision(X)))


def test_a_pair_is_refused_where_there_is_one_machine(model):
    with pytest.raises(ParameterError, match="multi-class"):
        explain(model, donors()[0], pair="donor:decoy")


def test_features_have_no_letters():
    X = FeatureTable(np.random.default_rng(0).normal(size=(20, 3)))
    model = train_model(X, make_labels(X.ids, ["a", "b"] * 10), build_kernel("linear"), "csvc:C=1")
    with pytest.raises(ModelError, match="feature table"):
        explain(model, X)


def test_another_alphabet_is_refused(model):
    with pytest.raises(ModelError, match="trained on dna"):
        explain(model, SequenceSet.from_strings(["MKV" * 9], "protein"))


def test_pieces_do_not_change_a_letter(model, monkeypatch):
    new = donors(seed=2)[0]
    whole = explain(model, new)
    monkeypatch.setattr(explanation_module, "PIECE_LETTERS", 100)
    parts = [len(piece) for piece in Explainer(model).pieces(new)]
    assert sum(parts) == len(new)
    assert max(parts) == 1
    again = explain(model, new)
    assert again.contributions.tobytes() == whole.contributions.tobytes()
    assert again.words == whole.words
    np.testing.assert_allclose(again.weights, whole.weights, rtol=1e-12)


def test_a_wrong_kernel_is_found_out(model, monkeypatch):
    explainer = Explainer(model)
    form = explainer.form
    explainer.form = dataclasses.replace(form, coefficients=form.coefficients * (1 + 1e-7))
    with pytest.raises(ModelError, match="report it as a bug"):
        explainer.letters(donors(seed=2)[0])


@pytest.mark.parametrize("size", [1e308, 1e306])
def test_decisions_and_contributions_that_are_not_finite_are_refused(size):
    heavy = train(kernel="spectrum:k=3,normalize=false")
    heavy.solver.dual_coef_ = np.copysign(size, heavy.solver.dual_coef_)
    with pytest.raises(ModelError, match=r"record '.*': the decision is (nan|-?inf): .*; train the model again"):
        explain(heavy, donors(seed=2)[0])


def test_nothing_to_explain_is_nothing(model):
    explanation = explain(model, donors()[0].take(slice(0, 0)))
    assert explanation.decision.shape == (0,)
    assert explanation.contributions.shape == (0,)


# ---- words ------------------------------------------------------------------------------------------------


def counts_of(kernel, X, support):
    """Return {name: occurrences in X} of all words of a kernel."""
    kernel = build_kernel(kernel) if isinstance(kernel, str) else kernel
    found = kmer_weights(kernel, X, support, np.ones(len(support)))
    table = KmerTable(getattr(kernel, "reverse_complement", False))
    table.add(X, found._replace(weights=np.ones(len(found.names))))
    return {name: count for name, _, count in table.sorted()}


def test_occurrences_are_counted():
    strings = [*random_strings(30, 0, 40, masked=0.1), "", "ACACAC"]
    X, Z = encode(strings), encode(["ACGTACGTTT", "TTTACGA"])
    for name, count in counts_of("spectrum:k=2,short=zero,normalize=false", X, Z).items():
        assert count == sum(kmers(s, 2).count(name) for s in strings)
    for name, count in counts_of("spectrum:k=2,short=zero,normalize=false,part=2:", X, Z).items():
        assert count == sum(kmers(s[2:], 2).count(name.removesuffix(" [2:]")) for s in strings)
    pairs = counts_of("gappy_pair:k=1,m=2,short=zero,normalize=false", X, Z)
    assert "A..C" in pairs
    for name, count in pairs.items():
        ends = name[0], name[-1], len(name) - 1
        assert count == sum((s[i], s[i + ends[2]]) == ends[:2] for s in strings for i in range(len(s) - ends[2]))
    pairs = counts_of("oligo_distance:k=2,max_distance=3,short=zero,normalize=false", X, Z)
    assert pairs["AC(1)CA"] > 0
    for name, count in pairs.items():
        first, distance, second = re.fullmatch(r"(..)\((\d)\)(..)", name).groups()
        starts = [(s, i) for s in strings for i in range(len(s) - int(distance) - 1)]
        assert count == sum(s[i : i + 2] == first and s[i + int(distance) :][:2] == second for s, i in starts)


def test_words_that_are_no_letters_are_counted_by_their_kernel():
    X = encode(["ACAGTTACC", "GGACT"])
    words = {"kernel": "motif", "motifs": ["A-C-x", "[GT](2)", "A-A"], "normalize": False}
    assert counts_of(build_kernel(words), X, X) == {"A-C-x": 3, "[GT](2)": 3}
    assert counts_of(build_kernel(words | {"presence": True}), X, X) == {"A-C-x": 3, "[GT](2)": 3}
    assert counts_of(build_kernel(words | {"part": [1, None]}), X, X) == {"A-C-x [1:]": 2, "[GT](2) [1:]": 2}
    kernel = build_kernel({"kernel": "sum", "parts": [words, {"kernel": "spectrum", "k": 1, "normalize": False}]})
    assert counts_of(kernel, X, X) == {"A-C-x": 3, "[GT](2)": 3, "A": 4, "C": 4, "G": 3, "T": 3}
    table, Z = KmerTable(), encode(["ACA"])
    for part in (X, X.take([0])):  # in pieces
        table.add(part, kmer_weights(kernel, part, Z, np.ones(1)))
    assert {name: count for name, _, count in table.sorted()} == {"A-C-x": 5, "A": 7, "C": 7}


def test_a_part_of_a_part_is_counted_where_it_is():
    X = encode(["ACACACAC", "ACAC"])
    inner = PartKernel(SpectrumKernel(2, normalize=False, short="zero"), 1, -1)
    counts = counts_of(PartKernel(inner, 2, None), X, X)
    assert counts == {"AC [1:-1] [2:]": 1, "CA [1:-1] [2:]": 2}


def test_annotated_pairs_are_not_counted():
    """Their names look like longer words: of proteins, H, E and C are letters and annotation letters."""
    X = encode(["ACWWDEHE"], "protein")
    X = X.replace(tracks={"structure": np.frombuffer(b"HEHECHHE", dtype=np.uint8)})
    counts = counts_of("gappy_pair:k=2,m=2,annotation=structure,normalize=false", X, X)
    assert counts["AC..DEHE..CH"] is None
    assert set(counts.values()) == {None}


def test_one_name_with_two_meanings_is_two_words():
    X = encode(["ACHE"], "protein").replace(tracks={"structure": np.frombuffer(b"HEHE", dtype=np.uint8)})
    kernel = build_kernel("spectrum:k=4,normalize=false+2*gappy_pair:k=1,m=0,annotation=structure,normalize=false")
    found = kmer_weights(kernel, X, X, np.array([1.0]))
    assert sorted(weight for name, weight in zip(*found[:2], strict=True) if name == "ACHE") == [1, 2]
    table = KmerTable()
    table.add(X, found)
    assert sorted(row[1:] for row in table.sorted() if row[0] == "ACHE") == [(1, 1), (2, None)]


def test_occurrences_of_both_strands():
    X = encode(["AACCTT", "GGTT"])
    counts = counts_of("spectrum:k=3,reverse_complement=true,normalize=false", X, X)
    assert counts["AAC"] == 2
    assert counts["AAG"] == 1


def test_a_table_of_too_many_words_keeps_the_heavy_ones(monkeypatch):
    monkeypatch.setattr(words_module, "MOST_WORDS", 3)
    table, X = KmerTable(), encode(["ACGT"])
    table.add(X, KmerWeights(list("ACG"), np.array([1.0, 5.0, 2.0])))
    assert (len(table), table.dropped) == (3, 0)
    table.add(X, KmerWeights(["AA", "CC", "GG", "TT"], np.array([-4.0, 0.5, 0.1, 3.0])))
    assert [word for word, _, _ in table.sorted()] == ["C", "AA", "TT"]
    assert table.dropped == 4


def test_words_left_out_are_told(tmp_path, model, monkeypatch):
    monkeypatch.setattr(words_module, "MOST_WORDS", 10)
    assert write(model, donors(seed=2)[0], tmp_path).dropped == 54
    assert "54 of smaller weight were left out" in Text((tmp_path / "index.html").read_text()).text
    assert len(read_table(tmp_path / "words.tsv")) == 10


# ---- pictures and the page --------------------------------------------------------------------------------


class Text(HTMLParser):
    """Collect the text and the tags of a page."""

    def __init__(self, page):
        super().__init__()
        self.tags, self.text = [], ""
        self.feed(page)

    def handle_starttag(self, tag, attributes):
        self.tags.append((tag, dict(attributes)))

    def handle_data(self, data):
        self.text += data


@pytest.mark.parametrize("size", [0, 1, 99, 100, 101, MOST_LETTERS, MOST_LETTERS + 1, 30_000])
def test_profiles_of_any_length_are_svg(size):
    rng = np.random.default_rng(0)
    letters = "".join(rng.choice(list("ACGT"), size))
    root = ElementTree.fromstring(profile(rng.normal(size=size), letters, -0.5, "a <label> & more"))
    assert root.tag == "{http://www.w3.org/2000/svg}svg"
    assert root.get("aria-label") == "a <label> & more"
    coloured = [el for el in root.iter("{http://www.w3.org/2000/svg}text") if el.get("class") == "letters"]
    if 0 < size <= MOST_LETTERS:
        assert sorted("".join(el.text for el in coloured)) == sorted(letters)
        assert all(len(el.get("x").split()) == len(el.text) for el in coloured)
    else:
        assert not coloured


@pytest.mark.parametrize(
    "values", [np.zeros(5), np.full(5, 1e-300), np.full(5, -1e300), np.array([1e-9, 1, -1e9, 0, 3])]
)
def test_profiles_of_any_values_are_svg(values):
    text = profile(np.array(values), "ACGTA", 0.0, "x")
    ElementTree.fromstring(text)
    assert "nan" not in text
    assert "inf" not in text


def test_a_profile_has_the_area_of_the_decision():
    """The steps' heights, read off the path, sum to the decision minus the bias."""
    values = np.array([0.5, -0.25, 1.0, 0.0])
    root = ElementTree.fromstring(profile(values, "ACGT", 0.4, "x"))
    lines = {
        el.get("stroke-width"): el for el in root.iter("{http://www.w3.org/2000/svg}path") if el.get("d")[:4] == "M62 "
    }
    heights = [float(y) for y in re.findall(r"(?:^M62 |V)([-\d.]+)", lines["0.8"].get("d"))]
    zero, dashed = (float(lines[width].get("d").split("H")[0].split()[1]) for width in ("0.6", "1"))
    scale = (zero - heights[2]) / 1.0
    np.testing.assert_allclose((zero - np.array(heights)) / scale, values, atol=2e-3)
    np.testing.assert_allclose((zero - dashed) / scale, -0.4 / 4, atol=2e-3)


def read_table(path):
    with open(path, encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE))


def write(model, X, folder, plots=3, pair=None):
    return write_explanation(Explainer(model, pair), [X], folder, model="m.seqkern", fasta="new.fa", plots=plots)


def test_files_hold_what_explain_says(tmp_path, model):
    new = donors(seed=2)[0].take(slice(50, 80))
    words = write(model, new, tmp_path / "out").sorted()
    explanation = explain(model, new)
    letters, decisions, table = (read_table(tmp_path / f"out/{n}.tsv") for n in ("letters", "decisions", "words"))
    assert [float(row["contribution"]) for row in letters] == explanation.contributions.tolist()
    assert [row["letter"] for row in letters] == list("".join(new.strings()))
    assert [int(row["position"]) for row in letters] == [i for _ in range(30) for i in range(1, 61)]
    assert [row["id"] for row in letters] == np.repeat(new.ids, 60).tolist()
    assert [float(row["decision"]) for row in decisions] == explanation.decision.tolist()
    assert {float(row["bias"]) for row in decisions} == {explanation.bias}
    assert [row["predicted"] for row in decisions] == model.predict(new).tolist()
    assert [row["word"] for row in table] == explanation.words == [word for word, _, _ in words]
    assert [float(row["weight"]) for row in table] == explanation.weights.tolist()
    counts = [sum(kmers(s, 3).count(row["word"]) for s in new.strings()) for row in table]
    assert [int(row["occurrences"]) for row in table] == counts
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == [
        "decisions.tsv",
        "importance.svg",
        "importance.tsv",
        "index.html",
        "letters.tsv",
        "logo.svg",
        "profile-0001.svg",
        "profile-0002.svg",
        "profile-0003.svg",
        "words.tsv",
    ]
    ElementTree.parse(tmp_path / "out/profile-0003.svg")


def test_the_page_says_what_it_shows(tmp_path, model):
    new = donors(seed=2)[0]
    write(model, new, tmp_path, plots=4)
    page = Text((tmp_path / "index.html").read_text())
    for said in ("spectrum:k=3", "The first 4 of 180 sequences", "For donor", "For decoy", "predicted as donor"):
        assert said in page.text
    assert sum(tag == "svg" for tag, _ in page.tags) == 2 + 2 + 4
    shown = [
        attributes["class"].split() for _, attributes in page.tags if attributes.get("class", "")[:3] in ("bar", "key")
    ]
    assert all(f".{kind}.{side} {{" in page.text or f".{kind}.{side}, " in page.text for kind, side in shown)
    assert not [tag for tag, attributes in page.tags if tag in ("link", "img") or "src" in attributes]


def test_names_from_files_are_text_and_never_paths(tmp_path, model):
    new = donors(seed=2)[0].take(slice(0, 2))
    evil = ["../../<script>alert(1)</script>", "a\tb\x01" + "x" * 500]
    write_explanation(Explainer(model), [new.replace(ids=evil)], tmp_path / "o", model="<m>", fasta="&f")
    text = (tmp_path / "o/index.html").read_text()
    assert "<script>" not in text
    assert "<m>" not in text
    assert "\x01" not in text
    assert sorted(p.name for p in tmp_path.iterdir()) == ["o"]
    assert {row["id"] for row in read_table(tmp_path / "o/decisions.tsv")} == {evil[0], r"a b\x01" + "x" * 500}
    ElementTree.parse(tmp_path / "o/profile-0002.svg")


def test_same_input_same_bytes(tmp_path, model):
    new = donors(seed=2)[0].take(slice(0, 5))
    for name in "ab":
        write(model, new, tmp_path / name)
    for path in (tmp_path / "a").iterdir():
        assert path.read_bytes() == (tmp_path / "b" / path.name).read_bytes()


def test_pictures_of_an_earlier_run_are_removed(tmp_path, model):
    new = donors(seed=2)[0].take(slice(0, 5))
    write(model, new, tmp_path, plots=5)
    (tmp_path / "profile-mine.svg").write_text("mine")
    write(model, new, tmp_path, plots=2)
    assert sorted(p.name for p in tmp_path.glob("profile*")) == [
        "profile-0001.svg",
        "profile-0002.svg",
        "profile-mine.svg",
    ]


def test_nothing_is_left_behind_by_an_error(tmp_path, model):
    def chunks():
        yield donors(seed=2)[0]
        raise ModelError("stop")

    with pytest.raises(ModelError, match="stop"):
        write_explanation(Explainer(model), chunks(), tmp_path / "out", model="m", fasta="f")
    assert not (tmp_path / "out").exists()


def test_sequences_of_unequal_lengths_have_no_mean_profile(tmp_path, model):
    X = donors(seed=2)[0]
    strings = X.strings()
    strings[7] = strings[7][:40]
    write(model, encode(strings), tmp_path, plots=1)
    page = Text((tmp_path / "index.html").read_text())
    assert "by position" not in page.text
    assert sum(tag == "svg" for tag, _ in page.tags) == 1


def test_a_protein_model_is_explained(tmp_path):
    X = SequenceSet.from_strings(random_strings(30, 30, 60, "ACDEFGHIKLMNPQRSTVWY", masked=0), "protein")
    model = train("spectrum:k=2", data=(X, make_labels(X.ids, ["a", "b"] * 15)))
    write(model, X, tmp_path)
    page = Text((tmp_path / "index.html").read_text())
    assert "by position" not in page.text
    assert "For a" in page.text


@pytest.mark.parametrize(
    ("n", "no_words", "text"),
    [(3, None, "all weights are zero"), (0, None, "there are no sequences"), (3, "it is odd", "it is odd")],
)
def test_a_page_without_words_says_why(model, n, no_words, text):
    summary = Summary(Explainer(model), "m", "f", n)
    summary.explainer.no_words = no_words
    page = Text(render_page(summary, [], [], []))
    assert f"No k-mers: {text}." in page.text
    assert "None" not in page.text


@pytest.mark.parametrize(
    ("kernel", "mean"),
    [
        ("spectrum:k=2", False),
        ("gappy_pair:k=1,m=1", False),
        ("gappy_pair:k=1,m=1,distance_weight=linear,sigma=3", True),
        ("spectrum:k=1+rbf:base=(spectrum:k=2)", True),
    ],
)
def test_a_page_says_when_weights_are_means(tmp_path, kernel, mean):
    write(train(kernel), donors(seed=2)[0].take(slice(0, 5)), tmp_path)
    assert ("the weights are means" in Text((tmp_path / "index.html").read_text()).text) == mean


def test_threads_are_those_that_were_given(monkeypatch):
    asked, available = [], blocks.available_threads

    def counting(n_threads):
        asked.append(n_threads)
        return available(n_threads)

    explainer = Explainer(train("rbf:gamma=0.5,base=(spectrum:k=2)"))
    new = donors(seed=2)[0].take(slice(0, 5))
    monkeypatch.setattr(blocks, "available_threads", counting)
    explainer.letters(new, n_threads=3)
    explainer.collect_words(new, KmerTable(), n_threads=3)
    assert set(asked) == {3}
    explainer.letters(new)
    assert asked[-1] is None
