"""One choice for all tasks: ranks, which tasks may be used, and that no test set influences a choice."""

import json

import numpy as np
import pytest
from given import select

from seqkern.core.errors import FileError
from seqkern.evaluation import Split, roc_auc
from seqkern.evaluation.pooled import (
    InnerLoop,
    candidate_ranks,
    pooled_choice,
    pooled_ranks,
    read_inner_loops,
    stored_loop,
    write_inner_loops,
)
from seqkern.evaluation.selection import Choice
from seqkern.sequences.labels import make_labels
from seqkern.sequences.sequence_set import SequenceSet
from seqkern.sequences.tables import FeatureTable
from seqkern.solvers import CSVC, make_solver
from seqkern.study.tables import liao_noble

CANDIDATES = [("k", {"solver": "csvc", "C": C}) for C in (0.1, 1, 10)]


def choice(scores, candidates=CANDIDATES):
    scores = np.array(scores, dtype=float)
    best = int(scores.mean(axis=1).argmax())
    return Choice(*candidates[best], float(scores[best].mean()), list(candidates), scores)


def loop(task, scores, training=(), test=(), negative=(), split="1", dataset="d"):
    return InnerLoop((dataset, task), split, choice(scores), *map(frozenset, (training, test, negative)))


def naive_choice(own, others, sizes):
    """Return the place, the number of tasks and the mean rank of a pooled choice, in plain Python."""

    def ranks(found):
        means = [round(sum(row) / len(row), 12) for row in found.choice.scores.tolist()]
        order = sorted(means, reverse=True)
        return [
            sum(i + 1 for i, mean in enumerate(order) if mean == own_mean) / order.count(own_mean) for own_mean in means
        ]

    tasks = {own.task: [ranks(own)]}
    for other in others:
        shared = [sample for sample in other.training if sample in own.training or sample in own.test]
        known = [sample for sample in other.training if sample in own.negative]
        few = len(known) <= (len(own.test) + len(own.negative)) / 20
        if other.task != own.task and not shared and few:
            tasks.setdefault(other.task, []).append(ranks(other))
    of_tasks = [[sum(column) / len(column) for column in zip(*rows, strict=True)] for rows in tasks.values()]
    means = [round(sum(column) / len(column), 12) for column in zip(*of_tasks, strict=True)]
    place = min(range(len(means)), key=lambda c: (means[c], sizes[c], c))
    return place, len(tasks), means[place]


def test_pooled_choices_are_those_of_the_naive_twin():
    rng = np.random.default_rng(1)
    for _ in range(50):
        loops = [
            loop(
                f"t{rng.integers(5)}",
                rng.integers(3, 6, size=(3, 2)) / 5,
                training=rng.integers(0, 50, 4).tolist(),
                test=rng.integers(0, 30, 2).tolist(),
                negative=rng.integers(40, 90, 39).tolist(),
                split=str(i),
            )
            for i in range(8)
        ]
        sizes = rng.integers(0, 2, 3).tolist()
        for own in loops:
            found = pooled_choice(own, loops, sizes)
            assert (found.place, found.tasks, found.mean_rank) == pytest.approx(naive_choice(own, loops, sizes))
            assert found.score == found.scores[found.place].mean()


def test_equal_scores_share_a_rank_in_spite_of_rounding_errors():
    assert candidate_ranks(np.array([[0.1 + 0.2], [0.3], [0.2]])).tolist() == [1.5, 1.5, 3.0]


def test_a_task_is_not_pooled_with_one_that_shares_positive_samples():
    own = loop("a", [[1], [0], [0]], training=[1, 2], test=[3])
    assert own.may_use(loop("b", [[1], [0], [0]], training=[4], test=[5]))
    assert not own.may_use(loop("b", [[1], [0], [0]], training=[3, 4]))  # a test sample under the same label
    assert not own.may_use(loop("b", [[1], [0], [0]], training=[2, 4]))  # another task of the same class
    assert not own.may_use(loop("a", [[1], [0], [0]], training=[9], split="2"))
    assert own.may_use(loop("a", [[1], [0], [0]], training=[9], dataset="another"))


def test_a_task_is_not_pooled_with_one_that_knows_more_than_a_few_of_its_negative_test_samples():
    own = loop("a", [[1], [0], [0]], training=[1], test=[2], negative=range(10, 49))
    assert own.may_use(loop("b", [[1], [0], [0]], training=[10, 11]))
    assert not own.may_use(loop("b", [[1], [0], [0]], training=[10, 11, 12]))


def test_every_task_counts_the_same_however_many_splits_it_has():
    own = loop("a", [[3], [2], [1]], training=[1])
    several = [loop("b", [[2], [3], [1]], training=[2], split=str(i)) for i in range(4)]
    assert pooled_ranks(own, [own, *several]).tolist() == [[1, 2, 3], [2, 1, 3]]


def test_ties_go_to_the_simpler_solver_and_then_to_the_first():
    own, other = loop("a", [[2], [1], [0]], training=[1]), loop("b", [[1], [2], [0]], training=[2])
    assert pooled_choice(own, [own, other], [1, 0, 0]).place == 1
    assert pooled_choice(own, [own, other], [0, 0, 0]).place == 0


def written(path, X, y, train, test, name, scores=((0.5,), (0.7,), (0.6,)), candidates=CANDIDATES):
    labels = make_labels(X.ids, np.where(y, "yes", "no").tolist(), positive="yes")
    split = Split("1", np.array(train), np.array(test))
    stored = stored_loop("all", split, name, labels, choice(scores, candidates))
    write_inner_loops(path, name, X, candidates, [stored])
    return str(path)


def test_sequences_of_several_data_sets_are_compared_by_their_residues(tmp_path):
    rng = np.random.default_rng(2)
    strings = ["".join(rng.choice([*"ACDEFGHIKLMNPQRSTVWY"], 40)) for _ in range(12)]
    y = np.arange(4) % 2 == 0
    paths = []
    own = [strings[0], strings[1], strings[2], strings[3]]
    others = {
        "identical": [strings[2], strings[4], strings[5], strings[6]],  # the positive test sequence is trained on
        "contained": [strings[2][3:30], strings[4], strings[5], strings[6]],
        "as_negative": [strings[7], strings[2], strings[8], strings[9]],
        "unrelated": [strings[7], strings[8], strings[9], strings[10]],
    }
    for name, members in {"own": own, **others}.items():
        X = SequenceSet.from_strings(members, "protein")
        paths.append(written(tmp_path / f"{name}.json", X, y, [0, 1], [2, 3], name))
    dna = SequenceSet.from_strings(["ACGTACGTAC"] * 4, "dna")
    paths.append(written(tmp_path / "dna.json", dna, y, [0, 1], [2, 3], "dna"))
    loops, found = read_inner_loops(paths, "own", CANDIDATES)
    (mine,) = found.values()
    assert [other.task[0] for other in loops if mine.may_use(other)] == ["as_negative", "unrelated"]
    assert "dna" not in [other.task[0] for other in loops]


def test_rows_of_tables_are_compared_by_their_features(tmp_path):
    values = np.arange(8.0).reshape(4, 2)
    paths = []
    for name, table in {"own": values, "same": values[[2, 1, 0, 3]], "other": values + 100}.items():
        X = FeatureTable(table, [f"{name}{i}" for i in range(4)], ["a", "b"])
        paths.append(written(tmp_path / f"{name}.json", X, np.arange(4) % 2 == 0, [0, 1], [2, 3], name))
    loops, found = read_inner_loops(paths, "own", CANDIDATES)
    (mine,) = found.values()
    assert [other.task[0] for other in loops if mine.may_use(other)] == ["other"]


def test_scores_survive_the_file_to_the_last_bit(tmp_path):
    X = SequenceSet.from_strings(["ACGT"] * 4, "dna")
    scores = np.random.default_rng(3).random((3, 4))
    path = written(tmp_path / "inner.json", X, np.arange(4) % 2 == 0, [0, 1], [2, 3], "own", scores)
    ((_, found),) = read_inner_loops([path], "own", CANDIDATES)[1].items()
    assert np.array_equal(found.choice.scores, scores)


@pytest.mark.parametrize(
    ("paths", "dataset", "candidates", "words"),
    [
        (["a.json", "a.json"], "a", CANDIDATES, "and so does"),
        (["a.json"], "b", CANDIDATES, "is not of data set 'b'"),
        (["a.json"], "a", CANDIDATES[:2], "other kernels or solvers"),
        (["none.json"], "a", CANDIDATES, "no such file; did you mean"),
        (["text.json"], "a", CANDIDATES, "not a file of inner loops"),
        (["old.json"], "a", CANDIDATES, "not a file of inner loops"),
    ],
)
def test_unsuitable_files_are_refused_in_one_line(tmp_path, paths, dataset, candidates, words):
    X = SequenceSet.from_strings(["ACGT"] * 4, "dna")
    written(tmp_path / "a.json", X, np.arange(4) % 2 == 0, [0, 1], [2, 3], "a")
    (tmp_path / "text.json").write_text("ACGT")
    (tmp_path / "old.json").write_text(json.dumps({"format": 0}))
    with pytest.raises(FileError, match=words) as caught:
        read_inner_loops([tmp_path / path for path in paths], dataset, candidates)
    assert "\n" not in str(caught.value)


def noise_study(seed, n_kernels=8, dimensions=6):
    """Return AUCs on noise, mean over 15 tasks: of pooled choices with the rule, and over all tasks without it.

    Five superfamilies of three families of six random points, and 210 points of other families; every kernel sees
    other coordinates. Negatives are divided one by one, so that most are in the training sets of other tasks.
    """
    rng = np.random.default_rng(seed)
    family = np.append(
        np.repeat([f"{s}.{f}" for s in range(5) for f in range(3)], 6), [f"{s}.0" for s in range(10, 220)]
    )
    roles = liao_noble(np.char.partition(family, ".")[:, 0], family, seed, min_family=6, min_rest=6)
    kernels = {}
    for k in range(n_kernels):
        points = rng.standard_normal((len(family), dimensions))
        points /= np.linalg.norm(points, axis=1)[:, None]
        kernels[f"k{k}"] = points @ points.T
    candidates = [(name, {"solver": "csvc", "C": 1, "class_weight": "balanced"}) for name in kernels]
    loops, tests = [], []
    for task, role in roles.items():
        train, test = (np.flatnonzero(np.char.endswith(role, part)) for part in ("train", "test"))
        positive = np.char.startswith(role, "positive")
        labels = make_labels(train.astype(str).tolist(), np.where(positive[train], "p", "n").tolist(), positive="p")
        own = {name: K[np.ix_(train, train)] for name, K in kernels.items()}
        pairs = {name: lambda a, b, _, K=K: (K[np.ix_(a, a)], K[np.ix_(b, a)]) for name, K in own.items()}
        found = select(pairs, labels, candidates, make_solver, folds=2, seed=seed)
        shown = train[positive[train]], test[positive[test]], test[~positive[test]]
        known = (frozenset(rows.tolist()) for rows in shown)
        loops.append(InnerLoop(("noise", task), "1", found, *known))
        tests.append((train, test, labels.signs(), positive[test]))

    def tested(i, place):
        (train, test, y, wanted), K = tests[i], kernels[f"k{place}"]
        solver = CSVC(C=1, class_weight="balanced").fit(K[np.ix_(train, train)], y)
        return roc_auc(wanted, solver.decision_function(K[np.ix_(test, train)]))

    places = [pooled_choice(one, loops, [0] * n_kernels).place for one in loops]
    everything = np.mean([candidate_ranks(one.choice.scores) for one in loops], axis=0).argmin()
    tasks = np.mean([pooled_choice(one, loops, [0] * n_kernels).tasks for one in loops])
    everywhere = [tested(i, everything) for i in range(len(loops))]
    return np.mean([tested(*one) for one in enumerate(places)]), np.mean(everywhere), tasks


@pytest.mark.nightly
def test_on_noise_pooled_choices_are_no_better_than_chance():
    pooled, everything, tasks = np.array([noise_study(seed) for seed in range(24)]).T
    assert tasks.mean() > 10  # of at most 13: the task itself, and those of the other four superfamilies
    error = pooled.std(ddof=1) / np.sqrt(len(pooled))
    assert error < 0.01
    assert abs(pooled.mean() - 0.5) < 2 * error
    # without the rule, tasks of the same superfamily, which train on the test set's positives, give the labels away
    assert everything.mean() - 0.5 > 3 * everything.std(ddof=1) / np.sqrt(len(everything))
