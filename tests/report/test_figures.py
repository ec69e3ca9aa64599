"""Charts of all kinds in a real browser: drawn, walked by keys, cut, saved, in both schemes."""

from __future__ import annotations

import math
import random
from typing import TYPE_CHECKING, Any

import pytest

from gnomon.core.findings import (
    Bars,
    Cell,
    Column,
    Finding,
    HeatMap,
    Histogram,
    Lines,
    Scatter,
    Table,
    View,
)
from gnomon.report import write_html

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

pytestmark = [pytest.mark.browser, pytest.mark.slow]

SYSTEMS = (
    "Harbour_NMT.6750",
    *(f"online-{letter}.0" for letter in "ABGXY"),
    "Meridian.7703",
    "North-Sea-MT.6482",
    "Quill.6981",
    "RWlike-Base.6508",
    "tartan-c2c.6801",
    "uni-valley-ensemble.6520",
)
FEATURES = ("pos:NOUN", "pos:VERB", "pos:ADJ", "ent:PERSON", "ent:ORG", "morph:Number=Sing")
_POINTS = (
    Column("system", "System"),
    Column("feature", "Feature"),
    Column("year", "Year", "count"),
    Column("metric", "Metric"),
    Column("muler", "MuLER", "share", better="lower"),
    Column("spread", "max - min", "number"),
)
_CURVES = (
    Column("system", "System"),
    Column("feature", "Feature"),
    Column("share", "Share of masked occurrences", "share"),
    Column("score", "BLEU", "number"),
    Column("low", "2.5 %", "number"),
    Column("high", "97.5 %", "number"),
)
_CORRELATIONS = (
    Column("metric", "Metric"),
    Column("feature", "Feature"),
    Column("with", "Correlated with"),
    Column("r", "r", "number"),
    Column("n", "n", "count", help="systems where both are defined"),
    Column("few", "few systems", help="fewer than 8"),
)


def points(seed: int = 1) -> tuple[dict[str, Cell], ...]:
    rng = random.Random(seed)
    rows: list[dict[str, Cell]] = []
    for metric in ("bleu", "chrf"):
        for feature in FEATURES:
            for number, system in enumerate(SYSTEMS):
                muler = 0.2 + 0.01 * number + rng.gauss(0, 0.02)
                rows.append(
                    {
                        "system": system,
                        "feature": feature,
                        "year": 2018 + number % 2,
                        "metric": metric,
                        "muler": None if (feature, number) == ("ent:ORG", 3) else muler,
                        "spread": 30 - 0.5 * number + rng.gauss(0, 1),
                    }
                )
    return tuple(rows)


def curves() -> tuple[dict[str, Cell], ...]:
    rows: list[dict[str, Cell]] = []
    for feature in FEATURES[:3]:
        for number, system in enumerate(SYSTEMS[:4]):
            for step in range(11):
                score = 30 + 3 * number + 20 * math.sqrt(step / 10)
                rows.append(
                    {
                        "system": system,
                        "feature": feature,
                        "share": step / 10,
                        "score": None if (number, step) == (2, 5) else score,
                        "low": score - 1 - number / 4,
                        "high": score + 1 + number / 4,
                    }
                )
    return tuple(rows)


def correlations() -> tuple[dict[str, Cell], ...]:
    return tuple(
        {
            "metric": "bleu",
            "feature": feature,
            "with": other,
            "r": None if (i, j) == (4, 2) else math.cos(1.1 * i + j),
            "n": 5 if i == 3 else 12,
            "few": i == 3,
        }
        for i, feature in enumerate(FEATURES)
        for j, other in enumerate(("BLEU", "indices-BLEU", "max - min"))
    )


def far_bars() -> tuple[dict[str, Cell], ...]:
    """Shares of which one is far outside [0, 1]."""
    values = (0.2, 0.3, 0.25, -7.5, 0.15, 40.0)
    return tuple(
        {"system": s, "feature": f, "year": 2018, "metric": "bleu", "muler": v, "spread": 1.0}
        for s in SYSTEMS[:2]
        for f, v in zip(FEATURES, values, strict=True)
    )


_BINS = (
    Column("group", "Group"),
    Column("kind", "Kind"),
    Column("low", "From", "number"),
    Column("high", "To", "number"),
    Column("n", "n", "count"),
)


def bins() -> tuple[dict[str, Cell], ...]:
    """Two bins of one kind, a third without ends, and one of another kind."""
    groups = [("a", "letter"), ("b", "letter"), ("none", "letter"), ("1", "digit")]
    return tuple(
        {
            "group": group,
            "kind": kind,
            "low": None if group == "none" else n - 0.5,
            "high": n + 0.5,
            "n": 7 + n,
        }
        for n, (group, kind) in enumerate(groups)
    )


def long_curves() -> tuple[dict[str, Cell], ...]:
    """Two kinds with curves of their own, of many points each."""
    return tuple(
        {"group": group, "kind": kind, "low": step / 10, "high": math.sin(step / 10 + n)}
        for n, (group, kind) in enumerate((("a", "letter"), ("b", "letter"), ("1", "digit")))
        for step in range(60)
    )


def make_plots() -> Finding:
    views: tuple[View, ...] = (
        HeatMap(
            "correlations", "Correlations", "feature", "with", "r",
            low=-1.0, high=1.0, faint="few", under="n",
        ),
        Scatter(
            "points", "MuLER and what it can move", "muler", "spread", "system",
            series="year", panels="feature", where={"metric": "bleu"},
        ),
        Scatter(
            "points", "All features", "muler", "spread", "system", "feature",
            where={"metric": "bleu"},
        ),
        Scatter("far", "Against itself", "muler", "muler", "system", identity=True),
        Lines(
            "curves", "Growing masks", "share", "score", "system", "feature",
            low="low", high="high",
        ),
        Lines("curves", "One panel", "share", "score", "system", where={"feature": "pos:NOUN"}),
        Bars("far", "Bars", "feature", "system", ("muler", "spread"), most=2),
        *(Histogram("bins", "Bins", "group", "low", "high", "n", {"kind": kind})
          for kind in ("letter", "digit")),
        *(Lines("long", "Many points", "low", "high", "group", where={"kind": kind}, ink="b")
          for kind in ("letter", "digit")),
    )  # fmt: skip
    tables = (
        Table("correlations", "Correlations", _CORRELATIONS, correlations()),
        Table("points", "Points", _POINTS, points()),
        Table("curves", "Curves", _CURVES, curves()),
        Table("far", "Far", _POINTS, far_bars()),
        Table("bins", "Bins", _BINS, bins()),
        Table("long", "Long", _BINS[:4], long_curves()),
    )
    return Finding("m", "Plots", tables, {}, views)


@pytest.fixture(scope="module")
def page_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path: Path = tmp_path_factory.mktemp("plots") / "plots.html"
    write_html(path, make_plots())
    return path


@pytest.fixture(params=[(1280, "light"), (390, "dark")], ids=["desktop", "phone"], scope="module")
def page(request: pytest.FixtureRequest, browser: Any, page_file: Path) -> Iterator[Any]:
    """A page that shows without fault or sideways scrolling."""
    width, scheme = request.param
    made = browser.new_page(viewport={"width": width, "height": 900}, color_scheme=scheme)
    problems: list[str] = []
    made.on("console", lambda m: problems.append(m.text))
    made.on("pageerror", lambda e: problems.append(str(e)))
    made.goto(page_file.as_uri())
    made.wait_for_selector("html[data-ready]")
    yield made
    assert problems == []
    assert made.evaluate("document.documentElement.scrollWidth") <= width
    made.close()


MARKS = "nodes => nodes.map((n) => n.__data__.datum.said)"


def marks(page: Any, panel: int) -> Any:
    return page.locator(f"#f0-p{panel} .drawing [tabindex]")


def test_every_kind_is_drawn_with_a_mark_for_each_value_in_words(page: Any) -> None:
    said = [marks(page, panel).evaluate_all(MARKS) for panel in range(9)]
    assert said[0][0] == "pos:NOUN, BLEU: r 1.00, n 12"
    bars = 24 if page.viewport_size["width"] > 640 else 12  # one of two panels
    assert [len(one) for one in said] == [17, 71, 71, 12, 129, 43, bars, 2, 120]
    assert "Harbour_NMT.6750, 2018, pos:NOUN: MuLER 0.23, max - min 31.45" in said[1]
    assert said[7] == ["a: n 7", "b: n 8"]
    texts = page.locator("#f0-p1 svg").text_content()
    assert "pos:ADJ, r = " in texts
    assert ", n = 11" in texts  # one value is undefined


def test_a_chart_is_one_stop_of_the_tab_key_and_its_marks_are_walked(page: Any) -> None:
    cells = marks(page, 0)
    assert page.locator("#f0-p0 .drawing [tabindex='0']").count() == 1
    page.locator("#f0-p0 .drawing [tabindex='0']").focus()
    card = page.locator("#f0-p0 .card")
    assert card.inner_text() == "pos:NOUN, BLEU: r 1.00, n 12"
    for key in ("ArrowDown", "ArrowRight"):
        page.keyboard.press(key)
    assert card.inner_text() == "pos:VERB, indices-BLEU: r -0.50, n 12"
    assert page.evaluate("document.activeElement.getAttribute('aria-label')") == card.inner_text()
    page.keyboard.press("Home")
    assert card.inner_text() == cells.first.get_attribute("aria-label")
    page.keyboard.press("End")
    page.keyboard.press("ArrowRight")
    assert card.inner_text() == cells.last.get_attribute("aria-label")


def test_a_choice_draws_other_rows(page: Any, expect: Any) -> None:
    panel = page.locator("#f0-p7")
    panel.get_by_label("Kind").select_option("digit")
    expect(marks(page, 7)).to_have_count(1)
    assert marks(page, 7).evaluate_all(MARKS) == ["1: n 10"]
    panel.get_by_label("Kind").select_option("letter")
    expect(marks(page, 7)).to_have_count(2)


def test_one_share_far_outside_leaves_the_other_bars_readable(page: Any) -> None:
    widths = marks(page, 6).evaluate_all("nodes => nodes.map((n) => n.getBBox().width)")
    assert min(widths) > 0.03 * max(widths)


def test_text_in_charts_is_readable(page: Any) -> None:
    """Letters on a cell against its colour, all others against the page."""
    worst = page.evaluate("""() => {
      const light = (css) => {
        const pen = document.createElement("canvas").getContext("2d");
        pen.fillStyle = css;
        pen.fillRect(0, 0, 1, 1);
        return [...pen.getImageData(0, 0, 1, 1).data].slice(0, 3).map((v) => v / 255)
          .map((v) => v <= .04045 ? v / 12.92 : ((v + .055) / 1.055) ** 2.4)
          .reduce((sum, v, i) => sum + v * [.2126, .7152, .0722][i], 0);
      };
      const apart = (a, b) => (Math.max(a, b) + .05) / (Math.min(a, b) + .05);
      const ground = light(getComputedStyle(document.body).backgroundColor);
      let worst = 21;
      for (const text of document.querySelectorAll(".drawing svg text")) {
        if (!text.textContent || text.closest("[opacity='0']")) continue;
        const datum = text.__data__ && text.__data__.datum;
        const cell = datum && datum.said && datum.head !== undefined
          && [...document.querySelectorAll(".drawing [tabindex]")]
            .find((n) => n.__data__.datum.said === datum.said);
        const under = cell ? light(getComputedStyle(cell).fill) : ground;
        worst = Math.min(worst, apart(light(getComputedStyle(text).fill), under));
      }
      return worst;
    }""")
    assert worst >= 4.5


def test_a_chart_is_saved_as_a_drawing(page: Any) -> None:
    for kind, begins in (("SVG", b"<svg"), ("PNG", b"\x89PNG")):
        with page.expect_download() as download:
            page.locator("#f0-p4").get_by_role("button", name=f"Save as {kind}").click()
        assert download.value.path().read_bytes().startswith(begins)


def test_of_many_rows_those_that_differ_most_stand_first_and_all_on_request(
    browser: Any, expect: Any, tmp_path: Path
) -> None:
    columns = (Column("feature", "Feature"), Column("system", "System"), Column("v", "V", "number"))
    rows = tuple(
        {"feature": f"f{n}", "system": s, "v": n * k} for n in range(20) for k, s in enumerate("ab")
    )
    view = HeatMap("t", "Many", "feature", "system", "v")
    write_html(
        tmp_path / "m.html", Finding("m", "M", (Table("t", "T", columns, rows),), {}, (view,))
    )
    page = browser.new_page(viewport={"width": 390, "height": 844})
    page.goto((tmp_path / "m.html").as_uri())
    page.wait_for_selector("html[data-ready]")
    cells = page.locator(".drawing [tabindex]")
    assert [one.split(",")[0] for one in cells.evaluate_all(MARKS)][:4] == ["f19"] * 2 + ["f18"] * 2
    assert cells.count() == 24
    page.get_by_role("button", name="Show all 20 rows").click()
    expect(cells).to_have_count(40)
    page.close()


def test_without_a_script_a_table_stands_there(browser: Any, page_file: Path) -> None:
    page = browser.new_page(java_script_enabled=False)
    page.goto(page_file.as_uri())
    table = page.locator("#f0-p0 + noscript table")
    assert table.locator("tbody tr").first.inner_text().split() == [
        "pos:NOUN", "1.00", "[12]", "0.54", "[12]", "-0.42", "[12]"
    ]  # fmt: skip
    page.close()
