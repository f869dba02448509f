"""Tasks in kept environments: ``nox -s lint``, ``test``, ``docs`` or ``ci``; ``nox -l`` lists them."""

import nox

nox.options.reuse_venv = "yes"
nox.options.sessions = ["lint", "test"]


@nox.session
def lint(session):
    """Run all linters."""
    session.install("-e", ".[test,lint]")
    session.run(".ci/lint", external=True)


@nox.session
def test(session):
    """Run the tests; arguments after -- go to pytest."""
    session.install("-e", ".[test]")
    session.run("pytest", "-n", "auto", "--dist", "worksteal", *session.posargs)


@nox.session
def docs(session):
    """Build the documentation site in docs/_build."""
    session.install("-e", ".[test,docs]")
    session.run("docs/build", "docs/_build", external=True)


@nox.session(venv_backend="none")
def ci(session):
    """Run the full check, which makes its own environments."""
    session.run(".ci/run", external=True)
