"""PEAR: equal to the original, as pairs, as a metric and as a table of utilities."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from tests.told import notes

import gnomon as gn
from gnomon.core.errors import DataError, SpecError, UsageError
from gnomon.learned import convert
from gnomon.learned.pear import OutputPair, spans_of
from gnomon.metrics import parse

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.metrics.learned.conftest import Oracle

BARE = {"examples": 0, "ngrams": 0}
_NEAR = 1e-5
_MODELS = ("released_like", "other_options")


@pytest.fixture(scope="module")
def pear(oracle: Callable[[str, str], Oracle]) -> Callable[[str], Oracle]:
    return lambda name: oracle("pear", name)


def _bound(found: Oracle, testset: gn.TestSet, more: str = "") -> Any:
    return parse(f"pear('{found.folder}'{more})").bind(testset)


def _two_systems(found: Oracle) -> gn.TestSet:
    rows = found.compared
    return gn.TestSet.from_lists(
        {"a": [row["mt"] for row in rows], "b": [row["mt2"] for row in rows]},
        [row["ref"] for row in rows],
        sources=[row["src"] for row in rows],
    )


@pytest.mark.parametrize(
    ("name", "batch"),
    [
        ("released_like", 64),
        pytest.param("other_options", 64, marks=pytest.mark.verify),
        pytest.param("released_like", 1, marks=pytest.mark.verify),
        pytest.param("other_options", 1, marks=pytest.mark.verify),
    ],
)
def test_scores_are_those_of_the_original_in_both_orders_and_at_the_reference(
    name: str, batch: int, pear: Callable[[str], Oracle]
) -> None:
    found = pear(name)
    testset = _two_systems(found)
    bound = _bound(found, testset, f", batch={batch}")
    pairs = bound.pair_scores(testset.batch())
    expected = found.expected
    assert np.abs(pairs[0, 1] - found.kept(expected["forward"])).max() < _NEAR
    assert np.abs(pairs[1, 0] - found.kept(expected["reverse"])).max() < _NEAR
    anchored = bound.segments(testset.batch())[0]
    assert np.abs(anchored - found.kept(expected["reference_anchored"])).max() < _NEAR


@pytest.mark.parametrize("name", _MODELS)
def test_tables_of_utilities_are_those_of_the_original(
    name: str, pear: Callable[[str], Oracle]
) -> None:
    found = pear(name)
    said = found.expected["mbr"]
    testset = gn.TestSet(
        name="one segment",
        references={},
        systems={str(n): [text] for n, text in enumerate(said["hypotheses"])},
        sources=[said["source"]],
    )
    bound = _bound(found, testset, ", anchor='systems'")
    assert np.abs(bound.pair_scores(testset.batch())[:, :, 0] - said["full"]).max() < _NEAR
    # against all other systems: the sums of rows
    means = np.array(said["full"]).sum(axis=1) / 3
    assert bound.segments(testset.batch())[:, 0] == pytest.approx(means, abs=_NEAR)


def test_pieces_and_the_places_of_the_three_texts_are_those_of_the_original(
    oracles: Path, pear: Callable[[str], Oracle]
) -> None:
    found = pear("released_like")
    bound = _bound(found, _two_systems(found))
    said = json.loads((oracles / "pear" / "expected.json").read_text(encoding="utf-8"))
    joint = {one["id"]: one for one in said["joint_ids"]}
    rows = [row for row in found.compared if row["id"] in joint]
    assert len(rows) > 20
    texts = [OutputPair(row["src"], row["mt"], row["mt2"]) for row in rows]
    for row, ids in zip(rows, bound.joint_ids(texts), strict=True):
        assert ids.tolist() == joint[row["id"]]["input_ids"]
        spans = spans_of(ids[None].astype(np.int64), bound.model.encoder.end)[:, 0]
        assert (np.array([1, 2, 3]) @ spans).tolist() == joint[row["id"]]["segment"]


def test_a_pair_is_read_once_and_equal_texts_score_0_in_both_orders(
    pear: Callable[[str], Oracle],
) -> None:
    found = pear("released_like")
    outputs = {"a": ["one", "two", "three"], "b": ["one", "due", "tre"]}
    testset = gn.TestSet.from_lists(outputs, ["one", "two", "3"], sources=["uno", "due", "tre"])
    bound = _bound(found, testset, ", both=True, batch=3")
    before = bound.model.encoder.encoded
    scores = bound.segments(testset.batch())
    # "one" and "two" are said by a reference, too, and so are their own reverse
    assert bound.model.encoder.encoded - before == 2 + 2 * 3
    assert scores[0, 0] == scores[1, 0] == scores[0, 1] == 0
    bound.statistics(testset.batch())
    assert bound.model.encoder.encoded - before == 2 + 2 * 3


def test_other_systems_as_anchor_are_frozen_when_the_metric_is_bound(
    pear: Callable[[str], Oracle],
) -> None:
    found = pear("released_like")
    outputs = {"a": ["one"], "b": ["won"], "c": ["uno"]}
    testset = gn.TestSet.from_lists(outputs, ["one"], sources=["eins"])
    metric: Any = parse(f"pear('{found.folder}', anchor='systems')")
    assert metric.pooled
    assert metric.needs == {"sources"}
    bound = metric.bind(testset)
    assert bound.depends_on_system
    assert "prefer" in bound.can
    whole = bound.segments(testset.batch())
    alone = bound.segments(testset.batch().select(systems=[1]))
    assert alone[0] == pytest.approx(whole[1], abs=1e-6)
    pairs = bound.pair_scores(testset.batch())
    assert whole == pytest.approx(pairs.sum(axis=1) / 2, abs=1e-6)
    assert dict(bound.signature.fields)["pool"].startswith("3#")
    with pytest.raises(DataError, match="two systems or more"):
        gn.score(testset.select(systems=["a"]), metric)
    longer = gn.TestSet.from_lists({"a": ["x", "y"]}, ["x", "y"], sources=["x", "y"])
    with pytest.raises(UsageError, match="was bound to 1 segments, and segment 2"):
        bound.segments(longer.batch())


def test_texts_that_were_cut_are_told(pear: Callable[[str], Oracle]) -> None:
    found = pear("released_like")
    outputs = {"a": ["one " * 600], "b": ["one"]}
    testset = gn.TestSet.from_lists(outputs, ["one"], sources=["eins"])
    (said,) = notes(gn.score(testset, f"pear('{found.folder}')").notices)
    assert "1 of 2 inputs are longer than the model takes (512 pieces" in said


def test_inputs_that_were_cut_are_counted_as_they_are_read(pear: Callable[[str], Oracle]) -> None:
    """Two outputs that fit alone may not fit together; each is held against both others."""
    found = pear("released_like")
    half = "one " * 300
    outputs = {"a": [half], "b": [half + "two"], "c": ["one"]}
    testset = gn.TestSet.from_lists(outputs, ["one"], sources=["eins"])
    (said,) = notes(gn.score(testset, f"pear('{found.folder}', anchor='systems')").notices)
    assert "2 of 6 inputs (a source and two outputs) are longer" in said
    said = notes(gn.compare(testset, f"pear('{found.folder}')", resamples=0, **BARE).notices)
    assert any("1 of 3 inputs" in notice for notice in said)
    assert not notes(gn.score(testset, f"pear('{found.folder}')").notices)


def test_a_checkpoint_without_its_class_is_known_by_its_head(
    oracles: Path, pear: Callable[[str], Oracle], tmp_path: Path
) -> None:
    """As PEAR is published: no hparams.yaml beside the checkpoint."""
    bare = shutil.copytree(oracles / "pear" / "released_like", tmp_path / "bare")
    (bare / "hparams.yaml").unlink()
    made = convert(
        str(bare), encoder=str(oracles / "pear" / "encoder"), into=str(tmp_path / "made")
    )
    assert made.kind == "pairwise_metric"
    first = Path(pear("released_like").folder) / "model.safetensors"
    assert (tmp_path / "made" / "model.safetensors").read_bytes() == first.read_bytes()


def test_models_of_other_metrics_are_refused(oracle: Callable[[str, str], Oracle]) -> None:
    comet = oracle("regression", "lightning1").folder
    testset = gn.TestSet.from_lists({"a": ["x"]}, ["x"], sources=["x"])
    with pytest.raises(SpecError, match=r"write comet\("):
        gn.score(testset, f"pear('{comet}')")


def test_preferences_are_compared_in_a_study_as_without_one(
    pear: Callable[[str], Oracle], tmp_path: Path
) -> None:
    pytest.importorskip("duckdb", reason="needs duckdb: pip install 'gnomon[study]'")
    found = pear("released_like")
    rows = [row for row in found.compared if "\n" not in "".join(map(str, row.values()))][:6]
    testset = gn.TestSet.from_lists(
        {"a": [row["mt"] for row in rows], "b": [row["mt2"] for row in rows]},
        [row["ref"] for row in rows],
        sources=[row["src"] for row in rows],
    )
    testset.write(tmp_path / "set")
    spec = f"pear('{found.folder}', device='cpu')"
    lines = ['metrics = ["chrf"]', "[[testsets]]", 'path = "set"', "[methods.compare]"]
    (tmp_path / "study.toml").write_text(
        "\n".join([*lines, f'metrics = ["{spec}"]', "resamples = 0"]), encoding="utf-8"
    )
    plan = gn.study.plan(gn.study.read_study(tmp_path / "study.toml"))
    store = gn.study.Store.open(plan.study.store, create=True)
    assert gn.study.run(plan, gn.study.open_engine("here"), store=store).failed == {}
    direct = gn.compare(testset, spec, resamples=0, **BARE)
    wins = "select system, difference, wins, ties, losses from comparisons where wins is not null"
    names = ("system", "difference", "wins", "ties", "losses")
    row = direct.rows[1]
    assert row["difference"]
    assert store.query(wins).rows == (tuple(row[name] for name in names),)


def test_halves_of_characters_and_no_segments_at_all_are_nothing_special(
    pear: Callable[[str], Oracle],
) -> None:
    found = pear("released_like")
    outputs = {"a": ["x \ud800", "y"], "b": ["", "z"]}
    testset = gn.TestSet(name="t", systems=outputs, references={}, sources=["s", "t"])
    bound = _bound(found, testset, ", anchor='systems'")
    assert np.isfinite(bound.segments(testset.batch())).all()
    assert "pool:2#" in str(bound.signature)
    none = gn.TestSet(name="t", systems={"a": [], "b": []}, references={}, sources=[])
    assert _bound(found, none, ", anchor='systems'").segments(none.batch()).shape == (2, 0)
