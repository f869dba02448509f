"""A browser, and reports to open in it; skipped where there is no browser."""

import shutil
from pathlib import Path

import pytest
from report_sample import demo, write_study

from seqkern.cli.main import main
from seqkern.report import build_report

FLAGS = (
    "--no-sandbox --disable-gpu --disable-quic --no-first-run --disable-background-networking "
    "--disable-component-update --disable-sync"
)
SIZES = {"desktop": {"width": 1280, "height": 900}, "phone": {"width": 390, "height": 844}}
DEMO = Path(__file__).parents[2] / "results" / "demo"


@pytest.fixture(scope="session")
def browser():
    """Chromium, with nothing of a user's in it."""
    playwright = pytest.importorskip("playwright.sync_api", reason="needs the extra `browser`")
    path = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
    if path is None:
        pytest.skip("needs chromium")
    with playwright.sync_playwright() as running:
        opened = running.chromium.launch(executable_path=path, args=FLAGS.split())
        yield opened
        opened.close()


@pytest.fixture(scope="session")
def study(tmp_path_factory):
    """Results of two made-up data sets, with their report."""
    folder = write_study(tmp_path_factory.mktemp("browser") / "study", demo())
    build_report(folder, folder / "report")
    return folder


@pytest.fixture(scope="session", params=["study", "demo"])
def page_file(request, tmp_path_factory):
    """The page of the made-up study, and that of the demo where it has been run."""
    if request.param == "study":
        return request.getfixturevalue("study") / "report" / "index.html"
    if not DEMO.is_dir():
        pytest.skip("needs results/demo: run snakemake")
    return build_report(DEMO, tmp_path_factory.mktemp("demo") / "report")


@pytest.fixture(scope="session", params=["cv/index.html", "explained/index.html", "motifs.html", "audit/index.html"])
def other_page(request, tmp_path_factory):
    """The pages of single verbs, on a few simulated splice sites."""
    home = tmp_path_factory.mktemp("pages")
    for seed in ("1", "2"):
        assert (
            main(["simulate", "donor", "-o", f"{home / seed}", "--n-positive", "40", "--n-decoy", "40", "--seed", seed])
            == 0
        )
    others = (home / "2.tsv").read_text().splitlines()[1:]
    (home / "all.tsv").write_text((home / "1.tsv").read_text() + "".join(f"b{line}\n" for line in others))
    (home / "others.fasta").write_text((home / "2.fasta").read_text().replace(">", ">b"))
    data = [
        f"{home}/1.fasta",
        "--labels",
        f"{home}/1.tsv",
        "--kernel",
        "weighted_degree:degree=3",
        "--solver",
        "csvc:C=1",
    ]
    model, fasta, page = f"{home}/m.seqkern", f"{home}/2.fasta", home / request.param
    commands = {
        "cv": [["cv", *data, "-o", f"{home}/cv"]],
        "explained": [["train", *data, "-o", model], ["explain", model, fasta, "-o", f"{home}/explained"]],
        "motifs.html": [
            ["train", *data, "-o", model],
            ["motifs", model, fasta, "-o", f"{home}/m.tsv", "--plot", f"{page}"],
        ],
        "audit": [["audit", f"{home}/1.fasta", f"{home}/others.fasta", f"{home}/all.tsv", "-o", f"{home}/audit"]],
    }
    for command in commands[request.param.partition("/")[0]]:
        assert main(command) == 0
    return page


@pytest.fixture
def open_page(browser, study):
    """A function that opens a page; what the console says against it fails the test."""
    contexts, problems = [], []

    def opened(path=study / "report" / "index.html", size="desktop", **options):
        contexts.append(browser.new_context(viewport=SIZES[size], **options))
        page = contexts[-1].new_page()
        page.on("console", lambda message: problems.append(message.text) if message.type == "error" else None)
        page.on("pageerror", lambda error: problems.append(str(error)))
        page.goto(path.as_uri())
        return page

    yield opened
    for context in contexts:
        context.close()
    assert problems == []


@pytest.fixture
def check_access():
    """A function that fails if axe finds anything serious on a page."""
    axe = pytest.importorskip("axe_core_python.sync_playwright").Axe()

    def checked(page):
        found = axe.run(page, options={"resultTypes": ["violations"]})["violations"]
        serious = [one for one in found if one["impact"] in ("serious", "critical")]
        assert [(one["id"], one["nodes"][0]["html"][:200]) for one in serious] == []

    return checked
