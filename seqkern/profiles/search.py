"""Profiles built by iterated search, as jackhmmer does (Johnson, Eddy, Portugaly: BMC Bioinformatics 11, 2010).

A profile HMM of the query (BLOSUM62 around each letter) is searched against a database; of the query and what is found
another HMM is built, and so on. Its match states are the letters of the query, and their emissions, with HMMER's
mixture Dirichlet priors, the profile. A query without relatives keeps the HMM of itself alone. Sequences that are the
query itself tell nothing, and are left out: so it makes no difference whether the query is in the database.

Every query has a pipeline of its own with a seed of its own, so that a profile depends on nothing but the letters of
the query, the database in its order, and the options: never on threads or on other queries. HMMER fits the statistics
of each HMM by simulation; that is a tenth of the time, and left as HMMER has it, except for the last HMM, which is not
searched with. Most of the time goes into the effective number of sequences of each new HMM, found by bisection.

Threads run side by side: pyhmmer gives up the interpreter's lock while it searches and while it builds HMMs, and two
threads wait less than a hundredth of their time for it.
"""

import hashlib
from concurrent.futures import ThreadPoolExecutor

import numpy as np

from seqkern.core.archive import canonical_json
from seqkern.core.checks import check_integer, check_real
from seqkern.core.errors import SequenceError
from seqkern.core.progress import progress_bar
from seqkern.profiles.cache import ProfileCache
from seqkern.profiles.hmmer import of_hmm
from seqkern.profiles.profile import Profile, add_profiles, protein_only, to_scores
from seqkern.sequences.alphabets import PROTEIN

FORMAT = 1  # of what the cache holds
FEWEST = {"EmN": 10, "EvN": 10, "EfN": 10}  # simulated sequences for an HMM that is not searched with
LONGEST = 6000  # letters of a sequence that is searched with or for; memory grows with the product of two lengths
SECONDS_PER_QUERY, SECONDS_PER_CELL = 0.03, 1.5e-10  # of one iteration; a cell is a letter of the query and a target's


class ProfileSearch:
    """Profiles of sequences from their relatives in a database.

    Parameters
    ----------
    database : SequenceSet
        Proteins.
    iterations : int
        Searches of a query at most; fewer where one finds nothing new.
    inclusion : float
        E-value, of a sequence and of a domain in it, up to which what is found counts as a relative.

    Attributes
    ----------
    digest : str
        Of everything but the query that a profile depends on.
    """

    def __init__(self, database, *, iterations=3, inclusion=0.001):
        import pyhmmer

        check_integer("iterations", iterations, 1)
        check_real("inclusion", inclusion, 0, open_low=True)
        protein_only(database)
        self.iterations, self.inclusion = iterations, float(inclusion)
        strings = _strings(database)
        self._strings = [string for string in strings if 0 < len(string) <= LONGEST]
        self.too_long = sum(len(string) > LONGEST for string in strings)
        self._sequences = None
        options = {"iterations": iterations, "inclusion": self.inclusion, "longest": LONGEST, "seed": 42}
        digest = hashlib.blake2b(digest_size=16)
        digest.update(canonical_json([FORMAT, pyhmmer.__version__, options]).encode())
        for string in self._strings:
            digest.update(len(string).to_bytes(8, "little") + string)
        self.digest = digest.hexdigest()

    def seconds(self, X):
        """Return about how many CPU seconds the profiles of `X` take, none of them in the cache."""
        cells = float(X.lengths.sum()) * sum(map(len, self._strings))
        return self.iterations * (SECONDS_PER_QUERY * len(X) + SECONDS_PER_CELL * cells)

    def add_to(self, X, *, n_threads=None, cache=None):
        """Return a SequenceSet with the tracks ``pssm`` and ``profile`` besides its own.

        Parameters
        ----------
        X : SequenceSet
            Proteins.
        n_threads : int, optional
            By default all cores.
        cache : ProfileCache, optional
            Profiles that are found there are not built again, and those that are built are put there one by one: so
            work that was interrupted goes on where it stopped.

        Returns
        -------
        SequenceSet
            Its counts say how many sequences were too long: they have the profile of themselves alone, and are nobody's
            relatives.
        """
        protein_only(X)
        cache = ProfileCache() if cache is None else cache
        queries = _strings(X)
        background = _background()
        found = dict(self._found(dict.fromkeys(queries), n_threads, cache))
        profiles = (Profile(X.string(i), to_scores(found[q], background), found[q]) for i, q in enumerate(queries))
        long = sum(len(query) > LONGEST for query in queries)
        counts = {
            "sequences too long to be searched with": long,
            "sequences too long to be searched for": self.too_long,
        }
        counts = X.counts | {what: count for what, count in counts.items() if count}
        return add_profiles(X, profiles).replace(counts=counts)

    def _found(self, queries, n_threads, cache):
        """Yield (query, probabilities) of distinct queries, from the cache or built in threads."""
        missing = []
        for query in queries:
            known = cache.get(self._key(query), len(query))
            if known is None:
                missing.append(query)
            else:
                yield query, known[0]
        if not missing:
            return
        from seqkern.core.threads import available_threads

        self._load()
        with ThreadPoolExecutor(available_threads(n_threads)) as pool:
            waiting = [pool.submit(self.build, query) for query in missing]
            try:
                for query, future in zip(progress_bar(missing, "profiles"), waiting, strict=True):
                    built = future.result()
                    cache.put(self._key(query), built)
                    yield query, built[0]
            except BaseException:  # Ctrl-C too: what is done is in the cache
                pool.shutdown(wait=False, cancel_futures=True)
                raise

    def _key(self, query):
        """Return the name of a query's profile in the cache."""
        return hashlib.blake2b(self.digest.encode() + query, digest_size=16).hexdigest()

    def _load(self):
        """Make pyhmmer's sequences of the database."""
        from pyhmmer.easel import Alphabet, DigitalSequenceBlock

        if self._sequences is None:
            named = [_digital(str(i), string) for i, string in enumerate(self._strings)]
            self._sequences = DigitalSequenceBlock(Alphabet.amino(), named)

    def build(self, query):
        """Search with one query.

        Parameters
        ----------
        query : bytes
            Codes of letters.

        Returns
        -------
        profile : ndarray of float32, shape (letters, 20)
        relatives : int
            How many sequences of the database went into it.
        """
        from pyhmmer.easel import Alphabet
        from pyhmmer.plan7 import Background, Builder, Pipeline, Trace

        if not query:
            return np.zeros((0, PROTEIN.size), dtype=np.float32), 0
        self._load()
        alphabet, sequence = Alphabet.amino(), _digital("query", query)
        background = Background(alphabet)
        searching = Builder(alphabet, architecture="hand")
        last = Builder(alphabet, architecture="hand", **FEWEST)
        if len(query) > LONGEST or not self._strings:
            return of_hmm(last.build(sequence, background)[0])[1], 0
        hmm, _, optimised = searching.build(sequence, background)
        same = {i for i, string in enumerate(self._strings) if string == query}
        relatives = set()
        for iteration in range(self.iterations):
            pipeline = Pipeline(alphabet, incE=self.inclusion, incdomE=self.inclusion)
            hits = pipeline.search_hmm(optimised, self._sequences)
            for hit in hits:
                if int(hit.name) in same:
                    hit.included = False
            found = {int(hit.name) for hit in hits if hit.included}
            if found <= relatives:
                break
            relatives |= found
            own = {"sequences": [sequence], "traces": [Trace.from_sequence(sequence)]}
            aligned = hits.to_msa(alphabet, **own, digitize=True, all_consensus_cols=True)
            aligned.name = "query"
            builder = last if iteration + 1 == self.iterations else searching
            hmm, _, optimised = builder.build_msa(aligned, background)
        profile = of_hmm(hmm)[1]
        if len(profile) != len(query):
            raise SequenceError(
                f"its HMM has {len(profile)} match states for {len(query)} letters",
                record=_text(query),
                remedy="leave the sequence out, or give its profile in a file",
            )
        return profile, len(relatives)


def _strings(X):
    """Return the codes of each sequence, a list of bytes."""
    return [X.codes[start:stop].tobytes() for start, stop in zip(X.starts, X.stops, strict=True)]


def _digital(name, codes):
    """Return a pyhmmer sequence of codes, masked letters as X."""
    from pyhmmer.easel import Alphabet, TextSequence

    return TextSequence(name=name, sequence=_text(codes)).digitize(Alphabet.amino())


def _text(codes):
    """Return codes (bytes) as letters."""
    table = bytearray(b"X" * 256)
    table[: PROTEIN.size] = PROTEIN.letters.encode()
    return codes.translate(bytes(table)).decode()


def _background():
    """Return the frequencies that HMMER's scores are odds against, float64 (20,)."""
    from pyhmmer.easel import Alphabet
    from pyhmmer.plan7 import Background

    return np.asarray(Background(Alphabet.amino()).residue_frequencies, dtype=np.float64)
