"""The engine of a model's page decides as `predict` does, in Chromium, on random and on odd sequences."""

import io

import numpy as np
import pytest

from seqkern.core.errors import SequenceError
from seqkern.kernels import build_kernel
from seqkern.methods.page_export import export_model
from seqkern.methods.training import train_model
from seqkern.report.page_frame import ASSETS
from seqkern.sequences.alphabets import AMBIGUOUS_BASES, AMBIGUOUS_RESIDUES, as_alphabet, masked_text
from seqkern.sequences.fasta import read_fasta
from seqkern.sequences.labels import make_labels
from seqkern.sequences.sequence_set import SequenceSet, as_sequences

RUN = """async ([engine, model, text]) => {
    const worker = new Worker(URL.createObjectURL(new Blob([engine], {type: "text/javascript"})));
    const next = type => new Promise((resolve, reject) => {
        worker.onerror = event => reject(new Error(event.message));
        worker.onmessage = ({data}) => {
            if (data.type === "error") reject(new Error(data.text));
            else if (data.type === "rows") rows.push(data);
            else if (data.type === type) resolve(data);
        };
    });
    const rows = [];
    let answer = next("ready");
    worker.postMessage({type: "load", model});
    await answer;
    answer = next("done");
    worker.postMessage({type: "score", job: 1, text});
    const done = await answer, found = {remarks: done.remarks, explained: []};
    for (const name of ["ids", "notes", "lengths", "decisions", "probabilities"]) {
        found[name] = rows.flatMap(one => one[name] ? [...one[name]] : []);
    }
    for (let record = 0; record < 3; record++) {
        answer = next("sequence");
        worker.postMessage({type: "sequence", job: 2, record});
        const {sequence} = await answer;
        answer = next("explained");
        worker.postMessage({type: "explain", job: 3, sequence});
        const {decision, contributions, changes} = await answer;
        found.explained.push({sequence, decision, contributions: [...contributions], changes: [...changes]});
    }
    worker.terminate();
    return found;
}"""
KERNELS = {
    "dna": [
        "spectrum:k=3",
        "spectrum:k=1+2+4,reverse_complement=true,normalize=false",
        "mismatch:k=4,m=1,reverse_complement=true",
        "gapped_kmer:l=6,k=4,reverse_complement=true",
        "gapped_kmer:l=5,k=3,estimator=truncated,d=1",
        "0.5*spectrum:k=2+2*gapped_kmer:l=4,k=3,normalize=false",
        "spectrum:k=2,part=3:-5+mismatch:k=3,m=1",
        "weighted_degree:degree=3",
        "weighted_degree:degree=12",
        "shifted_weighted_degree:degree=4,shift=3",
        "shifted_weighted_degree:degree=15,shift=5",
        "spectrum:k=2+weighted_degree:degree=5,part=4:20",
    ],
    "protein": ["spectrum:k=2", "mismatch:k=3,m=1", "gapped_kmer:l=3,k=2", "weighted_degree:degree=2"],
    "rna": ["gapped_kmer:l=5,k=3"],
    "HP": ["gapped_kmer:l=18,k=10,zero_diagonal=zero"],
}
CASES = [(alphabet, kernel) for alphabet, kernels in KERNELS.items() for kernel in kernels]


def texts(alphabet, rng, n, length=24):
    """Return random sequences, of which some repeat themselves, or are full of ambiguity codes."""
    letters = list(as_alphabet(alphabet).letters)
    odd = AMBIGUOUS_RESIDUES if alphabet == "protein" else AMBIGUOUS_BASES
    made = ["".join(rng.choice(letters, length)) for _ in range(n)]
    made += [(one[:3] * length)[:length] for one in made[:5]] + [letter * length for letter in letters[:2]]
    made += [
        one[:i] + odd[i % len(odd)] * (i % 3 + 1) + one[i + i % 3 + 1 :] for i, one in enumerate(made[: length - 4])
    ]
    return [*made, made[0].lower(), made[1][::-1]]


@pytest.fixture(scope="module")
def engine(browser):
    """Return a function that loads a model into the engine, scores a text, and returns what it answers."""
    page = browser.new_page()
    script = (ASSETS / "engine.js").read_text(encoding="utf-8")
    yield lambda model, text: page.evaluate(RUN, [script, model, text])
    page.close()


@pytest.mark.parametrize("exact", [False, True])
@pytest.mark.parametrize(("alphabet", "kernel"), CASES)
def test_decisions_are_those_of_predict(engine, alphabet, kernel, exact):
    rng = np.random.default_rng(1)
    X = as_sequences(["".join(rng.choice(list(as_alphabet(alphabet).letters), 24)) for _ in range(60)], alphabet)
    labels = make_labels(X.ids, ["a", "b"] * 30, positive="b")
    model = train_model(X, labels, build_kernel(kernel), "csvc:C=1", calibration="platt")
    new = texts(alphabet, rng, 40)
    found = engine(
        export_model(model, exact, allow_sequences=True),
        "".join(f">s{i} x\n{one[:9]}\n{one[9:]}\n" for i, one in enumerate(new)),
    )
    expected = model.decide(SequenceSet.from_strings([one.upper() for one in new], alphabet))
    assert found["ids"] == [f"s{i}" for i in range(len(new))]
    tolerance = 1e-9 if exact else 1e-6
    assert np.abs(np.array(found["decisions"]) - expected.decisions).max() < tolerance
    assert np.abs(np.array(found["probabilities"]) - expected.probabilities).max() < 10 * tolerance
    for one in found["explained"]:
        total = sum(one["contributions"]) + model.form().constant
        assert total == pytest.approx(one["decision"], abs=1e-9)
        letters, place = as_alphabet(alphabet).letters, 7
        row = np.array(one["changes"], dtype=float).reshape(len(one["sequence"]), len(letters))[place]
        others = [one["sequence"][:place] + letter + one["sequence"][place + 1 :] for letter in letters]
        own = letters.index(one["sequence"][place])
        assert np.isnan(row[own])
        assert np.abs(np.delete(row - model.decision(others), own)).max() < tolerance


RECORDS = [
    ">a b\nAC GTACG\n\nAC\n", ">b\tx\r\nACGTTGA\r\nAA\r\n", ">c\nACGTACG*\n", ">d\nACGT*ACG\n", ">e\nAC-GTACG\n",
    ">f\nacgugguu\n", ">g\nACGTAé\n", ">h|1\nACGTNRNYA\n",
    "> i\n ACGTAGA\t\n", ">j\n;comment\nACGTAA\n", ">k\nAC1GTACG\n",
    ">l\nRRYYACG\n", ">m\nACGTAA**\n", ">n\n\n", ">o <b>\nNNNNNNN\n", ">=1+1\nACGTACCA",
]  # fmt: skip


def test_records_are_read_as_predict_reads_them(engine):
    rng = np.random.default_rng(2)
    X = as_sequences(["".join(rng.choice(list("ACGT"), 20)) for _ in range(20)], "dna")
    labels = make_labels(X.ids, ["a", "b"] * 10)
    model = train_model(X, labels, build_kernel("spectrum:k=2,zero_diagonal=zero"), "csvc:C=1")
    found = engine(export_model(model), "".join(RECORDS))
    counts, accepted = {}, 0
    for i, text in enumerate(RECORDS):
        try:
            own = read_fasta(io.StringIO(text), "dna")
        except SequenceError:
            assert np.isnan(found["decisions"][i])
            assert found["notes"][i]
            continue
        assert [found["ids"][i], found["lengths"][i], found["notes"][i]] == [own.ids[0], own.lengths[0], ""]
        assert found["decisions"][i] == pytest.approx(model.decision(own)[0], abs=1e-6)
        counts = {name: counts.get(name, 0) + own.counts.get(name, 0) for name in {**counts, **own.counts}}
        accepted += 1
    assert 8 <= accepted < len(RECORDS)
    expected = {f"{n} {name}" for name, n in counts.items() if "masked" not in name} | {masked_text(counts)}
    assert set(found["remarks"]) == expected
