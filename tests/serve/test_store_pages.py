"""Pages of a study say what its store says."""

from __future__ import annotations

import json
import shutil
from typing import TYPE_CHECKING, Any

import pytest

from gnomon.core.errors import DataError
from gnomon.serve import progress as _progress
from gnomon.serve.store_pages import (
    open_store,
    study_result,
)
from gnomon.studies import Store, verdicts

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path


def test_the_result_says_what_the_store_says(finished: Path) -> None:
    (shown,) = study_result(open_store(finished))
    found = {v.section: [str(said) for said in v.verdict] for v in verdicts(Store(finished))}
    assert {v.method: [str(s) for s in (*v.sentences, *v.notes)] for v in shown.verdicts} == found


def test_tables_hold_the_figures_of_the_store(finished: Path) -> None:
    opened = open_store(finished)
    (shown,) = study_result(opened)
    *compared, heat = shown.tables
    rows = opened.rows()
    asked = (
        "select system, score, difference, low, high, verdict from"
        f" {rows.rows('comparisons')} where slice is null and metric = ?"
    )
    for metric, table in zip(("bleu", "chrf"), compared, strict=True):
        cells = {row.cells[0].text: [cell.value for cell in row.cells] for row in table.grid.rows}
        for system, *figures in rows.query(asked, metric):
            assert {each for each in figures if each is not None} <= {*cells[system]}
    assert (heat.column, heat.place) == ("feature", 0)
    assert {row.cells[0].text for row in heat.grid.rows} == {"re:the", "re:of"}
    asked = (
        f"select feature, system, muler from {rows.rows('muler')} where variant = 'ratio'"
        " and slice is null"
    )
    figures = {(feature, system): muler for feature, system, muler in rows.query(asked)}
    titles = [column.title for column in heat.grid.columns]
    for row in heat.grid.rows:
        for system, cell in list(zip(titles, row.cells, strict=True))[heat.grid.stub :]:
            assert cell.value == figures[row.cells[0].text, system]


def test_a_store_is_read_again_only_when_it_changed(stored: Path) -> None:
    first = open_store(stored)
    assert open_store(stored) is first
    manifest = stored / "manifest.jsonl"
    lines = manifest.read_text().splitlines(keepends=True)
    manifest.write_text("".join(lines[:-1]))
    assert len(open_store(stored).entries) == len(first.entries) - 1


# How far a study is.


def test_a_study_that_is_not_finished_says_so(stored: Path, shows: Callable[..., Any]) -> None:
    manifest = stored / "manifest.jsonl"
    lines = manifest.read_text().splitlines(keepends=True)
    manifest.write_text("".join(lines[:2]))
    client = shows()
    page = client.get("").text
    assert f"2 of {len(lines)} steps are done" in page
    assert "Not finished" in page
    assert f"2 of {len(lines)} steps are done" in client.get("/state").text


def test_a_running_study_is_seen_by_its_lock_which_nobody_takes(
    stored: Path, shows: Callable[..., Any]
) -> None:
    lines = (stored / "manifest.jsonl").read_text().splitlines(keepends=True)
    (stored / "manifest.jsonl").write_text("".join(lines[:-1]))
    client = shows()
    with Store.open(stored, create=True).locked():
        assert _progress.is_running(stored)
        page = client.get("").text
        assert "may change" in page
        assert "Running:" in client.get("/state").text
        if "better" in page:
            assert ", so far" in page
    assert not _progress.is_running(stored)
    with Store.open(stored, create=True).locked():
        pass


# What went wrong, and a way on.


def test_a_store_of_another_layout_is_a_sentence(stored: Path, shows: Callable[..., Any]) -> None:
    client = shows()
    (stored / "store.json").write_text(json.dumps({"gnomon-store": 1}))
    (stored / "manifest.jsonl").touch()
    with (stored / "manifest.jsonl").open("a") as file:
        file.write("\n")
    answer = client.get("")
    assert answer.status_code == 409
    assert "another version of gnomon" in answer.text
    assert str(stored) not in answer.text


@pytest.mark.parametrize("file", ["manifest.jsonl", "plan.json"])
def test_a_damaged_store_is_a_sentence(stored: Path, shows: Callable[..., Any], file: str) -> None:
    client = shows()
    path = stored / file
    path.write_bytes(b"#" + path.read_bytes()[1:])
    answer = client.get("")
    assert answer.status_code == 409
    assert "damaged" in answer.text
    assert str(stored) not in answer.text


def test_a_damaged_table_is_a_sentence(stored: Path, shows: Callable[..., Any]) -> None:
    client = shows()
    for file in (stored / "tables" / "segments").iterdir():
        file.write_bytes(b"x" * 100)
    answer = client.get("/download/tables/segments.csv")
    assert answer.status_code == 409
    assert "Run the study again" in answer.text
    assert str(stored) not in answer.text
    assert client.get("/state").status_code == 200


def test_a_deleted_store_is_a_sentence(stored: Path, shows: Callable[..., Any]) -> None:
    client = shows()
    shutil.rmtree(stored)
    answer = client.get("")
    assert answer.status_code == 409
    assert str(stored) not in answer.text


def test_no_store_is_an_error_of_the_command(tmp_path: Path) -> None:
    with pytest.raises(DataError):
        open_store(tmp_path)


@pytest.mark.parametrize(
    "address",
    ["", "/tables", "/state"],
)
def test_pages_hold_no_script(shows: Callable[..., Any], address: str) -> None:
    page = shows().get(address)
    assert page.status_code == 200
    for script in ("onclick", "style=", "javascript:"):
        assert script not in page.text
