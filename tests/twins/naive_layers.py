"""Segments by looking at every path: obviously right, for chains of a few residues."""

import itertools
import math

import numpy as np


def runs(path):
    """Return (class, length) of each segment of a path."""
    return [(state, len(list(part))) for state, part in itertools.groupby(path)]


def paths(n, shortest):
    """Yield the class of each of n residues, for every path whose segments are long enough."""
    k = len(shortest)
    if n < min(shortest):
        yield from ((c,) * n for c in range(k))
        return
    for path in itertools.product(range(k), repeat=n):
        if all(length >= shortest[state] for state, length in runs(path)):
            yield path


def path_score(path, evidence, model):
    """Return the logarithm of the probability of a path with its evidence, up to a constant."""
    segments = runs(path)
    total = model.start[segments[0][0]]
    for state, length in segments:
        total += max(length - model.shortest[state], 0) * model.stay[state]
    for (before, _), (after, _) in itertools.pairwise(segments):
        total += math.log(1 - math.exp(model.stay[before])) + model.follow[before, after]
    return model.weight * total + sum(evidence[i][state] for i, state in enumerate(path))


def best_path(evidence, model):
    """Return the path with the largest score, and that score."""
    found = [(path_score(path, evidence, model), path) for path in paths(len(evidence), model.shortest)]
    score, path = max(found, key=lambda item: item[0])
    return list(path), score


def class_probabilities(evidence, model):
    """Return the share of each class at each residue over all paths."""
    out = np.zeros((len(evidence), len(model.shortest)))
    for path in paths(len(evidence), model.shortest):
        out[np.arange(len(path)), path] += math.exp(path_score(path, evidence, model))
    return out / out.sum(axis=1, keepdims=True)


def windows(scores, record, place, weights):
    """Return the window of each row by going through all rows: its scores and flags, one place after the other."""
    width = len(weights)
    rows = {(r, p): i for i, (r, p) in enumerate(zip(record, place, strict=True))}
    out = []
    for r, p in zip(record, place, strict=True):
        values = []
        for step in range(-(width // 2), width // 2 + 1):
            i = rows.get((r, p + step))
            found = [*([0.0] * scores.shape[1] if i is None else scores[i]), 1.0 if i is None else 0.0]
            values += [weights[step + width // 2] * value for value in found]
        own = [i for (other, _), i in rows.items() if other == r]
        values += list(np.mean(scores[own], axis=0))
        out.append(values)
    return np.array(out)


def all_paths(E, T, memory):
    """Return every path of labels of a run, and its score by scores of labels and steps."""
    n, k = E.shape
    found = []
    for path in itertools.product(range(k), repeat=n):
        score, age = E[0][path[0]], 0
        for i in range(1, n):
            score += T[path[i - 1] * memory + min(age, memory - 1)][path[i]] + E[i][path[i]]
            age = age + 1 if path[i] == path[i - 1] else 0
        found.append((path, score))
    return found


def steps_of(path, k, memory):
    """Return how often each step occurs in a path, (k · memory, k)."""
    counts = np.zeros((k * memory, k))
    for i in range(1, len(path)):
        age = next(j for j in range(i) if i - 1 - j == 0 or path[i - 2 - j] != path[i - 1])
        counts[path[i - 1] * memory + min(age, memory - 1), path[i]] += 1
    return counts
