"""Files to take along hold all rows, run nothing, and say nothing of the server."""

from __future__ import annotations

import csv
import io
import json
import zipfile
from typing import TYPE_CHECKING

import pytest
from tests.serve.conftest import comparison_of

from gnomon import study
from gnomon.core.errors import UnknownNameError
from gnomon.core.findings import Column
from gnomon.serve._builds import KEY, make
from gnomon.serve._downloads import KINDS, file_name, rows_file, study_file, table_file
from gnomon.serve._notes import add_note
from gnomon.serve._store_pages import open_store, table_names
from gnomon.studies import Store, verdicts

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from starlette.applications import Starlette
    from starlette.testclient import TestClient

COLUMNS = (Column("text", "Text"), Column("n", "N", "number"), Column("yes", "Yes", "truth"))
_SHEET_STUDY = """
name = "sheet"
metrics = ["bleu"]
[[testsets]]
path = "texts"
[methods.muler]
together = true
resamples = 0
features = ["re:*"]
pattern = { animal = "cat|dog|cow|hen" }
"""
RISKY = ["=1+1", "+cmd", "-x", "@sum", "\tx", "\rx", "＝1", " =1"]


def _bytes(parts: object) -> bytes:
    return b"".join(parts)  # type: ignore[call-overload, no-any-return]


@pytest.mark.parametrize("kind", ["tsv", "csv"])
def test_formulas_are_defused_and_numbers_stay(kind: str) -> None:
    rows = [(text, -1.5, True) for text in RISKY] + [("-2.5", -1e-9, None), ("fine", None, False)]
    text = _bytes(rows_file(COLUMNS, rows, kind)).decode("utf-8-sig")
    cells = [line.split("\t")[0] for line in text.splitlines()[1:]] if kind == "tsv" else [
        row[0] for row in csv.reader(io.StringIO(text, newline=""))
    ][1:]  # fmt: skip
    for cell, given in zip(cells, RISKY, strict=False):
        assert (
            cell.startswith("'")
            or not given.strip().startswith(("=", "+", "-", "@"))
            or (kind == "tsv" and given.startswith(" "))
        )
    assert cells[len(RISKY) :] == ["-2.5", "fine"]
    assert ",-1.5," in text or "\t-1.5\t" in text


def test_json_holds_numbers_texts_and_what_is_missing() -> None:
    rows = [("a\u2028", float("nan"), None), ("b", 2, True)]
    assert json.loads(_bytes(rows_file(COLUMNS, rows, "json"))) == [
        {"text": "a\u2028", "n": None, "yes": None},
        {"text": "b", "n": 2, "yes": True},
    ]
    assert json.loads(_bytes(rows_file(COLUMNS, [], "json"))) == []


def test_every_table_of_a_study_comes_in_every_kind_with_all_rows(finished: Path) -> None:
    pq = pytest.importorskip("pyarrow.parquet")
    opened = open_store(finished)
    source = opened.rows()
    for name in table_names(opened):
        rows = json.loads(_bytes(table_file(opened, name, "json")))
        lines = _bytes(table_file(opened, name, "tsv")).decode().splitlines()
        records = [*csv.reader(io.StringIO(_bytes(table_file(opened, name, "csv")).decode()))]
        table = pq.read_table(io.BytesIO(_bytes(table_file(opened, name, "parquet"))))
        assert len(rows) == len(lines) - 1 == len(records) - 1 == table.num_rows
        assert lines[0].split("\t") == table.column_names == [*rows[0]]
        if name in source.tables:
            (counted,) = source.ask(f"select count(*) from {source.rows(name)}")[0]
            assert len(rows) == counted


def test_an_unknown_table_or_kind_is_said(finished: Path) -> None:
    opened = open_store(finished)
    for name, kind in (("nope", "csv"), ("scores", "exe"), ("../scores", "csv")):
        with pytest.raises(UnknownNameError):
            _bytes(table_file(opened, name, kind))


def test_a_study_as_a_zip_file_is_a_store_that_opens_elsewhere(
    stored: Path, tmp_path: Path
) -> None:
    add_note(tmp_path / "folder", "set", 1, "a note", by="1", author="Ana")
    (stored / "tables" / "scores" / ".torn.tmp").write_text("x")
    (stored / "elsewhere").symlink_to("/etc")
    data = _bytes(study_file(open_store(stored), tmp_path / "folder", "../a b"))
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        assert archive.testzip() is None
        names = archive.namelist()
        archive.extractall(tmp_path / "out")
    assert all(name.startswith("a-b/") and ".." not in name for name in names)
    assert not any("torn" in name or "elsewhere" in name or "lock" in name for name in names)
    store = Store(tmp_path / "out" / "a-b" / "store")
    assert verdicts(store) == verdicts(Store(stored))
    assert str(stored.parent) not in (store.path / "plan.json").read_text()
    assert "a note" in (tmp_path / "out" / "a-b" / "notes.json").read_text()


@pytest.mark.parametrize("name", ["../../etc", "a/b", "ü b", "", "..", 'x"\r\ny', "x" * 500])
def test_names_of_files_are_plain(name: str) -> None:
    made = file_name(name, "scores")
    assert not set(made) & set('/\\"\r\n')
    assert ".." not in made
    assert len(made) <= 120


def test_kinds_have_media_types() -> None:
    assert set(KINDS) == {"tsv", "csv", "json", "parquet"}


def test_a_sheet_for_judges_does_not_hold_its_key(tmp_path: Path) -> None:
    lines = [f"we saw the {animal} at {n}" for n in range(5) for animal in ("cat", "dog", "cow")]
    texts = {
        "ref.A": lines,
        "systems/quill": [line.replace("cat", "hen") for line in lines],
        "systems/plume": [line.replace("saw", "see") for line in lines],
    }
    for name, some in texts.items():
        file = tmp_path / "texts" / f"{name}.txt"
        file.parent.mkdir(exist_ok=True)
        file.write_text("\n".join(some) + "\n")
    file = tmp_path / "study.toml"
    file.write_text(_SHEET_STUDY)
    plan = study.plan(study.read_study(file))
    assert not study.run(plan, study.open_engine("here")).failed
    build = make(plan.study.store, tmp_path, "sheet", {"any": "1", "items": "4"})
    assert build.state == "done", build.said
    with zipfile.ZipFile(tmp_path / "sheet.zip") as archive:
        assert sorted(archive.namelist()) == ["README.txt", "form.html", "sheet.tsv"]
        contents = [archive.read(name).decode() for name in archive.namelist()]
    for system in ("quill", "plume"):
        assert system in (tmp_path / KEY).read_text()
        assert not any(system in content for content in contents)


def test_the_key_is_for_those_alone_who_may_change_a_comparison(
    app: Starlette, owner: TestClient, visitor: Callable[..., TestClient]
) -> None:
    made = comparison_of(app, "owner")
    (made.folder / KEY).write_text("item\tA\tB\n")
    address = f"/studies/{made.id}/download/key.tsv"
    access = app.state.access
    access.set_open(made.id, open=True)
    reader = visitor(access.add_token("Cleo", "reader")[1])
    assert owner.get(address).text == "item\tA\tB\n"
    assert reader.get(address).status_code == 404
    link = visitor()
    cookie = link.get(f"/s/{access.add_link(made.id)[1]}").headers["set-cookie"].partition(";")[0]
    assert link.get(address, headers={"cookie": cookie}).status_code == 404
