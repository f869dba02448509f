"""Scanning against windows cut by hand: both strands, both ends, any cut into pieces; masked letters; files."""

import bz2
import gzip
import io
import re
import shlex
import subprocess
import sys
import tracemalloc

import numpy as np
import pytest
from conftest import ROOT

from seqkern.cli.main import main
from seqkern.core.errors import FileError, LetterError, ModelError, ParameterError, SequenceError
from seqkern.gram.transforms import build_transform
from seqkern.kernels import build_kernel
from seqkern.methods.loading import load_model
from seqkern.methods.scan import Scanner, position_scorer
from seqkern.methods.training import train_model
from seqkern.sequences._lines import lines
from seqkern.sequences.alphabets import DNA, PROTEIN, as_alphabet
from seqkern.sequences.labels import make_labels
from seqkern.sequences.sequence_set import SequenceSet
from seqkern.sequences.streaming import iter_pieces
from seqkern.sequences.windows import Window, as_window, cut_windows, make_sites

COMPLEMENT = str.maketrans("ACGTacgtN", "TGCAtgcaN")
LEFT, RIGHT = 5, 7
WINDOW = Window(LEFT, RIGHT, "AG")


def turned(string):
    return string[::-1].translate(COMPLEMENT)


def random_dna(n, seed=0):
    return "".join(np.random.default_rng(seed).choice(list("ACGT"), n))


def naive(record, site="AG", left=LEFT, right=RIGHT, strands="+-"):
    """Return (position, strand, window) of each candidate, by place; position by position, word by word."""
    found = []
    for start in range(len(record) - len(site) + 1):
        letters = record[start : start + len(site)]
        if letters.upper() == site and "+" in strands:
            found.append((start + 1, "+", start - left, start + right + 1))
        if turned(letters).upper() == site and "-" in strands:
            position = start + len(site)  # from 1: the last of the letters as they are written
            found.append((position, "-", position - 1 - right, position + left))
    whole = []
    for position, strand, begin, end in found:
        if begin >= 0 and end <= len(record):
            window = record[begin:end] if strand == "+" else turned(record[begin:end])
            whole.append((position, strand, window))
    return whole


def trained(kernel="spectrum:k=2", transforms=(), seed=0, calibration=None, length=LEFT + 1 + RIGHT, classes="ab"):
    """Return a model of windows of one length, its window in the record."""
    strings = [random_dna(length, [seed, i]) for i in range(40)]
    strings = [string[:LEFT] + "AG" + string[LEFT + 2 :] for string in strings]
    X = SequenceSet.from_strings(strings, "dna")
    labels = make_labels(X.ids, [classes[i % len(classes)] for i in range(40)])
    transforms = [build_transform(name) for name in transforms]
    return train_model(
        X,
        labels,
        build_kernel(kernel),
        "csvc:C=1",
        transforms=transforms,
        calibration=calibration,
        notes={"window": WINDOW.record()},
    )


MODEL = trained()


def scanned(model, text, **options):
    """Return {record: (list of (position, strand), decisions)} of a scan of FASTA text, and the Scanner."""
    block = options.pop("block", 1 << 20)
    scanner = Scanner(model, options.pop("site", "AG"), options.pop("window", None), **options)
    result = {}
    for found in scanner.scan(io.StringIO(text), block=block):
        places, values = result.setdefault(found.record, ([], []))
        places += zip(found.positions.tolist(), np.where(found.reverse, "-", "+").tolist(), strict=True)
        values += found.decisions.tolist()
    return result, scanner


def check(model, records, text=None, rtol=1e-9, **options):
    """Assert that a scan gives what `naive` windows give."""
    strands = options.get("strand", "both")
    strands = "+-" if strands == "both" else strands
    text = text or "".join(f">{name}\n{string}\n" for name, string in records.items())
    result, scanner = scanned(model, text, **options)
    expected = {name: naive(string, strands=strands) for name, string in records.items()}
    assert {name: places for name, (places, _) in result.items()} == {
        name: [(position, strand) for position, strand, _ in found] for name, found in expected.items() if found
    }
    for name, (_, values) in result.items():
        wanted = model.decision([window for _, _, window in expected[name]])
        np.testing.assert_allclose(values, wanted, rtol=rtol, atol=1e-12)
    return scanner


# ---- candidates ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("strand", ["both", "+", "-"])
def test_every_candidate_of_some_records(strand):
    records = {f"r{n}": random_dna(n, n) for n in (1, 2, 12, 13, 14, 30, 500, 2000)}
    scanner = check(MODEL, records, strand=strand)
    assert scanner.counts["candidates too near an end left out"] > 0
    assert scanner.fast


@pytest.mark.parametrize("block", [1, 2, 3, 7, 12, 13, 14, 64, 1000])
@pytest.mark.parametrize("width", [1, 10, 60, 10_000])
def test_pieces_and_lines_change_nothing(block, width):
    records = {"a": random_dna(137, 1), "b": random_dna(14, 2), "c": random_dna(300, 3)}
    lines = {name: "\n".join(re.findall(f".{{1,{width}}}", string)) for name, string in records.items()}
    text = "".join(f">{name} a record\n{string}\n" for name, string in lines.items())
    whole, _ = scanned(MODEL, text)
    pieces, scanner = scanned(MODEL, text, block=block)
    assert pieces == whole
    check(MODEL, records, text, block=block)
    assert sum(scanner.counts.values()) == sum(
        len(re.findall("(?=AG|CT)", string)) - len(naive(string)) for string in records.values()
    )


def test_the_first_and_last_candidate_of_each_strand():
    flank = "C" * 40  # holds neither AG nor CT
    for before, after, fits in ((LEFT, RIGHT - 1, True), (LEFT - 1, RIGHT - 1, False), (LEFT, RIGHT - 2, False)):
        forward = flank[:before] + "AG" + flank[:after]
        for record, place in ((forward, (before + 1, "+")), (turned(forward), (after + 2, "-"))):
            result, scanner = scanned(MODEL, f">r\n{record}\n")
            assert result.get("r", ([], []))[0] == ([place] if fits else [])
            assert scanner.counts["candidates too near an end left out"] == (not fits)


@pytest.mark.parametrize("kernel", ["spectrum:k=2", "weighted_degree:degree=3"])
@pytest.mark.parametrize("block", [1, 5, 40, 200, 1000, 1 << 20])
def test_many_short_records(kernel, block):
    """Nothing is found across two records, and each knows its own ends, however they are taken together."""
    rng = np.random.default_rng(4)
    records = {f"r{i}": random_dna(int(n), [5, i]) for i, n in enumerate(rng.integers(1, 60, 120))}
    records |= {"left": "C" * 20 + "A", "right": "G" + "C" * 20, "n": "N" * 30, "end": "AG"}
    expected = {name: string for name, string in records.items() if "N" not in string}
    text = "".join(f">{name}\n{string}\n" for name, string in records.items())
    scanner = check(trained(kernel), expected, text, block=block)
    assert scanner.bare == ["n"]
    assert scanner.counts["candidates too near an end left out"] == sum(
        len(re.findall("(?=AG|CT)", string)) - len(naive(string)) for string in expected.values()
    )


def test_letters_that_are_their_own_complement():
    model = trained()
    model.record["window"]["site"] = "AT"
    record = "C" * 10 + "AT" + "C" * 10
    result, _ = scanned(model, f">r\n{record}\n", site="AT")
    assert result["r"][0] == [(11, "+"), (12, "-")]
    windows = [window for _, _, window in naive(record, "AT")]
    np.testing.assert_allclose(result["r"][1], model.decision(windows))


def test_a_letter_alone_and_overlapping_letters():
    model = trained()
    for site in ("A", "AA", "AAA"):
        model.record["window"]["site"] = ""
        record = random_dna(50, 5) + "AAAAAA" + random_dna(50, 6)
        result, _ = scanned(model, f">r\n{record}\n", site=site, block=9)
        assert result["r"][0] == [(position, strand) for position, strand, _ in naive(record, site)]


def test_a_protein_has_one_strand():
    X = SequenceSet.from_strings(["MKVLA", "GIDER", "MKLLA", "GIDEK"], "protein")
    model = train_model(X, make_labels(X.ids, ["a", "b"] * 2), build_kernel("spectrum:k=1"), "csvc:C=1")
    scanner = Scanner(model, "K", "-2:+2")
    found = list(scanner.scan(io.StringIO(">p\nMGKVLKAWGIDERSK\n")))
    assert [item.positions.tolist() for item in found] == [[3, 6]]
    with pytest.raises(ParameterError, match="has no complement"):
        Scanner(model, "K", "-2:+2", strand="-")


# ---- masked letters and lower case -----------------------------------------------------------------------------------


def test_windows_with_masked_letters():
    record = random_dna(200, 7) + "N" * 30 + random_dna(200, 8) + "R" + random_dna(100, 9)
    clean = [item for item in naive(record) if not set(item[2]) - set("ACGT")]
    touched = len(naive(record)) - len(clean)
    assert touched > 3
    for block in (11, 1 << 20):
        result, scanner = scanned(MODEL, f">r\n{record}\n", block=block)
        assert result["r"][0] == [item[:2] for item in clean]
        assert scanner.counts["candidates with masked letters left out"] == touched
        result, scanner = scanned(MODEL, f">r\n{record}\n", block=block, masked="score")
        assert result["r"][0] == [item[:2] for item in naive(record)]
        windows = SequenceSet.from_strings([window for _, _, window in naive(record)], "dna", unknown="mask_all")
        np.testing.assert_allclose(result["r"][1], MODEL.decision(windows), rtol=1e-9)
        assert not scanner.counts["candidates with masked letters left out"]


def test_lower_case():
    record = random_dna(300, 7)
    record = record[:100] + record[100:200].lower() + record[200:]
    for block in (11, 1 << 20):
        result, _ = scanned(MODEL, f">r\n{record}\n", block=block)
        upper, _ = scanned(MODEL, f">r\n{record.upper()}\n")
        assert result == upper
        result, scanner = scanned(MODEL, f">r\n{record}\n", block=block, lower="skip")
        kept = [
            (position, strand)
            for position, strand, _ in naive(record)
            if record[position - 1 - (strand == "-") :][:2].isupper()
        ]
        assert result["r"][0] == kept
        assert scanner.counts["candidates in lower case left out"] == len(naive(record)) - len(kept) > 0


@pytest.mark.parametrize("block", [1, 7, 64, 500, 1 << 20])
def test_records_of_masked_letters_only(block):
    half = "ACGTTGCATT" + "N" * 400
    text = f">n1\n{'N' * 500}\n>a\n{random_dna(100)}\n>n2\n{'n' * 5}\n>b\n{half}\n>c\n{half[::-1]}\n>n3\nRYN\n"
    result, scanner = scanned(MODEL, text, block=block)
    assert list(result) == ["a"]
    assert scanner.bare == ["n1", "n2", "n3"]


def test_the_table_of_a_scan_is_a_table_of_sites():
    records = {"a": random_dna(300, 1), "b": random_dna(120, 2)}
    X = SequenceSet.from_strings(list(records.values()), "dna", list(records))
    result, _ = scanned(MODEL, "".join(f">{name}\n{string}\n" for name, string in records.items()))
    places = [(name, *place) for name, (found, _) in result.items() for place in found]
    cut = cut_windows(X, make_sites(*zip(*places, strict=True)), WINDOW)
    assert cut.windows.strings() == [window for string in records.values() for *_, window in naive(string)]


# ---- position weights ------------------------------------------------------------------------------------------------

SHIFTED = "shifted_weighted_degree:degree=3,shift=2,normalize=false"
INNER = {"kernel": "part", "base": SHIFTED, "start": 1, "stop": -1}
WITHIN = {"kernel": "sum", "parts": ["weighted_degree:degree=5,part=3:", SHIFTED], "weights": [0.3, 2]}
FAST = [
    ("weighted_degree:degree=3", ()),
    ("weighted_degree:degree=13", ()),
    ("weighted_degree:degree=4,normalize=false", ()),
    ("weighted_degree:degree=4,normalize=false", ("normalise",)),
    ("weighted_degree:degree=4", ("centre",)),
    ("shifted_weighted_degree:degree=4,shift=2", ()),
    ("shifted_weighted_degree:degree=4,shift=2,normalize=false", ("normalise",)),
    ("shifted_weighted_degree:degree=4,shift=0", ()),
    ("weighted_degree:degree=3,part=2:11", ()),
    ("weighted_degree:degree=12,part=-9:", ("centre",)),
    ("shifted_weighted_degree:degree=4,shift=2,part=2:11", ()),
    ("shifted_weighted_degree:degree=4,shift=2,normalize=false,part=:-2", ("normalise",)),
    ("weighted_degree:degree=3+0.5*weighted_degree:degree=2,normalize=false", ()),
    ("spectrum:k=5", ()),
    ({"kernel": "spectrum", "k": {"sum": [1, 2, 4]}, "weights": [1, 0.5, 2], "normalize": False}, ("normalise",)),
    ("spectrum:k=3,reverse_complement=true,normalize=false,part=2:-1", ("centre",)),
    ("weighted_degree:degree=3,part=:6+0.1*spectrum:k=1+3,normalize=false,part=5:", ()),
    ("0.2*weighted_degree:degree=3,part=:6+2*shifted_weighted_degree:degree=9,shift=1,part=5:", ("normalise",)),
    ({"kernel": "sum", "parts": ["weighted_degree:degree=4,normalize=false,part=1:9", SHIFTED], "normalize": True}, ()),
    ({"kernel": "sum", "parts": [WITHIN, "weighted_degree:degree=2"], "normalize": True}, ("normalise", "centre")),
    (
        {"kernel": "part", "base": {"kernel": "part", "base": SHIFTED, "start": 1, "stop": -1}, "start": 2, "stop": 9},
        (),
    ),
]


@pytest.mark.parametrize(("kernel", "transforms"), FAST)
def test_position_weights_decide_as_the_windows_do(kernel, transforms, tmp_path):
    model = trained(kernel, transforms)
    records = {"a": random_dna(700, 1), "b": random_dna(20, 2)}
    scanner = check(model, records, rtol=1e-9, block=50)
    assert scanner.fast
    whole, _ = scanned(model, f">a\n{records['a']}\n")
    pieces, _ = scanned(model, f">a\n{records['a']}\n", block=13)
    assert pieces == whole  # the same bits
    record = records["a"][:300] + "NN" + records["a"][300:]
    result, _ = scanned(model, f">r\n{record}\n", masked="score")
    windows = SequenceSet.from_strings([window for _, _, window in naive(record)], "dna", unknown="mask_all")
    np.testing.assert_allclose(result["r"][1], model.decision(windows), rtol=1e-9, atol=1e-12)


def test_kernels_without_position_weights():
    assert position_scorer(trained("spectrum:k=2,presence=true")) is None
    assert position_scorer(trained("weighted_degree:degree=3+spectrum:k=6")) is None
    assert position_scorer(trained("spectrum:k=2,presence=true,part=1:")) is None
    assert position_scorer(trained("weighted_degree:degree=3", classes="abc")) is None


# ---- windows and models that do not fit ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("site", "window", "words"),
    [
        ("GT", None, "was trained on sites 'AG', not 'GT'; scan for AG"),
        ("", None, "no letters of candidates given"),
        ("AG", "-6:+6", r"was trained on windows -5:\+7, not -6:\+6"),
        ("AG", "-6:6:6", "is not a window"),
        ("AG", "-5:+8", "was trained on windows"),
    ],
)
def test_windows_that_are_not_the_models(site, window, words):
    with pytest.raises(ParameterError, match=words):
        Scanner(MODEL, site, window)


@pytest.mark.parametrize("kernel", ["weighted_degree:degree=3", "spectrum:k=2"])
def test_decisions_that_are_not_finite_are_refused(kernel):
    model = trained(kernel)
    model.solver.dual_coef_ = np.full(len(model.solver.dual_coef_), 1e308)
    scanner = Scanner(model, "AG", WINDOW)
    assert scanner.fast == kernel.startswith("weighted")  # the spectrum's sums are integers, which cannot overflow
    with pytest.raises(ModelError, match=r"record 'long': the decision is (nan|-?inf)"):
        list(scanner.scan(io.BytesIO(f">long\n{random_dna(300)}\n".encode())))


def test_a_model_that_knows_no_window():
    model = trained()
    del model.record["window"]
    with pytest.raises(ModelError, match=r"does not contain its window; .*--window -60:\+80"):
        Scanner(model, "AG")
    with pytest.raises(ParameterError, match=r"-5:\+8 has length 14, but the model's sequences have length 13"):
        Scanner(model, "AG", "-5:+8")
    with pytest.raises(ParameterError, match="'AX' contains letters outside the alphabet dna"):
        Scanner(model, "AX", "-5:+7")
    assert Scanner(model, "AG", "-6:+6").window == Window(6, 6, "AG")


@pytest.mark.parametrize("options", [{"strand": "*"}, {"masked": "error"}, {"lower": "mask"}])
def test_choices(options):
    with pytest.raises(ParameterError, match="is not possible"):
        Scanner(MODEL, "AG", **options)


# ---- reading in pieces -----------------------------------------------------------------------------------------------


def pieces_of(text, block=7, alphabet=DNA, **options):
    """Return {record: string with masked letters as *} of what `iter_pieces` gives."""
    letters = np.frombuffer(alphabet.letters.encode() + b"*" * (256 - alphabet.size), dtype=np.uint8)
    records = {}
    for piece in iter_pieces(io.StringIO(text), alphabet, block=block, **options):
        assert len(piece.codes) == len(piece.lower)
        string = letters[piece.codes].tobytes().decode()
        string = "".join(c.lower() if low else c for c, low in zip(string, piece.lower.tolist(), strict=True))
        records[piece.record] = records.get(piece.record, "") + string + "|" * piece.last
    return records


@pytest.mark.parametrize("block", range(1, 20))
@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_text_of_any_form(block, end):
    lines = ["", ">a first >record", "ACG", "T ac", "", ">b", "NNNN", ">c\tx", "", "G" * 30, "  AC\t", ""]
    expected = {"a": "ACGTac|", "b": "****|", "c": "G" * 30 + "AC|"}
    assert pieces_of(end.join(lines), block) == expected
    assert pieces_of(end.join(lines).rstrip(), block) == expected


def test_numbers_as_ids():
    assert list(pieces_of(">a\nA\n>a\nC\n>\nG\n", ids="number")) == ["1", "2", "3"]


@pytest.mark.parametrize("block", [1, 5, 100])
@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "is empty"),
        ("\n \n", "is empty"),
        ("ACGT\n", "is not FASTA: it starts with 'A"),
        ("\n\nrecord\tposition\n>a\nACGT\n", "is not FASTA"),
        (">a\n", "record 'a': has no sequence"),
        (">a", "record 'a': has no sequence"),
        (">a\nAC\n>b\n\n>c\nA\n", "record 'b': has no sequence"),
        (">a\nAC\n>a\nAC\n", "record 'a': duplicate id"),
        (">\nAC\n", "header 1 has no id"),
        (">a\nAC\n> \nAC\n", "header 2 has no id"),
        (
            ">a\nACGTAC\nGEA\n",
            "record 'a': letter 'E' at position 8 is not in .*write N in its place",
        ),
        (">a\nAC-GT\n", "letter '-' at position 3 .*remove the gaps"),
        (">a\nACéGT\n", "letter that is not ASCII at position 3"),
    ],
)
def test_text_that_is_no_fasta(block, text, words):
    with pytest.raises(SequenceError, match=words):
        pieces_of(text, block)


def test_letters_that_stand_for_several():
    assert pieces_of(">a\nARYSWKMBDHVNryn\n")["a"] == "A***********" + "***" + "|"
    assert pieces_of(">a\nMKBZJXUO\n", alphabet=PROTEIN)["a"] == "MK******|"
    assert pieces_of(">a\nHECYWx\n", alphabet=as_alphabet("HEC"))["a"] == "HEC***|"
    with pytest.raises(LetterError, match="stop codon"):
        pieces_of(">a\nMK*\n", alphabet=PROTEIN)


# ---- lines -----------------------------------------------------------------------------------------------------------


def test_lines_are_those_of_python():
    rng = np.random.default_rng(0)
    numbers = np.concatenate(
        [
            rng.normal(size=500) * 10.0 ** rng.integers(-12, 14, 500),
            [0, -0.0, 1, -1, 1e300, -1e-300, 5e-324, 1e10, 12345678905, 0.1, np.inf, -np.inf, np.nan],
            rng.integers(-1000, 1000, 100),
        ]
    )
    numbers = np.column_stack([numbers, numbers[::-1]])
    integers = np.concatenate([[[0, 9], [10, 2**63 - 1]], rng.integers(0, 10**9, (len(numbers) - 2, 2))])
    which = rng.integers(0, 3, len(numbers)).astype(np.int32)
    texts = [b"", b"+\t", "ä\t".encode()]
    colours, other = [b"255,0,0\t", b""], rng.integers(0, 2, len(numbers)).astype(np.int32)
    expected = "".join(
        f"chr1\t{a}\t{b}\t{texts[k].decode()}{b}\t{colours[c].decode()}{x:.10g}\t{y:.10g}\n"
        for (a, b), k, c, (x, y) in zip(
            integers.tolist(), which.tolist(), other.tolist(), numbers.tolist(), strict=True
        )
    )
    more = np.ascontiguousarray(integers[:, 1:]), colours, other
    assert lines(b"chr1\t", integers, texts, which, numbers, *more).decode() == expected
    nothing = integers[:, :0], [b""], np.zeros(len(numbers), dtype=np.int32)
    alone = lines(b"", *nothing, numbers[:, :1].copy())
    assert alone.decode() == "".join(f"{x:.10g}\n" for x in numbers[:, 0].tolist())
    assert lines(b"chr1\t", integers[:0], texts, which[:0], numbers[:0], more[0][:0], colours, other[:0]) == b""


# ---- command line ----------------------------------------------------------------------------------------------------


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    trained(calibration="platt").save("calibrated")
    MODEL.save("m")
    trained(classes="abc").save("three")
    records = {"a": random_dna(300, 1), "b": random_dna(120, 2)}
    (tmp_path / "g.fa").write_text("".join(f">{name} x\n{string}\n" for name, string in records.items()))
    return records


def run(capsys, *argv):
    """Run a command that must succeed; return what it prints, and says."""
    capsys.readouterr()
    assert main(list(argv)) == 0
    return capsys.readouterr()


SCAN = ("--scan", "AG")


def test_a_table(folder, capsys):
    out, err = run(capsys, "predict", "m", "g.fa", *SCAN, "--all")
    rows = [line.split("\t") for line in out.splitlines()]
    assert rows[0] == ["record", "position", "strand", "decision"]
    expected = [(name, *item) for name, string in folder.items() for item in naive(string)]
    assert [tuple(row[:3]) for row in rows[1:]] == [(name, str(p), strand) for name, p, strand, _ in expected]
    decisions = MODEL.decision([window for *_, window in expected])
    np.testing.assert_allclose([float(row[3]) for row in rows[1:]], decisions, rtol=1e-9)
    assert re.search(r"g\.fa: \d+ candidates too near an end left out\n", err)


def test_bed_is_half_open_from_zero(folder, capsys):
    out, _ = run(capsys, "predict", "calibrated", "g.fa", *SCAN, "--all", "--format", "bed")
    model = load_model("calibrated")
    rows = [line.split("\t") for line in out.splitlines()]
    expected = [(name, *item) for name, string in folder.items() for item in naive(string)]
    assert len(rows) == len(expected)
    for row, (name, position, strand, window) in zip(rows, expected, strict=True):
        start, end = int(row[1]), int(row[2])
        assert (row[0], row[3], row[5], len(row)) == (name, "AG", strand, 11)
        assert row[6:8] == row[1:3]
        letters = folder[name][start:end]
        assert letters == ("AG" if strand == "+" else "CT")
        assert position == (start + 1 if strand == "+" else end)
        decision = model.decision([window])
        assert float(row[9]) == pytest.approx(decision[0], rel=1e-9)
        assert row[8] == ("178,24,43" if model.cut.codes(decision)[0] else "33,102,172")
        chance = model.calibration.probabilities(decision)[0]
        assert float(row[10]) == pytest.approx(chance, rel=1e-9)
        assert int(row[4]) == round(1000 * chance)
    out, _ = run(capsys, "predict", "m", "g.fa", *SCAN, "--format", "bed")
    for row in (line.split("\t") for line in out.splitlines()):
        assert int(row[4]) == round(min(max(500 + 500 * float(row[9]), 0), 1000))


def test_the_ending_of_the_output_chooses_the_format(folder, capsys, tmp_path):
    run(capsys, "predict", "m", "g.fa", *SCAN, "-o", "s.bed")
    out, _ = run(capsys, "predict", "m", "g.fa", *SCAN, "--format", "bed")
    assert (tmp_path / "s.bed").read_text() == out
    run(capsys, "predict", "m", "g.fa", *SCAN, "-o", "s.txt")
    assert (tmp_path / "s.txt").read_text().startswith("record\tposition")


def test_bigwig_has_the_values_of_bedgraph(folder, capsys, tmp_path):
    big_wig = pytest.importorskip("pyBigWig")
    names = ["chr10", "chr9"]  # not in the order of their names
    (tmp_path / "g.fa").write_text("".join(f">{n}\n{s}\n" for n, s in zip(names[::-1], folder.values(), strict=True)))
    run(capsys, "predict", "m", "g.fa", *SCAN, "-o", "s.bedgraph")
    run(capsys, "predict", "m", "g.fa", *SCAN, "-o", "s.bw")
    for strand in ("plus", "minus"):
        expected = [line.split("\t") for line in (tmp_path / f"s.{strand}.bedgraph").read_text().splitlines()]
        with big_wig.open(str(tmp_path / f"s.{strand}.bw")) as file:
            assert file.chroms() == {"chr10": 120, "chr9": 300}
            found = {(name, start): value for name in names for start, _, value in file.intervals(name)}
        assert list(found) == sorted((row[0], int(row[1])) for row in expected)
        for row in expected:
            assert found[row[0], int(row[1])] == pytest.approx(float(row[3]), rel=1e-6)


def test_bigwig_goes_to_a_file(folder, capsys, tmp_path):
    assert main(["predict", "m", "g.fa", *SCAN, "--strand", "+", "--format", "bigwig"]) == 1
    assert "add -o NAME.bw" in capsys.readouterr().err
    assert main(["predict", "m", "g.fa", *SCAN, "--format", "bigwig", "-o", "s.txt"]) == 1
    assert "end the name in .bw" in capsys.readouterr().err
    assert not list(tmp_path.glob("s.*"))


def test_bedgraph_has_one_letter_each_and_a_file_for_each_strand(folder, capsys, tmp_path):
    run(capsys, "predict", "m", "g.fa", *SCAN, "--format", "bedgraph", "-o", "s.bedgraph")
    assert not (tmp_path / "s.bedgraph").exists()
    for strand, name in (("+", "plus"), ("-", "minus")):
        text = (tmp_path / f"s.{name}.bedgraph").read_text()
        alone, _ = run(capsys, "predict", "m", "g.fa", *SCAN, "--format", "bedgraph", "--strand", strand)
        assert text == alone
        rows = [line.split("\t") for line in text.splitlines()]
        expected = [(record, *item[:2]) for record in folder for item in naive(folder[record], strands=strand)]
        assert [(row[0], int(row[2]), strand) for row in rows] == expected
        for row in rows:
            assert int(row[2]) == int(row[1]) + 1
            assert folder[row[0]][int(row[1])] == ("A" if strand == "+" else "T")
        for record in folder:
            ends = [int(row[2]) for row in rows if row[0] == record]
            assert ends == sorted(set(ends))
    assert main(["predict", "m", "g.fa", *SCAN, "--format", "bedgraph"]) == 1
    assert "add --strand + or -, or -o" in capsys.readouterr().err


def test_a_threshold(folder, capsys):
    out, _ = run(capsys, "predict", "m", "g.fa", *SCAN, "--all")
    lines = out.splitlines(keepends=True)
    assert (
        run(capsys, "predict", "m", "g.fa", *SCAN).out
        == run(capsys, "predict", "m", "g.fa", *SCAN, "--threshold", "0").out
    )
    for threshold in (-0.2, 0, 100):
        some, _ = run(capsys, "predict", "m", "g.fa", *SCAN, "--threshold", str(threshold))
        assert some.splitlines(keepends=True) == lines[:1] + [
            line for line in lines[1:] if float(line.split("\t")[3]) > threshold
        ]


def test_several_classes_have_a_column_each(folder, capsys):
    out, _ = run(capsys, "predict", "three", "g.fa", *SCAN)
    rows = [line.split("\t") for line in out.splitlines()]
    assert rows[0][3:] == ["decision:a", "decision:b", "decision:c"]
    windows = [window for string in folder.values() for *_, window in naive(string)]
    np.testing.assert_allclose(
        [[float(cell) for cell in row[3:]] for row in rows[1:]], load_model("three").decision(windows), rtol=1e-9
    )


def test_the_same_bytes_from_any_kind_of_input(folder, capsys, tmp_path):
    content = (tmp_path / "g.fa").read_bytes()
    (tmp_path / "g.fa.gz").write_bytes(gzip.compress(content))
    (tmp_path / "g.fa.bz2").write_bytes(bz2.compress(content))
    (tmp_path / "one-line.fa").write_bytes(content.replace(b"\n", b"\r\n"))
    expected, _ = run(capsys, "predict", "m", "g.fa", *SCAN)
    for file in ("g.fa.gz", "g.fa.bz2", "one-line.fa"):
        assert run(capsys, "predict", "m", file, *SCAN).out == expected
    run(capsys, "predict", "m", "g.fa", *SCAN, "-o", "out.tsv", "--threads", "2")
    assert (tmp_path / "out.tsv").read_text() == expected
    piped = subprocess.run(
        [sys.executable, "-m", "seqkern.cli.main", "predict", "m", "-", *SCAN], input=content, capture_output=True
    )
    assert piped.stdout.decode() == expected


def test_a_chromosome_with_only_n(folder, capsys, tmp_path):
    (tmp_path / "n.fa").write_text(f">chrUn\n{'N' * 1000}\n")
    out, err = run(capsys, "predict", "m", "n.fa", *SCAN)
    assert out == "record\tposition\tstrand\tdecision\n"
    assert err.splitlines() == [
        "seqkern: n.fa: record 'chrUn': only N or other masked letters, so no candidate",
    ]
    (tmp_path / "c.fa").write_text(f">c\n{'C' * 1000}\n")
    out, err = run(capsys, "predict", "m", "c.fa", *SCAN)
    assert err.splitlines() == ["seqkern: c.fa: no candidate 'AG' to classify"]


@pytest.mark.parametrize(
    ("argv", "words"),
    [
        (("m", "g.fa", "--format", "bed"), "--format needs --scan"),
        (("m", "g.fa", "--window", "-5:+7"), "--window needs --scan"),
        (("m", "g.fa", "--threshold", "0"), "--threshold needs --scan"),
        (("m", "g.fa", *SCAN, "--unknown", "mask"), "--unknown does not work with --scan; .*--masked"),
        (("m", "g.fa", *SCAN, "--window", "-7:+5"), r"trained on windows -5:\+7, not -7:\+5"),
        (("m", "g.fa", "--scan", "GT"), "trained on sites 'AG', not 'GT'"),
        (("three", "g.fa", *SCAN, "--format", "bed"), "three: has 3 classes, .*use --format tsv"),
        (("three", "g.fa", *SCAN, "--threshold", "0"), "three: has 3 classes"),
        (("m", "gone.fa", *SCAN), "gone.fa: no such file"),
        (("m", "g.fa", *SCAN, "-o", "g.fa/x"), "g.fa/x: cannot be written"),
        (("m", "bad.fa", *SCAN), "bad.fa: record 'a': letter 'E' at position 201"),
    ],
)
def test_commands_that_are_not_possible(folder, capsys, tmp_path, argv, words):
    (tmp_path / "bad.fa").write_text(f">a\n{random_dna(200)}EFG\n")
    before = sorted(tmp_path.iterdir())
    more = () if "-o" in argv else ("-o", "out.tsv")
    assert main(["predict", *argv, *more]) == 1
    err = capsys.readouterr().err.splitlines()
    assert re.search(words, err[-1])
    assert len(err) == 1
    assert sorted(tmp_path.iterdir()) == before


@pytest.mark.parametrize("value", ["x", "nan"])
def test_a_threshold_in_words(folder, capsys, value):
    assert main(["predict", "m", "g.fa", *SCAN, "--threshold", value]) == 2
    assert f"{value!r} is neither a number nor model" in capsys.readouterr().err


def test_a_truncated_file(folder, tmp_path):
    (tmp_path / "t.fa.gz").write_bytes(gzip.compress((tmp_path / "g.fa").read_bytes())[:-30])
    with pytest.raises(FileError, match="is truncated"):
        list(Scanner(MODEL, "AG").scan(tmp_path / "t.fa.gz"))


def test_the_example_of_the_tutorial(tmp_path, monkeypatch, capsys):
    page = (ROOT / "docs" / "tutorials" / "splice_sites.md").read_text().partition("## Explain")[0]
    commands = [line for line in page.replace("\\\n", "").splitlines() if line.startswith("seqkern ")]
    assert len(commands) == 4
    monkeypatch.chdir(tmp_path)
    for command in commands:
        assert main(shlex.split(command)[1:]) == 0, capsys.readouterr().err
    header, *rows = [line.split("\t") for line in (tmp_path / "unseen.tsv").read_text().splitlines()]
    donors = {tuple(row[:3]) for row in rows if row[header.index("label")] == "donor"}
    found = [line.split("\t") for line in (tmp_path / "found.bed").read_text().splitlines()]
    places = {(row[0], str(int(row[1]) + 1) if row[5] == "+" else row[2], row[5]) for row in found}
    assert len(places & donors) > 0.7 * len(donors)
    sure = [row for row in found if float(row[10]) > 0.95]
    places = {(row[0], str(int(row[1]) + 1) if row[5] == "+" else row[2], row[5]) for row in sure}
    assert len(places & donors) > 0.5 * len(places) > 50


# ---- memory ----------------------------------------------------------------------------------------------------------


class Repeated(io.TextIOBase):
    """A record of `n` letters, in one line, that is nowhere as a whole."""

    def __init__(self, n):
        self.left, self.begun, self.letters = n, False, random_dna(1 << 14)

    def read(self, size):
        if not self.begun:
            self.begun = True
            return ">chr1\n"
        size = min(size, self.left, len(self.letters))
        self.left -= size
        return self.letters[:size]


def test_memory_does_not_grow_with_a_record():
    def peak(n):
        tracemalloc.start()
        letters = sum(len(found) for found in Scanner(MODEL, "AGAGAG").scan(Repeated(n), block=1 << 14))
        result = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        return letters, result

    MODEL.record["window"]["site"] = ""
    try:
        list(Scanner(MODEL, "AGAGAG").scan(Repeated(1 << 16)))  # what is made once
        few, small = peak(1 << 19)
        many, large = peak(1 << 21)
    finally:
        MODEL.record["window"]["site"] = "AG"
    assert many > 3 * few > 0
    assert large < 1.1 * small < 20 << 20


def test_as_window_of_a_model():
    assert as_window(MODEL.record["window"]) == WINDOW


def test_texts_of_lines_are_those_that_there_are():
    places, numbers = np.ones((2, 1), dtype=np.int64), np.ones((2, 1))
    nothing = places[:, :0], [b""], np.zeros(2, dtype=np.int32)
    for which in ([0, 1], [-1, 0]):
        with pytest.raises(IndexError, match="of 1"):
            lines(b"c\t", places, [b"+\t"], np.array(which, dtype=np.int32), numbers)
        with pytest.raises(IndexError, match="of 1"):
            lines(b"c\t", places, [b""], nothing[2], numbers, places, [b"+\t"], np.array(which, dtype=np.int32))
