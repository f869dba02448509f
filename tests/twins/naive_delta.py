"""deltaSVM in plain Python: weights of k-mers by their letters, added along the sequence with either allele."""

COMPLEMENT = str.maketrans("ACGT", "TGCA")


def turned(kmer):
    return kmer[::-1].translate(COMPLEMENT)


def weight(weights, kmer):
    """The weight of a k-mer or of its reverse complement; nothing for one with other letters."""
    return weights.get(kmer, weights.get(turned(kmer), 0.0)) if set(kmer) <= set("ACGT") else 0.0


def total(weights, sequence, length):
    return sum(weight(weights, sequence[i : i + length]) for i in range(len(sequence) - length + 1))


def around(chromosome, position, ref, alt, flank):
    """The sequences with either allele and `flank` bases on each side; positions count from 1."""
    start = position - 1
    before, after = chromosome[max(0, start - flank) : start], chromosome[start + len(ref) :][:flank]
    return before + ref + after, before + alt + after


def delta(weights, chromosome, position, ref, alt, length):
    before, after = around(chromosome, position, ref, alt, length - 1)
    return total(weights, after, length) - total(weights, before, length)
