"""A profile hidden Markov model and Fisher scores, as their definitions say, in logarithms."""

import itertools
import math

LOOP = 350 / 351
FLOOR = -math.inf


def log(p):
    return math.log(p) if p > 0 else FLOOR


def log_sum(*terms):
    top = max(terms)
    return top if top == FLOOR else top + math.log(sum(math.exp(term - top) for term in terms))


class Model:
    """States (kind, column): B 0, M/I/D 1 … length, N and C beside them; ``moves`` are (from, to, probability)."""

    def __init__(self, emissions, steps, background):
        self.emissions, self.steps, self.background = emissions, steps, background
        self.length = len(emissions)

    def moves(self):
        last = self.length
        yield ("N", 0), ("N", 0), LOOP
        yield ("N", 0), ("B", 0), 1 - LOOP
        for k in range(last):
            mm, mi, md, im, ii, dm, dd = self.steps[k]
            if k == 0:
                yield ("B", 0), ("M", 1), mm
                yield ("B", 0), ("D", 1), md
                continue
            yield ("M", k), ("M", k + 1), mm
            yield ("M", k), ("I", k), mi
            yield ("M", k), ("D", k + 1), md
            yield ("I", k), ("M", k + 1), im
            yield ("I", k), ("I", k), ii
            yield ("D", k), ("M", k + 1), dm
            yield ("D", k), ("D", k + 1), dd
        yield ("M", last), ("E", 0), 1.0
        yield ("D", last), ("E", 0), 1.0
        yield ("E", 0), ("C", 0), LOOP
        yield ("C", 0), ("C", 0), LOOP

    def emits(self, state):
        return state[0] in "NMIC"

    def odds(self, state, letter):
        """Probability of a letter over the background; None, a masked letter, has 1."""
        if letter is None or state[0] != "M":
            return 1.0
        return self.emissions[state[1] - 1][letter] / self.background[letter]

    def order(self):
        """States such that no move without a letter goes backwards."""
        inner = [(kind, k) for k in range(1, self.length + 1) for kind in "MID"]
        return [("N", 0), ("B", 0), *inner, ("E", 0), ("C", 0)]


def forward(model, x):
    """Return (table of logarithms [position][state], ln odds)."""
    into = {}
    for a, b, p in model.moves():
        into.setdefault(b, []).append((a, log(p)))
    rows = []
    for i in range(len(x) + 1):
        row = {}
        for state in model.order():
            if state == ("N", 0) and i == 0:
                row[state] = 0.0
                continue
            # A state that emits has the letter x[i − 1].
            source = (rows[i - 1] if i else None) if model.emits(state) else row
            terms = [] if source is None else [source[a] + p for a, p in into.get(state, ())]
            value = log_sum(FLOOR, *terms)
            row[state] = value + log(model.odds(state, x[i - 1])) if model.emits(state) and i else value
        rows.append(row)
    last = rows[-1]
    return rows, log_sum(last["E", 0], last["C", 0]) + math.log(1 - LOOP)


def backward(model, x):
    """Return a table of logarithms [position][state] of what follows."""
    out = {}
    for a, b, p in model.moves():
        out.setdefault(a, []).append((b, log(p)))
    rows = [None] * (len(x) + 1)
    for i in range(len(x), -1, -1):
        row = {}
        for state in reversed(model.order()):
            terms = [math.log(1 - LOOP)] if i == len(x) and state[0] in "EC" else []
            for b, p in out.get(state, ()):
                if not model.emits(b):
                    terms.append(p + row[b])
                elif i < len(x):
                    terms.append(p + log(model.odds(b, x[i])) + rows[i + 1][b])
            row[state] = log_sum(FLOOR, *terms)
        rows[i] = row
    return rows


def counts(model, x):
    """Return expected counts: of letters (length, letters), and of steps over their probabilities (length, 7)."""
    ahead, total = forward(model, x)
    behind = backward(model, x)
    letters = [[0.0] * len(model.background) for _ in range(model.length)]
    for i, letter in enumerate(x):
        for k in range(model.length):
            if letter is not None:
                letters[k][letter] += math.exp(ahead[i + 1]["M", k + 1] + behind[i + 1]["M", k + 1] - total)
    steps = [[0.0] * 7 for _ in range(model.length)]
    names = ["MM", "MI", "MD", "IM", "II", "DM", "DD"]
    for (kind, k), (to, column), _ in model.moves():
        if kind not in "BMID" or to not in "MID":
            continue
        place = names.index(("M" if kind == "B" else kind) + to)
        for i in range(len(x) + 1):
            if to == "D":
                after = behind[i][to, column]
            elif i < len(x):
                after = log(model.odds((to, column), x[i])) + behind[i + 1][to, column]
            else:
                continue
            steps[k][place] += math.exp(ahead[i][kind, k] + after - total)
    return letters, steps


def fisher_scores(model, x):
    """Return the scores of the emissions, then of the steps, as a list."""
    letters, steps = counts(model, x)
    scores = []
    for count, chances in zip(letters, model.emissions, strict=True):
        scores += [c / p - sum(count) if p > 0 else 0.0 for c, p in zip(count, chances, strict=True)]
    for over, chances in zip(steps, model.steps, strict=True):
        for group in (slice(0, 3), slice(3, 5), slice(5, 7)):
            mean = sum(o * p for o, p in zip(over[group], chances[group], strict=True))
            scores += [o - mean if p > 0 else 0.0 for o, p in zip(over[group], chances[group], strict=True)]
    return scores


def odds_by_paths(model, x):
    """Return ln odds as the sum over all paths, one by one."""
    out = {}
    for a, b, p in model.moves():
        out.setdefault(a, []).append((b, p))

    def walk(state, i):
        value = 1 - LOOP if i == len(x) and state[0] in "EC" else 0.0
        for b, p in out.get(state, ()):
            if not model.emits(b):
                value += p * walk(b, i)
            elif i < len(x):
                value += p * model.odds(b, x[i]) * walk(b, i + 1)
        return value

    return log(walk(("N", 0), 0))


def markov_scores(strings, train, letters, order, pseudocount):
    """Return the scores of P(b | context), for all words in alphabetical order of `letters`."""
    words = ["".join(word) for word in itertools.product(letters, repeat=order + 1)]

    def count(text):
        return [sum(text[i : i + order + 1] == word for i in range(len(text) - order)) for word in words]

    learned = [sum(column) + pseudocount for column in zip(*map(count, train), strict=True)]
    size = len(letters)
    rows = []
    for text in strings:
        own, row = count(text), []
        for start in range(0, len(words), size):
            total, here = sum(learned[start : start + size]), sum(own[start : start + size])
            row += [own[j] / (learned[j] / total) - here for j in range(start, start + size)]
        rows.append(row)
    return rows
