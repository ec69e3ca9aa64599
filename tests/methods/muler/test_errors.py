"""Errors by feature: rates by hand, systems compared, a gate, and what is said."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import pytest
from tests.methods.metaeval.marked import ERRORS, Marking, marked_set
from tests.told import notes

import gnomon as gn
from gnomon.cli import main
from gnomon.core.errors import DataError, UsageError
from gnomon.core.human import HumanScores
from gnomon.core.spans import ErrorSpan
from gnomon.data.formats import write_human
from gnomon.stats import SystemFamily

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from gnomon.core.findings import Cell, Finding

PATTERN = {"animal": "dogs?|cats?", "weather": "rains?", "place": "mats"}


def found(testset: gn.TestSet, **options: object) -> Finding:
    """Without intervals, unless asked for."""
    asked = {"resamples": 0, "examples": 0, "pattern": PATTERN, "features": ["re:*"]} | options
    return gn.muler.errors(testset, **asked)  # type: ignore[arg-type]  # as tests have it


def one(finding: Finding, table: str | None = None, **where: object) -> Mapping[str, Cell]:
    rows = [r for r in finding.table(table).rows if all(r[k] == v for k, v in where.items())]
    assert len(rows) == 1
    return rows[0]


def test_rates_by_hand() -> None:
    finding = found(marked_set())
    where = {"feature": "re:animal", "severity": "any"}
    # dog and cat of alpha, dog and cats of beta; the two of alpha are marked
    assert one(finding, system=None, **where)["rate"] == 50
    assert one(finding, system="alpha", **where)["rate"] == 100
    assert one(finding, system="beta", **where)["rate"] == 0
    alpha = {"system": "alpha", "feature": "re:animal"}
    assert one(finding, severity="major", **alpha)["hits"] == 1
    assert one(finding, severity="minor", **alpha)["hits"] == 1
    # 13 words of alpha, 14 of beta, of which two are of an output that two people saw
    words = one(finding, system=None, feature="words", severity="any")
    assert (words["occurrences"], words["hits"]) == (13 + 12 + 2, 4)
    assert one(finding, system=None, **where)["relative"] == pytest.approx(50 / (400 / 27))
    assert one(finding, system="beta", feature="re:weather", severity="major")["rate"] == 100


def test_features_that_never_occur_have_no_rates() -> None:
    finding = found(marked_set(), pattern={"never": "zzz"})
    assert {table.name for table in finding.tables} == {"errors", "differences", "counts"}
    assert any("no feature that matches re:*" in notice for notice in notes(finding.notices))


def test_an_error_without_a_place_is_counted_and_hits_no_word() -> None:
    finding = found(marked_set())
    row = one(finding, "counts", system="beta", severity="major")
    assert (row["errors"], row["placeless"], row["outputs"], row["per_hundred"]) == (2, 1, 4, 50)
    assert one(finding, system="beta", feature="re:place", severity="any")["hits"] == 0


def test_of_an_output_that_several_looked_at_the_mean_number_of_errors_counts() -> None:
    extra = ErrorSpan("beta", 3, "candidate", 0, 4, "", "major", "ann", "esa")
    testset = replace(marked_set(), errors=(*ERRORS, extra))
    assert one(found(testset), "counts", system="beta", severity="major")["errors"] == 2.5


def test_systems_are_compared_where_both_were_looked_at() -> None:
    finding = found(marked_set(repeat=40), resamples=200)
    row = one(finding, "differences", feature="re:animal", severity="any")
    assert (row["system_a"], row["rate_a"], row["rate_b"], row["difference"]) == (
        "alpha",
        100,
        0,
        100,
    )
    assert row["p"] == pytest.approx(2 / 201)  # of two severities
    said = "alpha has more errors than beta on matches of 'animal'"
    assert any(said in str(one) for one in finding.verdict)
    # bob's and ann's outputs apart: no segment has both
    bob = [h for h in marked_set().human if h.rater == "bob"]
    alone = replace(marked_set(), human=tuple(bob), errors=ERRORS[2:])
    assert found(alone).table("differences").rows == ()


def test_nothing_is_drawn_where_no_draws_are_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr(SystemFamily, "draws")
    row = one(found(marked_set(repeat=40)), "differences", feature="re:animal", severity="any")
    assert (row["difference"], row["p"], row["decided"]) == (100, None, None)


def test_intervals_cover_what_a_feature_costs_in_most_draws_of_a_known_rate() -> None:
    """Errors on one word in five, by chance: 95 % intervals hold that nearly always."""
    inside = 0
    for seed in range(40):
        draw = np.random.default_rng(seed)
        texts = ["dog cat dog cat dog"] * 60
        errors = tuple(
            ErrorSpan("a", n, "candidate", 4 * w, 4 * w + 3, "", "minor", "r", "esa")
            for n in range(60)
            for w in np.flatnonzero(draw.random(5) < 0.2).tolist()
        )
        scores = HumanScores("esa", "segment", ("a",), np.ones((1, 60)), rater="r")
        testset = gn.TestSet(
            name="n", references={"A": texts}, systems={"a": texts}, errors=errors, human=(scores,)
        )
        row = one(found(testset, resamples=200, seed=seed), system=None, feature="re:animal",
                  severity="any")  # fmt: skip
        inside += row["rate_low"] <= 20 <= row["rate_high"]  # type: ignore[operator]  # numbers
    assert 34 <= inside <= 40


def test_files_of_metrics_and_judges_are_counted_as_people_are(tmp_path: Path) -> None:
    testset = marked_set()
    for by in ("metric", "judge"):
        marking = Marking({"dog": "major", "mats": "minor"}, by=by)  # type: ignore[arg-type]  # of these
        errors = tuple(replace(e, kind="auto") for e in marking.error_spans(testset.batch()))
        file = tmp_path / f"{by}.jsonl"
        write_human(file, replace(testset, errors=errors), "auto", format="spans")
        finding = found(testset, human="esa", marks=[f"auto={file}"])
        row = one(finding, marks="auto", system=None, feature="re:animal", severity="any")
        assert (row["by"], row["rate"]) == (by, 50)  # both dogs, no cat
        bare = found(replace(testset, errors=(), human=()), marks=[f"auto={file}"])
        own = one(bare, marks="auto", system="beta", feature="re:place", severity="minor")
        assert own["rate"] == 100


def test_a_metric_that_marks_errors_is_asked_where_people_looked() -> None:
    finding = found(marked_set(), human="esa", marks=Marking({"dog": "major"}))
    row = one(finding, marks="marking", system=None, feature="re:animal", severity="major")
    assert (row["by"], row["rate"], row["occurrences"]) == ("metric", 50, 4)
    with pytest.raises(UsageError, match="chrf' marks no errors"):
        found(marked_set(), marks=["chrf"])


def test_features_of_the_source_are_hit_by_errors_in_the_source() -> None:
    source = ErrorSpan("alpha", 0, "source", 0, 1, "", "minor", "ann", "esa")
    testset = replace(marked_set(), errors=(*ERRORS, source))
    finding = found(testset, side="source", pattern={"s": "s"})
    assert one(finding, system="alpha", feature="re:s", severity="any")["hits"] == 1
    assert one(finding, system="beta", feature="re:s", severity="any")["hits"] == 0


def test_without_a_tagger_the_form_of_words_tells() -> None:
    finding = gn.muler.errors(replace(marked_set(), language_pair="en-xx"), resamples=0)
    features = {r["feature"] for r in finding.rows}
    assert "words" in features
    assert "form:rare" not in features  # those that a reference has are seldom wrong
    assert "muler.untagged" in {said.code for said in finding.verdict}
    source = ErrorSpan("alpha", 0, "source", 0, 1, "", "minor", "ann", "esa")
    there = replace(marked_set(), errors=(*ERRORS, source), language_pair="xx-ja")
    there = replace(there, references={"ref": ["\u732b\u3067\u3059\u3002"] * there.segments})
    finding = gn.muler.errors(there, side="source", resamples=0)
    assert "form:latin" not in {r["feature"] for r in finding.rows}


def test_a_gate_closes_on_major_errors(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    testset = marked_set()
    assert found(testset, fail_if_major=3).failure == ""
    assert found(testset, fail_if_major=2).failure == "beta has 2 major errors by esa (2 fail)"
    testset.write(tmp_path / "set")
    asked = ["errors", "-t", str(tmp_path / "set"), "--human", "esa", "--resamples", "0"]
    asked += ["--pattern", "animal=dogs?|cats?", "--features", "re:animal"]
    assert main([*asked, "--fail-if-major", "3", "-f", "json"]) == 0
    assert json.loads(capsys.readouterr().out)["command"] == "errors"
    assert main([*asked, "--fail-if-major", "1", "--html", str(tmp_path / "p.html")]) == 3
    said = capsys.readouterr().err
    assert "alpha has 1 major errors by esa (1 fail); beta has 2 major errors by esa" in said
    page = (tmp_path / "p.html").read_text(encoding="utf-8")
    assert "gravest errors by esa" in page


def test_nothing_to_count_is_refused() -> None:
    with pytest.raises(DataError, match="nobody marked errors"):
        found(replace(marked_set(), errors=()))
    with pytest.raises(UsageError, match="named twice"):
        found(marked_set(), marks=["esa"])


def test_errors_in_sources_need_sources(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "m.jsonl"
    error = {"start": 0, "end": 1, "side": "source", "severity": "major"}
    line = {"system": "alpha", "segment": 1, "by": "metric", "errors": [error]}
    file.write_text(json.dumps(line), encoding="utf-8")
    bare = replace(marked_set(), errors=(), human=(), sources=None)
    for testset, options in ((bare, {}), (replace(marked_set(), sources=None), {"human": "esa"})):
        with pytest.raises(DataError, match="'marked' has no sources"):
            found(testset, marks=[f"m={file}"], side="source", **options)
    for name in ("ref", "alpha"):
        (tmp_path / f"{name}.txt").write_text("a cat\n", encoding="utf-8")
    asked = ["errors", str(tmp_path / "ref.txt"), "-i", str(tmp_path / "alpha.txt")]
    assert main([*asked, "--marks", str(file), "--side", "source"]) != 0
    assert "has no sources" in capsys.readouterr().err


def test_a_gate_opens_for_a_file_in_which_nobody_found_an_error(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    texts = {"ref.txt": "the cat\na dog\n", "main.txt": "the cat\nthe dog\n"}
    head = "system\tdoc\tdoc_id\tseg_id\trater\tsource\ttarget\tcategory\tseverity"
    rows = [
        f"main\td\t{n}\t{n}\tann\ts\t{text}\tNo-error\tNo-error"
        for n, text in enumerate(texts["main.txt"].splitlines(), start=1)
    ]
    for name, text in {**texts, "mqm.tsv": "\n".join([head, *rows, ""])}.items():
        (tmp_path / name).write_text(text)
    files = [str(tmp_path / name) for name in ("ref.txt", "main.txt", "mqm.tsv")]
    given = [files[0], "-i", files[1], "--human", files[2], "--fail-if-major", "1", "-f", "json"]
    assert main(["errors", *given]) == 0
    (row,) = (
        r
        for r in json.loads(capsys.readouterr().out)["rows"]
        if (r["system"], r["feature"], r["severity"]) == ("main", "words", "any")
    )
    assert (row["occurrences"], row["hits"]) == (4, 0)
