"""The page in a real browser: both widths, mouse and keyboard, hostile text."""

from __future__ import annotations

import itertools
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from tests.told import told

import gnomon
from gnomon.core.findings import Bars, Column, Finding, HeatMap, Table
from gnomon.core.scores import Scores
from gnomon.core.signature import Signature
from gnomon.core.testset import TestSet
from gnomon.report import write_html

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

pytestmark = [pytest.mark.browser, pytest.mark.slow]

WIDE = {"width": 1280, "height": 900}
NARROW = {"width": 390, "height": 844}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory, finding: Finding, hostile: Finding) -> Path:
    made = tmp_path_factory.mktemp("report")
    write_html(made / "report.html", finding)
    write_html(made / "hostile.html", hostile)
    return made


class Visit:
    """A page, and everything it did that it should not have done."""

    def __init__(self, page: Any) -> None:
        self.page = page
        self.problems: list[str] = []
        page.on("console", lambda m: self.problems.append(f"console: {m.text}"))
        page.on("pageerror", lambda e: self.problems.append(f"error: {e}"))
        page.on("dialog", lambda d: (self.problems.append("dialog"), d.dismiss()))
        page.on("request", self._request)

    def _request(self, request: Any) -> None:
        if not request.url.startswith(("file:", "blob:")):
            self.problems.append(f"request: {request.url}")


Opener = Any


@pytest.fixture
def visit(browser: Any, folder: Path) -> Iterator[Callable[..., Visit]]:
    opened: list[Any] = []

    def start(name: str = "report", size: dict[str, int] | None = None, **options: Any) -> Visit:
        page = browser.new_page(viewport=size or WIDE, **options)
        opened.append(page)
        visited = Visit(page)
        page.goto((folder / f"{name}.html").as_uri())
        page.wait_for_selector("html[data-ready]")
        return visited

    yield start
    for page in opened:
        page.close()


def unfolded(page: Any) -> Any:
    """The first table, all of it."""
    page.locator("#f0-t0").get_by_role("button", name="Show all").click()
    return page.locator("#f0-t0")


def first_cells(page: Any, box: str, column: int, number: int = 6) -> list[str]:
    rows = page.locator(f"{box} tbody tr")
    return [
        rows.nth(i).locator("th, td").nth(column).inner_text()
        for i in range(min(number, rows.count()))
    ]


@pytest.mark.parametrize("name", ["report", "hostile"])
@pytest.mark.parametrize("size", [WIDE, NARROW], ids=["desktop", "phone"])
def test_it_renders_without_error_request_or_sideways_scrolling(
    visit: Opener, name: str, size: dict[str, int]
) -> None:
    seen = visit(name, size)
    width = seen.page.evaluate("document.documentElement.scrollWidth")
    assert width <= size["width"]
    assert seen.page.locator(".drawing > svg").count() == (4 if name == "report" else 6)
    cells = seen.page.locator("#f0-p0 .drawing [tabindex]").count()
    assert cells == (12 * 16 - 1 if name == "report" else 12 * 12)  # one is undefined
    assert seen.page.locator("article.exhibit").count() == 6
    assert seen.problems == []


@pytest.mark.parametrize("size", [WIDE, NARROW], ids=["desktop", "phone"])
def test_the_list_of_contents_is_never_scrolled_sideways(
    visit: Opener, size: dict[str, int]
) -> None:
    page = visit("report", size).page
    contents = page.locator("nav.contents")
    if size is NARROW:
        assert not contents.locator("a").first.is_visible()
        contents.locator("summary").click()
    assert contents.locator("a").count() > 3
    assert all(link.is_visible() for link in contents.locator("a").all())
    assert contents.evaluate("box => box.querySelector('ul').scrollWidth <= box.clientWidth")
    contents.locator("a").last.click()
    assert contents.locator("a").first.is_visible() == (size is WIDE)


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("size", [WIDE, NARROW], ids=["desktop", "phone"])
def test_the_first_screen_shows_the_verdict_and_the_picture_that_proves_it(
    browser: Any, tmp_path: Path, size: dict[str, int], scheme: str
) -> None:
    draw = np.random.default_rng(1)
    scores = draw.normal(50, 10, 60) + draw.normal(0, 5, (5, 60)) + [[0], [6], [-6], [0], [8]]
    texts, names = ["text"] * 60, ("base-system", "a-better-one", "a-worse-one", "alike", "best")
    metrics = [
        Scores(name, names, scores.mean(axis=1), scores, True, Signature(name))
        for name in ("first", "second")
    ]
    testset = TestSet.from_lists(dict.fromkeys(names, texts), texts)
    found = gnomon.compare(testset, metrics, resamples=199, examples=0, ngrams=0)
    write_html(tmp_path / "page.html", found)
    page = browser.new_page(viewport=size, color_scheme=scheme)
    visited = Visit(page)
    page.goto((tmp_path / "page.html").as_uri())
    page.wait_for_selector("html[data-ready]")
    for shown in (page.locator(".verdict li").first, page.locator(".proof .drawing svg").first):
        box = shown.bounding_box()
        assert box["y"] + box["height"] <= size["height"]
    assert page.locator(".verdict li").count() == len(found.verdict)
    proof = next(view.title for view in found.views if isinstance(view, Bars))
    assert page.locator(".proof h3").inner_text() == proof
    assert page.locator(".proof .glosses dt").first.inner_text() == "Score"
    assert page.evaluate("document.documentElement.scrollWidth") <= size["width"]
    assert visited.problems == []
    page.close()


def test_on_a_phone_what_answers_is_in_sight(browser: Any, tmp_path: Path) -> None:
    names = [f"system-{n:02d}" for n in range(12)]
    columns = (
        Column("testset", "Test set"),
        Column("feature", "Feature"),
        Column("system", "System"),
        Column("empty", "Nothing", "number"),
        Column("other", "Other", "number"),
        Column("muler", "MuLER", "share", better="lower"),
    )
    rows = tuple(
        dict(zip((c.name for c in columns), ("one", f"pos:{f}", s, None, 1.5, k / 20), strict=True))
        for f in ("NOUN", "VERB")
        for k, s in enumerate(names)
    )
    verdict = (told("system-11 is worse than system-1 and system-07.", "finding"),)
    heat = HeatMap("t", "Map", "feature", "system", "muler")
    found = Finding("m", "M", (Table("t", "Rows", columns, rows),), {}, (heat,), verdict=verdict)
    write_html(tmp_path / "page.html", found)
    page = browser.new_page(viewport=NARROW)
    page.goto((tmp_path / "page.html").as_uri())
    page.wait_for_selector("html[data-ready]")
    table = page.locator("#f0-t0 table.data thead th")
    assert [text.rstrip("\u2195\n ") for text in table.all_inner_texts()] == [
        "Feature", "System", "MuLER", "Other"
    ]  # fmt: skip
    assert "Test set: one" in page.locator("#f0-t0").inner_text()
    assert "Without any value: Nothing." in page.locator("#f0-t0").inner_text()
    page.set_viewport_size(WIDE)
    page.locator("#f0-t0 th", has_text="Test set").wait_for()
    page.close()


def test_hostile_text_stays_text(visit: Opener, expect: Any) -> None:
    seen = visit("hostile")
    page = seen.page
    assert page.evaluate("window.broken") is None
    assert page.locator("script").count() == 2
    assert page.locator("img, iframe, bold, link, a[href^=http]").count() == 0
    assert page.locator("h1").inner_text() == "</script><script>window.broken=2</script>"
    said = page.locator("#f0-p0 .drawing [tabindex]").first.get_attribute("aria-label")
    assert said.startswith("pos:<script>window.broken=1</script>, <script>window.broken=1</script>")
    assert page.locator("table.data .ctl", has_text="RLO").count() >= 1
    body = page.locator("main").inner_text()
    for text in ("[bold]x[/bold]", ":smile:", "{{ 7 * 7 }}", "__proto__", "<!-- <script> ]]>"):
        assert text in body
    assert not page.evaluate(r"/[\u001b\u009b\u202a-\u202e]/.test(document.body.innerText)")
    page.locator("#f0-p0 .drawing [tabindex]").nth(26).click()
    found = page.locator("#f0-segments output")
    page.locator("#f0-segments input").fill("no text has this")
    expect(found).not_to_have_text("1 of 1 segments")
    page.locator("#f0-segments input").fill("<script>")
    expect(found).to_have_text("1 of 1 segments")
    assert seen.problems == []
    assert page.evaluate("window.broken") is None


def test_tables_sort_by_mouse_numbers_as_numbers_and_undefined_last(visit: Opener) -> None:
    seen = visit()
    page = seen.page
    assert unfolded(page).locator("tbody tr").count() == 50
    head = page.locator("#f0-t0 th", has_text="|I|")
    head.locator("button").click()
    assert head.get_attribute("aria-sort") == "descending"
    down = [int(v.replace(",", "")) for v in first_cells(page, "#f0-t0", 5)]
    assert down == sorted(down, reverse=True)
    assert down[0] > 1000
    page.locator("#f0-t0").get_by_label("Feature", exact=True).select_option("pos:X")
    page.locator("#f0-t0").get_by_label("Rows").select_option("500")
    muler = page.locator("#f0-t0 th", has_text="MuLER")
    for direction in ("descending", "ascending"):
        muler.locator("button").click()
        assert muler.get_attribute("aria-sort") == direction
        values = first_cells(page, "#f0-t0", 6, 128)
        assert values[0] != "-"
        assert values[-1] == "-"
        defined = [float(v.replace("\u2212", "-")) for v in values if v != "-"]
        assert defined == sorted(defined, reverse=direction == "descending")
    assert seen.problems == []


def test_tables_sort_and_filter_by_keyboard(visit: Opener, expect: Any) -> None:
    seen = visit()
    page = seen.page
    button = unfolded(page).locator("th", has_text="System").locator("button")
    button.focus()
    page.keyboard.press("Enter")
    assert page.locator("#f0-t0 th").first.get_attribute("aria-sort") == "ascending"
    assert page.evaluate("document.activeElement.textContent").startswith("System")
    page.keyboard.press("Space")
    assert page.locator("#f0-t0 th").first.get_attribute("aria-sort") == "descending"
    assert first_cells(page, "#f0-t0", 0, 1) == ["Wren.6974"]
    page.locator("#f0-t0 input").focus()
    page.keyboard.type("ent:person")
    count = page.locator("#f0-t0 output")
    expect(count).to_have_text("1\u201350 of 128 rows, 7,680 in all")
    assert set(first_cells(page, "#f0-t0", 2)) == {"ent:PERSON people"}
    page.locator("#f0-t0").get_by_role("button", name="Last").press("Enter")
    assert count.inner_text().startswith("101\u2013128 of 128")
    assert seen.problems == []


def test_a_cell_leads_to_its_segments(visit: Opener) -> None:
    seen = visit()
    page = seen.page
    cells = page.locator("#f0-p0 .drawing [aria-label^='pos:VERB, online-B.0: ']")
    page.get_by_role("button", name="Show all 60 rows").click() if not cells.count() else None
    cells.first.focus()
    page.keyboard.press("ArrowRight")
    page.keyboard.press("Enter")
    box = page.locator("#f0-segments")
    assert box.get_by_label("Shown for").input_value().startswith("pos:VERB")
    assert box.get_by_label("System", exact=True).input_value() == "online-G.0"
    assert set(box.locator(".tag:not(.soft)").all_inner_texts()) == {"pos:VERB verbs"}
    assert page.evaluate("document.activeElement.textContent") == "Segments behind the numbers"
    first = box.locator("article").first.locator(".candidate").first
    assert first.locator("h5").inner_text() == "online-G.0"
    assert seen.problems == []


def test_marks_are_cut_by_code_points(browser: Any, tmp_path: Path, finding: Finding) -> None:
    from gnomon.core.findings import Exhibit, ExhibitText, Finding, Highlight

    texts = (
        ExhibitText(
            "candidate", "s", "\U0001f600\U0001f600 né ok", (Highlight(3, 5), Highlight(6, 99))
        ),
        ExhibitText("candidate", "e", ""),
    )
    one = Finding("m", "M", finding.tables, {}, exhibits=(Exhibit("g", "k", 1, texts),))
    write_html(tmp_path / "one.html", one)
    page = browser.new_page()
    page.goto((tmp_path / "one.html").as_uri())
    assert page.locator("mark").all_inner_texts() == ["né", "ok"]
    assert "(empty)" in page.locator(".candidate").nth(1).inner_text()
    page.close()


def test_the_ends_of_an_interval_stand_behind_its_value(
    browser: Any, tmp_path: Path, finding: Finding
) -> None:
    table = finding.tables[0]
    ends = ("muler_low", "muler_high")
    columns = (
        *(replace(c, ends=ends) if c.name == "muler" else c for c in table.columns),
        *(Column(name, name, "share") for name in ends),
    )
    rows = tuple(
        {**row, "muler": 0.25, "muler_low": 0.125, "muler_high": 0.5} for row in table.rows
    )
    shown = replace(table, columns=columns, records=rows)
    write_html(tmp_path / "r.html", replace(finding, tables=(shown, *finding.tables[1:])))
    page = browser.new_page()
    page.goto((tmp_path / "r.html").as_uri())
    page.wait_for_selector("html[data-ready]")
    assert page.locator("table.data").first.locator("tbody tr").first.inner_text().count(
        "0.25 [0.13, 0.50]"
    ) == 1  # fmt: skip
    assert "muler_low" not in page.locator("table.data thead").first.inner_text()
    page.locator("#f0-p0 .drawing [tabindex='0']").hover()
    assert "MuLER 0.25 [0.12, 0.50]" in page.locator(".card").first.inner_text()
    page.close()


def test_segments_are_rendered_on_demand_and_filtered_by_text(visit: Opener) -> None:
    seen = visit()
    page = seen.page
    box = page.locator("#f0-segments")
    assert box.locator("output").inner_text() == "6 of 72 segments"
    box.get_by_role("button", name="Show more segments").click()
    assert box.locator("article").count() == 26
    box.get_by_label("Text").fill("chess.07")
    page.locator("#f0-segments output", has_text="6 of 12 segments").wait_for()
    assert box.locator("article", has_text="Document chess.07").count() == 6
    box.get_by_label("List").select_option(label="negative (18)")
    assert seen.problems == []


def test_downloads_hold_exact_numbers_and_no_formulas(visit: Opener) -> None:
    page = visit("hostile").page
    with page.expect_download() as download:
        page.get_by_role("button", name="Download TSV").click()
    lines = download.value.path().read_text(encoding="utf-8").split("\n")
    assert lines[0].startswith("system\tmetric\tfeature")
    assert len(lines) == 12 * 12 + 2
    assert any(line.startswith("'=HYPERLINK(1)\t") for line in lines)
    assert all(line.count("\t") == lines[0].count("\t") for line in lines[:-1])
    page = visit().page
    with page.expect_download() as download:
        page.get_by_role("button", name="Save as SVG").first.click()
    assert download.value.path().read_text(encoding="utf-8").startswith("<svg")


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_text_in_coloured_cells_is_readable(visit: Opener, scheme: str) -> None:
    worst = visit(color_scheme=scheme).page.evaluate("""() => {
      const light = (css) => css.match(/[\\d.]+/g).slice(0, 3).map((v) => v / 255)
        .map((v) => v <= .04045 ? v / 12.92 : ((v + .055) / 1.055) ** 2.4)
        .reduce((sum, v, i) => sum + v * [.2126, .7152, .0722][i], 0);
      let worst = 21;
      for (const better of ["lower", "higher", "none", "both"]) {
        const table = document.createElement("table");
        table.dataset.better = better;
        document.body.append(table);
        const row = table.insertRow();
        for (let step = 0; step < 9; step += 1) {
          const cell = row.insertCell();
          cell.className = "h" + step;
          const style = getComputedStyle(cell);
          const [a, b] = [light(style.color), light(style.backgroundColor)].sort((x, y) => y - x);
          worst = Math.min(worst, (a + .05) / (b + .05));
        }
      }
      return worst;
    }""")
    assert worst >= 4.5


def test_headings_are_in_order_and_controls_have_names(visit: Opener, expect: Any) -> None:
    page = visit().page
    levels = page.evaluate(
        "[...document.querySelectorAll('h1,h2,h3,h4,h5')].map((h) => +h.tagName[1])"
    )
    assert levels[0] == 1
    assert all(after <= before + 1 for before, after in itertools.pairwise(levels))
    nameless = page.evaluate(
        "[...document.querySelectorAll('select,input')].filter((n) => !n.labels.length).length"
    )
    assert nameless == 0
    page.wait_for_function("document.hasFocus()")
    page.keyboard.press("Tab")
    expect(page.locator(":focus")).to_have_text("Skip to the results")


def test_it_prints(visit: Opener) -> None:
    seen = visit()
    seen.page.emulate_media(media="print")
    assert not seen.page.locator(".toolbar").first.is_visible()
    assert seen.page.locator(".drawing svg").first.is_visible()
    assert seen.problems == []
