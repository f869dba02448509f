"""Ids of records: treatment of repeated ids, and numbers that need no memory."""

from collections.abc import Sequence
from typing import overload

from seqkern.core.checks import check_choice
from seqkern.core.errors import SequenceError
from seqkern.core.types import PathLike


def unique_ids(ids: list[str], policy: str, file: PathLike | None = None) -> tuple[list[str], int]:
    """Return ids without repeats.

    Parameters
    ----------
    ids : list of str, length n
        The ids as read.
    policy : {"header", "number", "suffix"}
        Repeated ids are an error; all records are numbered 1, 2, …; or repeats get ``.2``, ``.3``, ….
    file : path-like, optional
        Used in messages.

    Returns
    -------
    ids : list of str, length n
        All different.
    repeats : int
        The number of records with an id that occurred before.

    Raises
    ------
    SequenceError
        If an id is repeated and the policy is ``"header"``.

    Examples
    --------
    >>> from seqkern.sequences.record_ids import unique_ids
    >>> unique_ids(["HBA", "HBB", "HBA"], "suffix")
    (['HBA', 'HBB', 'HBA.2'], 1)
    """
    check_choice("ids", policy, ("header", "number", "suffix"))
    repeats = len(ids) - len(set(ids))
    if policy == "number":
        return [str(i) for i in range(1, len(ids) + 1)], repeats
    if not repeats:
        return ids, 0
    taken = set(ids)
    seen: dict[str, int] = {}
    result: list[str] = []
    for name in ids:
        if name in seen and policy == "header":
            raise SequenceError(
                "duplicate id (the first word of the header)",
                file=file,
                record=name,
                remedy="rename the records, or add --ids number or --ids suffix",
            )
        unique = name
        while unique in seen or (unique in taken and unique != name):
            seen[name] = seen.get(name, 1) + 1
            unique = f"{name}.{seen[name]}"
        seen.setdefault(unique, 1)
        result.append(unique)
    return result, repeats


class RecordNumbers(Sequence[str]):
    """The ids "1", "2", …: each is made when it is read, since ten million of them would take 600 MB.

    Parameters
    ----------
    numbers : range
        Which numbers.

    Examples
    --------
    >>> from seqkern.sequences.record_ids import RecordNumbers
    >>> ids = RecordNumbers(range(1, 10_000_001))
    >>> ids[0], ids[-1], list(ids[2:5])
    ('1', '10000000', ['3', '4', '5'])
    """

    def __init__(self, numbers: range) -> None:
        self.numbers = numbers

    def __len__(self) -> int:
        return len(self.numbers)

    @overload
    def __getitem__(self, place: int) -> str: ...

    @overload
    def __getitem__(self, place: slice) -> "RecordNumbers": ...

    def __getitem__(self, place: int | slice) -> "str | RecordNumbers":
        numbers = self.numbers[place]
        return RecordNumbers(numbers) if isinstance(numbers, range) else str(numbers)

    def __eq__(self, other: object) -> bool:
        if isinstance(other, RecordNumbers):
            return self.numbers == other.numbers
        return isinstance(other, list | tuple) and list(self) == list(other)

    def __hash__(self) -> int:
        return hash(self.numbers)
