"""The tables of a method from another package have a page of their own in the report of a study."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from gnomon.core import registry as methods
from gnomon.studies import Store, pages

_EXAMPLE = Path(__file__).resolve().parents[3] / "examples" / "plugin-method"
_STUDY = """
name = "stuck"
[[testsets]]
path = "set"
[methods.repetitions]
longest = 2
"""


@pytest.fixture(scope="module")
def stuck(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A study by the method of a package, and its report, made where that is installed."""
    place = tmp_path_factory.mktemp("stuck")
    info = place / "site" / "gnomon_repetitions-1.0.0.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text("Name: gnomon-repetitions\nVersion: 1.0.0\n")
    points = "[gnomon.methods]\nrepetitions = gnomon_repetitions:repetitions\n"
    (info / "entry_points.txt").write_text(points)
    places = [str(_EXAMPLE / "src"), str(place / "site"), *sys.path]
    env = {**os.environ, "PYTHONPATH": os.pathsep.join(places)}
    (place / "set" / "systems").mkdir(parents=True)
    (place / "set" / "ref.A.txt").write_text("a cat sat\nthe dog ran\n")
    (place / "set" / "systems" / "x.txt").write_text("a cat cat sat\nthe dog the dog ran\n")
    (place / "set" / "systems" / "y.txt").write_text("a cat sat\nthe dog dog ran\n")
    (place / "s.toml").write_text(_STUDY)
    for arguments in (["run", "s.toml", "--workers", "2"], ["report", "s.store", "-o", "report"]):
        command = [sys.executable, "-m", "gnomon", *arguments]
        subprocess.run(command, env=env, cwd=place, check=True)
    return place


@pytest.mark.browser
def test_a_package_has_a_page_of_its_own_in_the_report_of_a_study(
    stuck: Path, browser: Any
) -> None:
    page = browser.new_page()
    page.goto((stuck / "report" / "index.html").as_uri())
    page.get_by_role("link", name="Repetitions").click()
    page.locator("h1", has_text="Repetitions").wait_for()
    main = page.locator("main")
    assert "find words that systems say twice in a row" in main.inner_text()
    page.locator(".drawing svg").first.wait_for()
    page.locator("summary", has_text="Table (4 rows)").click()
    main.locator("table.data tbody tr").nth(1).wait_for()
    assert main.locator("table.data tbody tr").first.inner_text().split() == [
        "x",
        "1",
        "1",
        "0.50",
        "0.00",
    ]
    page.close()


def test_tables_of_a_method_that_is_not_installed_here_are_shown_too(stuck: Path) -> None:
    assert "repetitions" not in methods.names()
    found = pages(Store.open(stuck / "s.store"))
    assert [tuple(one) for one in found.sections] == [("repetitions", "Repetitions", "")]
    table = next(one for one in found.tables if one.name == "repetitions")
    (part,) = table.parts(10)
    names = [column.name for column in table.columns]
    assert dict(zip(names, part, strict=True))["share"] == [0.5, 0.5, 0.5, 0.0]
    assert table.views
