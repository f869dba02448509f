"""Segment overlap in plain Python, one chain at a time, straight from the definitions."""


def naive_segments(states):
    """Return (state, first, last) of each run of a list of states; None ends a run and is in none."""
    found, start = [], 0
    for i in range(1, len(states) + 1):
        if i == len(states) or states[i] != states[start]:
            if states[start] is not None:
                found.append((states[start], start, i - 1))
            start = i
    return found


def naive_sov(chains, version, state=None):
    """Return SOV of a list of (true, predicted) state lists, None where a residue is not judged."""
    total, weight = 0.0, 0
    for true, predicted in chains:
        for name, a, b in naive_segments(true):
            if state is not None and name != state:
                continue
            partners = [s for s in naive_segments(predicted) if s[0] == name and s[2] >= a and s[1] <= b]
            length = b - a + 1
            weight += length * max(len(partners), 1) if version == "99" else length
            for _, c, d in partners:
                least, most = min(b, d) - max(a, c) + 1, max(b, d) - min(a, c) + 1
                halves = [length // 2] + ([(d - c + 1) // 2] if version == "99" else [])
                total += (least + min(most - least, least, *halves)) / most * length
    return total / weight if weight else float("nan")
