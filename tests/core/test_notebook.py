"""What a notebook shows, data frames, pictures, and the example notebooks themselves."""

from __future__ import annotations

import inspect
import json
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from tests.told import told

import gnomon as gn
from gnomon import example
from gnomon.core.errors import MissingDependencyError, WrongTypeError
from gnomon.core.findings import (
    Column,
    Finding,
    Table,
)

EXAMPLES = Path(__file__).parents[2] / "examples"


@pytest.fixture(scope="module")
def testset() -> gn.TestSet:
    return gn.TestSet.read(example.path())


@pytest.fixture(scope="module")
def compared(testset: gn.TestSet) -> gn.Finding:
    return gn.compare(testset, "chrf", resamples=50)


def test_scores_stand_for_themselves_in_one_line(testset: gn.TestSet) -> None:
    scores = gn.score(testset, "chrf")
    assert (
        repr(testset) == "<TestSet 'example' es-en: 209 segments, 1 reference, 5 systems, source>"
    )
    first = "apertium-direct 61.98, apertium-galician 58.43, apertium-catalan 57.56"
    assert repr(scores).startswith(f"<Scores of chrf: {first}, ")
    assert repr(scores).endswith("; 209 segments>")
    undefined = replace(scores, system=np.full(5, np.nan))
    assert repr(undefined).startswith("<Scores of chrf: apertium-catalan -, ")
    assert "<Scores of ter: apertium-direct " in repr(gn.score(testset, "ter"))


def test_a_finding_stands_for_itself_by_its_first_sentences_and_four_columns(
    compared: gn.Finding,
) -> None:
    text = repr(compared)
    assert text == str(compared)
    assert text.startswith("apertium-direct is the best of 5 systems under chrF")
    assert "chrF, compared with apertium-direct\nSystem  " in text
    assert text.endswith("to_pandas('systems') has all rows and columns")
    assert all(len(line.rstrip()) <= 80 for line in text.split("\n"))
    assert repr(replace(compared, tables=(), views=(), verdict=())) == compared.title
    assert repr(compared.tables[0]).startswith("<Table systems: 5 rows x ")


def test_html_is_small_and_escaped(testset: gn.TestSet, compared: gn.Finding) -> None:
    evil = "<script>alert(1)</script>"
    named = replace(testset, name=evil, systems={evil: testset.systems["apertium-direct"]}, info={})
    scores = gn.score(named, "chrf")
    table = Table("t", evil, (Column("a", evil),), tuple({"a": evil * 50} for _ in range(500)))
    finding = Finding(
        "m", evil, (table,), {}, notices=(*(told(f"{evil}{n}", "note") for n in range(20)),)
    )
    for one in (named, scores, finding, table, testset, compared):
        html = one._repr_html_()  # type: ignore[attr-defined]  # what Jupyter asks for
        assert len(html) < 20_000
        assert "<script>" not in html
    assert "and 490 more" in finding._repr_html_()
    assert "<summary>20 notes</summary>" in finding._repr_html_()


def test_a_verdict_is_shown_where_there_is_one(compared: gn.Finding) -> None:
    said = told("A is better than B & C.")
    shown = replace(compared, verdict=(said,))._repr_html_()
    assert "<p>A is better than B &amp; C.</p>" in shown


def test_data_frames_hold_what_the_records_hold(testset: gn.TestSet, compared: gn.Finding) -> None:
    scores = gn.score(testset, "chrf")
    assert scores.to_pandas().to_dict("records") == scores.rows()
    assert scores.to_frame().to_dicts() == scores.rows()
    assert scores.to_frame(segments=True).to_dicts() == scores.segment_rows()
    assert len(scores.to_pandas(segments=True)) == 5 * 209
    assert compared.to_frame().to_dicts() == [dict(row) for row in compared.rows]
    assert list(compared.to_pandas("ngrams")["system"]) == list(
        compared.table("ngrams").values("system")
    )


@pytest.mark.parametrize(
    ("package", "call", "extra"),
    [
        ("pandas", "to_pandas", "frames"),
        ("polars", "to_frame", "frames"),
    ],
)
def test_a_missing_package_is_named_with_its_extra(
    compared: gn.Finding, package: str, call: str, extra: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(MissingDependencyError, match=rf"pip install\s+'gnomon\[{extra}\]'"):
        getattr(compared, call)()


@pytest.mark.parametrize(
    ("given", "remedy"),
    [
        ("ref.txt", r"gnomon\.TestSet\.from_files\(references=\['ref\.txt'\]"),
        ("out.csv", r"gnomon\.formats\.read_table\('out\.csv'"),
        ("wmt21/en-de", r"gnomon\.TestSet\.read\('wmt21/en-de'\)"),
        ({"ref": ["a"]}, r"gnomon\.TestSet\.from_frame"),
    ],
)
def test_what_stands_in_place_of_a_test_set_is_answered_by_what_makes_one(
    given: object, remedy: str
) -> None:
    with pytest.raises(WrongTypeError, match=remedy):
        gn.score(given, "chrf")  # type: ignore[call-overload]  # the mistake under test


def test_help_and_completion_find_the_parameters() -> None:
    for function in (gn.score, gn.compare, gn.muler, gn.TestSet.from_frame):
        parameters = inspect.signature(function).parameters
        assert "args" not in parameters
        assert len(parameters) > 2
        assert function.__doc__
    assert {"from_frame", "from_files", "read"} <= set(dir(gn.TestSet))
    assert {"score", "muler", "TestSet"} <= set(dir(gn))


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")  # of the client, which starts an event loop of its own
@pytest.mark.parametrize("file", sorted(EXAMPLES.glob("*.ipynb")), ids=lambda file: file.name)
def test_example_notebooks_run_in_a_kernel(
    file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import nbformat
    from nbclient import NotebookClient

    monkeypatch.setenv("PYTHONPATH", str(Path(gn.__file__).parents[1]))
    monkeypatch.setenv("IPYTHONDIR", str(tmp_path / "ipython"))
    notebook = nbformat.read(file, as_version=4)
    NotebookClient(
        notebook,
        timeout=1200,
        startup_timeout=600,
        kernel_name="python3",
        resources={"metadata": {"path": str(tmp_path)}},
    ).execute()
    shown = [one for cell in notebook.cells for one in cell.get("outputs", ())]
    assert not [one for one in shown if one.output_type == "error"]
    kinds = {kind for one in shown for kind in one.get("data", {})}
    assert {"text/html", "text/plain"} <= kinds
    for one in shown:
        for kind in ("text/html", "text/plain"):
            assert len(one.get("data", {}).get(kind, "")) < 20_000


def test_example_notebooks_are_kept_without_their_outputs() -> None:
    files = sorted(EXAMPLES.glob("*.ipynb"))
    assert files
    for file in files:
        content = json.loads(file.read_text(encoding="utf-8"))
        cells = [cell for cell in content["cells"] if cell["cell_type"] == "code"]
        assert not any(cell["outputs"] or cell["execution_count"] for cell in cells)
