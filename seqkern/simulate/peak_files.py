"""Files of a simulated genome with peaks: FASTA, narrowPeak, BED, VCF and MEME."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np

from seqkern.core.archive import atomic_write, check_writable
from seqkern.core.locks import alone_in
from seqkern.core.meme import meme_lines
from seqkern.sequences.sequence_set import SequenceSet
from seqkern.simulate.planted import Planted

LINE = 60
MOST_SCORE = 1000
HEADER = (
    '##INFO=<ID=EFFECT,Number=1,Type=Float,Description="Log-odds of the planted site with ALT minus with REF, in bits; '
    '0 outside of planted sites">',
    '##INFO=<ID=MOTIF,Number=1,Type=String,Description="Motif of the planted site">',
    '##INFO=<ID=REGION,Number=1,Type=String,Description="site (planted), peak (in a peak, outside of sites) or '
    'outside">',
)


def write_peak_genome(genome: SequenceSet, planted: Planted, folder: Path) -> list[Path]:
    """Write a genome with peaks to a folder.

    Parameters
    ----------
    genome : SequenceSet
        Chromosomes.
    planted : Planted
        What was planted in them.
    folder : Path
        Gets ``genome.fa`` (repeats in lower case), ``peaks.narrowPeak``, ``sites.bed`` (planted sites),
        ``variants.vcf`` and ``motifs.meme`` (planted motifs).

    Returns
    -------
    list of Path
    """
    contents = {
        "genome.fa": _fasta(genome, planted),
        "peaks.narrowPeak": _narrow_peaks(genome, planted),
        "sites.bed": _sites(genome, planted),
        "variants.vcf": _vcf(genome, planted),
        "motifs.meme": _meme(genome, planted),
    }
    paths = [folder / name for name in contents]
    for path in paths:
        check_writable(path)
    with alone_in(folder):
        for path, lines in zip(paths, contents.values(), strict=True):
            with atomic_write(path, "w") as file:
                file.writelines(f"{line}\n" for line in lines)
    return paths


def _fasta(genome: SequenceSet, planted: Planted) -> Iterator[str]:
    """Yield the lines of the chromosomes."""
    letters = np.frombuffer(genome.alphabet.letters.encode(), dtype=np.uint8)[genome.codes]
    text = np.where(planted.masked, letters | 0x20, letters).astype(np.uint8).tobytes().decode("ascii")
    for name, start, stop in zip(genome.ids, genome.starts.tolist(), genome.stops.tolist(), strict=True):
        yield f">{name}"
        yield from (text[place : min(place + LINE, stop)] for place in range(start, stop, LINE))


def _narrow_peaks(genome: SequenceSet, planted: Planted) -> Iterator[str]:
    """Yield the lines of the peaks; the score is the signal, scaled, the p-value and the q-value are unknown."""
    most = max((peak.signal for peak in planted.peaks), default=1.0) or 1.0
    for number, peak in enumerate(planted.peaks, start=1):
        score = round(MOST_SCORE * peak.signal / most)
        fields = (genome.ids[peak.record], peak.start, peak.stop, f"peak{number}", score, ".", f"{peak.signal:.3f}")
        yield "\t".join(map(str, (*fields, -1, -1, peak.summit - peak.start)))


def _sites(genome: SequenceSet, planted: Planted) -> Iterator[str]:
    """Yield the lines of the planted sites."""
    for site in planted.sites:
        stop = site.start + len(planted.motifs[site.motif])
        fields = (genome.ids[site.record], site.start, stop, planted.names[site.motif], 0, site.strand)
        yield "\t".join(map(str, fields))


def _vcf(genome: SequenceSet, planted: Planted) -> Iterator[str]:
    """Yield the lines of the variants."""
    yield "##fileformat=VCFv4.2"
    yield from (
        f"##contig=<ID={name},length={length}>"
        for name, length in zip(genome.ids, genome.lengths.tolist(), strict=True)
    )
    yield from HEADER
    yield "\t".join(("#CHROM", "POS", "ID", "REF", "ALT", "QUAL", "FILTER", "INFO"))
    for number, one in enumerate(planted.variants, start=1):
        motif = "" if one.motif is None else f";MOTIF={planted.names[one.motif]}"
        info = f"EFFECT={one.effect:.3f}{motif};REGION={one.region}"
        fields = (genome.ids[one.record], one.position + 1, f"v{number}", one.reference, one.alternative)
        yield "\t".join(map(str, (*fields, ".", "PASS", info)))


def _meme(genome: SequenceSet, planted: Planted) -> Iterator[str]:
    """Yield the lines of the planted motifs, with the genome's frequencies as background."""
    counts = np.bincount(genome.codes, minlength=genome.alphabet.size)
    numbers = np.bincount([site.motif for site in planted.sites], minlength=len(planted.motifs)).tolist()
    listed = zip(planted.names, planted.motifs, numbers, strict=True)
    shares = (counts / counts.sum()).tolist()
    yield from meme_lines(listed, genome.alphabet.letters, shares, both_strands=True)
