import numpy as np
import numpy.typing as npt

class Records:
    def __init__(
        self,
        codes: npt.NDArray[np.uint8],
        starts: npt.NDArray[np.int64],
        ends: npt.NDArray[np.int64],
        first: npt.NDArray[np.int32],
        strands: int,
        size: int,
        block: int,
        gap: int,
    ) -> None: ...

def postings(records: Records, k: int) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int32]]: ...
def similar(
    records: Records,
    bounds: npt.NDArray[np.int64],
    places: npt.NDArray[np.int32],
    k: int,
    cap: int,
    rules: tuple[int, int, int, int, int, int, int],
    needed: npt.NDArray[np.int32],
    begin: int,
    end: int,
    n: int,
) -> npt.NDArray[np.int32]: ...
def unusable(records: Records, k: int) -> npt.NDArray[np.uint8]: ...
def count_kmers(
    records: Records, bad: npt.NDArray[np.uint8] | None, k: int, complement: npt.NDArray[np.uint8] | None, bits: int
) -> npt.NDArray[np.int64]: ...
def sharing(
    records: Records,
    bad: npt.NDArray[np.uint8] | None,
    k: int,
    complement: npt.NDArray[np.uint8] | None,
    queries: int,
    cap: int,
    bits: int,
    part: int,
    n: int,
) -> npt.NDArray[np.int32]: ...
def count_seeds(
    records: Records,
    bad: npt.NDArray[np.uint8],
    rank: npt.NDArray[np.int32],
    pattern: int,
    strands: int,
    sampled: bool,
    parts: int,
) -> npt.NDArray[np.int64]: ...
def segments(
    records: Records,
    bad: npt.NDArray[np.uint8],
    rank: npt.NDArray[np.int32],
    often: npt.NDArray[np.uint8],
    pattern: int,
    strands: int,
    rules: tuple[int, ...] | None,
    parts: int,
    part: int,
    n: int,
    capped: npt.NDArray[np.int64],
) -> npt.NDArray[np.int32]: ...
def align(
    records: Records,
    order: npt.NDArray[np.int64],
    found: npt.NDArray[np.int32],
    band: int,
    needed: npt.NDArray[np.int32],
) -> npt.NDArray[np.int32]: ...
