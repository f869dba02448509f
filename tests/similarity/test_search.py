"""The compiled search against plain comparisons of all pairs, and what it promises to find."""

import naive_similarity as naive
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from seqkern.core.errors import ParameterError
from seqkern.sequences import find_similar, similarity
from seqkern.sequences.sampling import connected
from seqkern.sequences.sequence_set import SequenceSet
from seqkern.sequences.similarity import exact_length, match_chance, nearest_across, needed_residues

LETTERS = {"dna": "ACGT", "protein": "ACDEFGHIKLMNPQRSTVWY"}


def encoded(strings, alphabet="dna"):
    return SequenceSet.from_strings(strings, alphabet, unknown="mask").compact()


def random_strings(n, low, high, alphabet="dna", seed=0):
    rng = np.random.default_rng(seed)
    pool = np.array([*LETTERS[alphabet]])
    return ["".join(rng.choice(pool, rng.integers(low, high + 1)).tolist()) for _ in range(n)]


def mutated(string, share, rng, alphabet="dna", indels=0):
    """Return the string with a share of its letters replaced, and some deleted."""
    result = list(string)
    for place in rng.choice(len(string), round(share * len(string)), replace=False):
        result[place] = rng.choice([letter for letter in LETTERS[alphabet] if letter != result[place]])
    for place in sorted(rng.choice(len(result), indels, replace=False), reverse=True):
        del result[place]
    return "".join(result)


def families(n, size, low, high, share, alphabet, seed=1, indels=0):
    """Return n sequences, each followed by copies of itself with differences."""
    rng = np.random.default_rng(seed)
    return [
        copy
        for string in random_strings(n, low, high, alphabet, seed)
        for copy in [string, *(mutated(string, share, rng, alphabet, indels) for _ in range(size - 1))]
    ]


@pytest.mark.parametrize(("alphabet", "limit"), [("dna", 0.8), ("protein", 0.5)])
@pytest.mark.parametrize("indels", [0, 2])
def test_pairs_are_those_of_plain_alignments(alphabet, limit, indels):
    shares = (0.05, 0.15, 0.25) if alphabet == "dna" else (0.2, 0.4, 0.55)
    strings = [
        string
        for number, share in enumerate(shares)
        for string in families(3, 3, 70, 90, share, alphabet, seed=number, indels=indels)
    ]
    X = encoded(strings, alphabet)
    needed = needed_residues(X, match_chance(X))
    found = find_similar(X, both_strands=False)
    plain = {}
    for j in range(len(X)):
        for i in range(j):
            plain[i, j] = naive.identity(strings[i], strings[j])
            length = min(len(strings[i]), len(strings[j]))
            if plain[i, j] * length < needed[length] - 1e-9:
                del plain[i, j]
    rows = zip(map(tuple, found.pairs.tolist()), found.identity.tolist(), found.shared.tolist(), strict=True)
    aligned = {pair: share for pair, share, stretch in rows if not stretch}
    assert limit <= min(aligned.values())
    assert aligned.keys() <= plain.keys()
    assert all(abs(plain[pair] - share) < 1e-12 for pair, share in aligned.items())
    assert len(aligned) >= 0.95 * len(plain) > 10


@settings(deadline=None)
@given(st.lists(st.text("ACGTN", min_size=1, max_size=40), min_size=2, max_size=6), st.booleans(), st.integers(4, 9))
def test_shared_stretches_are_those_of_plain_kmers(strings, both_strands, k):
    strings += ["N" + strings[0][3:], strings[0][2:20] + "ACGTACCA", "A" * 12, "C" + "A" * 11]
    strings = [*dict.fromkeys(strings)]
    X = encoded(strings)
    rows = similarity._shared(X, k, both_strands, 1)
    strings = X.strings()
    assert {(i, j) for i, j in np.sort(rows[:, :2], axis=1).tolist()} == naive.sharing(strings, k, both_strands)
    for i, j, length in rows.tolist():
        strands = [strings[j], naive.mirrored(strings[j])][: 1 + both_strands]
        assert k <= length <= max(naive.longest_shared(strings[i], strand) for strand in strands)


def test_families_of_92_percent_are_found():
    # members differ in one base of twelve: a k-mer of eleven is always left
    for alphabet, length in (("dna", 60), ("dna", 200), ("protein", 60), ("protein", 180)):
        strings = families(40, 4, length, length, 0.04, alphabet)
        found = find_similar(encoded(strings, alphabet))
        expected = {(4 * f + a, 4 * f + b) for f in range(40) for b in range(4) for a in range(b)}
        assert set(map(tuple, found.pairs.tolist())) == expected


def test_random_sequences_are_not_similar():
    for alphabet, low, high in (("dna", 20, 20), ("dna", 200, 200), ("protein", 9, 12), ("protein", 30, 200)):
        assert not len(find_similar(encoded(random_strings(1000, low, high, alphabet), alphabet)).pairs)


def test_overlapping_windows_on_either_strand_are_found():
    genome = random_strings(1, 4000, 4000)[0]
    windows = [genome[start : start + 200] for start in range(0, 3800, 160)]
    windows = [naive.mirrored(window) if number % 2 else window for number, window in enumerate(windows)]
    X = encoded(windows)
    found = find_similar(X)
    assert found.pairs.tolist() == [[i, i + 1] for i in range(len(windows) - 1)]
    assert found.shared.all()
    assert np.allclose(found.identity, 0.2)
    assert not len(find_similar(X, both_strands=False).pairs)
    assert find_similar(encoded(windows[::2])).pairs.tolist() == []


def test_low_complexity_and_masked_stretches_are_not_shared():
    strings = random_strings(6, 100, 100)
    runs = [strings[0] + "A" * 40, strings[1] + "A" * 40, strings[2] + "CA" * 20, strings[3] + "CA" * 20]
    masked = [strings[4] + "N" * 60, strings[5] + "N" * 60]
    assert not len(find_similar(encoded(runs + masked)).pairs)


def test_peptides_differing_in_one_residue_are_not_similar():
    peptide = "SIINFEKLT"
    others = [peptide[:i] + "W" + peptide[i + 1 :] for i in range(9)]
    assert not len(find_similar(encoded([peptide, *others, *random_strings(1000, 9, 9, "protein")], "protein")).pairs)


def test_frequent_kmers_cost_no_group(monkeypatch):
    # 400 copies of one sequence with differences: each place is compared with few others, and all stay linked
    monkeypatch.setattr(similarity, "PLACES", 2)
    monkeypatch.setattr(similarity, "EDGE", 2)
    monkeypatch.setattr(similarity, "ALIGNED", 5)
    strings = families(1, 400, 100, 100, 0.01, "dna")
    found = find_similar(encoded([*strings, *random_strings(5, 100, 100, seed=9)]))
    n = int(found.identical.max()) + 1
    assert np.bincount(connected(n, found.pairs)).max() == n - 5
    assert len(found.pairs) < 10 * n


def test_threads_and_order_change_nothing(monkeypatch):
    monkeypatch.setattr(similarity, "STEP", 16)
    monkeypatch.setattr(similarity, "PART", 1 << 10)
    strings = families(60, 4, 80, 160, 0.08, "dna", indels=1)
    X = encoded(strings)
    one, two = (find_similar(X, n_threads=threads) for threads in (1, 2))
    assert one.pairs.tobytes() == two.pairs.tobytes()
    assert one.identity.tobytes() == two.identity.tobytes()
    order = np.random.default_rng(0).permutation(len(strings))
    turned = find_similar(X.take(order))
    ends = np.sort(order[turned.pairs], axis=1)
    assert set(map(tuple, ends.tolist())) == set(map(tuple, one.pairs.tolist()))


def test_identity_is_over_the_shorter_sequence_and_bridges_gaps():
    rng = np.random.default_rng(0)
    (whole,) = random_strings(1, 100, 100)
    inner = mutated(whole[20:80], 0.05, rng)
    deleted = whole[:50] + whole[53:]
    X = encoded([whole, inner, deleted])
    found = find_similar(X, identity=0.9)
    shares = dict(zip(map(tuple, found.pairs.tolist()), found.identity.tolist(), strict=True))
    assert shares[0, 1] == 57 / 60
    assert shares[0, 2] == 1.0
    masked = find_similar(encoded([whole, whole[:97] + "NNN", whole[:98] + "NN"]), identity=0.9)
    assert masked.identity.tolist() == [0.97, 0.98, 0.97]


def test_tiny_sets():
    for strings in (["A"], ["A", "C"], ["ACGT", "A"], ["", "A"], ["NNNN", "N"]):
        for identity in (None, 0.9):
            assert not len(find_similar(encoded(strings), identity=identity).pairs)
    assert find_similar(encoded(["AA", "AA"])).identical.tolist() == [0, 0]
    with pytest.raises(ParameterError, match="identity=0"):
        find_similar(encoded(["A"]), identity=0)
    with pytest.raises(ParameterError, match="no complement"):
        find_similar(encoded(["AC", "CA"], "protein"), both_strands=True)


def test_only_stretches_in_very_large_sets(monkeypatch):
    monkeypatch.setattr(similarity, "HITS", 0)
    monkeypatch.setattr(similarity, "MOST_HITS", 0)
    strings = families(4, 2, 100, 100, 0.06, "dna")
    found = find_similar(encoded([*strings, strings[0][5:90] + "ACGT"]))
    assert not found.aligned
    assert [0, 8] in found.pairs.tolist()


def test_limits_by_length():
    X = encoded(random_strings(1000, 10, 200), "dna")
    match = match_chance(X)
    needed = needed_residues(X, match)
    length = exact_length(X, match)
    assert needed[15] == 16  # too short, even if all of it is identical
    assert needed[20] == 20
    assert needed[200] == 160
    places = float(X.lengths.sum()) ** 2 / 2
    assert places * match**length < 1e-3 <= places * match ** (length - 1)


def spaced(monkeypatch, strings, **options):
    """Return the pairs of each record with a later one that spaced seeds find, with their identity, and the shared."""
    monkeypatch.setattr(similarity, "SPACED", 0)
    found = find_similar(encoded(strings), **options)
    assert found.aligned
    rows = zip(map(tuple, found.pairs.tolist()), found.identity.tolist(), found.shared.tolist(), strict=True)
    aligned = {pair: share for pair, share, shared in rows if not shared}
    return aligned, set(map(tuple, found.pairs[found.shared].tolist()))


@pytest.mark.parametrize("indels", [0, 2])
def test_spaced_seeds_find_the_pairs_of_a_small_search(monkeypatch, indels):
    strings = [one for share in (0.05, 0.1, 0.17) for one in families(20, 2, 200, 300, share, "dna", indels=indels)]
    strings = [naive.mirrored(one) if n % 3 == 1 else one for n, one in enumerate(dict.fromkeys(strings))]
    strings += ["N" * 40 + strings[0][:80] + "A" * 60, "A" * 150, "CA" * 90]
    usual = find_similar(encoded(strings))
    expected = dict(zip(map(tuple, usual.pairs[~usual.shared].tolist()), usual.identity[~usual.shared], strict=True))
    aligned, shared = spaced(monkeypatch, strings)
    assert len(aligned.keys() & expected.keys()) >= 0.98 * len(expected) > 50
    assert all(abs(aligned[pair] - expected[pair]) < 1e-12 for pair in aligned.keys() & expected.keys())
    assert shared <= set(map(tuple, usual.pairs.tolist()))
    forward = spaced(monkeypatch, strings, both_strands=False)[0]
    assert forward.keys() < aligned.keys()


def test_parts_threads_and_an_interruption_change_nothing(monkeypatch, tmp_path):
    strings = families(60, 4, 200, 300, 0.08, "dna", indels=1)
    whole = spaced(monkeypatch, strings, n_threads=1)
    monkeypatch.setattr(similarity, "SEEDS", 5000)
    monkeypatch.setattr(similarity, "RECORDS", 50)
    assert spaced(monkeypatch, strings, n_threads=2) == whole
    search, calls = similarity._search.segments, []

    def stopped(*given):
        calls.append(given[6])
        if len(calls) > limit:
            raise KeyboardInterrupt
        return search(*given)

    monkeypatch.setattr(similarity._search, "segments", stopped)
    limit, folder = 8, tmp_path / "kept"
    with pytest.raises(KeyboardInterrupt), similarity.kept_segments(folder):
        spaced(monkeypatch, strings, n_threads=1)
    first, limit, n = len(list(folder.iterdir())), 1000, sum(map(len, strings))
    calls.clear()
    with similarity.kept_segments(folder):
        assert spaced(monkeypatch, strings, n_threads=1) == whole
    assert sum(rules is not None for rules in calls) == 2 * (1 + n // max(5000, n // 16)) - first > 0 < first
    assert not folder.exists()


def test_frequent_spaced_seeds_cost_no_group(monkeypatch):
    strings = families(1, 600, 200, 200, 0.02, "dna")
    aligned, _ = spaced(monkeypatch, [*strings, *random_strings(5, 200, 200, seed=9)])
    n = len(set(strings)) + 5
    assert np.bincount(connected(n, list(aligned))).max() == n - 5
    assert len(aligned) <= similarity.LISTED * n


def test_pairs_of_capped_seeds_do_not_depend_on_the_order_of_a_file(monkeypatch):
    strings = [*dict.fromkeys(families(2, 120, 200, 200, 0.05, "dna", indels=1))]
    strings = [naive.mirrored(one) if n % 2 else one for n, one in enumerate(strings)]
    aligned, _ = spaced(monkeypatch, strings)
    order = np.random.default_rng(3).permutation(len(strings)).tolist()
    turned, _ = spaced(monkeypatch, [strings[n] for n in order])
    assert {tuple(sorted((order[a], order[b]))): share for (a, b), share in turned.items()} == aligned
    assert len(aligned) < len(strings) * similarity.LISTED
    assert "seeds, of repeats, were capped" in find_similar(encoded(strings)).remark
    assert not find_similar(encoded(families(20, 3, 200, 200, 0.05, "dna"))).remark


def test_a_query_finds_its_source_among_many_copies_of_a_repeat(monkeypatch):
    monkeypatch.setattr(similarity, "SPACED", 0)
    rng = np.random.default_rng(4)
    copies = families(1, 500, 300, 300, 0.13, "dna")[1:]
    sources = rng.choice(len(copies), 40, replace=False)
    tests = [mutated(copies[row], 0.15, rng, indels=row % 2) for row in sources.tolist()]
    found = nearest_across(encoded([*tests, *copies]), len(tests), both_strands=True)
    assert np.mean(found.row == sources) >= 0.9
