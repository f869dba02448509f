"""The kernels by name, with the modules of their classes, so that a look-up imports a single module.

A new kernel needs one line here, and one in the stub ``__init__.pyi``; the registry tests name missing ones.
"""

from seqkern.core.registry import Registry

KERNELS = Registry(
    "kernel",
    "seqkern.kernels.kernel:Kernel",
    {
        "codon_improved": "seqkern.kernels.positional.locality:CodonImprovedKernel",
        "combination": "seqkern.kernels.vectors.combination:CombinationKernel",
        "compression": "seqkern.kernels.subsequence.compression:CompressionKernel",
        "d2": "seqkern.kernels.kmer.d2:D2Kernel",
        "fisher": "seqkern.kernels.hmm.fisher:FisherKernel",
        "gapped_kmer": "seqkern.kernels.kmer.gapped:GappedKmerKernel",
        "gappy": "seqkern.kernels.kmer.gappy:GappyKernel",
        "gappy_pair": "seqkern.kernels.kmer.gappy_pair:GappyPairKernel",
        "generic_string": "seqkern.kernels.positional.generic_string:GenericStringKernel",
        "linear": "seqkern.kernels.vectors.linear:LinearKernel",
        "local_alignment": "seqkern.kernels.alignment.local_alignment:LocalAlignmentKernel",
        "locality_improved": "seqkern.kernels.positional.locality:LocalityImprovedKernel",
        "mismatch": "seqkern.kernels.kmer.mismatch:MismatchKernel",
        "motif": "seqkern.kernels.motifs.motif:MotifKernel",
        "nystroem": "seqkern.kernels.vectors.nystroem:NystroemKernel",
        "oligo": "seqkern.kernels.kmer.oligo:OligoKernel",
        "oligo_distance": "seqkern.kernels.kmer.oligo_distance:OligoDistanceKernel",
        "pair_hmm": "seqkern.kernels.alignment.pair_hmm:PairHMMKernel",
        "pairwise": "seqkern.kernels.alignment.pairwise:PairwiseKernel",
        "part": "seqkern.kernels.algebra:PartKernel",
        "polynomial": "seqkern.kernels.vectors.polynomial:PolynomialKernel",
        "precomputed": "seqkern.kernels.vectors.precomputed:PrecomputedKernel",
        "product": "seqkern.kernels.algebra:ProductKernel",
        "profile": "seqkern.kernels.kmer.profile:ProfileKernel",
        "profile_alignment": "seqkern.kernels.alignment.profile_alignment:ProfileAlignmentKernel",
        "property": "seqkern.kernels.windows.property:PropertyKernel",
        "pssm_window": "seqkern.kernels.windows.pssm_window:PSSMWindowKernel",
        "random_fourier": "seqkern.kernels.vectors.random_fourier:RandomFourierKernel",
        "rbf": "seqkern.kernels.vectors.rbf:RBFKernel",
        "salzberg": "seqkern.kernels.positional.salzberg:SalzbergKernel",
        "shifted_weighted_degree": "seqkern.kernels.positional.weighted_degree:ShiftedWeightedDegreeKernel",
        "sigmoid": "seqkern.kernels.vectors.sigmoid:SigmoidKernel",
        "smith_waterman": "seqkern.kernels.alignment.smith_waterman:SmithWatermanKernel",
        "spectrum": "seqkern.kernels.kmer.spectrum:SpectrumKernel",
        "string": "seqkern.kernels.subsequence.subsequence:StringKernel",
        "substitution": "seqkern.kernels.kmer.substitution:SubstitutionKernel",
        "sum": "seqkern.kernels.algebra:SumKernel",
        "transformed": "seqkern.kernels.feature_transforms.transformed:TransformedKernel",
        "weighted_degree": "seqkern.kernels.positional.weighted_degree:WeightedDegreeKernel",
        "wildcard": "seqkern.kernels.kmer.wildcard:WildcardKernel",
        "window": "seqkern.kernels.windows.window:WindowKernel",
    },
)
