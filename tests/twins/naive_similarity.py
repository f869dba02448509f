"""Plain-Python twins of the search for similar sequences: all pairs, plain alignment. ``*`` is a masked letter."""

COMPLEMENT = dict(zip("ACGT", "TGCA", strict=True))


def identity(x, y):
    """Return the identical residues of the best alignment without end-gap costs over the length of the shorter one."""
    one = 1 << 20  # of the score; the identical residues of the alignment are below, and decide between equal scores
    rows = [[0] * (len(y) + 1)]
    for a in x:
        row = [0]
        for j, b in enumerate(y):
            step = rows[-1][j] + (one + 1 if a == b != "*" else -one)
            row.append(max(step, rows[-1][j + 1] - one, row[-1] - one))
        rows.append(row)
    return max([*rows[-1], *(row[-1] for row in rows)]) % one / min(len(x), len(y))


def mirrored(x):
    """Return the reverse complement."""
    return "".join(COMPLEMENT.get(letter, "*") for letter in reversed(x))


def usable_kmers(x, k):
    """Return the k-mers without masked letters that are not of low complexity by the score of DUST."""
    found = set()
    for start in range(len(x) - k + 1):
        kmer = x[start : start + k]
        triplets = [kmer[i : i + 3] for i in range(k - 2)]
        repeats = sum(c * (c - 1) / 2 for c in map(triplets.count, set(triplets)))
        if "*" not in kmer and repeats <= 2 * (len(triplets) - 1):
            found.add(kmer)
    return found


def sharing(strings, k, both_strands):
    """Return the pairs that share a usable k-mer."""
    own = [usable_kmers(x, k) for x in strings]
    other = [
        kmers | usable_kmers(mirrored(x), k) if both_strands else kmers for x, kmers in zip(strings, own, strict=True)
    ]
    return {(i, j) for j in range(len(strings)) for i in range(j) if own[i] & other[j]}


def longest_shared(x, y):
    """Return the length of the longest common substring without masked letters."""
    best, before = 0, [0] * (len(y) + 1)
    for a in x:
        row = [0]
        for j, b in enumerate(y):
            row.append(before[j] + 1 if a == b != "*" else 0)
        best, before = max(best, *row), row
    return best
