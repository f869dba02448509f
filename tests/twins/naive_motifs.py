"""Plain-Python twins of the motif kernel: patterns as regular expressions, weight matrices scored window by window.

Sequences are strings; ``*`` is a masked letter, which a class does not match.
"""

import itertools
import math
import re
from fractions import Fraction

IUPAC = {
    **{base: base for base in "ACGT"},
    **{"U": "T", "R": "AG", "Y": "CT", "S": "CG", "W": "AT", "K": "GT", "M": "AC"},
    **{"B": "CGT", "D": "AGT", "H": "ACT", "V": "ACG"},
}


def prosite_regex(text, letters):
    """Return the regular expression of a pattern in PROSITE's notation."""
    text = text.strip().removesuffix(".").replace("-", "")
    text = re.sub(r"\{(\w+)\}", lambda found: f"[{''.join(a for a in letters if a not in found[1])}]", text)
    text = re.sub(r"\((\d+)\)", r"{\1}", text)
    text = re.sub(r"\((\d+),(\d+)\)", r"{\1,\2}", text)
    text = re.sub(r"\[(\w+)>\]$", r"(?:[\1]|\\Z)", text)
    text = re.sub(r"^<", r"\\A", text)
    text = re.sub(r">$", r"\\Z", text)
    return text.replace("x", ".")


def gcg_regex(text, letters):
    """Return the regular expression of a pattern in GCG's notation."""
    text = re.sub(r"(?<![{,\d])(\d+)", r"{\1}", text)
    text = re.sub(r"\(([A-Za-z,]+)\)", lambda found: f"[{found[1].replace(',', '').upper()}]", text)
    text = re.sub(r"~\[(\w+)\]", lambda found: f"[{''.join(a for a in letters if a not in found[1])}]", text)
    text = re.sub(r"^<", r"\\A", text)
    text = re.sub(r">$", r"\\Z", text)
    return text.replace("x", ".").replace("X", ".")


def iupac_regex(text):
    """Return the regular expression of IUPAC codes; N stands for any letter, known or not."""
    return "".join("." if code == "N" else f"[{IUPAC[code]}]" for code in text)


def count(regex, string):
    """Return at how many places of a string a match begins."""
    return len(re.findall(f"(?={regex})", string, re.DOTALL))


def occurrences(regex, string):
    """Return (start, stop) of the shortest match at each place where one begins."""
    whole = re.compile(regex, re.DOTALL)
    inside = re.compile(regex.replace(r"\Z", r"(?!)"), re.DOTALL)
    found = []
    for start in range(len(string)):
        for stop in range(start + 1, len(string) + 1):
            if (whole if stop == len(string) else inside).fullmatch(string, start, stop):
                found.append((start, stop))
                break
    return found


def scores(counts, background, pseudocount):
    """Return the score of each letter in each column, in hundredths of a bit."""
    table = []
    for column in counts:
        total = sum(column)
        table.append(
            [
                round(100 * math.log2((n + pseudocount * b) / (total + pseudocount) / b))
                for n, b in zip(column, background, strict=True)
            ]
        )
    return table


def least_score(table, background, p_value):
    """Return the least score that a random window reaches with at most this probability, by looking at every window.

    A billionth more is no more: probabilities of floats are rounded.
    """
    chance = {}
    for window in itertools.product(range(len(background)), repeat=len(table)):
        score = sum(row[a] for row, a in zip(table, window, strict=True))
        chance[score] = chance.get(score, 0) + math.prod(Fraction(background[a]) for a in window)
    least, total = max(chance) + 1, Fraction(0)
    for score in sorted(chance, reverse=True):
        total += chance[score]
        if total > Fraction(p_value) * (1 + Fraction(1, 10**9)):
            break
        least = score
    return least


def matches(table, threshold, letters, string):
    """Return where a window without a masked letter has at least a score."""
    found = []
    for start in range(len(string) - len(table) + 1):
        window = string[start : start + len(table)]
        if set(window) <= set(letters):
            score = sum(row[letters.index(a)] for row, a in zip(table, window, strict=True))
            found += [start] if score >= threshold else []
    return found
