"""Scatter plots, curves, cells of little weight and cut bars, in a real browser."""

from __future__ import annotations

import math
import random
import re
from typing import TYPE_CHECKING, Any

import pytest

from gnomon.core.findings import (
    Bars,
    Boxes,
    Cell,
    Column,
    Finding,
    HeatMap,
    Lines,
    Scatter,
    Table,
    View,
)
from gnomon.report import write_html
from gnomon.stats import pearson

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


_BOXES = (
    Column("group", "Group"),
    Column("kind", "Kind"),
    *(Column(f"q{n}", f"Quartile {n}", "number") for n in range(5)),
    Column("n", "n", "count"),
)


def boxes() -> tuple[dict[str, Cell], ...]:
    """A kind whose groups differ from the other's, one group undefined."""
    groups = [("a", "letter"), ("b", "letter"), ("none", "letter"), ("1", "digit")]
    return tuple(
        {
            "group": group,
            "kind": kind,
            **{f"q{k}": None if group == "none" else n + k * (k + 1) / 2 for k in range(5)},
            "n": 7 + n,
        }
        for n, (group, kind) in enumerate(groups)
    )


def long_curves() -> tuple[dict[str, Cell], ...]:
    """Two kinds with curves of their own, of many points each."""
    return tuple(
        {"group": group, "kind": kind, "q0": step / 10, "q1": math.sin(step / 10 + n)}
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
        *(Boxes("boxes", "Boxes", "group", ("q0", "q1", "q2", "q3", "q4"), {"kind": kind}, "n")
          for kind in ("letter", "digit")),
        *(Lines("long", "Many points", "q0", "q1", "group", where={"kind": kind}, ink="b")
          for kind in ("letter", "digit")),
    )  # fmt: skip
    tables = (
        Table("correlations", "Correlations", _CORRELATIONS, correlations()),
        Table("points", "Points", _POINTS, points()),
        Table("curves", "Curves", _CURVES, curves()),
        Table("far", "Far", _POINTS, far_bars()),
        Table("boxes", "Boxes", _BOXES, boxes()),
        Table("long", "Long", _BOXES[:4], long_curves()),
    )
    return Finding("m", "Plots", tables, {}, views)


@pytest.fixture(scope="module")
def page_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path: Path = tmp_path_factory.mktemp("plots") / "plots.html"
    write_html(path, make_plots())
    return path


on_both = pytest.mark.parametrize(
    "page", [(1280, "light"), (390, "dark")], ids=["desktop", "phone"], indirect=True
)


@pytest.fixture
def page(request: pytest.FixtureRequest, browser: Any, page_file: Path) -> Iterator[Any]:
    """Wide and light, where a test does not ask for both; without fault or sideways scrolling."""
    width, scheme = getattr(request, "param", (1280, "light"))
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


def test_every_panel_says_r_and_n_of_its_points(page: Any) -> None:
    captions = page.locator("#f0-p1 svg.plot .stat").all_text_contents()
    assert len(captions) == len(FEATURES)
    for feature, caption in zip(FEATURES, captions, strict=True):
        rows = [r for r in points() if (r["metric"], r["feature"]) == ("bleu", feature)]
        pairs = [(r["muler"], r["spread"]) for r in rows if r["muler"] is not None]
        expected = f"r = {pearson(*zip(*pairs, strict=True)):.2f}, n = {len(pairs)}"
        assert caption.replace("\u2212", "-").startswith(expected)
    assert captions[4].endswith("(1 undefined)")


def test_the_metric_chosen_changes_the_points(page: Any) -> None:
    before = page.locator("#f0-p1 .stat").first.text_content()
    page.locator("#f0-p1").get_by_label("Metric").select_option(label="chrF")
    assert page.locator("#f0-p1 .stat").first.text_content() != before


@on_both
def test_names_of_points_never_lie_over_one_another_or_over_points(page: Any) -> None:
    hits = page.evaluate("""() => {
      const over = (a, b) => a.x + 1 < b.right && b.x + 1 < a.right
        && a.y + 2 < b.bottom && b.y + 2 < a.bottom;
      let hits = 0;
      for (const plot of document.querySelectorAll("#f0-p1 svg.plot, #f0-p2 svg.plot")) {
        const plates = [...plot.querySelectorAll(".plate")].map((n) => n.getBoundingClientRect());
        plates.forEach((a, i) => plates.slice(i + 1).forEach((b) => { hits += over(a, b); }));
      }
      return hits;
    }""")
    assert hits == 0
    assert page.locator("#f0-p1 svg.plot").first.locator(".plate").count() >= 4


@on_both
def test_points_are_walked_by_keys_and_read_aloud(page: Any) -> None:
    box = page.locator("#f0-p1")
    assert box.locator(".plot").first.locator("[tabindex='0']").count() == 1
    box.locator(".plot").first.locator("[tabindex='0']").focus()
    first = box.locator(".detail").inner_text()
    page.keyboard.press("ArrowRight")
    second = box.locator(".detail").inner_text()
    assert first != second
    assert page.evaluate("document.activeElement.getAttribute('aria-label')") == second
    assert re.search(r"pos:NOUN: MuLER 0\.\d\d, max - min \d\d\.\d\d$", second)
    page.keyboard.press("End")
    page.keyboard.press("ArrowRight")
    assert page.evaluate("document.activeElement.classList.contains('point')")


def test_the_system_pointed_at_is_marked_in_every_panel(page: Any) -> None:
    page.locator("#f0-p1 .plot").nth(5).locator(".point").nth(2).hover(force=True)
    assert page.locator("#f0-p1 .point.same").count() == len(FEATURES)


@on_both
def test_curves_break_where_a_value_is_undefined_and_carry_bands(page: Any) -> None:
    plot = page.locator("#f0-p4 svg.plot").first
    moves = [d.count("M") for d in plot.locator("path.curve").evaluate_all(
        "nodes => nodes.map((n) => n.getAttribute('d'))"
    )]  # fmt: skip
    assert moves == [1, 1, 2, 1]
    assert plot.locator("path.band").count() == 4
    assert page.locator("#f0-p5 path.band").count() == 0
    assert page.locator("#f0-p4 .legend").first.inner_text().split() == ["System", *SYSTEMS[:4]]


def test_panels_share_a_scale_when_asked(page: Any) -> None:
    box = page.locator("#f0-p1")
    ticks = """nodes => nodes.map((n) =>
      [...n.querySelectorAll('.tick:not(.stat)')].map((t) => t.textContent).join())"""
    assert len(set(box.locator("svg.plot").evaluate_all(ticks))) > 1
    box.get_by_label("Scale").select_option("the same for all")
    assert len(set(box.locator("svg.plot").evaluate_all(ticks))) == 1


def test_the_line_of_identity_runs_through_equal_coordinates(page: Any) -> None:
    line = page.locator("#f0-p3 svg.plot line.guide").first
    ends = [float(line.get_attribute(name)) for name in ("x1", "y1", "x2", "y2")]
    d = page.locator("#f0-p3 svg.plot .point").first.get_attribute("d")
    x, y = (float(v) for v in re.match(r"M([-\d.]+),([-\d.]+)a", d).groups())  # type: ignore[union-attr]  # a circle
    share = (x + 3.6 - ends[0]) / (ends[2] - ends[0])
    assert y == pytest.approx(ends[1] + share * (ends[3] - ends[1]), abs=0.01)


def test_cells_of_few_systems_are_grey_and_say_so(page: Any) -> None:
    cells = page.locator("#f0-p0 tbody tr", has_text="ent:PERSON").locator("td")
    assert [cells.nth(i).get_attribute("class").strip() for i in range(3)] == ["faint"] * 3
    label = cells.first.get_attribute("aria-label")
    assert label == "\u22120.99 5: r and n, ent:PERSON, BLEU, few systems"
    assert cells.first.locator("small").inner_text() == "5"
    assert "fewer than 8" in page.locator("#f0-p0 .legend").inner_text()


@on_both
def test_one_share_far_outside_leaves_the_other_bars_readable(page: Any) -> None:
    chart = page.locator("#f0-p6 svg.chart").first
    assert chart.locator("path.clipped").count() == 4
    widths = chart.locator("rect").evaluate_all("nodes => nodes.map((n) => n.width.baseVal.value)")
    assert min(widths) > 0.05 * max(widths)
    assert "40.00 !" in chart.locator(".value").all_text_contents()


def test_a_plot_is_saved_as_one_drawing(page: Any) -> None:
    with page.expect_download() as download:
        page.locator("#f0-p4").get_by_role("button", name="Save as SVG").click()
    text = download.value.path().read_text(encoding="utf-8")
    assert text.startswith("<svg")
    assert 'fill-opacity="0.16"' in text


@on_both
def test_a_box_is_drawn_from_quartile_to_quartile_with_its_median(page: Any) -> None:
    chart = page.locator("#f0-p7 svg.chart")
    assert chart.locator("rect.box").count() == 2
    box, median = chart.locator("rect.box").first, chart.locator("line.median").first
    ends = [float(box.get_attribute(name)) for name in ("x", "width")]
    # quartiles of group a are 0, 1, 3, 6, 10: the median at 2/5 of the box from 1 to 6
    share = (float(median.get_attribute("x1")) - ends[0]) / ends[1]
    assert share == pytest.approx(0.4, abs=0.01)
    label = chart.locator("g[role=img]").first.get_attribute("aria-label")
    assert label.startswith("a: Quartile 0 0.00, Quartile 1 1.00, Quartile 2 3.00")
    assert label.endswith("n 7")


def test_boxes_follow_the_choice_and_are_read_by_keys(page: Any) -> None:
    panel = page.locator("#f0-p7")
    panel.get_by_label("Kind").select_option("digit")
    assert panel.locator("rect.box").count() == 1
    panel.locator("g[role=img]").focus()
    assert panel.locator(".detail").inner_text().startswith("1: Quartile 0 3.00")


def test_one_curve_may_be_drawn_in_the_colour_of_text(page: Any) -> None:
    strokes = page.locator("#f0-p8 path.curve").evaluate_all(
        "nodes => nodes.map((n) => getComputedStyle(n).stroke)"
    )
    assert strokes[1] == page.evaluate("getComputedStyle(document.body).color")
    assert strokes[0] != strokes[1]


def test_a_choice_that_brings_other_curves_offers_and_shows_them(page: Any) -> None:
    panel = page.locator("#f0-p8")
    assert panel.locator("path.curve").count() == 2
    assert panel.locator(".picker").count() == 1
    panel.get_by_label("Kind").select_option("digit")
    assert panel.locator("path.curve").count() == 1
    assert panel.locator(".picker").count() == 0
