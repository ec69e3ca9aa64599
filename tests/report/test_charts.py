"""Charts as Vega-Lite specifications, and figures of them for papers."""

from __future__ import annotations

import re
import sys
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import gnomon as gn
from gnomon import example
from gnomon.core.errors import MissingDependencyError, UsageError
from gnomon.core.findings import (
    Bars,
    Column,
    Finding,
    HeatMap,
    Histogram,
    Lines,
    Listing,
    Scatter,
    StackedBars,
    Table,
)
from gnomon.report.charts import chart
from gnomon.report.panels import panels
from gnomon.report.short_names import short_names


def drawn() -> Finding:
    names = ("name", "group", "a", "b", "c", "low", "high")
    columns = tuple(Column(n, n, "text" if n in ("name", "group") else "number") for n in names)
    rows = tuple(
        {"name": f"n{i}", "group": f"g{k}", "a": i + k, "b": None if i == 1 else i, "c": 3.0 + i,
         "low": i - 1.0, "high": i + 1.0}
        for i in range(4) for k in range(2)
    )  # fmt: skip
    views = (
        Listing("t", "none", ("name",)),
        HeatMap("t", "heat", "name", "group", "a"),
        StackedBars("t", "stacked", "name", "group", ("a", "b")),
        Scatter("t", "scatter", "a", "c", "name", series="group", identity=True),
        Lines("t", "lines", "a", "c", "name", panels="group", low="low", high="high"),
        Histogram("t", "histogram", "name", "low", "high", "a", where={"group": "g0"}),
        Bars("t", "dots", "name", "group", ("a", "c"), dots=True),
    )
    return Finding("m", "drawn", (Table("t", "t", columns, rows),), {}, views=views)


def values_of(chart: Any) -> list[dict[str, Any]]:
    values: list[dict[str, Any]] = chart["data"]["values"]
    return values


@pytest.fixture(scope="module")
def compared() -> Finding:
    found: Finding = gn.compare(
        gn.TestSet.read(example.path()), "chrf", baseline="apertium-direct", resamples=100
    )
    return found


def test_every_view_that_is_a_picture_is_a_specification() -> None:
    finding = drawn()
    for number, view in enumerate(finding.views[1:], start=1):
        chart = finding.chart(number)
        assert chart["description"] == view.title
        assert "title" not in chart
        bundle = chart._repr_mimebundle_()
        assert bundle["application/vnd.vegalite.v5+json"] == chart
        assert bundle["text/plain"] == f"<Chart: {view.title}>"
    assert finding.chart()["description"] == "heat"
    with pytest.raises(UsageError, match="views that can be drawn: 1: heat; 2: stacked"):
        finding.chart(0)
    with pytest.raises(UsageError, match="no view that can be drawn"):
        replace(finding, views=()).chart()


def test_bars_stand_best_first_and_say_what_they_show(compared: Finding) -> None:
    chart = compared.chart()
    rows = {row["system"]: row for row in compared.rows}
    shown = values_of(chart)
    assert [value["name"] for value in shown] == sorted(rows, key=lambda s: -rows[s]["score"])
    for value in shown[1:]:
        row = rows[value["name"]]
        assert (value["value0"], value["low0"], value["high0"]) == (
            row["score"], row["score_low"], row["score_high"]
        )  # fmt: skip
        assert re.search(r"Difference -\d+\.\d\d \[-\d+\.\d\d, -\d+\.\d\d\], p ", value["said"])
    bold = chart["hconcat"][0]["encoding"]["y"]["axis"]["labelFontWeight"]["condition"]
    assert bold["test"] == 'datum.value === "apertium-direct"'


def test_the_best_stands_first_where_lower_is_better() -> None:
    testset = gn.TestSet.read(example.path())
    found = gn.compare(testset, "ter", baseline="apertium-direct", resamples=0)
    scores = [value["value0"] for value in values_of(found.chart())]
    assert scores == sorted(scores)


def test_a_page_has_one_panel_of_metrics_whichever_end_is_good() -> None:
    testset = gn.TestSet.read(example.path())
    found = gn.compare(testset, ["bleu", "ter"], baseline="apertium-direct", resamples=0)
    panel = panels(found.views)[0]
    table = found.tables[0]
    charts = panel.charts(table, table.rows, {})["charts"]
    assert [chart["metric"] for chart in charts] == ["bleu", "ter"]
    bleu, ter = (chart["spec"]["data"]["columns"]["value0"]["cells"] for chart in charts)
    assert bleu == sorted(bleu, reverse=True)
    assert ter == sorted(ter)


def decided(compared: Finding, *names: str) -> Finding:
    """The same with differences of these systems decided, and no others."""
    table = compared.tables[0]
    records = tuple(
        {**row, "decided": None if row["difference"] is None else row["system"] in names}
        for row in table.rows
    )
    return replace(compared, tables=(replace(table, records=records), *compared.tables[1:]))


def test_what_cannot_be_told_apart_stands_in_a_band(compared: Finding) -> None:
    some = decided(compared, "apertium-french", "apertium-galician").chart()
    banded = {value["name"] for value in values_of(some) if value.get("band")}
    assert "apertium-direct" in banded
    assert not banded & {"apertium-french", "apertium-galician"}
    assert some["title"]["text"][0].startswith("Shaded: cannot be told apart from")
    assert some["hconcat"][0]["layer"][0]["mark"]["type"] == "rect"
    every = decided(compared, *(str(row["system"]) for row in compared.rows)).chart()
    assert all(layer["mark"] != "rect" for layer in every["hconcat"][0]["layer"])
    assert "title" not in every


def test_what_is_not_decided_is_grey(compared: Finding) -> None:
    finding = decided(compared, "apertium-french")
    (view,) = (view for view in finding.views if isinstance(view, Bars))
    finding = replace(finding, views=(replace(view, band=""),))
    colour = finding.chart()["hconcat"][0]["encoding"]["color"]
    shades = dict(zip(colour["scale"]["domain"], colour["scale"]["range"], strict=True))
    shown = {value["name"]: shades[value["shade"]] for value in values_of(finding.chart())}
    del shown["apertium-direct"]
    assert shown.pop("apertium-french") not in set(shown.values()) == {"#a9b0b8"}


def test_long_names_that_differ_in_a_few_characters_stay_apart(compared: Finding) -> None:
    long = {
        name: f"{'transformer-ensemble-' * 3}{name}" for name in compared.table().values("system")
    }
    table = compared.table()
    records = tuple({**row, "system": long[row["system"]]} for row in table.rows)
    chart = replace(compared, tables=(replace(table, records=records),)).chart()
    shown = [value["name"] for value in values_of(chart)]
    assert len(set(shown)) == len(long)
    assert max(map(len, shown)) <= 24
    assert all(any(name in value["said"] for name in long.values()) for value in values_of(chart))
    assert chart["hconcat"][0]["encoding"]["y"]["scale"]["domain"] == shown
    bold = chart["hconcat"][0]["encoding"]["y"]["axis"]["labelFontWeight"]["condition"]
    assert bold["test"] == f'datum.value === "{shown[0]}"'.replace("\u2026", "\\u2026")


@given(st.lists(st.text(min_size=20), max_size=6, unique=True))
def test_no_two_short_names_are_alike(names: list[str]) -> None:
    short = short_names(names)
    assert len({short.get(name, name) for name in names}) == len(names)


def test_names_are_cut_between_what_readers_take_for_characters() -> None:
    names = ["\u0905\u0928\u0941\u0935\u093e\u0926" * 12 + str(n) for n in range(2)]
    short = short_names(names).values()
    assert not any(re.search("(^|\u2026)[\u093e-\u094d]", name) for name in short)
    assert list(short_names(["\u795e" * 30]).values()) == ["\u795e" * 6 + "\u2026" + "\u795e" * 5]


def test_no_cell_stands_out_where_all_are_alike() -> None:
    columns = (
        Column("kind", "Kind"),
        Column("system", "System"),
        Column("share", "Share", "share"),
    )
    rows = tuple({"kind": kind, "system": "a", "share": 0.0} for kind in ("empty", "loop"))
    view = HeatMap("t", "shares", "kind", "system", "share", low=0)
    made = chart(Finding("m", "m", (Table("t", "t", columns, rows),), {}, views=(view,)))
    scale = made["layer"][0]["encoding"]["color"]["scale"]
    assert (scale["domainMin"], scale["domainMax"]) == (0, 1)


def test_each_panel_of_points_says_r_and_n() -> None:
    finding = drawn()
    values = values_of(finding.chart(3))
    assert {value["panel"] for value in values} == {"r = 0.91, n = 8"}
    assert {value["label"] for value in values} <= {"", "n0", "n1", "n2", "n3"}


def test_points_that_stand_out_are_named_first_and_no_name_lies_over_a_point() -> None:
    columns = (Column("s", "S"), Column("x", "x", "number"), Column("y", "y", "number"))
    rows = [{"s": f"point {n}", "x": n, "y": float(n)} for n in range(30)]
    rows.append({"s": "outlier", "x": 25, "y": 2.0})
    view = Scatter("t", "scatter", "x", "y", "s")
    shown = values_of(
        Finding("m", "m", (Table("t", "t", columns, tuple(rows)),), {}, (view,)).chart()
    )
    assert shown[-1]["label"] == "outlier"
    assert shown[-1]["left"]
    assert not any(row["label"] for row in shown[:-1])  # too close to each other


def test_curves_break_where_a_value_is_undefined() -> None:
    finding = replace(drawn(), views=(Lines("t", "lines", "a", "b", "group"),))
    assert [value["y"] for value in values_of(finding.chart())].count(None) == 2


def test_names_of_data_are_data() -> None:
    name = "x' + alert(1) + '\u202e"
    finding = drawn()
    rows = tuple({**row, "name": name} for row in finding.rows)
    table = replace(finding.table(), columns=(*finding.table().columns,), records=rows)
    bars = Bars("t", "b", "group", "name", ("a",), ordered=True)
    better = tuple(replace(c, better="higher") if c.name == "a" else c for c in table.columns)
    chart = replace(finding, tables=(replace(table, columns=better),), views=(bars,)).chart()
    assert "\u202e" not in str(chart)


def test_scores_are_drawn_best_first() -> None:
    testset = gn.TestSet.read(example.path())
    scores = gn.score(testset, "chrf")
    shown = [value["name"] for value in values_of(scores.chart())]
    assert shown == sorted(testset.systems, key=lambda s: -scores.system[scores.systems.index(s)])


def test_a_figure_is_as_wide_as_a_column_or_a_page(tmp_path: Path) -> None:
    pytest.importorskip("vl_convert", reason="an extra")
    path = tmp_path / "figure.svg"
    for view, wide, inches in ((5, None, 3.3), (6, None, 6.9)):
        drawn().save_figure(path, view, wide=wide)
        width = float(re.findall(r'width="([\d.]+)pt"', path.read_text("utf-8"))[0])
        assert width / 72 == pytest.approx(inches, abs=0.05)


@pytest.mark.parametrize(("name", "begins"), [("f.pdf", b"%PDF"), ("f.png", b"\x89PNG")])
def test_a_figure_is_written_as_its_name_says(tmp_path: Path, name: str, begins: bytes) -> None:
    pytest.importorskip("vl_convert", reason="an extra")
    drawn().save_figure(tmp_path / name, 5)
    assert (tmp_path / name).read_bytes().startswith(begins)


def test_letters_that_no_font_has_are_said(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("vl_convert", reason="an extra")
    monkeypatch.setattr("gnomon.report.charts.shutil.which", lambda _: "fc-list")
    nothing = SimpleNamespace(stdout="")
    monkeypatch.setattr("gnomon.report.charts.subprocess.run", lambda *_, **__: nothing)
    finding = drawn()
    rows = tuple({**row, "name": f"\U00010920{row['name']}"} for row in finding.rows)  # Lydian
    replace(finding, tables=(replace(finding.table(), records=rows),)).save_figure(
        tmp_path / "f.svg", 6
    )
    assert "letters of Lydian" in caplog.text


def test_a_command_writes_the_first_chart(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip("vl_convert", reason="an extra")
    from gnomon.cli import main

    path = tmp_path / "figure.svg"
    arguments = ["compare", "-t", str(example.path()), "-m", "chrf", "--resamples", "0", "-q"]
    assert main([*arguments, "--figure", str(path)]) == 0
    assert "apertium-galician" in path.read_text("utf-8")


def test_a_chart_is_chosen_by_words_of_its_title(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip("vl_convert", reason="an extra")
    from gnomon.cli import main

    assert drawn().chart("LINE")["description"] == "lines"
    paths = [tmp_path / name for name in ("a.svg", "b.svg")]
    common = ["compare", "-t", str(example.path()), "-m", "bleu", "chrf", "--resamples", "0", "-q"]
    figures = ["--figure", f"chrf={paths[0]}", "--figure", str(paths[1])]
    assert main([*common, *figures]) == 0
    assert ["chrF" in path.read_text("utf-8") for path in paths] == [True, False]
    capsys.readouterr()
    assert main([*common, "--figure", f"ter={paths[0]}"]) == 2
    assert "BLEU of each system" in capsys.readouterr().err
    assert main([*common, "--figure", "a.svg", "--figure", "bleu=a.svg"]) == 2
    assert "--figure names a.svg twice" in capsys.readouterr().err


def test_rows_of_a_high_figure_are_lower(tmp_path: Path) -> None:
    pytest.importorskip("vl_convert", reason="an extra")
    rows = [{"name": f"n{i}", "group": f"g{k}", "a": i + k} for i in range(33) for k in range(2)]
    columns = drawn().table().columns[:3]
    finding = Finding(
        "m", "m", (Table("t", "t", columns, tuple(rows)),), {}, views=drawn().views[1:2]
    )
    finding.save_figure(tmp_path / "f.svg")
    high = float(re.findall(r'height="([\d.]+)pt"', (tmp_path / "f.svg").read_text("utf-8"))[0])
    assert 4 < high / 72 < 6


@pytest.mark.parametrize(("kind", "said"), [("svg", False), ("png", True)])
def test_vowel_signs_that_the_renderer_misplaces_are_said(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, kind: str, said: bool
) -> None:
    pytest.importorskip("vl_convert", reason="an extra")
    rows = tuple({**row, "name": f"{row['name']} \u0935\u093e"} for row in drawn().rows)
    finding = replace(drawn(), tables=(replace(drawn().table(), records=rows),))
    finding.save_figure(tmp_path / f"f.{kind}", 6)
    assert ("vowel signs of Devanagari" in caplog.text) is said


def test_a_figure_is_refused_with_its_remedy(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "vl_convert", None)
    with pytest.raises(MissingDependencyError, match=r"pip install\s+'gnomon\[figures\]'"):
        drawn().save_figure(tmp_path / "f.pdf")
    with pytest.raises(UsageError, match=r"\.pdf, \.svg or \.png; got .*f\.jpg"):
        drawn().save_figure(tmp_path / "f.jpg")


def test_what_a_chart_leaves_out_is_said_and_nothing_is_refused(
    caplog: pytest.LogCaptureFixture,
) -> None:
    found = drawn()
    (whole,) = found.tables
    rows = [{**row, "name": f"{row['name']}.{n}"} for n in range(20) for row in whole.rows]
    many = Table("t", "t", whole.columns, tuple(rows))
    chart(replace(found, tables=(many,)), 1)
    assert "the chart shows 40 of 80" in caplog.text
    nothing = Table("t", "t", whole.columns, tuple({**row, "a": None} for row in whole.rows))
    with pytest.raises(UsageError, match="no defined values"):
        chart(replace(found, tables=(nothing,)), 1)


def test_an_axis_names_its_metric(compared: Finding) -> None:
    titles = [
        layer["encoding"]["x"]["title"]
        for panel in compared.chart()["hconcat"]
        for layer in panel["layer"][:1]
    ]
    assert titles == ["Score (chrF)"]
