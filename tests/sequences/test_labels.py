"""Labels: kinds, classes, and where they come from."""

import re
import shlex

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from seqkern.core.errors import LabelError, ParameterError
from seqkern.core.progress import reporting
from seqkern.sequences.fasta import read_records
from seqkern.sequences.labels import UNLABELLED, Labels, are_numbers, make_labels
from seqkern.study.tables import (
    check_options,
    columns_of_first_words,
    columns_of_headers,
    columns_of_table,
    header_fields,
    labels_of_columns,
)


def names(n):
    return [f"u{i}" for i in range(n)]


# ---- making labels ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("values", "classes"),
    [
        (["1", "0"], ("0", "1")),
        (["+1", "-1"], ("-1", "+1")),
        (["1", "-1"], ("-1", "1")),
        (["+", "-"], ("-", "+")),
        (["positive", "negative"], ("negative", "positive")),
        (["Yes", "no"], ("no", "Yes")),
        (["donor", "decoy"], ("decoy", "donor")),
        (["b", "a"], ("a", "b")),
        (["active", "inactive"], ("inactive", "active")),
        (["binder", "nonbinder"], ("nonbinder", "binder")),
        (["binder", "x"], ("x", "binder")),
        (["peaks", "background"], ("background", "peaks")),
        (["REST", "controls"], ("controls", "REST")),
        (["methylated", "unmethylated"], ("unmethylated", "methylated")),
        (["ctcf.pos", "ctcf.neg"], ("ctcf.neg", "ctcf.pos")),
        (["Gram positive", "Gram negative"], ("Gram negative", "Gram positive")),
        (["hit", "no_hit"], ("no_hit", "hit")),
        (["kinase", "unlabelled"], ("unlabelled", "kinase")),
        (["x", "0"], ("0", "x")),
        (["2", "1"], ("1", "2")),
    ],
)
def test_the_positive_class_of_two(values, classes):
    for order in (values, values[::-1]):
        labels = make_labels(names(2), order)
        assert labels.kind == "binary"
        assert labels.classes == classes
        assert labels.names() == order
        assert labels.signs().tolist() == [1.0 if value == classes[1] else -1.0 for value in order]


@pytest.mark.parametrize(
    ("order", "given", "positive", "said"),
    [
        (["b", "a"], {}, "b", ""),
        (["a", "b"], {}, "a", ""),
        (["a", "b"], {"positive": "b"}, "b", ""),
        (["a", "b"], {"classes": ["a", "b"]}, "b", ""),
        (["missense", "nonsense"], {}, "missense", ""),  # no negation
        (["donor", "acceptor"], {}, "donor", ""),
        (["positive control", "sample"], {}, "positive control", ""),  # words of both sides
        (["control", "background"], {}, "control", ""),
        (["active", "inactive"], {}, "active", ""),
        (["NA", "HA"], {}, "NA", ""),  # the name of a file is no word for unknown
        (
            ["negative", "positive"],
            {},
            "positive",
            "is positive, by its name, although negative comes first; --positive n",
        ),
        (["1", "2"], {}, "2", "is 2, by its name, although 1 comes first; --positive 1 chooses the other (in a study"),
        (["", "no hit", "hit"], {}, "hit", "although no hit comes first; --positive 'no hit' chooses"),
    ],
)
def test_the_positive_class_of_two_files(order, given, positive, said, capsys):
    with reporting():
        labels = make_labels(names(len(order)), order, order=order, **given)
    err = capsys.readouterr().err
    assert labels.classes[1] == positive
    assert said in err
    assert bool(said) == bool(err)


@pytest.mark.parametrize("values", [["b", "a"], ["donor", "acceptor"], ["Gram +", "Gram -"]])
def test_names_that_do_not_say_which_class_is_positive(values):
    a, b = sorted(values)
    remedy = (
        f"choose it: --positive {shlex.quote(a)} or --positive {shlex.quote(b)} of train and cv; in a study labels: "
    )
    with pytest.raises(
        LabelError,
        match=re.escape(f"t.tsv: the names {a} and {b} do not say which class is positive; {remedy}{{positive: {a}}}"),
    ):
        make_labels(names(2), values, order=(), file="t.tsv")
    assert make_labels(names(3), [*values, "x"], order=()).kind == "multiclass"
    assert make_labels(names(2), values, order=(), positive=b).classes == (a, b)


@given(st.lists(st.sampled_from(["a", "b", "c", "10", "9"]), min_size=2, max_size=20))
def test_codes_name_the_values(values):
    if len(set(values)) < 2:
        return
    labels = make_labels(names(len(values)), values)
    assert labels.names() == values
    assert labels.kind == ("binary" if len(set(values)) == 2 else "multiclass")
    assert labels.class_counts() == {name: values.count(name) for name in labels.classes}
    assert labels.y.dtype == np.int64


def test_numbers_as_classes_are_sorted_by_value():
    assert make_labels(names(4), ["10", "9", "x", "1"]).classes == ("1", "9", "10", "x")


def test_positive_class_against_the_rest():
    labels = make_labels(names(4), ["EI", "IE", "N", "EI"], positive="EI")
    assert labels.classes == ("not EI", "EI")
    assert labels.y.tolist() == [1, 0, 0, 1]
    assert make_labels(names(2), ["a", "b"], positive="a").classes == ("b", "a")


def test_units_without_a_label():
    labels = make_labels(names(3), ["a", "", "b"])
    assert labels.y.tolist() == [0, UNLABELLED, 1]
    assert labels.names() == ["a", "", "b"]
    assert np.isnan(labels.signs()[1])
    real = make_labels(names(2), ["1.5", ""], kind="real")
    assert np.isnan(real.y[1])
    assert real.names() == ["1.5", ""]


@pytest.mark.parametrize("word", ["NA", "na", "N/A", "nan", "NaN", "?", ".", "-", "Unknown", "unlabelled", "missing"])
@pytest.mark.parametrize("positive", [None, "donor"])
def test_words_for_unknown_labels_are_not_a_class(word, positive):
    values = ["donor", "decoy", word, word, word]
    said = f"3 labels are '{word}'; leave them empty if the label is unknown, or rename the class"
    with pytest.raises(LabelError, match=re.escape(f"f.tsv: {said}")):
        make_labels(names(5), values, positive=positive, file="f.tsv")


@pytest.mark.parametrize(
    ("values", "positive", "classes"),
    [
        (["+", "-"], None, ("-", "+")),
        (["+", "-", "x"], None, ("+", "-", "x")),
        (["1", "-"], None, ("-", "1")),
        (["K", "Na", "Ca"], None, ("Ca", "K", "Na")),
        (["HA", "NA"], "NA", ("HA", "NA")),
        (["donor", "none"], "donor", ("none", "donor")),
        (["donor", "acceptor", "none"], None, ("acceptor", "donor", "none")),
        (["kinase", "unlabelled"], "kinase", ("unlabelled", "kinase")),
    ],
)
def test_the_same_words_as_classes(values, positive, classes):
    assert make_labels(names(len(values)), values, positive=positive).classes == classes


def test_none_is_not_merged_into_the_negative_class():
    with pytest.raises(LabelError, match="1 label is 'none'; leave it empty if the label is unknown, or rename"):
        make_labels(names(3), ["donor", "decoy", "none"], positive="donor")
    assert make_labels(names(3), ["donor", "decoy", None]).names() == ["donor", "decoy", ""]


@pytest.mark.parametrize("word", ["NA", "-", "none", "unknown"])
def test_unknown_numbers(word):
    with pytest.raises(LabelError, match=f"label '{word}' is not a finite number; leave it empty if it is unknown"):
        make_labels(names(2), ["1.5", word], kind="real")


def test_given_classes_keep_their_order():
    assert make_labels(names(3), ["c", "a", "b"], classes=["b", "a", "c"]).y.tolist() == [2, 1, 0]
    with pytest.raises(LabelError, match="record 'u1': label 'x' is not one of the classes; the classes are: a, b"):
        make_labels(names(3), ["a", "x", "b"], classes=["a", "b"])


def test_real_labels():
    labels = make_labels(names(3), ["1", "-2.5", "1e3"], kind="real")
    assert labels.y.tolist() == [1.0, -2.5, 1000.0]
    assert labels.y.dtype == np.float64
    assert labels.classes == ()
    with pytest.raises(LabelError, match="real labels have no signs"):
        labels.signs()


@pytest.mark.parametrize("value", ["high", "nan", "inf", "1,5"])
def test_real_label_that_is_no_number(value):
    with pytest.raises(LabelError, match=rf"f\.tsv: record 'u1': label '{value}' is not a finite number"):
        make_labels(names(2), ["1", value], kind="real", file="f.tsv")


def test_one_class_only():
    with pytest.raises(LabelError, match=r"f\.tsv: only one class: a; give at least two"):
        make_labels(names(2), ["a", "a"], file="f.tsv")
    with pytest.raises(LabelError, match="only one class: no labels"):
        make_labels(names(2), ["", ""])


def test_kind_and_positive_must_fit():
    with pytest.raises(LabelError, match="3 classes, but a binary task has two; choose the positive class"):
        make_labels(names(3), ["a", "b", "c"], kind="binary")
    with pytest.raises(LabelError, match="no sample of the positive class 'x'; the classes are: a, b"):
        make_labels(names(2), ["a", "b"], positive="x")
    with pytest.raises(LabelError, match="unknown kind of labels 'ternary'"):
        make_labels(names(2), ["a", "b"], kind="ternary")


def test_take_takes_everything():
    labels = make_labels(
        names(3),
        ["a", "b", "a"],
        groups=["g", "h", "g"],
        folds=["1", "2", ""],
        chromosome=["X", "X", "2"],
        strand=["+", "-", "+"],
        position=[5, 7, 9],
    )
    taken = labels.take([2, 0])
    assert taken.ids == ["u2", "u0"]
    assert taken.y.tolist() == [0, 0]
    assert taken.classes == labels.classes
    assert taken.groups.tolist() == ["g", "g"]
    assert taken.folds.tolist() == ["", "1"]
    assert taken.chromosome.tolist() == ["2", "X"]
    assert taken.strand.tolist() == ["+", "+"]
    assert taken.position.tolist() == [9, 5]
    assert labels.take(labels.y == 1).ids == ["u1"]


def test_labels_are_immutable_and_checked():
    labels = make_labels(names(2), ["a", "b"])
    with pytest.raises(ValueError, match="read-only"):
        labels.y[0] = 1
    with pytest.raises(LabelError, match="1 values of 'groups' for 2 samples"):
        Labels(names(2), [0, 1], "binary", ("a", "b"), groups=["g"])


# ---- sources ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("header", "fields"),
    [
        (" 0 label=1", {"label": "1"}),
        (
            " chr_num=1, strand=+, position=180699, label=-1",
            {"chr_num": "1", "strand": "+", "position": "180699", "label": "-1"},
        ),
        ("d1dlwa_ fold=1 a.1.1.1 (A:) {Ciliate [TaxId: 5885]}", {"fold": "1"}),
        ("a label=x;group=g.1", {"label": "x", "group": "g.1"}),
        ("no fields", {}),
    ],
)
def test_header_fields(header, fields):
    assert header_fields(header) == fields


def reading(tmp_path, text, **policies):
    path = tmp_path / "in.fa"
    path.write_text(text)
    return read_records(path, **policies)


def test_labels_from_headers(tmp_path):
    text = "> chr_num=1, strand=+, position=5, label=-1\nAC\n> chr_num=2, strand=-, position=9, label=1\nGG\n"
    options = check_options({"from": "header", "chromosome": "chr_num", "strand": "strand", "position": "position"})
    found = reading(tmp_path, text, ids="number")
    labels = labels_of_columns(found.sequences.ids, columns_of_headers(found, options, "in.fa"), options)
    assert labels.classes == ("-1", "1")
    assert labels.y.tolist() == [0, 1]
    assert labels.chromosome.tolist() == ["1", "2"]
    assert labels.strand.tolist() == ["+", "-"]
    assert labels.position.tolist() == [5, 9]


def test_header_without_the_field(tmp_path):
    found = reading(tmp_path, ">a label=1\nAC\n>b class=2\nGG\n")
    with pytest.raises(
        LabelError, match=r"in\.fa: record 'b': has no field label=… in its header; .*; fields in the header: class"
    ):
        columns_of_headers(found, {"label": "label"}, "in.fa")


def test_first_words(tmp_path):
    found = reading(tmp_path, ">1\nAC\n>0 x\nGG\n>1\nGG\n", ids="number")
    assert columns_of_first_words(found) == {"label": ["1", "0", "1"]}


def table(tmp_path, text):
    path = tmp_path / "labels.tsv"
    path.write_text(text)
    return path


def test_table_is_put_in_order(tmp_path):
    path = table(tmp_path, "class\tname\tfamily\nx\tb\tg\ny\ta\th\n")
    options = check_options({"from": "tsv", "id": "name", "label": "class", "group": "family"})
    assert columns_of_table(path, ["a", "b"], options) == {"label": ["y", "x"], "group": ["h", "g"]}


@pytest.mark.parametrize(
    ("text", "labels"),
    [
        ("label\tid\n1\tb\n0\ta\n", ["0", "1"]),
        ("Class,Name\n1,b\n0,a\n", ["0", "1"]),
        ("y;record\n1;b\n0;a\n", ["0", "1"]),
        ("protein\tname\tlabel\nb\tBeta\t1\na\tAlpha\t0\n", ["0", "1"]),  # the ids are in the first column
        ("id\tname\tlabel\n1\tb\t1\n2\ta\t0\n", ["0", "1"]),
        ("clone\tlabel\tclass\nb\t1\tx\na\t0\tx\n", ["0", "1"]),
    ],
)
def test_known_names_of_columns_are_found_wherever_they_are(tmp_path, text, labels):
    assert columns_of_table(table(tmp_path, text), ["a", "b"], {"label": "label"}) == {"label": labels}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("id\tlabel\na\t1\n", "record 'b': has no label"),
        ("id\tlabel\na\t1\nb\t0\nc\t1\n", "record 'c': has a label but no sequence"),
        ("id\tlabel\na\t1\nb\t0\na\t0\n", "record 'a': has two rows of labels"),
        ("id\tkind\na\t1\nb\t0\n", "has no column 'label'; .*columns: id, kind"),
        ("id\tlabel\na\t1\nb\n", "line 3 has 1 cells, the first line has 2"),
        ("", "is empty"),
    ],
)
def test_table_that_does_not_fit(tmp_path, text, message):
    with pytest.raises(ValueError, match=rf"labels\.tsv: {message}"):
        columns_of_table(table(tmp_path, text), ["a", "b"], {"label": "label"})


def test_labels_of_records_left_out_are_no_error(tmp_path):
    path = table(tmp_path, "id\tlabel\na\t1\nb\t0\nc\t1\n")
    assert columns_of_table(path, ["a", "b"], {"label": "label"}, left_out=["c"]) == {"label": ["1", "0"]}


def test_position_that_is_no_number():
    with pytest.raises(LabelError, match=r"f: record 'u1': position '5.5' is not an integer"):
        labels_of_columns(names(2), {"label": ["a", "b"], "position": ["5", "5.5"]}, {}, "f")


def test_options_are_checked():
    assert check_options({}) == {"label": "label"}
    with pytest.raises(ParameterError, match="unknown key of labels 'postive'; did you mean 'positive'"):
        check_options({"postive": "1"})
    with pytest.raises(ParameterError, match="unknown source of labels 'headers'; did you mean 'header'"):
        check_options({"from": "headers"})


@pytest.mark.parametrize("label", ["acceptor", "donor", "site"])
def test_a_decoy_is_negative(label):
    assert make_labels(["a", "b"], ["decoy", label]).classes == ("decoy", label)
    assert make_labels(["a", "b"], ["decoy", label], classes=[label, "decoy"]).classes == (label, "decoy")
    assert make_labels(["a", "b"], ["decoy", label], positive="decoy").classes == (label, "decoy")


@pytest.mark.parametrize("odd", ["1_0", "١", "1_000"])
def test_a_position_is_in_ascii_without_underscores(odd):
    with pytest.raises(LabelError, match=f"position '{odd}' is not an integer"):
        labels_of_columns(names(2), {"label": ["a", "b"], "position": ["5", odd]}, {}, "f")


# ---- numbers as classes ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("values", "given", "classes", "told"),
    [
        (["0", "0.0", "1", "0"], {}, ("0", "1"), ["'0' and '0.0'"]),
        (["0.0", "+1", "1.", "-0"], {}, ("-0", "+1"), ["'+1' and '1.'", "'-0' and '0.0'"]),
        (["0", "1", "1.0"], {"positive": "1.0"}, ("0", "1.0"), ["'1.0' and '1'"]),
        (["2", "1", "1.0"], {"classes": ["2", "1.0"]}, ("2", "1.0"), ["'1.0' and '1'"]),
        (["1.1", "1.10", "2.1"], {}, ("1.1", "1.10", "2.1"), []),  # EC numbers
        (["0.0", "1.0", "1e3", "1000"], {}, ("0.0", "1.0", "1000", "1e3"), []),
    ],
)
def test_spellings_of_one_number_are_one_class(values, given, classes, told, capsys):
    with reporting():
        labels = make_labels(names(len(values)), values, **given)
    assert labels.classes == classes
    lines = capsys.readouterr().err.splitlines()
    assert [line.split("the labels ")[1].split(" are one number, so one class")[0] for line in lines] == told


@pytest.mark.parametrize("header", ["a label=1 label=0", "a label=0 x=1 x=2 label=1"])
def test_two_labels_in_one_header(tmp_path, header):
    found = reading(tmp_path, f">b label=1\nAC\n>{header}\nGG\n")
    with pytest.raises(LabelError, match=r"^in\.fa: record 'a': has label=. and label=. in its header; remove all but"):
        columns_of_headers(found, {"label": "label"}, "in.fa")
    found = reading(tmp_path, ">a label=1 x=1 x=2 label=1\nAC\n")
    assert columns_of_headers(found, {"label": "label"}, "in.fa") == {"label": ["1"]}


MEASURED = [f"{value / 7:.4f}" for value in range(1, 16)]


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        (MEASURED, True),
        (MEASURED + ["0.0"] * 40, True),  # most at the detection limit
        (MEASURED[:9] + ["0.0"] * 40, False),  # ten values
        (MEASURED * 3, False),  # each several times, as class codes such as 1.1
        ([str(value) for value in range(15)] + ["0"] * 40, False),  # whole numbers may be class codes
        ([*MEASURED, "unbound"] + ["0.0"] * 40, False),
    ],
)
def test_measured_numbers_are_no_classes(values, expected):
    assert are_numbers(make_labels(names(len(values)), values)) is expected
