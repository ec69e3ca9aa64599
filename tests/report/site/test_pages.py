"""The pages in a real browser: both kinds, mouse and keyboard, hostile text, no request."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

import pytest
from tests.told import told

from gnomon.core.findings import Column
from gnomon.core.page_data import PageVerdict
from gnomon.core.store_views import Layer
from gnomon.report.site import write_site

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path
    from types import ModuleType

    Opener = Callable[..., Any]

pytestmark = [pytest.mark.browser, pytest.mark.slow]

ROUTES = (
    "systems",
    "system/0/2",
    "method/package.features",
    "method/package.hard",
    "segments/0?f=0&s=1&m=0&o=worst",
    "segment/0/7?f=3&s=2",
    "provenance",
    "tables",
    "table/1",
    "table/3",
)
HOSTILE = (
    "</script><script>window.broken=1</script>",
    "<img src=x onerror=window.broken=1>",
    "__proto__",
    "\u2028window.broken=1\u2029",
    "\u202egnp.exe \u2066 \x1b[31m",
    "');window.broken=1;('",
    "\\');window.broken=1;//",
    "{{ 7*7 }}",
)


@pytest.fixture(scope="module")
def folder(made: ModuleType, tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("site")
    write_site(place / "folder", made.study(12, 130))
    write_site(place / "file.html", made.study(12, 130))
    write_site(place / "hostile", hostile(made))
    write_site(place / "hostile.html", hostile(made))
    return place


def hostile(made: ModuleType) -> Any:
    texts = tuple(made.Text(text, ((0, (0, 2), ()),)) for text in HOSTILE)
    systems = tuple(f"{text}{n}" for n, text in enumerate(HOSTILE))
    segments = tuple(
        made.Segment(texts, 0, (1,), tuple(range(len(texts))), document=HOSTILE[i], domain="d")
        for i in range(len(HOSTILE))
    )
    layers = (Layer("spans", HOSTILE[1], HOSTILE[1]),)
    testset = made.Set(
        HOSTILE[0], systems, len(segments), None, (HOSTILE[3],), (HOSTILE[2], "m"), layers,
        own=segments,
    )  # fmt: skip
    columns = (Column("word", HOSTILE[0], help=HOSTILE[1]), Column("__proto__", "p", "number"))
    rows = [(text, 1.5) for text in HOSTILE]
    tables = (
        made.scores(testset),
        made.Table("hard_words", HOSTILE[0], HOSTILE[0], columns, rows),
    )
    return made.Study(
        tables,
        (testset,),
        HOSTILE[0],
        {HOSTILE[1]: HOSTILE[0]},
        tuple(told(one, "note") for one in HOSTILE),
    )


@pytest.mark.parametrize(
    ("name", "width"),
    [("folder", 400), ("file.html", 1280), ("hostile", 1280), ("hostile.html", 400)],
)
def test_every_page_shows_without_fault_request_or_sideways_scrolling(
    visit: Opener, folder: Path, name: str, width: int
) -> None:
    seen = visit(folder / name, width=width)
    others = [route for route in ROUTES if "package" not in route and route != "table/3"]
    own = f"method/{quote(HOSTILE[0], safe='')}"
    for route in ROUTES if "hostile" not in name else [*others, own]:
        page = seen.go(route)
        assert page.evaluate("document.documentElement.scrollWidth") <= width, route
        assert page.locator("h1").count() == 1
        assert page.evaluate("window.broken") is None
    assert seen.problems == []


def test_hostile_text_is_shown_as_text(visit: Opener, folder: Path) -> None:
    for name in ("hostile", "hostile.html"):
        seen = visit(folder / name)
        page = seen.go("segment/0/1")
        body = page.locator("main").inner_text()
        for text in (HOSTILE[0], HOSTILE[1], HOSTILE[2], HOSTILE[5], HOSTILE[6]):
            assert text in body
        assert page.locator("img, iframe, link").count() == 0
        assert not page.evaluate(r"/[\u001b\u202a-\u202e\u2066]/.test(document.body.innerText)")
        assert page.evaluate("({}).polluted") is None
        page = seen.go("segments/0?w=" + "%3C%2Fscript%3E")
        assert page.locator("article").count() >= 1
        assert seen.problems == []


def test_systems_sort_by_mouse_and_keyboard_and_say_so(visit: Opener, folder: Path) -> None:
    seen = visit(folder / "folder")
    page = seen.go("systems")
    head = page.locator("th", has_text="chrf")
    assert head.get_attribute("aria-sort") == "none"
    head.locator("button").click()
    assert head.get_attribute("aria-sort") == "descending"
    values = [float(v) for v in page.locator("tbody tr td:nth-child(3)").all_inner_texts()]
    assert len(values) == 12
    assert values == sorted(values, reverse=True)
    page.locator("thead th", has_text="System").locator("button").focus()
    page.keyboard.press("Enter")
    assert page.locator("thead th", has_text="System").get_attribute("aria-sort") == "ascending"
    assert page.evaluate("document.activeElement.textContent").startswith("System")
    page.get_by_label("Search").fill("system-003")
    page.locator("output", has_text="12 in all").wait_for()
    assert page.locator("tbody tr").count() == 1
    assert seen.problems == []


def test_a_features_cell_leads_to_its_segments_and_they_to_all_systems(
    visit: Opener, folder: Path
) -> None:
    seen = visit(folder / "folder")
    page = seen.go("method/package.features")
    page.locator(".drawing [aria-label^='pos:VERB, system-004: ']").click()
    page.locator("article").first.wait_for()
    assert page.locator("h1").inner_text() == "Segments"
    assert page.evaluate("document.activeElement.tagName") == "H1"
    assert page.get_by_label("System").input_value() == "system-004"
    assert page.get_by_label("Mark").input_value() == "pos:VERB"
    assert page.locator("article .candidate mark").count() >= 10
    scores = [float(t) for t in page.locator("article dl div:first-child dd").all_inner_texts()]
    assert scores == sorted(scores)
    page.locator("article h2 a").first.click()
    page.locator("table.data").wait_for()
    assert page.locator("table.data tbody tr").count() == 12
    assert page.locator("tr.chosen th").inner_text() == "system-004"
    assert page.locator("table.data mark").count() >= 12
    page.get_by_label("Mark").select_option("weight: chrf, erasure")
    assert page.locator("table.data [data-better=both] mark[class]").count() > 50
    page.get_by_label("Mark").select_option("hardness: bertscore")
    assert page.locator(".reference mark.h7").count() >= 1
    page.go_back()
    page.locator("article").first.wait_for()
    assert seen.problems == []


def test_a_heat_map_walks_by_keyboard_and_enter_leads_on(visit: Opener, folder: Path) -> None:
    seen = visit(folder / "folder")
    page = seen.go("method/package.features")
    page.locator(".drawing [aria-label^='pos:VERB, system-000: ']").focus()
    for key in ("ArrowRight", "ArrowRight", "Enter"):
        page.keyboard.press(key)
    page.locator("article").first.wait_for()
    assert page.get_by_label("System").input_value() == "system-002"
    assert seen.problems == []


def test_a_word_leads_to_the_segments_that_have_it(visit: Opener, folder: Path) -> None:
    seen = visit(folder / "folder")
    page = seen.go("method/package.hard")
    page.locator("tbody th a", has_text="harbour").click()
    page.locator("article").first.wait_for()
    found = int(page.locator("output.count").inner_text().split(" of ")[1].split()[0])
    assert 0 < found <= 130
    for text in page.locator("article").all_inner_texts():
        assert "harbour" in text or "best" in text
    page.get_by_label("Text, all words of it").fill("harbour nowhere-to-be-found")
    page.locator("output", has_text="no segment fits").wait_for()
    assert seen.problems == []


def test_pages_of_segments_turn_and_the_address_keeps_the_place(
    visit: Opener, folder: Path, expect: Any
) -> None:
    seen = visit(folder / "folder")
    page = seen.go("segments/0")
    assert page.locator("article h2").first.inner_text() == "Segment 1"
    page.get_by_role("button", name="Last").click()
    page.locator("article h2", has_text="Segment 130").wait_for()
    expect(page).to_have_url(re.compile("p=12"))
    page.reload()
    page.locator("article h2", has_text="Segment 130").wait_for()
    page.get_by_label("Order").select_option("systems furthest apart first")
    page.locator("output", has_text="1–10 of 130").wait_for()
    expect(page).to_have_url(re.compile("o=apart"))
    assert seen.problems == []


def test_every_table_downloads_whole_and_unrounded(
    made: ModuleType, visit: Opener, folder: Path, expect: Any
) -> None:
    study = made.study(12, 130)
    seen = visit(folder / "folder", accept_downloads=True)
    page = seen.go("table/3")
    assert page.locator("h1").inner_text() == "Scores of segments"
    expect(page.locator("output")).to_contain_text("1–50 of 3,120 rows")
    with page.expect_download() as waiting:
        page.get_by_role("button", name="Download TSV").click()
    lines = waiting.value.path().read_text(encoding="utf-8").split("\n")
    assert lines[0] == "testset\tsystem\tsegment\tmetric\tscore"
    assert len(lines) == 1 + 3120 + 1
    expected = study.testsets[0].scores("bleu")
    name, system, segment, metric, score = lines[1 + 130 * 2 + 4].split("\t")
    assert (name, system, segment, metric) == ("made/de-en", "system-002", "5", "bleu")
    assert float(score) == expected[2, 4]
    assert lines[1].endswith("\tbleu\t")
    page.get_by_label("Metric").select_option("chrf")
    page.get_by_label("Search").fill("system-011")
    page.locator("output", has_text="130 rows, 3,120 in all").wait_for()
    with page.expect_download() as waiting:
        page.get_by_role("button", name="Download CSV").click()
    assert waiting.value.path().read_text(encoding="utf-8").count("\n") == 131
    assert seen.problems == []


def test_formulas_in_downloads_are_harmless(
    visit: Opener, made: ModuleType, tmp_path: Path
) -> None:
    table = made.Table("t", "T", "m", (Column("word", "Word"),), [("=1+1",), ("a,b",)])
    write_site(tmp_path / "r.html", made.Study((table,), ()))
    seen = visit(tmp_path / "r.html", accept_downloads=True)
    page = seen.go("table/0")
    with page.expect_download() as waiting:
        page.get_by_role("button", name="Download CSV").click()
    assert waiting.value.path().read_text() == 'word\n\'=1+1\n"a,b"\n'
    assert seen.problems == []


def test_a_missing_part_is_told(visit: Opener, made: ModuleType, tmp_path: Path) -> None:
    write_site(tmp_path / "r", made.study(3, 5))
    (tmp_path / "r" / "data" / "text-0-0.js").unlink()
    page = visit(tmp_path / "r").go("segment/0/1")
    assert "data/text-0-0.js is missing" in page.locator("#state").inner_text()


def test_a_set_without_texts_shows_its_numbers(
    visit: Opener, made: ModuleType, tmp_path: Path
) -> None:
    testset = made.Set("s/de-en", ("x", "y"), 5, missing=made.TEXTS_GONE)
    write_site(tmp_path / "r", made.Study((made.scores(testset),), (testset,)))
    seen = visit(tmp_path / "r")
    assert "the texts are gone" in seen.go("segments/0").locator("main").inner_text()
    assert seen.go("systems").locator("tbody tr").count() == 2
    assert seen.problems == []


def test_skip_link_and_names_help_those_who_do_not_see(
    visit: Opener, folder: Path, expect: Any
) -> None:
    seen = visit(folder / "folder")
    page = seen.go("tables")
    page.wait_for_function("document.hasFocus()")
    page.keyboard.press("Tab")
    expect(page.locator(":focus")).to_have_text("Skip to the results")
    page.keyboard.press("Enter")
    expect(page.locator("#title")).to_be_focused()
    expect(page).to_have_url(re.compile("#/tables$"))
    assert page.locator("nav [aria-current=page]").inner_text() == "All tables"
    assert page.title() == "All tables – Two harbours"
    assert json.loads(page.evaluate("JSON.stringify(document.documentElement.lang)")) == "en"
    assert seen.problems == []


def test_print_leaves_controls_out(visit: Opener, folder: Path) -> None:
    seen = visit(folder / "folder")
    page = seen.go("systems")
    page.emulate_media(media="print")
    assert page.locator(".toolbar").first.is_hidden()
    assert page.get_by_role("button", name="Download").count() == 0
    assert page.locator("table.data").first.is_visible()
    assert seen.problems == []


def test_pages_of_one_test_set_read_no_other(
    visit: Opener, made: ModuleType, tmp_path: Path
) -> None:
    one, two = made.Set("a/de-en", ("x", "y"), 5), made.Set("b/de-en", ("y", "z"), 7)
    both = [made.muler(one, 4), made.muler(two, 4)]

    class Apart(made.Table):  # type: ignore[misc, name-defined]  # a module that is loaded by path
        def parts(self, rows: int) -> Any:
            for table in both:
                yield from table.parts(rows)

    joined = Apart("muler", "MuLER", made.FEATURES, both[0].columns, (), both[0].views)
    scores = [made.scores(one), made.scores(two)]
    alone = made.Table(
        "scores", "Scores", "systems", scores[0].columns, [*scores[0].rows, *scores[1].rows]
    )
    write_site(tmp_path / "r", made.Study((alone, joined), (one, two)))
    for part in (0, 1):  # of the first test set, a metric each
        (tmp_path / "r" / "data" / f"table-1-{part}.js").unlink()
    seen = visit(tmp_path / "r")
    page = seen.go("method/package.features/1")
    assert page.locator(".drawing [tabindex]").count() == 8
    assert seen.go("system/1/0").locator("h2", has_text="MuLER").count() == 1
    assert seen.go("systems/1").locator("tbody tr").count() == 2
    page.get_by_label("Test set", exact=True).first.select_option("a/de-en")
    page.locator("h2", has_text="Systems of a/de-en").wait_for()
    assert seen.problems == []


@pytest.fixture(scope="module")
def sets(made: ModuleType, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two test sets, two kinds of judgements, two steps of one method."""
    place = tmp_path_factory.mktemp("sets") / "r"
    write_site(place, made.several())
    return place


def downloaded(page: Any, kind: str = "TSV") -> list[list[str]]:
    with page.expect_download() as waiting:
        page.get_by_role("button", name=f"Download {kind}").first.click()
    text = waiting.value.path().read_text(encoding="utf-8")
    return [line.split("\t") for line in text.rstrip("\n").split("\n")]


def test_one_metric_is_shown_over_all_test_sets(visit: Opener, sets: Path, expect: Any) -> None:
    seen = visit(sets, accept_downloads=True)
    page = seen.go("systems")
    page.get_by_role("link", name="All test sets").click()
    page.locator("h1", has_text="All test sets").wait_for()
    names = ["system", "mean_score", "mean_rank", "testsets", "a/de-en", "b/de-en"]
    assert downloaded(page) == [
        names,
        ["x", "25", "1.5", "2", "30", "20"],
        ["w", "", "", "1", "25", ""],
        ["y", "15", "3", "2", "20", "10"],
        ["z", "", "", "1", "10", ""],
        ["v", "", "", "1", "", "40"],
    ]
    assert page.locator("tbody tr").last.locator("td").all_inner_texts()[-2:] == ["-", "40.00"]
    assert "not all in the same test sets" in page.locator("main").inner_text()
    page.get_by_role("button", name="b/de-en").click()
    assert page.locator("tbody th").all_inner_texts()[:3] == ["v", "x", "y"]
    assert seen.problems == []


def test_the_home_page_says_what_was_found_test_set_by_test_set(
    visit: Opener, sets: Path, expect: Any
) -> None:
    for width in (1280, 390):
        seen = visit(sets, width=width)
        page = seen.go("systems/1")
        expect(page.locator(".verdict li").first).to_have_text("v is on top.")
        box = page.locator(".verdict").first.bounding_box()
        assert box["y"] + box["height"] <= 844
        picture = page.locator(".proof .drawing svg").first.bounding_box()
        assert picture["y"] < 600  # it begins well within the first screen
        warned = page.locator(".verdict [data-level=caution]").first
        assert "<b>b/de-en</b>" in warned.inner_text()
        other = page.locator("details.found")
        assert "x is on top." in other.locator("summary").inner_text()
        other.locator("summary").click()
        expect(other.locator(".verdict li")).to_have_count(2)
        assert seen.problems == []


def test_the_first_screen_of_a_study_holds_the_first_sentence_of_each_method(
    visit: Opener, made: ModuleType, tmp_path: Path, expect: Any
) -> None:
    study = made.study(3, 4)
    systems = "apertium-direct is better than apertium-catalan by 4.8 BLEU [3.2, 6.5]."
    words = "Systems differ on verbs in 6 of 10 pairs, " * 3
    said = (
        PageVerdict("made/de-en", "systems", [told(systems)] * 4),
        PageVerdict("made/de-en", "package.features", [told(words)] * 4),
    )
    write_site(tmp_path / "r", replace(study, said=said))
    for width in (1280, 390):
        seen = visit(tmp_path / "r", width=width)
        page = seen.go("systems")
        leads = page.locator("ul.verdict").first.locator("li")
        expect(leads).to_have_count(2)
        assert words.strip() in leads.nth(1).inner_text()
        box = leads.nth(1).bounding_box()
        assert box["y"] + box["height"] <= (800 if width == 1280 else 844) / 2
        picture = page.locator(".proof .drawing svg").first.bounding_box()
        assert box["y"] < picture["y"] < 600
        rest = page.locator("section", has_text="More results").locator(".verdict li")
        expect(rest).to_have_count(6)
        leads.nth(1).get_by_role("link").first.click()
        expect(page).to_have_url(re.compile("#/method/package.features/0$"))
        assert seen.problems == []


def test_an_error_rate_on_one_test_set_has_no_means_and_its_best_first(
    visit: Opener, sets: Path
) -> None:
    seen = visit(sets, accept_downloads=True)
    page = seen.go("overview/1")
    assert downloaded(page) == [
        ["system", "a/de-en"],
        ["w", "40"],
        ["x", "50"],
        ["y", "60"],
        ["z", "70"],
    ]
    assert "Without scores by this metric: b/de-en." in page.locator("main").inner_text()
    assert seen.problems == []


def test_an_overview_leads_to_test_sets_and_systems(visit: Opener, sets: Path, expect: Any) -> None:
    seen = visit(sets)
    page = seen.go("overview")
    page.get_by_role("link", name="Systems of b/de-en").click()
    page.locator("h2", has_text="Systems of b/de-en").wait_for()
    page.go_back()
    page.locator("tbody tr", has_text="y").get_by_role("link", name="10.00").click()
    page.locator("h1", has_text="y").wait_for()
    expect(page).to_have_url(re.compile("#/system/1/2$"))
    assert seen.problems == []


def test_hostile_names_are_text_over_all_test_sets_too(
    visit: Opener, made: ModuleType, tmp_path: Path
) -> None:
    sets = tuple(made.Set(name, HOSTILE, 2, metrics=(HOSTILE[1],)) for name in HOSTILE)
    rows = [row for one in sets for row in made.scores(one).rows]
    table = made.Table("scores", "Scores", "systems", made.scores(sets[0]).columns, rows)
    write_site(tmp_path / "r", made.Study((table,), sets))
    seen = visit(tmp_path / "r", width=400)
    page = seen.go("overview")
    assert page.evaluate("document.documentElement.scrollWidth") <= 400
    body = page.locator("main").inner_text()
    for text in (HOSTILE[0], HOSTILE[1], HOSTILE[2], HOSTILE[5], HOSTILE[6]):
        assert body.count(text) >= 2
    assert page.locator("img, iframe, link").count() == 0
    assert page.evaluate("window.broken") is None
    assert not page.evaluate(r"/[\u001b\u202a-\u202e\u2066]/.test(document.body.innerText)")
    assert seen.problems == []


def test_a_single_test_set_has_no_page_of_all(visit: Opener, folder: Path) -> None:
    page = visit(folder / "folder").go("systems")
    assert page.locator("nav.contents a", has_text="All test sets").count() == 0


SAID = "nodes => nodes.map((node) => node.getAttribute('aria-label'))"


def test_kinds_of_judgements_are_never_pooled(
    visit: Opener, made: ModuleType, tmp_path: Path, expect: Any
) -> None:
    study = made.several()
    given = {"a/de-en": {"bleu": (30, 20, 10, 25)}, "b/de-en": {"bleu": (40, 20, 10)}}
    told = made.agreement(study.testsets, given)
    write_site(tmp_path / "r", replace(study, tables=(study.tables[0], *told)))
    seen = visit(tmp_path / "r", accept_downloads=True)
    page = seen.go("method/package.people")
    marks = page.locator(".drawn").first.locator(".drawing [tabindex]")
    assert marks.evaluate_all(SAID) == ["bleu, Pearson: value 1.00"]
    dots = page.locator(".drawn").nth(1)
    assert "bleu, r = 1.00, n = 4" in dots.locator("svg").text_content()
    dots.locator("select").select_option("mqm")
    expect(dots.locator("svg")).to_contain_text("bleu, r = -1.00, n = 4")
    seen.go("systems")
    assert downloaded(page)[:2] == [
        ["system", "Human scores (da)", "Human scores (mqm)", "bleu", "ter"],
        ["x", "3", "-30", "30", "50"],
    ]
    assert seen.problems == []


def test_steps_with_other_options_are_told_apart(visit: Opener, sets: Path, expect: Any) -> None:
    seen = visit(sets)
    page = seen.go("method/package.features")
    options = page.get_by_label("Options")
    assert options.locator("option").all_inner_texts() == [
        "pattern.number: [0-9]+", "pattern.number: the"
    ]  # fmt: skip
    cells = page.locator(".drawing [tabindex]")
    values = [said.rsplit(" ", 1)[1] for said in cells.evaluate_all(SAID)]
    assert values == ["0.10", "0.20", "0.30", "0.40"]
    options.select_option("pattern.number: the")
    expect(cells.first).to_have_attribute("aria-label", "re:number, x: muler 0.60")
    assert seen.problems == []
