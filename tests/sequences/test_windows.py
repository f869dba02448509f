"""Windows around sites: the convention at both ends and on both strands, sites from tables and headers, bad input."""

import json
import re

import numpy as np
import pytest

from seqkern.cli.main import main
from seqkern.core.errors import ConfigError, FileError, LabelError, ParameterError, SequenceError
from seqkern.methods.loading import load_model
from seqkern.sequences.sequence_set import SequenceSet
from seqkern.sequences.windows import Window, as_window, cut_windows, letters_at_sites, make_sites, read_sites
from seqkern.study import DataEntry, load_dataset, make_dataset

COMPLEMENT = str.maketrans("ACGT", "TGCA")
CHR = "ACGTTAGGCTTACAGATTCCGA"  # 22 letters


def naive(record, position, strand, left, right):
    """Return the window of one site, offset by offset, or None past an end: the convention, word by word."""
    letters = ""
    for offset in range(-left, right + 1):
        place = position + offset if strand == "+" else position - offset
        if not 1 <= place <= len(record):
            return None
        letter = record[place - 1]
        letters += letter if strand == "+" else letter.translate(COMPLEMENT)
    return letters


def sequences(*strings, **options):
    return SequenceSet.from_strings(strings, "dna", [f"c{i}" for i in range(1, len(strings) + 1)], **options)


def cut(X, sites, window, **policies):
    records, positions, strands = zip(*sites, strict=True)
    return cut_windows(X, make_sites(records, positions, strands), window, **policies)


# ---- the convention --------------------------------------------------------------------------------------------------


def test_the_example_of_the_convention():
    window = as_window("-60:+80")
    assert (window.left, window.right, window.length, str(window)) == (60, 80, 141, "-60:+80")
    record = "C" * 60 + "A" + "G" * 80
    result = cut(sequences(record), [("c1", 61, "+")], window)
    assert result.windows.strings() == [record]
    assert result.windows.ids == ["c1:61:+"]
    for position, edge in ((60, "beginning"), (62, "end of 141 letters")):  # one off, and the window does not fit
        with pytest.raises(SequenceError, match=f"extends past the {edge}"):
            cut(sequences(record), [("c1", position, "+")], window)
    mirrored = record[::-1].translate(COMPLEMENT)  # 80 letters lie before the site, 60 behind it
    result = cut(sequences(mirrored), [("c1", 81, "-")], window)
    assert result.windows.strings() == [record]
    for position, edge in ((80, "beginning"), (82, "end of 141 letters")):
        with pytest.raises(SequenceError, match=f"extends past the {edge}"):
            cut(sequences(mirrored), [("c1", position, "-")], window)


@pytest.mark.parametrize(("left", "right"), [(0, 0), (3, 5), (5, 3), (0, 4), (4, 0), (10, 11)])
def test_every_place_and_strand_against_the_convention(left, right):
    X, window = sequences(CHR, CHR[3:19]), Window(left, right)
    for record, string in (("c1", CHR), ("c2", CHR[3:19])):
        for position in range(1, len(string) + 1):
            for strand in "+-":
                expected = naive(string, position, strand, left, right)
                if expected is None:
                    with pytest.raises(SequenceError, match=rf"record '{record}': .*position {position} \(\{strand}\)"):
                        cut(X, [(record, position, strand)], window)
                else:
                    assert cut(X, [(record, position, strand)], window).windows.strings() == [expected]


def test_many_sites_in_any_order():
    rng = np.random.default_rng(0)
    strings = ["".join(rng.choice(list("ACGT"), n)) for n in (40, 7, 90)]
    sites = [
        (f"c{r + 1}", position, strand)
        for r in range(3)
        for position in range(1, len(strings[r]) + 1)
        for strand in "+-"
    ]
    sites = [sites[i] for i in rng.permutation(len(sites))]
    expected = [naive(strings[int(record[1]) - 1], position, strand, 4, 6) for record, position, strand in sites]
    result = cut(sequences(*strings), sites, Window(4, 6), past_end="skip")
    assert result.windows.strings() == [window for window in expected if window]
    assert result.kept.tolist() == [i for i, window in enumerate(expected) if window]
    assert result.records.tolist() == [int(sites[i][0][1]) - 1 for i in result.kept]
    assert result.windows.counts == {"windows past an end left out": sum(window is None for window in expected)}


def test_the_first_and_last_window_of_each_strand():
    X, window = sequences(CHR), Window(2, 4)
    assert cut(X, [("c1", 3, "+"), ("c1", 18, "+")], window).windows.strings() == [CHR[:7], CHR[-7:]]
    turned = CHR[::-1].translate(COMPLEMENT)
    assert cut(X, [("c1", 20, "-"), ("c1", 5, "-")], window).windows.strings() == [turned[:7], turned[-7:]]
    for site in (("c1", 2, "+"), ("c1", 19, "+"), ("c1", 21, "-"), ("c1", 4, "-")):
        with pytest.raises(SequenceError, match=r"extends past the (beginning|end)"):
            cut(X, [site], window)


def test_windows_of_the_forward_strand_copy_nothing():
    X = sequences(CHR)
    assert np.shares_memory(cut(X, [("c1", 9, "+"), ("c1", 10, "+")], Window(2, 4)).windows.codes, X.codes)


# ---- letters expected at a site --------------------------------------------------------------------------------------


def test_the_letters_of_a_site_on_both_strands():
    # AG at 6 and 14 forward; CT at 9 and 10, so that strand - reads A at 10 and G at 9
    assert [CHR[i - 1 : i + 1] for i in (6, 14, 9)] == ["AG", "AG", "CT"]
    window = Window(2, 4, "AG")
    good = [("c1", 6, "+"), ("c1", 14, "+"), ("c1", 10, "-")]
    result = cut(sequences(CHR), good, window)
    assert [string[2:4] for string in result.windows.strings()] == ["AG"] * 3
    for position, strand, found in ((5, "+", "TA"), (7, "+", "GG"), (9, "-", "GC"), (11, "-", "AA")):
        site = ("c1", position, strand)
        with pytest.raises(SequenceError, match=rf"'c1': position {position} \(\{strand}\) holds '{found}', not 'AG'"):
            cut(sequences(CHR), [site], window)
        result = cut(sequences(CHR), [*good, site], window, other_sites="skip")
        assert result.kept.tolist() == [0, 1, 2]
        assert result.windows.counts == {"other sites left out": 1}


def test_a_site_may_end_with_the_window():
    assert cut(sequences("CCAG"), [("c1", 3, "+")], Window(0, 1, "AG")).windows.strings() == ["AG"]
    assert cut(sequences("CTCC"), [("c1", 2, "-")], Window(0, 1, "AG")).windows.strings() == ["AG"]
    with pytest.raises(ParameterError, match="'AG' does not fit into the window -5:\\+0"):
        Window(5, 0, "AG")


def test_a_site_of_masked_letters_is_another():
    X = sequences("CCNGCC", unknown="mask")
    with pytest.raises(SequenceError, match=r"holds '\*G', not 'AG'"):
        cut(X, [("c1", 3, "+")], Window(1, 1, "AG"))


# ---- policies --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("strand", ["+", "-"])
def test_unknown_letters_count_inside_windows_only(strand):
    X = sequences("NNNNACGTACGTNACGTACGTAA", unknown="mask")
    clean, touched = ("c1", 8, strand), ("c1", 16, strand)
    assert cut(X, [clean], Window(3, 3)).windows.counts == {}
    with pytest.raises(SequenceError, match=rf"position 16 \(\{strand}\) contains letters outside the alphabet dna"):
        cut(X, [clean, touched], Window(3, 3), unknown="error")
    result = cut(X, [clean, touched], Window(3, 3), unknown="skip")
    assert (result.kept.tolist(), result.windows.counts) == ([0], {"windows with unknown letters left out": 1})
    result = cut(X, [clean, touched], Window(3, 3), unknown="mask")
    assert (result.kept.tolist(), result.windows.counts) == ([0, 1], {"masked letters": 1})
    assert result.windows.string(1).count("*") == 1


def test_a_site_given_twice():
    sites = [("c1", 9, "+"), ("c1", 9, "+")]
    with pytest.raises(SequenceError, match="duplicate site c1:9:\\+; remove one of them"):
        cut(sequences(CHR), sites, Window(1, 1))
    assert cut(sequences(CHR), sites, Window(1, 1), ids="suffix").windows.ids == ["c1:9:+", "c1:9:+.2"]
    assert cut(sequences(CHR), sites, Window(1, 1), ids="number").windows.ids == ["1", "2"]


def test_the_letters_that_stand_at_sites_are_told_for_each_strand():
    sites = [("c1", 6, "+"), ("c1", 14, "+"), ("c1", 9, "+"), ("c1", 10, "-")]
    windows = cut(sequences(CHR), sites, Window(2, 4)).windows
    found = letters_at_sites(windows, Window(2, 4), np.array([False, False, False, True]))
    assert found == {"+": ("AG", 2 / 3), "-": ("AG", 1.0)}


def test_proteins_have_one_strand():
    X = SequenceSet.from_strings(["MKVLAWGIDERS"], "protein", ["p"])
    assert cut(X, [("p", 5, "+")], Window(2, 2, "A")).windows.strings() == ["VLAWG"]
    with pytest.raises(ParameterError, match="'protein' has no complement"):
        cut(X, [("p", 5, "-")], Window(2, 2))


def test_no_window_left():
    with pytest.raises(SequenceError, match="no window is left: 1 windows past an end left out"):
        cut(sequences(CHR), [("c1", 1, "+")], Window(1, 1), past_end="skip")


# ---- parsing ---------------------------------------------------------------------------------------------------------


def test_forms_of_a_window():
    assert as_window("-6:8") == as_window({"left": 6, "right": 8}) == as_window(Window(6, 8)) == Window(6, 8)
    assert as_window("-6:+8", "ag") == Window(6, 8, "AG") == as_window(Window(6, 8, "AG").record())


@pytest.mark.parametrize(
    "text", ["", "60:80", "-60", "60", "+60:+80", "-60:-80", "-6.5:+8", "-6:+8:+9", "-6000000000:+8", {"left": 6}, 141]
)
def test_no_window(text):
    with pytest.raises(ParameterError, match=r"is not a window; .*such as -60:\+80"):
        as_window(text)


@pytest.mark.parametrize("left", [-1, 1.5, "6"])
def test_numbers_of_a_window(left):
    with pytest.raises(ParameterError, match="left="):
        Window(left, 3)


@pytest.mark.parametrize(
    ("table", "words"),
    [
        ("record\tposition\n", "contains no site"),
        ("", "is empty"),
        ("chrom\tposition\nc\t1\n", "has no column 'record'; add the columns record and position"),
        ("record\tpos\nc\t1\n", "has no column 'position'"),
        ("record\tposition\nc\t0\n", "record 'c': invalid position '0'; .*first position of a record"),
        ("record\tposition\nc\t-3\n", "invalid position '-3'"),
        ("record\tposition\nc\t1.5\n", "invalid position '1.5'"),
        ("record\tposition\nc\t1e3\n", "invalid position '1e3'"),
        ("record\tposition\nc\t\n", "invalid position ''"),
        ("record\tposition\nc\t" + "9" * 30 + "\n", "invalid position"),
        ("record\tposition\tstrand\nc\t1\t.\n", "invalid strand '.'; give \\+ or -"),
        ("record\tposition\tposition\nc\t1\t1\n", "two columns named 'position'"),
        ("record,position\nc,1,\n", "line 2 has 3 cells, .*use commas"),
    ],
)
def test_tables_that_are_none(tmp_path, table, words):
    path = tmp_path / "s.tsv"
    path.write_text(table)
    with pytest.raises((SequenceError, FileError), match=rf"s\.tsv: .*{words}"):
        read_sites(path)


def test_a_table_of_sites(tmp_path):
    path = tmp_path / "s.tsv"
    path.write_text("label\tposition\trecord\tstrand\nx\t5\tc1\t-\ny\t7\tc2\t\n")
    sites = read_sites(path)
    assert (sites.records, sites.positions.tolist(), sites.strands) == (["c1", "c2"], [5, 7], ["-", "+"])
    assert sites.columns["label"] == ["x", "y"]


# ---- data sets -------------------------------------------------------------------------------------------------------


@pytest.fixture
def genome(tmp_path):
    """Write two records and the sites AG on them, every other one positive; return (folder, strings, rows)."""
    rng = np.random.default_rng(3)
    strings = {"c1": "".join(rng.choice(list("ACGT"), 600)), "c2": "N" * 50 + "".join(rng.choice(list("ACGT"), 400))}
    (tmp_path / "g.fa").write_text("".join(f">{name} a chromosome\n{text}\n" for name, text in strings.items()))
    rows = []
    for name, text in strings.items():
        rows += [(name, match.start() + 1, "+") for match in re.finditer("AG", text)]
        rows += [(name, match.start() + 2, "-") for match in re.finditer("CT", text)]
    rows = [row for row in rows if (window := naive(strings[row[0]], *row[1:], 10, 12)) and "N" not in window]
    lines = [f"{name}\t{position}\t{strand}\t{i % 2}\n" for i, (name, position, strand) in enumerate(rows)]
    (tmp_path / "s.tsv").write_text("record\tposition\tstrand\tlabel\n" + "".join(lines))
    return tmp_path, strings, rows


ENTRY = {"fasta": "g.fa", "sites": "s.tsv", "site": "AG", "window": {"left": 10, "right": 12}}


def test_a_data_set_of_sites(genome):
    folder, strings, rows = genome
    made = make_dataset("d", ENTRY, folder)
    labels = made.task().labels
    assert made.X.strings() == [naive(strings[name], *site, 10, 12) for name, *site in rows]
    assert labels.y.tolist() == [i % 2 for i in range(len(rows))]
    assert labels.chromosome.tolist() == [name for name, _, _ in rows]
    assert labels.position.tolist() == [position for _, position, _ in rows]
    assert labels.strand.tolist() == [strand for _, _, strand in rows]
    assert made.notes["window"] == {"left": 10, "right": 12, "site": "AG"}
    assert [source["file"] for source in made.notes["sources"]] == ["g.fa", "s.tsv"]
    assert made.X.counts == {}
    assert DataEntry.parse(ENTRY).files() == ["g.fa", "s.tsv"]
    again = make_dataset("d", ENTRY | {"window": "-10:+12"}, folder)
    assert again.X.digest() == made.X.digest()


def test_labels_of_the_records(genome):
    folder, _, rows = genome
    (folder / "l.tsv").write_text("id\tlabel\nc2\tno\nc1\tyes\n")
    for labels in ({"from": "tsv", "file": "l.tsv"}, {"from": "first_word"}):
        made = make_dataset("d", ENTRY | {"labels": labels | {"positive": "yes" if "file" in labels else "c1"}}, folder)
        names = {"c1": "yes", "c2": "no"} if "file" in labels else {"c1": "c1", "c2": "c2"}
        assert made.task().labels.names() == [names[name] for name, _, _ in rows]


def test_a_class_for_each_file_and_sites_in_headers(tmp_path):
    (tmp_path / "p.fa").write_text(f">a position=9\n{CHR}\n>b position=10, strand=-\n{CHR}\n")
    (tmp_path / "n.fa").write_text(f">c strand=+, position=12\n{CHR}\n")
    entry = {"fasta": {"p": "p.fa", "n": "n.fa"}, "sites": "header", "window": "-3:+2", "labels": {"positive": "p"}}
    made = make_dataset("d", entry, tmp_path)
    assert made.X.ids == ["a", "b", "c"]
    assert made.X.strings() == [naive(CHR, 9, "+", 3, 2), naive(CHR, 10, "-", 3, 2), naive(CHR, 12, "+", 3, 2)]
    assert made.task().labels.names() == ["p", "p", "n"]
    assert DataEntry.parse(entry).files() == ["p.fa", "n.fa"]


@pytest.mark.parametrize(
    ("change", "error", "words"),
    [
        ({"sites": None}, ConfigError, "'window' needs 'sites'; give both"),
        ({"window": None}, ConfigError, "'sites' needs 'window'"),
        ({"window": "60"}, ParameterError, "'60' is not a window"),
        ({"site": "AGX"}, ParameterError, "'AGX' contains letters outside the alphabet dna"),
        ({"sites": "gone.tsv"}, FileError, "gone.tsv: no such file"),
        ({"labels": {"label": "class"}}, LabelError, r"s\.tsv: has no column 'class'; .*record, position, strand"),
        ({"sites": "header", "labels": {"from": "first_word"}}, SequenceError, r"'c1': has no field posit"),
        ({"sites": "header", "labels": {"from": "sites"}}, LabelError, "no labels given"),
        ({"labels": {"positive": "x"}}, LabelError, r"s\.tsv: no sample of the positive class 'x'"),
        ({"window": "-300:+300"}, SequenceError, r"s\.tsv: record 'c1': the window -300:\+300 around position"),
        ({"site": "AC"}, SequenceError, r"s\.tsv: record 'c1': position \d+ \(\+\) holds 'AG', not 'AC'"),
        ({"site": "AC", "other_sites": "skip"}, SequenceError, r"s\.tsv: no window is left: \d+ other sites left out"),
    ],
)
def test_entries_that_are_not_possible(genome, change, error, words):
    entry = {key: value for key, value in (ENTRY | change).items() if value is not None}
    with pytest.raises(error, match=words):
        make_dataset("d", entry, genome[0])


def test_windows_go_with_fasta():
    with pytest.raises(ConfigError, match="'window' needs fasta"):
        make_dataset("d", {"simulate": {"kind": "donor"}, "window": "-3:+3", "sites": "header"})


@pytest.mark.parametrize(
    ("sites", "words"),
    [
        (
            "c3\t100\t+\t1\n",
            r"s\.tsv: record 'c3': there is no such record among the sequences; use the ids of the records: c1, c2",
        ),
        ("c1\t601\t+\t1\n", r"record 'c1': position 601 is outside the record of length 600"),
        ("c1\t600\t+\t1\n", r"record 'c1': the window -10:\+12 around position 600 \(\+\) extends past the end of 600"),
        ("c2\t25\t+\t1\n", r"record 'c2': the window -10:\+12 around position 25 \(\+\) contains letters outside"),
        ("c1\t100\t+\t1\n", "only one class: 1"),
        ("c1\t100\t+\t\nc1\t120\t+\t0\n", "only one class: 0"),
    ],
)
def test_sites_that_are_not_possible(genome, sites, words):
    (genome[0] / "s.tsv").write_text("record\tposition\tstrand\tlabel\n" + sites)
    with pytest.raises((SequenceError, LabelError), match=words):
        make_dataset("d", {key: ENTRY[key] for key in ENTRY if key != "site"} | {"unknown": "error"}, genome[0])


# ---- command line ----------------------------------------------------------------------------------------------------


def run(folder, monkeypatch, *argv):
    monkeypatch.chdir(folder)
    return main(list(argv))


WINDOW = ("g.fa", "--sites", "s.tsv", "--window", "-10:+12", "--site", "ag")
TRAIN = ("--kernel", "spectrum:k=2", "--solver", "csvc:C=1", "-o", "m.seqkern")


def test_train_on_windows(genome, monkeypatch, capsys):
    folder, strings, rows = genome
    assert run(folder, monkeypatch, "train", "--verbose", *WINDOW, *TRAIN) == 0
    model = load_model(folder / "m.seqkern")
    assert model.record["window"] == {"left": 10, "right": 12, "site": "AG"}
    assert model.record["n"] == len(rows)
    windows = {naive(strings[name], *site, 10, 12) for name, *site in rows}
    assert set(model.support.strings()) <= windows
    out, err = capsys.readouterr()
    assert "  windows    -10:+12 around AG, length 23\n" in out
    assert err == ""


def test_gram_of_windows(genome, monkeypatch, capsys):
    folder, strings, rows = genome
    (folder / "w.fa").write_text("".join(f">{i}\n{naive(strings[n], *s, 10, 12)}\n" for i, (n, *s) in enumerate(rows)))
    assert run(folder, monkeypatch, "gram", *WINDOW, "--kernel", "spectrum:k=2", "-o", "a.npy") == 0
    assert run(folder, monkeypatch, "gram", "w.fa", "--kernel", "spectrum:k=2", "-o", "b.npy") == 0
    np.testing.assert_array_equal(np.load(folder / "a.npy"), np.load(folder / "b.npy"))


def test_what_is_left_out_is_counted(genome, monkeypatch, capsys):
    window = ("g.fa", "--sites", "s.tsv", "--window=-290:+290", "--site", "AG", "--past-end", "skip")
    assert run(genome[0], monkeypatch, "gram", *window, "--kernel", "spectrum:k=2", "-o", "a.npy") == 0
    assert re.search(r"g\.fa: \d+ windows past an end left out", capsys.readouterr().err)


def test_a_study_and_a_folder_of_windows(genome, monkeypatch, capsys):
    entry = json.dumps(ENTRY)
    assert run(genome[0], monkeypatch, "datasets", "--name", "d", "--entry", entry, "-o", "d") == 0
    dataset = load_dataset(genome[0] / "d")
    assert dataset.notes["window"]["site"] == "AG"
    assert dataset.X.strings() == make_dataset("d", ENTRY, genome[0]).X.strings()
    entry = json.dumps(ENTRY | {"window": {"left": 10}})
    assert run(genome[0], monkeypatch, "datasets", "--name", "d", "--entry", entry, "-o", "e") == 1
    assert "datasets.d.window" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("argv", "words"),
    [
        (("train", *WINDOW[:3], "--site", "AG", *TRAIN), "'sites' needs 'window'"),
        (("train", "g.fa", "--window", "-3:+3", *TRAIN), "no labels given; .*--sites TABLE"),
        (("train", "g.fa", "--sites", "s.tsv", "--window", "3:3", *TRAIN), "'3:3' is not a window"),
        (("train", *WINDOW[:4], "-900:+2", *TRAIN), "s.tsv: record 'c1': the window -900:\\+2 around position"),
        (("gram", *WINDOW, "--against", "g.fa", *TRAIN[:2], "-o", "a.npy"), "--against does not work with --window"),
    ],
)
def test_wrong_commands(genome, monkeypatch, capsys, argv, words):
    before = sorted(genome[0].iterdir())
    assert run(genome[0], monkeypatch, *argv) == 1
    err = capsys.readouterr().err
    assert re.search(words, err)
    assert err.count("\n") == 1
    assert sorted(genome[0].iterdir()) == before
