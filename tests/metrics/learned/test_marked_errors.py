"""Errors that xCOMET marks, from the checkpoint to the tables: beside people's, and by feature."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import gnomon as gn
from gnomon import study
from gnomon.cli import main
from gnomon.core.human import HumanScores
from gnomon.core.spans import ErrorSpan
from gnomon.metrics import parse

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.metrics.learned.conftest import Oracle


@pytest.fixture(scope="module")
def judged(oracle: Callable[[str, str], Oracle]) -> tuple[str, gn.TestSet]:
    """A spec of xCOMET, and outputs in which a person marked every second of its errors."""
    found = oracle("xcomet", "base")
    plain = [row for row in found.compared if "\n" not in "".join(row.values())]
    rows = [row for row in plain if row["mt"].strip() and row["ref"].strip()][:12]
    texts = {
        "a": [row["mt"] for row in rows],
        "b": [row["ref"] for row in rows],
    }
    testset = gn.TestSet.from_lists(
        texts,
        [row["ref"] for row in rows],
        sources=[row["src"] for row in rows],
        language_pair="en-xx",
    )
    spec = f"xcomet('{found.folder}', device='cpu')"
    bound: Any = parse(spec).bind(testset)
    marked = bound.error_spans(testset.batch())
    assert len(marked) > 4
    errors = tuple(
        ErrorSpan(e.system, e.segment, "candidate", e.start, e.end, "", e.severity, "ann", "esa")
        for e in marked[::2]
    )
    scores = HumanScores("esa", "segment", ("a", "b"), np.full((2, len(rows)), 90.0), rater="ann")
    return spec, replace(testset, human=(scores,), errors=errors)


def test_marks_of_a_checkpoint_stand_beside_peoples(judged: tuple[str, gn.TestSet]) -> None:
    spec, testset = judged
    bound: Any = parse(spec).bind(testset)
    own = bound.error_spans(testset.batch())
    finding = gn.metaeval.spans(testset, spec, resamples=0)
    where = {"system": None, "unit": "characters", "average": "pooled", "ceiling": False}
    [row] = [r for r in finding.rows if all(r[k] == v for k, v in where.items())]
    # people marked no character that it did not mark with the same severity
    assert (row["by"], row["recall"]) == ("metric", 1)
    assert row["marked"] == sum(e.end - e.start for e in own)
    assert row["gold"] == sum(e.end - e.start for e in testset.errors)
    assert row["precision"] == pytest.approx(row["gold"] / row["marked"])  # type: ignore[operator]  # numbers
    assert {r["decided_by"] for r in finding.table("error_free").rows} == {"marks", "score"}
    assert any("xcomet" in name for name in finding.signatures)


def test_marks_of_a_checkpoint_are_counted_by_feature_and_close_a_gate(
    judged: tuple[str, gn.TestSet], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    spec, testset = judged
    testset.write(tmp_path / "set")
    asked = ["errors", "-t", str(tmp_path / "set"), "--human", "esa", "--marks", spec]
    asked += ["--resamples", "0", "-f", "json"]
    assert main(asked) == 0
    told = json.loads(capsys.readouterr().out)
    rates = {
        row["marks"]: row["hits"]
        for row in told["rows"]
        if (row["system"], row["feature"], row["severity"]) == (None, "words", "any")
    }
    assert 0 < rates["esa"] <= rates[spec]
    bound: Any = parse(spec).bind(testset)
    major = [e for e in bound.error_spans(testset.batch()) if e.severity in ("major", "critical")]
    most = max(sum(e.system == name for e in major) for name in "ab")
    assert main([*asked, "--fail-if-major", str(most)]) == (3 if most else 0)
    capsys.readouterr()


def test_marks_of_a_checkpoint_are_a_step_of_a_study(
    judged: tuple[str, gn.TestSet], tmp_path: Path
) -> None:
    pytest.importorskip("duckdb", reason="needs duckdb: pip install 'gnomon[study]'")
    spec, testset = judged
    testset.write(tmp_path / "set")
    lines = ['metrics = ["chrf"]', "[[testsets]]", 'path = "set"', "[methods.metaeval.spans]"]
    lines += ["resamples = 0", f'marks = ["{spec}"]']
    file = tmp_path / "study.toml"
    file.write_text("\n".join(lines), encoding="utf-8")
    plan = study.plan(study.read_study(file))
    store = study.Store.open(plan.study.store, create=True)
    assert study.run(plan, study.open_engine("here"), store=store).failed == {}
    found = store.query("select recall from span_agreement where marks like 'xcomet%'").rows
    assert found[0] == (1.0,)
