"""Profiles built by iterated search, as jackhmmer does (Johnson, Eddy, Portugaly: BMC Bioinformatics 11, 2010).

A profile HMM of the query (BLOSUM62 around each residue) is searched against a database; the query and its hits give
the next HMM, and so on. Its match states are the residues of the query, and their emissions, with HMMER's
mixture Dirichlet priors, the profile. A query without homologs keeps the HMM of itself. Sequences identical to
the query add nothing, and are left out; hence it does not matter whether the query is in the database.

Every query has its own pipeline and seed, so that a profile depends only on the residues of the query, the database
in its order, and the options: never on threads or on other queries. HMMER fits the statistics
of each HMM by simulation; this takes a tenth of the time, and is unchanged except for the last HMM, which is not
used for a search. Most of the time goes into the effective number of sequences of each new HMM, found by bisection.

Threads run in parallel: pyhmmer releases the interpreter's lock while it searches and builds HMMs, and two
threads wait for it less than a hundredth of their time.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, cast

import numpy as np
import numpy.typing as npt

from seqkern.core.archive import canonical_json
from seqkern.core.checks import check_integer, check_real
from seqkern.core.errors import SequenceError
from seqkern.core.progress import progress_bar
from seqkern.core.threads import available_threads
from seqkern.profiles.cache import ProfileCache
from seqkern.profiles.hmmer import of_hmm
from seqkern.profiles.profile import Profile, add_profiles, protein_only, to_scores
from seqkern.sequences.alphabets import PROTEIN
from seqkern.sequences.sequence_set import SequenceSet

if TYPE_CHECKING:
    from pyhmmer.easel import AA, DigitalMSA, DigitalSequence, DigitalSequenceBlock  # slow to import

FORMAT = 1  # of the cache
FEWEST = 10  # simulated sequences for an HMM not used for a search
LONGEST = 6000  # residues of a query or hit; memory grows with the product of their lengths
SECONDS_PER_QUERY, SECONDS_PER_CELL = 0.03, 1.5e-10  # of one iteration; a cell is a residue of each of two sequences


class ProfileSearch:
    """Profiles of sequences, built from their homologs in a database.

    Parameters
    ----------
    database : SequenceSet
        Proteins.
    iterations : int
        Maximum number of searches for a query; fewer if one finds nothing new.
    inclusion : float
        Largest E-value, of a sequence and of a domain in it, of a homolog.

    Attributes
    ----------
    digest : str
        Digest of everything besides the query that a profile depends on.
    too_long : int
        Number of sequences of the database that are skipped because they are longer than `LONGEST`.

    Raises
    ------
    ParameterError
        If an option is outside its domain.
    SequenceError
        If the database does not contain proteins.

    Examples
    --------
    >>> from seqkern import SequenceSet
    >>> from seqkern.profiles.search import ProfileSearch
    >>> from seqkern.sequences.alphabets import PROTEIN
    >>> database = SequenceSet.from_strings(["MKVLAAGIVGLPNVGKSTLF", "MKALAAGIVGLPNVGKSSLF"], "protein")
    >>> profile, relatives = ProfileSearch(database).build(PROTEIN.encode(b"MKVLAAGIVG").tobytes())
    >>> profile.shape
    (10, 20)
    """

    def __init__(self, database: SequenceSet, *, iterations: int = 3, inclusion: float = 0.001) -> None:
        import pyhmmer  # imported here for fast start-up

        check_integer("iterations", iterations, 1)
        check_real("inclusion", inclusion, 0, open_low=True)
        protein_only(database)
        self.iterations, self.inclusion = iterations, float(inclusion)
        strings = _strings(database)
        self._strings = [string for string in strings if 0 < len(string) <= LONGEST]
        self.too_long = sum(len(string) > LONGEST for string in strings)
        self._sequences: DigitalSequenceBlock[AA] | None = None
        options = {"iterations": iterations, "inclusion": self.inclusion, "longest": LONGEST, "seed": 42}
        digest = hashlib.blake2b(digest_size=16)
        digest.update(canonical_json([FORMAT, pyhmmer.__version__, options]).encode())
        for string in self._strings:
            digest.update(len(string).to_bytes(8, "little") + string)
        self.digest = digest.hexdigest()

    def seconds(self, X: SequenceSet) -> float:
        """Return an estimate of the CPU seconds for profiles, assuming an empty cache.

        Parameters
        ----------
        X : SequenceSet
            The queries.

        Returns
        -------
        float
        """
        cells = float(X.lengths.sum()) * sum(map(len, self._strings))
        return self.iterations * (SECONDS_PER_QUERY * len(X) + SECONDS_PER_CELL * cells)

    def add_to(self, X: SequenceSet, *, n_threads: int | None = None, cache: ProfileCache | None = None) -> SequenceSet:
        """Return sequences with the tracks ``pssm`` and ``profile`` added.

        Parameters
        ----------
        X : SequenceSet
            Proteins.
        n_threads : int, optional
            Default: all cores.
        cache : ProfileCache, optional
            Profiles in the cache are not built again, and new ones are added one by one, so
            that interrupted work resumes where it stopped. Default: that of the user.

        Returns
        -------
        SequenceSet
            Its counts include sequences that were too long: their profiles come from themselves only, and they do not
            contribute to other profiles.

        Raises
        ------
        SequenceError
            If the sequences are not proteins.
        """
        protein_only(X)
        cache = ProfileCache() if cache is None else cache
        queries = _strings(X)
        background = _background()
        found = dict(self._found(dict.fromkeys(queries), n_threads, cache))
        profiles = (Profile(X.string(i), to_scores(found[q], background), found[q]) for i, q in enumerate(queries))
        long = sum(len(query) > LONGEST for query in queries)
        counts = {
            "sequences too long to search with": long,
            "sequences too long to search for": self.too_long,
        }
        counts = X.counts | {what: count for what, count in counts.items() if count}
        return add_profiles(X, profiles).replace(counts=counts)

    def _found(
        self, queries: Iterable[bytes], n_threads: int | None, cache: ProfileCache
    ) -> Iterator[tuple[bytes, npt.NDArray[np.float32]]]:
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
        self._load()
        with ThreadPoolExecutor(available_threads(n_threads)) as pool:
            waiting = [pool.submit(self.build, query) for query in missing]
            try:
                for query, future in zip(progress_bar(missing, "profiles"), waiting, strict=True):
                    built = future.result()
                    cache.put(self._key(query), built)
                    yield query, built[0]
            except BaseException:  # also Ctrl-C: finished profiles are in the cache
                pool.shutdown(wait=False, cancel_futures=True)
                raise

    def _key(self, query: bytes) -> str:
        """Return the key of a query's profile in the cache."""
        return hashlib.blake2b(self.digest.encode() + query, digest_size=16).hexdigest()

    def _load(self) -> DigitalSequenceBlock[AA]:
        """Return the database as pyhmmer's sequences, created once."""
        from pyhmmer.easel import Alphabet, DigitalSequenceBlock  # imported here for fast start-up

        if self._sequences is None:
            named = [_digital(str(i), string) for i, string in enumerate(self._strings)]
            self._sequences = DigitalSequenceBlock(Alphabet.amino(), named)
        return self._sequences

    def build(self, query: bytes) -> tuple[npt.NDArray[np.float32], int]:
        """Search with one query.

        Parameters
        ----------
        query : bytes
            The codes of its residues.

        Returns
        -------
        profile : ndarray of float32, shape (residues, 20)
            The probabilities.
        relatives : int
            Number of database sequences used.

        Raises
        ------
        SequenceError
            If HMMER builds an HMM of another length.
        """
        # imported here for fast start-up
        from pyhmmer.easel import Alphabet
        from pyhmmer.plan7 import Background, Builder, Pipeline, Trace

        if not query:
            return np.zeros((0, PROTEIN.size), dtype=np.float32), 0
        sequences = self._load()
        alphabet, sequence = Alphabet.amino(), _digital("query", query)
        background = Background(alphabet)
        searching = Builder(alphabet, architecture="hand")
        last = Builder(alphabet, architecture="hand", EmN=FEWEST, EvN=FEWEST, EfN=FEWEST)
        if len(query) > LONGEST or not self._strings:
            return of_hmm(last.build(sequence, background)[0])[1], 0
        hmm, _, optimised = searching.build(sequence, background)
        same = {i for i, string in enumerate(self._strings) if string == query}
        relatives: set[int] = set()
        for iteration in range(self.iterations):
            pipeline = Pipeline(alphabet, incE=self.inclusion, incdomE=self.inclusion)
            hits = pipeline.search_hmm(optimised, sequences)
            for hit in hits:
                if int(hit.name) in same:
                    hit.included = False
            found = {int(hit.name) for hit in hits if hit.included}
            if found <= relatives:
                break
            relatives |= found
            traces = [Trace.from_sequence(sequence)]
            msa = hits.to_msa(alphabet, [sequence], traces, digitize=True, all_consensus_cols=True)
            aligned = cast("DigitalMSA[AA]", msa)
            aligned.name = "query"
            builder = last if iteration + 1 == self.iterations else searching
            hmm, _, optimised = builder.build_msa(aligned, background)
        profile = of_hmm(hmm)[1]
        if len(profile) != len(query):
            raise SequenceError(
                f"its HMM has {len(profile)} match states for {len(query)} residues",
                record=_text(query),
                remedy="remove the sequence, or give its profile in a file",
            )
        return profile, len(relatives)


def _strings(X: SequenceSet) -> list[bytes]:
    """Return the codes of each sequence, a list of bytes."""
    return [X.codes[start:stop].tobytes() for start, stop in zip(X.starts, X.stops, strict=True)]


def _digital(name: str, codes: bytes) -> DigitalSequence[AA]:
    """Return a pyhmmer sequence of codes, masked residues as X."""
    from pyhmmer.easel import Alphabet, TextSequence  # imported here for fast start-up

    return TextSequence(name=name, sequence=_text(codes)).digitize(Alphabet.amino())


def _text(codes: bytes) -> str:
    """Return codes as letters."""
    table = bytearray(b"X" * 256)
    table[: PROTEIN.size] = PROTEIN.letters.encode()
    return codes.translate(bytes(table)).decode()


def _background() -> npt.NDArray[np.float64]:
    """Return the background frequencies of HMMER's log-odds scores, float64 (20,)."""
    # imported here for fast start-up
    from pyhmmer.easel import Alphabet
    from pyhmmer.plan7 import Background

    return np.asarray(Background(Alphabet.amino()).residue_frequencies, dtype=np.float64)
