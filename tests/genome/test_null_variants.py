"""Random variants of the kind, length and context of given ones, and p-values by them."""

import numpy as np
import pytest

from seqkern.formats.alleles import PlacedAlleles
from seqkern.genomics.variant_run import Effects, NullVariants, kind_of, quotas, strata_of

COMPLEMENT = dict(zip("ACGT", "TGCA", strict=True))


class Reference:
    """A genome in memory."""

    path = "genome.fa"

    def __init__(self, **texts):
        self.texts, self.lengths = texts, {name: len(text) for name, text in texts.items()}

    def fetch(self, name, start, stop):
        return self.texts[name][start:stop]


def naive_stratum(text, place, ref, alt):
    """Return what variants of a stratum share: numbers of bases, context, class of G and C; None without a stratum."""
    while ref and alt and ref[0] == alt[0]:
        ref, alt, place = ref[1:], alt[1:], place + 1
    while ref and alt and ref[-1] == alt[-1]:
        ref, alt = ref[:-1], alt[:-1]
    stop = place + len(ref)
    before, after = text[max(0, place - 5) : place], text[stop : stop + 5]
    if len(before + after) < 10 or not set(before + ref + alt + after) <= set("ACGT") or ref == alt:
        return None
    rich = sum(base in "CG" for base in before + after)
    context = ()
    if len(ref) == len(alt) == 1:
        context = before[-1] + ref + after[0], alt
        if ref in "AG":
            context = "".join(COMPLEMENT[base] for base in reversed(context[0])), COMPLEMENT[alt]
    elif not (ref and alt) and len(ref + alt) <= 16:
        unit, copies = ref + alt, 0
        while copies < 4 and text[stop + copies * len(unit) :].startswith(unit):
            copies += 1
        ahead = 0
        while ahead < 4 and text[: place - ahead * len(unit)].endswith(unit) and ahead * len(unit) <= place:
            ahead += 1
        context = sum(copies + ahead >= least for least in (1, 2, 4))
    return len(ref), len(alt), context, (rich >= 4) + (rich >= 7)


def random_text(rng, length):
    """Return random bases with repeats and some N."""
    letters = rng.choice(list("ACGT"), length)
    for start in rng.integers(0, length - 40, length // 60).tolist():
        letters[start : start + 20] = np.resize(rng.choice(list("ACGT"), rng.integers(1, 4)), 20)
    letters[rng.integers(0, length, length // 400)] = "N"
    return "".join(letters)


def random_alleles(rng, text, n):
    """Return alleles of each kind as a VCF file has them: some with shared bases, some at the ends."""
    places, refs, alts = [], [], []
    for _ in range(n):
        place = int(rng.choice([rng.integers(0, len(text) - 20), rng.integers(0, 8), len(text) - 8]))
        ref = text[place : place + int(rng.choice([1, 1, 2, 3, 6]))]
        alt = "".join(rng.choice(list("ACGT"), rng.choice([1, 1, 2, 4])))
        if rng.random() < 0.6:  # an anchor, and a copy of what follows
            alt = ref[0] + (ref[1:] * 2 if rng.random() < 0.5 else alt if len(ref) == 1 else "")
        if rng.random() < 0.1:
            ref, alt = text[place : place + 1], text[place : place + 2]
        places.append(place)
        refs.append(ref)
        alts.append(alt)
    snv = np.array([len(ref) == len(alt) == 1 for ref, alt in zip(refs, alts, strict=True)])
    codes = np.frombuffer(text.encode() + b".", dtype=np.uint8)
    as_bytes = ([one.encode() for one in column] for column in (refs, alts))
    return PlacedAlleles(codes, np.array(places), *as_bytes, snv, np.arange(n)), list(
        zip(places, refs, alts, strict=True)
    )


def test_strata_agree_with_the_naive_ones():
    rng = np.random.default_rng(1)
    text = random_text(rng, 3000)
    alleles, rows = random_alleles(rng, text, 4000)
    strata, naive = strata_of(alleles), [naive_stratum(text, *row) for row in rows]
    assert [one >= 0 for one in strata.tolist()] == [one is not None for one in naive]
    pairs = {(a, b) for a, b in zip(strata.tolist(), naive, strict=True) if b is not None}
    assert len(pairs) == len({a for a, _ in pairs}) == len({b for _, b in pairs}) > 150
    kinds = kind_of(strata[strata >= 0])
    assert np.bincount(kinds, minlength=4).min() > 100


@pytest.fixture(scope="module")
def drawn():
    """Random variants for given ones, with the genome and what was wanted."""
    rng = np.random.default_rng(2)
    genome = Reference(a=random_text(rng, 40_000), b=random_text(rng, 20_000))
    alleles, rows = random_alleles(rng, genome.texts["a"], 300)
    strata = strata_of(alleles)
    templates = {(1, 1): [b"A", b"C", b"G"]}
    for (_, ref, alt), stratum in zip(rows, strata.tolist(), strict=True):
        if stratum >= 1 << 48:
            *_, shape = _trimmed_naive(ref, alt)
            templates.setdefault(shape[0], []).append(shape[1].encode())
    names, counts = np.unique(strata[strata >= 0], return_counts=True)
    wanted = dict(zip(names.tolist(), quotas(counts, 900).tolist(), strict=True))
    regions = [("a", 100, 30_000), ("b", 0, 20_000)]
    return genome, regions, wanted, templates, NullVariants(genome, regions, wanted, templates, seed=3)


def _trimmed_naive(ref, alt):
    while ref and alt and ref[0] == alt[0]:
        ref, alt = ref[1:], alt[1:]
    while ref and alt and ref[-1] == alt[-1]:
        ref, alt = ref[:-1], alt[:-1]
    return ref, alt, ((len(ref), len(alt)), alt)


def test_random_variants_have_the_wanted_strata_and_lie_in_the_regions(drawn):
    genome, regions, wanted, _, null = drawn
    found = {}
    for (name, start, stop), (alleles, strata) in zip(regions, null.chunks(80), strict=True):
        text = genome.texts[name][max(0, start - 80 - 6) : stop + 80 + 6]
        assert alleles.text.tobytes() == text.encode() + b"."
        assert strata_of(alleles).tolist() == strata.tolist()
        for place, ref in zip(alleles.places.tolist(), alleles.refs, strict=True):
            assert text[place : place + len(ref)].encode() == ref
            assert start - 1 <= place + max(0, start - 86) < stop
        for number in strata.tolist():
            found[number] = found.get(number, 0) + 1
    assert sum(found.values()) == len(null) == sum(wanted.values()) - null.missing
    assert null.missing < 0.1 * sum(wanted.values())
    assert all(found[number] <= wanted[number] for number in found)


def test_the_same_seed_draws_the_same_variants(drawn):
    genome, regions, wanted, templates, null = drawn
    again = NullVariants(genome, regions, wanted, templates, seed=3)
    for (a, _), (b, _) in zip(null.chunks(10), again.chunks(10), strict=True):
        assert (a.places.tolist(), a.refs, a.alts) == (b.places.tolist(), b.refs, b.alts)


def test_p_values_are_uniform_in_strata_of_other_scales():
    rng = np.random.default_rng(4)
    strata = np.repeat([0, 1, 2, 1 << 48], 5000)
    scale = np.repeat([1.0, 3.0, 9.0, 2.0], 5000)
    own, null = (Effects(strata, rng.normal(size=20_000), scale * rng.normal(size=20_000)) for _ in range(2))
    p = own.p_values(null)
    for stratum in np.unique(strata):
        for level in (0.01, 0.05, 0.2):
            share = np.mean(p[strata == stratum] <= level)
            assert abs(share - level) < 5 * np.sqrt(level / 5000) + 0.4 * level
    raw = np.argsort(np.argsort(-np.abs(own.delta))) / len(p)  # without strata, the first has too few
    assert np.mean(raw[strata == 0] <= 0.05) < 0.005


def test_changes_far_below_the_level_of_binding_count_little():
    rng = np.random.default_rng(5)
    null = Effects(np.zeros(1000, dtype=np.int64), rng.normal(size=1000), 0.1 * rng.normal(size=1000))
    low, high = Effects(np.zeros(2, dtype=np.int64), np.array([-8.0, 2.0]), np.array([0.5, 0.5])).p_values(null)
    assert high < 0.01 < 0.5 < low


def test_a_kind_without_random_variants_has_no_p_value():
    null = Effects(np.zeros(10, dtype=np.int64), np.zeros(10), np.arange(10.0))
    own = Effects(np.array([0, 1 << 48, -1]), np.zeros(3), np.ones(3))
    assert np.isnan(own.p_values(null)).tolist() == [False, True, True]
