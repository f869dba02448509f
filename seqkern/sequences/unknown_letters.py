"""Letters outside the alphabet: which of them a policy refuses, and how many are masked.

The default policy, ``mask``, masks ambiguity codes of real data, and counts them.
"""

from collections.abc import Mapping

import numpy as np
import numpy.typing as npt

from seqkern.sequences.alphabets import MASK, Alphabet, count_letters

UNKNOWN = ("mask", "error", "skip", "mask_all")
"""The policies, the default first."""


def first_refused(text: bytes, codes: npt.NDArray[np.uint8], alphabet: Alphabet, unknown: str) -> int | None:
    """Return the place of the first letter that a policy refuses.

    With ``"mask"`` these are letters that are not ambiguity codes; or all, if most bases would be ambiguity codes other
    than N and X: such a file holds protein.

    Parameters
    ----------
    text : bytes
        One byte for each letter.
    codes : ndarray of uint8, shape (length,)
        Their codes.
    alphabet : Alphabet
        The alphabet of the codes.
    unknown : {"mask", "error", "skip", "mask_all"}
        The policy.

    Returns
    -------
    int or None
        None if every letter is accepted.
    """
    masked = codes == MASK
    if unknown not in ("mask", "error") or not masked.any():
        return None
    if unknown == "mask":
        letters = np.frombuffer(text, dtype=np.uint8)
        odd = masked & ~alphabet.ambiguous[letters]
        if not odd.any() and alphabet.complement is not None:
            wide = masked & np.isin(letters, np.frombuffer(b"NnXx", dtype=np.uint8))
            if 2 * np.count_nonzero(masked & ~wide) > len(letters) - np.count_nonzero(wide):
                odd = masked & ~wide
        masked = odd
    return int(np.argmax(masked)) if masked.any() else None


def masked_counts(text: bytes, codes: npt.NDArray[np.uint8]) -> dict[str, int]:
    """Return how many letters are masked: ``masked letters`` in all, and ``masked N`` and so on.

    Parameters
    ----------
    text : bytes
        One byte for each letter.
    codes : ndarray of uint8, shape (length,)
        Their codes.

    Returns
    -------
    dict of str to int
        Empty if none is.

    Examples
    --------
    >>> from seqkern.sequences.alphabets import DNA
    >>> masked_counts(b"ACGNnR", DNA.encode(b"ACGNnR"))
    {'masked letters': 3, 'masked N': 2, 'masked R': 1}
    """
    letters = np.frombuffer(text, dtype=np.uint8)[codes == MASK]
    if not len(letters):
        return {}
    counts = count_letters(letters.tobytes())
    each = {f"masked {chr(byte)}": int(counts[byte]) for byte in np.flatnonzero(counts) if chr(byte).isprintable()}
    return {"masked letters": len(letters), **each}


def masked_text(counts: Mapping[str, int]) -> str:
    """Return what `masked_counts` says as a sentence; empty if no letter is masked.

    Parameters
    ----------
    counts : mapping of str to int
        Effects of the reading policies; others are ignored.

    Returns
    -------
    str

    Examples
    --------
    >>> masked_text({"masked letters": 3, "masked N": 2, "masked R": 1})
    '3 letters outside the alphabet (N: 2, R: 1) are masked'
    """
    total = counts.get("masked letters", 0)
    each = {name.removeprefix("masked "): n for name, n in counts.items() if name.startswith("masked ") and n}
    shown = ", ".join(f"{letter}: {count}" for letter, count in each.items() if letter != "letters")
    if not total:
        return ""
    one = total == 1
    return (
        f"{total} letter{'' if one else 's'} outside the alphabet{f' ({shown})' if shown else ''} "
        f"{'is' if one else 'are'} masked"
    )


def count_texts(counts: Mapping[str, int]) -> list[str]:
    """Return the effects of the reading policies as ``what: count``, masked letters in one item.

    Parameters
    ----------
    counts : mapping of str to int
        As of a SequenceSet.

    Returns
    -------
    list of str
        Without those that did not occur.

    Examples
    --------
    >>> count_texts({"masked letters": 3, "masked N": 2, "masked R": 1, "repeated ids": 1})
    ['masked letters: 3 (N: 2, R: 1)', 'repeated ids: 1']
    """
    each = {name.removeprefix("masked "): n for name, n in counts.items() if name.startswith("masked ") and n}
    letters = ", ".join(f"{letter}: {count}" for letter, count in each.items() if letter != "letters")
    return [
        f"{name}: {count}{f' ({letters})' if name == 'masked letters' and letters else ''}"
        for name, count in counts.items()
        if count and (name == "masked letters" or not name.startswith("masked "))
    ]
