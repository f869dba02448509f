"""The page of a model: its scores, one sequence in detail, and that nothing in a sequence file is more than text."""

import base64
import csv
import gzip
import hashlib
import re
from pathlib import Path

import numpy as np
import pytest
from report_sample import HOSTILE

from seqkern.cli.main import main
from seqkern.methods.loading import load_model

CLASSES = HOSTILE[:2]  # the positive class first
MOTIF = "GGTAAGTA"
RNG = np.random.default_rng(8)


def random_texts(n, length):
    """Return random DNA."""
    return ["".join(RNG.choice(list("ACGT"), length)) for _ in range(n)]


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """A model of classes with hostile names, which differ by a motif, and its page."""
    home = tmp_path_factory.mktemp("model")
    texts = [one[:16] + MOTIF + one[24:] if i % 2 else one for i, one in enumerate(random_texts(80, 40))]
    (home / "x.fa").write_text("".join(f">x{i}\n{one}\n" for i, one in enumerate(texts)))
    rows = "".join(f"x{i}\t{CLASSES[1 - i % 2]}\n" for i in range(len(texts)))
    (home / "x.tsv").write_text(f"id\tlabel\n{rows}")
    method = ["--kernel", "gapped_kmer:l=5,k=4,reverse_complement=true", "--solver", "csvc:C=1", "--cv", "5"]
    model, page = home / "m.seqkern", home / "model.html"
    data = [str(home / "x.fa"), "--labels", str(home / "x.tsv"), "--positive", CLASSES[0]]
    assert main(["train", *data, *method, "--calibration", "platt", "--threshold", "mcc", "-o", str(model)]) == 0
    assert main(["page", str(model), "-o", str(page)]) == 0
    return load_model(model), page


def score(page, text):
    """Paste a text and wait for its scores."""
    page.locator("#go:enabled").wait_for()
    page.locator("#text").fill(text)
    page.locator("#go").click()
    page.locator("#said", has_text="read.").wait_for()


def saved(page, ending):
    """Return the rows of a downloaded table, its header first."""
    with page.expect_download() as download:
        page.get_by_role("button", name=f"Download {ending}").click()
    with open(download.value.path(), encoding="utf-8", newline="") as file:
        return list(csv.reader(file)) if ending == "CSV" else [line.rstrip("\n").split("\t") for line in file]


def number(text):
    """Return a number as the page writes it."""
    return float(text.replace("\N{MINUS SIGN}", "-"))


def decided(page):
    """Return the decision value and the text that the page shows for the sequence."""
    text = page.locator("#decided").inner_text()
    return number(re.match(r"Decision value (\S+)", text)[1]), text


def test_scores_are_those_of_predict_and_names_are_text(open_page, made):
    model, file = made
    names = [*HOSTILE[:5], "=1+1", "-2+3|cmd", "\u200b@x", "x\u202ey", '","\'']
    texts = random_texts(len(names), 40)
    texts[1], texts[2] = texts[1].lower(), texts[2][:10] + "NNNN" + texts[2][14:]
    fasta = "".join(f">{name} more\n{one[:25]}\n{one[25:]}\n" for name, one in zip(names, texts, strict=True))
    page = open_page(file)
    score(page, f"{fasta}>letter\nACGTACGTAJ\n>empty\n")
    head, *rows = saved(page, "TSV")
    assert head == ["id", "length", "decision", "predicted", "probability", "note"]
    assert [row[0] for row in rows[5:9]] == ["'=1+1", "'-2+3|cmd", "'\u200b@x", "x\u202ey"]
    assert [row[1] for row in rows] == ["40"] * len(names) + ["10", "0"]
    decisions = model.decision(texts)
    assert np.abs(np.array([float(row[2]) for row in rows[: len(names)]]) - decisions).max() < 1e-6
    assert [row[3] for row in rows[: len(names)]] == model.classify(decisions).tolist()
    shares = model.calibration.probabilities(decisions)
    assert np.abs(np.array([float(row[4]) for row in rows[: len(names)]]) - shares).max() < 1e-6
    assert [row[2:5] for row in rows[len(names) :]] == [["", "", ""]] * 2
    assert ["letter J" in rows[-2][5], rows[-1][5]] == [True, "has no residues"]
    assert saved(page, "CSV") == [head, *rows]
    shown = page.locator("#rows th").all_inner_texts()
    assert shown == [*names[:8], "x\ufffdy", names[9], "letter", "empty"]
    assert "40 lower-case letters" in page.locator("#remarks").inner_text()
    positive = int((decisions > model.threshold.value).sum())
    counts = f"{positive} {CLASSES[0]}, {len(names) - positive} {CLASSES[1]}, 2 not scored"
    assert page.locator("#counts").inner_text() == counts
    packed = {"name": "x.fa.gz", "mimeType": "application/gzip", "buffer": gzip.compress(fasta.encode())}
    page.locator("#file").set_input_files(packed)
    page.locator("#said", has_text=f"{len(names)} sequences read.").wait_for()
    assert saved(page, "TSV")[1:] == rows[:-2]
    for i in range(len(names)):
        page.locator("#rows button").nth(i).click()
        page.locator("#name").get_by_text(shown[i], exact=True).wait_for()
    assert page.locator("main :is(script, img, iframe, a)").count() == 0


def test_the_table_is_sorted_filtered_and_shown_in_parts(open_page, made):
    model, file = made
    texts = random_texts(220, 40)
    names = [f"{'even' if i % 2 == 0 else 'odd'}{i}" for i in range(220)]
    page = open_page(file)
    score(page, "".join(f">{name}\n{one}\n" for name, one in zip(names, texts, strict=True)))
    decisions = model.decision(texts)
    cells = page.locator("#rows tr > :first-child")
    assert cells.all_inner_texts() == names[:100]
    page.locator("#more").click()
    assert cells.count() == 200
    page.locator("[data-key=decision]").click()
    assert cells.all_inner_texts() == [names[i] for i in np.argsort(-decisions, kind="stable")[:100]]
    page.locator("[data-key=decision]").press("Enter")
    ascending = [names[i] for i in np.argsort(decisions, kind="stable")]
    assert cells.all_inner_texts() == ascending[:100]
    page.locator("#contains").fill("EVEN")
    page.locator("#only").select_option(label=CLASSES[1])
    above = {name for name, one in zip(names, decisions, strict=True) if one > model.threshold.value}
    kept = [name for name in ascending if name.startswith("even") and name not in above]
    assert cells.all_inner_texts() == kept[:100]
    assert f"{len(kept)} matching of 220 sequences" in page.locator("#matching").inner_text()
    page.locator("[data-key=id]").click()
    assert cells.all_inner_texts() == sorted(kept, key=lambda name: int(name[4:]))[:100]


def test_a_residue_is_changed_by_keys_and_the_change_undone(open_page, made):
    model, file = made
    text = random_texts(1, 16)[0] + MOTIF + random_texts(1, 16)[0]
    page = open_page(file)
    score(page, text)
    page.locator("#rows button").press("Enter")
    page.locator("#explained").wait_for()
    before, _ = decided(page)
    assert before == pytest.approx(model.decision([text])[0], abs=6e-4)
    residues = page.locator("[data-at]")
    parts = [residues.nth(i).get_attribute("aria-label") for i in range(len(text))]
    assert [re.fullmatch(r"(\d+): ([ACGT]), \S+", one).groups() for one in parts] == [
        (str(i + 1), letter) for i, letter in enumerate(text)
    ]
    bias = number(re.search(r"bias \((\S+)\)", page.locator("#explained").inner_text())[1])
    assert sum(number(one.rpartition(" ")[2]) for one in parts) + bias == pytest.approx(before, abs=0.02)
    changed = [text[:i] + letter + text[i + 1 :] for i in range(len(text)) for letter in "ACGT" if letter != text[i]]
    differences = model.decision(changed) - model.decision([text])
    row = page.locator("#largest tbody tr").first.locator("> *").all_inner_texts()
    assert abs(number(row[2])) == pytest.approx(np.abs(differences).max(), abs=6e-4)
    page.get_by_role("listbox", name="Residues").focus()
    for key in ("End", "ArrowLeft", "Home", *["ArrowRight"] * 18, "Enter"):
        page.keyboard.press(key)
    assert page.locator("#residue").inner_text().startswith(f"Position 19 of 40: {text[18]}, contribution ")
    letter = page.locator(":focus b").inner_text()
    new = model.decision([text[:18] + letter + text[19:]])[0]
    page.keyboard.press("Enter")
    page.locator(".changed").wait_for()
    after, sentence = decided(page)
    assert after == pytest.approx(new, abs=6e-4)
    assert f"with {text[18]}19{letter}" in sentence
    assert residues.nth(18).inner_text() == letter
    page.locator("#largest button").first.click()
    page.locator("#decided", has_text="All changes").wait_for()
    page.locator("#restore").click()
    page.locator(".changed").first.wait_for(state="detached")
    assert decided(page)[0] == before
    assert "".join(residues.all_inner_texts()) == text


def test_windows_find_a_motif_in_a_long_sequence(open_page, made):
    model, file = made
    first, second = random_texts(2, 150)
    text = first + MOTIF + second
    page = open_page(file, "phone")
    score(page, f">long\n{text}\n")
    page.locator("#rows button").click()
    page.locator("#scan table").wait_for()
    windows = model.decision([text[i : i + 40] for i in range(len(text) - 39)])
    row = page.locator("#scan tbody tr").first
    best = int(windows.argmax())
    assert row.locator("> *").all_inner_texts() == [f"{best + 1}\N{EN DASH}{best + 40}", f"{windows[best]:.3f}"]
    row.locator("button").click()
    page.locator("#decided", has_text=f"Decision value {windows[best]:.3f}").wait_for()
    assert "".join(page.locator("[data-at]").all_inner_texts()) == text[best : best + 40]


def test_the_policy_allows_the_page_and_nothing_else(browser, made):
    _, file = made
    text = Path(file).read_text(encoding="utf-8")
    policy = re.search(r'http-equiv="Content-Security-Policy" content="([^"]+)"', text)[1]
    scripts = re.findall(r'<script type="module">(.*?)</script>', text, flags=re.DOTALL)
    digests = {f"'sha256-{base64.b64encode(hashlib.sha256(one.encode()).digest()).decode()}'" for one in scripts}
    allowed = policy.partition("script-src ")[2].partition(";")[0].split()
    assert set(allowed) == {*digests, "blob:", "'wasm-unsafe-eval'"}
    page = browser.new_page()
    asked = []
    page.on("request", lambda request: asked.append(request.url))
    page.goto(file.as_uri())
    score(page, "ACGTACGTACGT")
    blocked = """async () => {
        document.body.insertAdjacentHTML("beforeend", '<img src="data:," onerror="document.title = 1">');
        document.body.append(Object.assign(document.createElement("script"), {textContent: "document.title = 2"}));
        await new Promise((resolve) => setTimeout(resolve, 50));
        return [document.title, await fetch("https://example.org").then(() => "sent", () => "blocked")];
    }"""
    assert page.evaluate(blocked) == [page.title(), "blocked"]
    assert "m.seqkern" in page.title()
    assert {url.partition(":")[0] for url in asked} <= {"file", "blob", "data"}
    page.context.close()


@pytest.mark.parametrize(("size", "scheme"), [("desktop", "light"), ("phone", "dark")])
def test_everyone_can_read_it(open_page, check_access, made, size, scheme):
    page = open_page(made[1], size, color_scheme=scheme)
    score(page, f">a\n{random_texts(1, 40)[0]}\n>{'b' * 300}\n{MOTIF.join(random_texts(2, 70))}\n>J\nJ\n")
    page.locator("#rows button").nth(1).click()
    page.locator("#scan table").wait_for()
    page.locator("[data-at]").nth(3).click()
    assert page.evaluate("document.documentElement.scrollWidth") <= {"desktop": 1280, "phone": 390}[size]
    check_access(page)
    page.emulate_media(media="print")
    assert page.locator(".controls:visible, textarea:visible, button:not(.link):not(.sort):visible").count() == 0
    assert page.locator("#scan table").is_visible()
