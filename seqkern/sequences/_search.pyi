import numpy as np
import numpy.typing as npt

class Records:
    def __init__(
        self,
        codes: npt.NDArray[np.uint8],
        starts: npt.NDArray[np.int64],
        first: npt.NDArray[np.int32],
        strands: int,
        size: int,
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
def sharing(
    records: Records,
    bad: npt.NDArray[np.uint8],
    k: int,
    complement: npt.NDArray[np.uint8] | None,
    cap: int,
    bits: int,
    part: int,
) -> npt.NDArray[np.int32]: ...
def longest(
    records: Records, k: int, complement: npt.NDArray[np.uint8] | None, queries: int, cap: int, bits: int, part: int
) -> npt.NDArray[np.int32]: ...
