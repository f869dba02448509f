import numpy as np
import numpy.typing as npt

def viterbi(
    position: npt.NDArray[np.int64],
    kind: npt.NDArray[np.uint8],
    strand: npt.NDArray[np.uint8],
    score: npt.NDArray[np.float64],
    coding: npt.NDArray[np.float64],
    intron: npt.NDArray[np.float64],
    closed: npt.NDArray[np.int64],
    near: npt.NDArray[np.uint8],
    exon_lengths: npt.NDArray[np.float64],
    intron_lengths: npt.NDArray[np.float64],
    shortest_exon: int,
    shortest_intron: int,
    stops: npt.NDArray[np.uint8],
) -> tuple[float, int, npt.NDArray[np.int64]]: ...
