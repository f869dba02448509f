"""The report in a browser: what its controls do, what it is without them, and whether everyone can read it."""

import re

import pytest

from seqkern.core.tsv import read_tsv

OPEN_ALL = "document.querySelectorAll('details').forEach((box) => { box.open = true; })"
MOST_WORDS, MOST_BYTES = 2000, 3_000_000  # words for each data set, at least for two


def column(table, number):
    """Return the texts of a column of a table, without hidden rows."""
    cells = table.locator(f"tbody tr:not([hidden]) > :nth-child({number})")
    return [text.strip() for text in cells.all_inner_texts()]


def scores(page):
    """Return the table of mean scores of the first data set."""
    return page.locator("#d1-scores table").first


# ---- tables ------------------------------------------------------------------------------------------------


def test_a_click_on_a_title_sorts_the_table(open_page):
    table = scores(open_page())
    title = table.locator("thead th").nth(1)
    values = [float(re.search(r"\d\.\d+", text)[0]) for text in column(table, 2)]
    title.get_by_role("button").click()
    assert title.get_attribute("aria-sort") == "descending"
    shown = [float(re.search(r"\d\.\d+", text)[0]) for text in column(table, 2)]
    assert shown == sorted(values, reverse=True)
    title.get_by_role("button").press("Enter")
    assert title.get_attribute("aria-sort") == "ascending"
    assert [float(re.search(r"\d\.\d+", text)[0]) for text in column(table, 2)] == sorted(values)


def test_names_are_sorted_as_text_and_one_column_at_a_time(open_page):
    table = scores(open_page())
    names = column(table, 1)
    for place in (1, 0):
        table.locator("thead th").nth(place).get_by_role("button").click()
    assert column(table, 1) == sorted(names)
    assert table.locator("[aria-sort]").count() == 1


def test_long_tables_have_a_filter(open_page):
    page = open_page()
    table = page.locator("#d1-predictions table")
    rows = column(table, 2)
    field = page.locator("#d1-predictions .filter input")
    field.fill("decoy")
    assert set(column(table, 2)) == {"decoy"}
    count = sum(label == "decoy" for label in rows)
    assert page.locator("#d1-predictions .filter output").inner_text() == f"{count} of {len(rows)} rows"
    field.fill("")
    assert column(table, 2) == rows
    assert page.locator("#d1-scores .filter").count() == 0


# ---- curves ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("kind", "names"), [("roc", "FPR .* TPR"), ("pr", "recall .* precision")])
def test_the_point_under_the_pointer_is_named(open_page, kind, names):
    page = open_page()
    plot = page.locator(f'#d1-roc .plot[data-kind="{kind}"]')
    plot.scroll_into_view_if_needed()
    page.locator('#d1-roc button[data-all="method"]').click()
    page.locator('#d1-roc input[name="method"]').first.check()
    box = plot.locator('path[data-method="0"]').bounding_box()
    tip = plot.locator(".tip")
    assert tip.is_hidden()
    for step in range(40):
        page.mouse.move(box["x"] + box["width"] * 0.4, box["y"] + box["height"] * step / 40)
        if tip.is_visible():
            break
    assert re.fullmatch(rf".+ with .+, mean of 5 folds: {names} 0\.\d+|.*1\.000", tip.inner_text())
    page.mouse.move(5, 5)
    assert tip.is_hidden()


def test_the_tip_is_a_point_of_the_curve(open_page):
    page = open_page()
    plot = page.locator('#d1-roc .plot[data-kind="roc"]')
    plot.focus()
    first = plot.locator(".tip").inner_text()
    plot.press("ArrowRight")
    second = plot.locator(".tip").inner_text()
    assert first.partition(":")[0] == second.partition(":")[0]
    rates = [list(map(float, re.findall(r"\d\.\d{3}", text))) for text in (first, second)]
    assert rates[0] != rates[1]
    assert rates[0][0] <= rates[1][0]
    assert rates[0][1] <= rates[1][1]
    plot.press("ArrowDown")
    assert plot.locator(".tip").inner_text().partition(":")[0] != first.partition(":")[0]


def test_methods_and_folds_are_chosen_by_checkboxes(open_page):
    page = open_page()
    roc = page.locator("#d1-roc")
    mean = roc.locator('.plot[data-kind="pr"] path[data-method="1"]')
    boxes = roc.locator('input[name="method"]')
    assert mean.is_visible()
    boxes.nth(1).uncheck()
    assert mean.is_hidden()
    boxes.nth(1).check()
    single = roc.locator(".plot path.single")
    assert single.count() == 2 * 5 * boxes.count()
    assert single.first.is_hidden()
    roc.get_by_role("checkbox", name="fold 2").check()
    assert roc.locator(".plot path.single:visible").count() == 2 * boxes.count()
    roc.get_by_role("checkbox", name="mean of 5 folds").uncheck()
    assert mean.is_hidden()


# ---- the threshold -----------------------------------------------------------------------------------------


def counts(page):
    """Return true and false positives and negatives as the page shows them."""
    return {
        name: int(page.locator(f'#d1-confusion [data-count="{name}"]').inner_text())
        for name in ("tp", "fn", "fp", "tn")
    }


def counted(rows, positive):
    """Return the counts of decisions, recomputed; `positive` says which rows are called positive."""
    found = dict.fromkeys(("tp", "fn", "fp", "tn"), 0)
    for row in rows:
        names = ("tp", "fn") if row["label"] == "donor" else ("fp", "tn")
        found[names[not positive(row)]] += 1
    return found


def test_moving_the_threshold_changes_the_confusion_matrix(open_page, study):
    page = open_page()
    box = page.locator("#d1-confusion .threshold")
    option = box.locator("select option").nth(2)
    name = option.inner_text()
    box.locator("select").select_option(label=name)
    kernel, solver = name.split(" with ")
    rows = read_tsv(study / "evaluate/donor" / kernel / solver / "decisions.tsv")
    assert counts(page) == counted(rows, lambda row: row["predicted"] == "donor")
    slider = box.locator('input[type="range"]')
    before = counts(page)
    for key, times in (("Home", 1), ("End", 1), ("ArrowLeft", 30), ("Home", 1), ("ArrowRight", 25)):
        for _ in range(times):
            slider.press(key)
        text = box.locator("output").inner_text()
        threshold = float(text.split("≥ ")[1].replace("\u2212", "-"))
        expected = counted(rows, lambda row, threshold=threshold: float(row["decision"]) >= threshold)
        assert counts(page) == expected
        sensitivity = 100 * expected["tp"] / (expected["tp"] + expected["fn"])
        assert box.locator('[data-count="sensitivity"]').inner_text() == f"{sensitivity:.1f}%"
    assert counts(page) != before
    box.get_by_role("button").click()
    assert counts(page) == before


# ---- folded parts ------------------------------------------------------------------------------------------


def test_links_open_folded_parts(open_page, study):
    page = open_page()
    part = page.locator("#d2-fits details.part")
    assert part.get_attribute("open") is None
    page.locator("nav summary", has_text="superfamily").click()
    page.locator('nav a[href="#d2-fits"]').click()
    assert part.get_attribute("open") == ""
    assert page.locator("nav details[open]").count() == 0
    assert part.locator("table").first.is_visible()
    page.goto((study / "report" / "index.html").as_uri() + "#d1-fits")
    page.reload()
    assert page.locator("#d1-fits details.part").get_attribute("open") == ""


def test_the_methods_text_can_be_copied(open_page):
    page = open_page()
    page.locator('nav a[href="#methods"]').click()
    button = page.locator('button[data-copy="bibtex"]')
    button.click()
    page.locator("#methods .copying output").last.filter(has_text=re.compile("Copied|Selected")).wait_for()
    assert "@inproceedings{Leslie2002" in page.locator("#bibtex").inner_text()


def test_little_is_open_at_first(open_page, page_file):
    page = open_page(page_file)
    data_sets = page.locator(".card").count()
    assert len(page.locator("body").inner_text().split()) <= MOST_WORDS * max(2, data_sets)
    assert page_file.stat().st_size <= MOST_BYTES


# ---- the first screen and the contents bar -----------------------------------------------------------------


def test_the_first_screen_has_methods_and_curves_side_by_side(open_page, page_file):
    page = open_page(page_file)
    methods, curves = (page.locator(f".card figure{kind} svg").first.bounding_box() for kind in (".dots", ".panel"))
    assert methods["x"] + methods["width"] <= curves["x"]
    assert max(box["y"] + box["height"] for box in (methods, curves)) <= 900
    assert page.locator(".card").first.locator("b[title]").first.get_attribute("title")


@pytest.mark.parametrize("size", ["desktop", "phone"])
@pytest.mark.parametrize("scripts", [True, False])
def test_the_contents_bar_is_always_there_and_needs_no_script(open_page, size, scripts):
    page = open_page(size=size, java_script_enabled=scripts)
    page.mouse.wheel(0, 2000)
    page.wait_for_function("scrollY > 1000") if scripts else page.wait_for_timeout(500)
    bar = page.locator("nav[aria-label=Contents]")
    assert bar.bounding_box()["y"] == 0
    target = bar.locator('a[href="#d1-confusion"]')
    if size == "phone":
        assert bar.bounding_box()["height"] < 60
        bar.locator("summary").first.click()
    bar.locator("summary", has_text="donor").press("Enter")
    assert target.is_visible()
    target.click()
    assert page.url.endswith("#d1-confusion")
    assert page.locator("#d1-confusion h3").bounding_box()["y"] >= (37 if scripts else 0)
    assert target.is_visible() != scripts


# ---- everyone ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("unfolded", [False, True])
def test_a_phone_scrolls_no_page_sideways(open_page, page_file, unfolded):
    page = open_page(page_file, "phone")
    if unfolded:
        page.evaluate(OPEN_ALL)
    assert page.evaluate("document.documentElement.scrollWidth") <= 390


@pytest.mark.parametrize(("size", "scheme"), [("desktop", "light"), ("phone", "light"), ("desktop", "dark")])
def test_axe_finds_nothing_serious(open_page, check_access, page_file, size, scheme):
    page = open_page(page_file, size, color_scheme=scheme)
    if page_file.parent.parent.name == "study":  # that of the demo would take a minute
        page.evaluate(OPEN_ALL)
    check_access(page)


@pytest.mark.parametrize(("size", "scheme"), [("desktop", "light"), ("phone", "dark")])
def test_other_pages_are_of_the_family(open_page, check_access, other_page, size, scheme):
    page = open_page(other_page, size, color_scheme=scheme)
    assert page.evaluate("document.documentElement.scrollWidth") <= {"desktop": 1280, "phone": 390}[size]
    assert page.locator("nav[aria-label=Contents] li").count() > 1
    assert not re.findall(r'(?:href|src)="(?!#|data:)[^"]*', other_page.read_text(encoding="utf-8"))
    check_access(page)


def test_without_scripts_everything_can_be_read(open_page):
    page = open_page(java_script_enabled=False)
    for place in ("#d1-scores table", "#d1-confusion table", "#d1-predictions table", "#d1-roc .plot svg"):
        assert page.locator(place).first.is_visible()
    assert page.locator('#d1-roc path[data-method="0"]').first.is_visible()
    assert page.locator('[data-count="tp"]').first.inner_text().isdigit()
    assert page.locator(":is(button, input, select):visible").count() == 0
    page.locator("#d1-fits summary").first.click()
    assert page.locator("#d1-fits table").first.is_visible()


@pytest.mark.parametrize("scripts", [True, False])
def test_paper_has_all_parts_and_no_controls(open_page, scripts):
    page = open_page(java_script_enabled=scripts)
    pdf = page.pdf(format="A4")
    assert pdf.startswith(b"%PDF")
    assert len(re.findall(rb"/Type\s*/Page\b", pdf)) > 5
    page.emulate_media(media="print")
    assert page.locator(":is(button, input, select):visible").count() == 0 or scripts
    assert page.locator(".controls:visible, .copying:visible").count() == 0
    if not scripts:
        assert page.locator("#d1-fits table").first.is_visible()
