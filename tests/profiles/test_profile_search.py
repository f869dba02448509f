"""Profiles built by search: relatives, reproducibility, the cache, interruption, what a training set may know."""

import numpy as np
import pytest

from seqkern.core.errors import ParameterError, SequenceError
from seqkern.core.threads import given_threads
from seqkern.formats import profile_sources as caches
from seqkern.formats.profile_sources import ProfileCache, ProfileSearch
from seqkern.formats.profiles import check_tracks
from seqkern.kernels import ProfileKernel, kernel_from_state
from seqkern.sequences.sequence_set import SequenceSet

LETTERS = "ACDEFGHIKLMNPQRSTVWY"


def family(n=5, length=80, share=0.3, seed=0):
    """Return `n` relatives: copies of an ancestor with a share of other letters; and as many strangers."""
    rng = np.random.default_rng(seed)
    ancestor, strings = rng.integers(20, size=length), []
    for _ in range(n):
        codes = ancestor.copy()
        changed = rng.random(length) < share
        codes[changed] = rng.integers(20, size=changed.sum())
        strings.append(codes)
    strings += list(rng.integers(20, size=(n, length)))
    return SequenceSet.from_strings(["".join(LETTERS[code] for code in codes) for codes in strings], "protein")


@pytest.fixture
def cache(tmp_path, monkeypatch):
    """An empty cache, on disk and in memory."""
    monkeypatch.setattr(caches, "MEMORY", caches.Memory())
    return ProfileCache(tmp_path / "cache")


def test_relatives_shape_a_profile(cache):
    X = family()
    search = ProfileSearch(X)
    made = search.add_to(X, cache=cache)
    check_tracks(made, ("pssm", "profile"))
    alone = ProfileSearch(X.take([])).add_to(X, cache=cache)
    letters = X.codes[:80]
    differing = np.array([len({X.codes[s + i] for s in X.starts[:5]}) > 1 for i in range(80)])
    own = made.tracks["profile"][np.arange(80), letters]
    bare = alone.tracks["profile"][np.arange(80), letters]
    # Where all relatives agree the letter is likelier than BLOSUM62 alone makes it, elsewhere others are.
    assert own[~differing].mean() > 1.2 * bare[~differing].mean()
    seen = np.mean([made.tracks["profile"][np.arange(80), X.codes[s : s + 80]] for s in X.starts[1:5]], axis=0)
    known = np.mean([alone.tracks["profile"][np.arange(80), X.codes[s : s + 80]] for s in X.starts[1:5]], axis=0)
    assert seen[differing].mean() > 1.2 * known[differing].mean()
    query = X.codes[:80].tobytes()
    assert search.build(query)[1] == 4
    # A sequence without relatives has the profile of itself alone.
    assert search.build(X.codes[X.starts[7] : X.stops[7]].tobytes())[1] == 0
    np.testing.assert_array_equal(made.tracks["profile"][400:], alone.tracks["profile"][400:])


def test_the_query_itself_tells_nothing():
    X = family()
    query = X.codes[:80].tobytes()
    with_itself, without = (ProfileSearch(X.take(slice(a, 5))).build(query) for a in (0, 1))
    assert with_itself[1] == without[1] == 4
    # The number of targets, which E-values depend on, differs; the alignment does not.
    np.testing.assert_array_equal(with_itself[0], without[0])


def test_threads_and_order_change_nothing(cache, tmp_path):
    X = family()
    search = ProfileSearch(X, iterations=2)
    made = search.add_to(X, n_threads=1, cache=cache)
    caches.MEMORY.clear()
    other = search.add_to(X.take(slice(None, None, -1)), n_threads=3, cache=ProfileCache(tmp_path / "other"))
    assert other.take(slice(None, None, -1)).compact().digest() == made.compact().digest()


def test_what_was_built_is_not_built_again(cache, monkeypatch):
    X = family(3)
    made = ProfileSearch(X).add_to(X, cache=cache)
    assert len(list(cache.folder.rglob("*.npz"))) == 6
    for memory in (True, False):
        if not memory:
            caches.MEMORY.clear()
        search = ProfileSearch(X)
        monkeypatch.setattr(search, "build", None)
        assert search.add_to(X, cache=cache).digest() == made.digest()
    # Another database, other options: other profiles.
    others = [ProfileSearch(X.take([0, 1])), ProfileSearch(X, iterations=1), ProfileSearch(X, inclusion=0.01)]
    assert len({search.digest for search in (ProfileSearch(X), *others)}) == 4
    damaged = next(cache.folder.rglob("*.npz"))
    damaged.write_bytes(b"junk")
    caches.MEMORY.clear()
    assert ProfileSearch(X).add_to(X, cache=cache).digest() == made.digest()


def test_interrupted_work_goes_on_where_it_stopped(cache, monkeypatch):
    X = family(3)
    search, built = ProfileSearch(X), []
    real = search.build

    def stopping(query):
        if len(built) == 3:
            raise KeyboardInterrupt
        built.append(query)
        return real(query)

    monkeypatch.setattr(search, "build", stopping)
    with pytest.raises(KeyboardInterrupt):
        search.add_to(X, n_threads=1, cache=cache)
    kept = len(list(cache.folder.rglob("*.npz")))
    assert kept == 3
    monkeypatch.setattr(search, "build", lambda query: built.append(query) or real(query))
    search.add_to(X, n_threads=1, cache=cache)
    assert len(built) == len(set(built)) == 6


def test_memory_is_bounded(monkeypatch):
    monkeypatch.setattr(caches, "MOST_BYTES", 250)
    memory = caches.Memory()
    for key in "abc":
        memory.put(key, (np.zeros(100, np.uint8), 0))
        memory.get("a")
    assert memory.get("a") is not None
    assert memory.get("b") is None
    assert memory.get("c") is not None


def test_a_cache_that_cannot_be_written_is_left_alone(tmp_path):
    (tmp_path / "file").write_text("no folder")
    X = family(1)
    ProfileSearch(X).add_to(X, cache=ProfileCache(tmp_path / "file"))


def test_odd_sequences(cache, monkeypatch):
    X = SequenceSet.from_strings(["MKVLAAGW", "", "***", "M", "MK*LA" * 4], "protein", unknown="mask_all")
    made = ProfileSearch(X).add_to(X, cache=cache)
    check_tracks(made, ("pssm", "profile"))
    monkeypatch.setattr("seqkern.formats.profile_sources.LONGEST", 10)
    long = ProfileSearch(X)
    assert long.too_long == 1
    assert long.add_to(X, cache=cache).counts["sequences too long to search with"] == 1
    with pytest.raises(SequenceError, match="profiles need proteins, but these are dna"):
        ProfileSearch(SequenceSet.from_strings(["ACGT"], "dna"))
    for options in ({"iterations": 0}, {"inclusion": 0}, {"inclusion": "1"}):
        with pytest.raises(ParameterError, match="is not possible"):
            ProfileSearch(X, **options)


def test_a_kernel_that_searches_knows_the_training_part_alone():
    X = family(6)
    train, test = X.take(slice(0, None, 2)), X.take(slice(1, None, 2))
    kernel = ProfileKernel(3, 6.5, search="training").fit(train)
    expected = ProfileKernel(3, 6.5)(*(ProfileSearch(train).add_to(Z) for Z in (test, train)))
    np.testing.assert_array_equal(kernel(test, train), expected)
    assert not np.array_equal(ProfileKernel(3, 6.5, search="training").fit(X)(test, train), expected)
    again = kernel_from_state(*kernel.state())
    np.testing.assert_array_equal(again(test, train), expected)
    bare = ProfileKernel(3, 6.5).plan(ProfileSearch(train).add_to(train)).seconds
    assert kernel.plan(train).seconds > bare + 3 * 0.03 * len(train)


def test_threads_that_are_given_count_before_the_kernels_own(monkeypatch):
    used = []
    monkeypatch.setattr(ProfileSearch, "add_to", lambda self, X, n_threads: used.append(n_threads))
    kernel = ProfileKernel(search="training", n_threads=3)
    kernel.fit(family())
    used.clear()
    kernel.with_profiles(family())
    with given_threads(2):
        kernel.with_profiles(family())
    assert used == [3, 2]
