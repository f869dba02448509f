"""Solvers: the optimum of each program against cvxpy's, and against scikit-learn where it is independent of ours."""

import numpy as np
import pytest
from sklearn.decomposition import KernelPCA
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.svm import SVC

from seqkern.solvers import build_solver

pytestmark = pytest.mark.oracle


def drawn(rng, features=None):
    """Return features, labels −1 and 1, and the Gram matrix."""
    n, d = int(rng.integers(8, 30)), features or int(rng.integers(2, 12))
    X = rng.normal(size=(n, d))
    y = np.where(rng.permutation(n) < max(3, n // int(rng.integers(2, 4))), 1, -1)
    X[:, 0] += y * rng.uniform(0, 1.5)
    return X, y, X @ X.T


def coefficients(solver, n):
    out = np.zeros(n)
    out[solver.support_] = solver.dual_coef_ if hasattr(solver, "dual_coef_") else solver.alpha_
    return out


def minimum(cp, objective, constraints):
    problem = cp.Problem(cp.Minimize(objective), constraints)
    return problem.solve(solver=cp.CLARABEL, tol_gap_abs=1e-10, tol_gap_rel=1e-10, tol_feas=1e-10)


def test_csvc_and_linear_svc_of_cvxpy(compared):
    cp = pytest.importorskip("cvxpy")
    for case, rng in compared.cases("csvc", 80):
        X, y, K = drawn(rng)
        C = float(10 ** rng.uniform(-2, 1))
        w, b = cp.Variable(X.shape[1]), cp.Variable()
        best = minimum(cp, cp.sum_squares(w) / 2 + C * cp.sum(cp.pos(1 - cp.multiply(y, X @ w + b))), [])
        for name, given, more in (("csvc", K, ""), ("linear_svc", X, ",max_epochs=100000")):
            solver = build_solver(f"{name}:C={C!r},tol=1e-7{more}").fit(given, y)
            f = solver.decision_function(given)
            beta = np.linalg.lstsq(X, f - solver.intercept_, rcond=None)[0]
            primal = beta @ beta / 2 + C * np.maximum(0, 1 - y * f).sum()
            compared.check(f"{name} primal, cvxpy", case, primal, best, 1e-5)


def test_squared_slack_and_smooth_regression_of_cvxpy(compared):
    cp = pytest.importorskip("cvxpy")
    for case, rng in compared.cases("squares", 60):
        X, y, K = drawn(rng)
        values, C, epsilon = X[:, 0] + rng.normal(size=len(X)), float(10 ** rng.uniform(-2, 1)), rng.uniform(0.05, 0.5)
        w, b = cp.Variable(X.shape[1]), cp.Variable()
        f = X @ w + b
        losses = {
            f"csvc:C={C!r},slack=squared,class_weight=balanced": (
                y,
                cp.sum(
                    cp.multiply(
                        len(y) / (2 * np.where(y > 0, sum(y > 0), sum(y < 0))), cp.square(cp.pos(1 - cp.multiply(y, f)))
                    )
                ),
            ),
            f"svr:C={C!r},epsilon={float(epsilon)!r},loss=squared_insensitive": (
                values,
                cp.sum(cp.square(cp.pos(cp.abs(values - f) - epsilon))),
            ),
            f"svr:C={C!r},epsilon={float(epsilon)!r},loss=huber": (
                values,
                cp.sum(cp.huber(values - f, epsilon)) / (2 * epsilon),
            ),
        }
        for text, (target, loss) in losses.items():
            best = minimum(cp, cp.sum_squares(w) / 2 + C * loss, [])
            solver = build_solver(text).fit(K, target)
            name = text.split(":")[0] + " " + text.split("=")[-1]
            compared.check(f"{name}, cvxpy", case, -solver.report_["objective"], best, 1e-6)
            # b of Huber's loss may be any of an interval
            ours = solver.decision_function(K) - solver.intercept_
            compared.check(f"{name} w·x, cvxpy", case, ours, X @ w.value, 1e-5)


def test_svr_of_cvxpy(compared):
    cp = pytest.importorskip("cvxpy")
    for case, rng in compared.cases("svr", 80):
        X, _, K = drawn(rng)
        y, C, epsilon = X[:, 0] + rng.normal(size=len(X)), float(10 ** rng.uniform(-2, 1)), float(rng.uniform(0, 0.5))
        w, b = cp.Variable(X.shape[1]), cp.Variable()
        best = minimum(cp, cp.sum_squares(w) / 2 + C * cp.sum(cp.pos(cp.abs(y - X @ w - b) - epsilon)), [])
        solver = build_solver(f"svr:C={C!r},epsilon={epsilon!r},tol=1e-7").fit(K, y)
        beta = coefficients(solver, len(y))
        loss = np.maximum(0, np.abs(y - solver.decision_function(K)) - epsilon).sum()
        compared.check("svr primal, cvxpy", case, beta @ K @ beta / 2 + C * loss, best, 1e-5)


def test_nu_svm_and_one_class_svm_of_cvxpy(compared):
    cp = pytest.importorskip("cvxpy")
    for case, rng in compared.cases("nu", 80):
        _, y, K = drawn(rng)
        K = K + np.eye(len(y))
        n, root = len(y), np.linalg.cholesky(K)
        nu = float(rng.uniform(0.1, 0.95) * 2 * min((y > 0).sum(), (y < 0).sum()) / n)
        a = cp.Variable(n)
        limits = [a >= 0, a <= 1]
        best = minimum(cp, cp.sum_squares(root.T @ cp.multiply(y, a)) / 2, [*limits, cp.sum(a) == nu * n, y @ a == 0])
        solver = build_solver(f"nusvc:nu={nu!r},tol=1e-8").fit(K, y)
        beta = coefficients(solver, n) / solver.report_["C"]
        if solver.report_["converged"]:
            compared.check("nusvc dual, cvxpy", case, [beta @ K @ beta / 2, y @ beta], [best, nu * n], 1e-5)
        nu = float(rng.uniform(0.05, 0.95))
        best = minimum(cp, cp.sum_squares(root.T @ a) / 2, [*limits, cp.sum(a) == nu * n])
        solver = build_solver(f"one_class_svm:nu={nu!r},tol=1e-8").fit(K)
        beta = coefficients(solver, n)
        beta *= nu * n / beta.sum()
        compared.check("one_class_svm dual, cvxpy", case, beta @ K @ beta / 2, best, 1e-5)


def test_psvm_of_cvxpy(compared):
    cp = pytest.importorskip("cvxpy")
    for case, rng in compared.cases("psvm", 120):
        X, y, K = drawn(rng)
        given = (K, "precomputed") if rng.random() < 0.5 else (X, "features")
        C, epsilon = float(10 ** rng.uniform(-2, 1)), float(10 ** rng.uniform(-2, 0.5))
        text = f"psvc:C={C!r},epsilon={epsilon!r},epsilon_scale=absolute,kernel={given[1]},tol=1e-9"
        solver = build_solver(text).fit(given[0], y)
        Z = (given[0] - given[0].mean(axis=0)) / given[0].std(axis=0)
        a = cp.Variable(Z.shape[1])
        objective = cp.sum_squares(Z @ a) / 2 - (Z.T @ y) @ a + epsilon * cp.norm1(a)
        best = minimum(cp, objective, [a >= -C, a <= C])
        found = coefficients(solver, Z.shape[1])
        assert np.abs(found).max() <= C
        value = np.sum((Z @ found) ** 2) / 2 - y @ Z @ found + epsilon * np.abs(found).sum()
        compared.check("psvc, cvxpy", case, value, best, 1e-6)


def test_linear_svc_of_scikit_learn(compared):
    for case, rng in compared.cases("linear", 150):
        X, y, _ = drawn(rng)
        C = float(10 ** rng.uniform(-2, 1))
        ours = build_solver(f"linear_svc:C={C!r},tol=1e-9,max_epochs=100000").fit(X, y).decision_function(X)
        rival = SVC(kernel="linear", C=C, tol=1e-9).fit(X, y)
        value = [
            0.5 * np.sum((np.linalg.pinv(X - X.mean(0)) @ (f - f.mean())) ** 2)
            for f in (ours, rival.decision_function(X))
        ]
        compared.check("linear_svc |w|²/2, scikit-learn", case, value[0], value[1], 1e-4)


def test_discriminants_of_scikit_learn(compared):
    for case, rng in compared.cases("lda", 150):
        X, y, K = drawn(rng, features=3)
        text = "kernel_fisher:epsilon=1e-7,epsilon_scale=absolute,penalty=function"
        ours = build_solver(text).fit(K, y).decision_function(K)
        rival = LinearDiscriminantAnalysis(solver="lsqr").fit(X, y)
        # its log odds include those of the classes, and its covariance is divided by n
        theirs = rival.decision_function(X) - np.log(rival.priors_[1] / rival.priors_[0])
        compared.check("kernel_fisher, scikit-learn's LDA", case, ours, theirs * (len(y) - 2) / len(y), 1e-5)


def test_kernel_pca_of_scikit_learn(compared):
    for case, rng in compared.cases("pca", 150):
        _, _, K = drawn(rng, features=6)
        ours = build_solver("kernel_pca:n_components=3").fit(K).transform(K)
        rival = KernelPCA(3, kernel="precomputed", eigen_solver="dense").fit(K).transform(K)
        compared.check("kernel_pca, scikit-learn", case, np.abs(ours), np.abs(rival), 1e-8)
