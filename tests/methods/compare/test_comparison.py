"""Systems beside a baseline: scores, differences, intervals, p-values."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import t as t_distribution
from tests.told import notes

import gnomon
from gnomon import example
from gnomon.core.errors import DataError, UnknownNameError, UsageError
from gnomon.core.scores import Scores
from gnomon.core.signature import Signature
from gnomon.core.testset import TestSet
from gnomon.metrics import score
from gnomon.stats import SystemFamily, resamples

CONTRACT = ["system", "baseline", "metric", "score", "difference", "low", "high", "p"]
FEW = {"resamples": 200, "examples": 0, "ngrams": 0}


@pytest.fixture(scope="module")
def ts() -> TestSet:
    return TestSet.read(example.path())


@pytest.fixture(scope="module")
def tiny() -> TestSet:
    reference = ["the cat sat on the mat", "a dog barked", "it is seven", "so be it then"]
    good = ["the cat sat on the mat", "a dog barked", "it was seven", "so be it then"]
    bad = ["cat on mat", "the dogs bark", "it is 7", "so it is"]
    return TestSet.from_lists({"good": good, "bad": bad, "same": good}, reference)


def _row(finding, system, metric=None, part=None):
    return next(
        row
        for row in finding.rows
        if row["system"] == system and row["metric"] in (metric, row["metric"])
        if row["slice"] == part and (metric is None or row["metric"] == metric)
    )


def _scores(segments, *, system=None, higher=True, name="mine") -> Scores:
    segments = np.asarray(segments, dtype=np.float64)
    own = np.nanmean(segments, axis=1) if system is None else np.asarray(system, np.float64)
    return Scores(name, ("good", "bad", "same")[: len(own)], own, segments, higher, Signature(name))


def test_rows_begin_with_the_fields_of_the_contract_and_hold_every_system_and_metric(ts) -> None:
    found = gnomon.compare(ts, ["bleu", "chrf"], **FEW)
    assert list(found.rows[0])[: len(CONTRACT)] == CONTRACT
    assert [c.name for c in found.table().columns][: len(CONTRACT)] == CONTRACT
    assert len(found.rows) == 2 * len(ts.systems)
    first = "apertium-direct"  # with the best score
    assert {row["baseline"] for row in found.rows} == {first}
    own = _row(found, first, "bleu")
    assert [own[name] for name in ("difference", "low", "high", "p")] == [None] * 4
    assert own["verdict"] == "baseline"


def test_scores_and_differences_are_those_of_the_score_command(ts) -> None:
    found = gnomon.compare(ts, ["bleu", "ter"], baseline="apertium-french", **FEW)
    for metric in ("bleu", "ter"):
        scores = score(ts, metric)
        by_name = dict(zip(scores.systems, scores.system, strict=True))
        for name in ts.systems:
            row = _row(found, name, metric)
            assert row["score"] == pytest.approx(by_name[name], abs=1e-12)
            if name != "apertium-french":
                difference = by_name[name] - by_name["apertium-french"]
                assert row["difference"] == pytest.approx(difference, abs=1e-12)
    assert found.rows[0]["system"] == "apertium-french"


def _drawn(ts, names):
    scores = score(ts.select(systems=names), "bleu")
    draws = resamples(ts.segments, count=200, seed=12345)
    made = [scores.aggregate(scores.statistics[:, draw].sum(axis=1)) for draw in draws]
    return scores, draws, np.array(made)


def test_p_and_interval_are_those_of_a_plain_loop_of_studentised_resamples(ts) -> None:
    names = ["apertium-catalan", "apertium-galician"]
    row = _row(gnomon.compare(ts.select(systems=names), "bleu", **FEW), names[1])
    scores, draws, drawn = _drawn(ts, names)
    n = ts.segments
    left_out = [np.delete(scores.statistics, k, axis=1).sum(axis=1) for k in range(n)]
    left = np.array([np.subtract(*scores.aggregate(sums)[::-1]) for sums in left_out])
    added = (n - 1) * (left.mean() - left)
    error = np.std(added, ddof=1) / np.sqrt(n)
    shift = drawn[:, 1] - drawn[:, 0] - (scores.system[1] - scores.system[0])
    t = np.sort(shift / np.array([np.std(added[draw], ddof=1) / np.sqrt(n) for draw in draws]))
    # of 200 draws, 5 of 201 are 2.5 %: the fifth from each end, or Student's t if that is farther
    student = t_distribution.ppf(0.975, n - 1)
    ends = [row["difference"] - end * error for end in (max(t[-5], student), min(t[4], -student))]
    assert (row["low"], row["high"]) == pytest.approx(ends, abs=1e-8)
    observed = row["difference"] / error
    tails = [
        max((1 + (t >= observed).sum()) / 201, t_distribution.sf(observed, n - 1)),
        max((1 + (t <= observed).sum()) / 201, t_distribution.cdf(observed, n - 1)),
    ]
    assert row["p"] == pytest.approx(min(1, 2 * min(tails)))


def test_metrics_of_lower_is_better_are_turned_for_verdict_gain_and_wins(ts) -> None:
    found = gnomon.compare(ts, ["bleu", "ter"], baseline="apertium-catalan", **FEW)
    better, worse = _row(found, "apertium-direct", "ter"), _row(found, "apertium-french", "ter")
    assert better["difference"] < 0 < better["gain"]
    assert (better["verdict"], worse["verdict"]) == ("better", "worse")
    assert better["gain"] == -better["difference"]
    assert better["wins"] > better["losses"]
    assert worse["wins"] < worse["losses"]


def test_equal_outputs_differ_by_nothing_with_p_1(tiny) -> None:
    for options in ({}, {"test": "ar"}, {"test": "sacrebleu"}):
        found = gnomon.compare(tiny, ["bleu", "chrf"], **{**FEW, **options})
        for metric in ("bleu", "chrf"):
            row = _row(found, "same", metric)
            assert [row[k] for k in ("difference", "low", "high", "p")] == [0, 0, 0, 1]
            assert row["decided"] is False
            assert (row["wins"], row["ties"], row["losses"]) == (0, 4, 0)
            assert row["verdict"] == "undecided"


def test_results_depend_on_the_seed_alone_not_on_workers_or_repetition(ts) -> None:
    options = {"metrics": ["bleu", "chrf"], "by": "length", **FEW, "resamples": 99}
    one = gnomon.compare(ts, workers=1, **options)
    assert gnomon.compare(ts, workers=4, **options) == one
    assert gnomon.compare(ts, workers=3, test="ar", **options) == gnomon.compare(
        ts, test="ar", **options
    )
    assert gnomon.compare(ts, seed=7, **options).rows != one.rows


def test_other_systems_do_not_change_a_comparison(ts) -> None:
    names = list(ts.systems)
    every = gnomon.compare(ts, "chrf", baseline=names[0], **FEW)
    turned = gnomon.compare(ts.select(systems=names[::-1]), "chrf", baseline=names[0], **FEW)
    pair = gnomon.compare(ts.select(systems=[names[0], names[3]]), "chrf", **FEW)
    assert _row(every, names[3]) == _row(turned, names[3])
    for key in ("score", "score_low", "score_high", "difference"):
        assert _row(every, names[3])[key] == pytest.approx(_row(pair, names[3])[key], abs=1e-12)
    # of four differences at once, intervals are wider
    wide = _row(every, names[3])["high"] - _row(every, names[3])["low"]
    assert wide > _row(pair, names[3])["high"] - _row(pair, names[3])["low"]


@pytest.mark.parametrize("options", [{}, {"baseline": "apertium-catalan"}, {"by": "length"}])
def test_a_row_is_decided_where_its_interval_leaves_0_out_and_p_is_small(ts, options) -> None:
    found = gnomon.compare(ts, ["bleu", "chrf", "ter"], **FEW, **options)
    tested = [row for row in found.rows if row["p"] is not None]
    assert len(tested) >= 12
    for row in tested:
        outside = row["high"] <= 0 > row["difference"] or row["low"] >= 0 < row["difference"]
        assert row["decided"] == outside == (row["p"] <= 0.05)
        assert row["decided"] == (row["verdict"] in ("better", "worse"))


def test_of_several_systems_the_best_is_the_baseline_in_any_order_of_files(ts) -> None:
    names = list(ts.systems)
    for order in (names, names[::-1]):
        found = gnomon.compare(ts.select(systems=order), ["bleu", "ter"], **FEW)
        assert {row["baseline"] for row in found.rows} == {"apertium-direct"}
        assert "|baseline_by:score" in str(found.signatures["bleu"])
        rows = [row for row in found.rows if row["metric"] == "bleu"]
        assert [row["verdict"] for row in rows] == ["baseline", *["worse"] * 4]


def test_each_metric_has_the_best_system_as_its_own_baseline(tiny) -> None:
    up, down = np.ones((3, 4)) * [[0.9], [0.5], [0.1]], np.ones((3, 4)) * [[0.1], [0.9], [0.5]]
    found = gnomon.compare(tiny, [_scores(up, name="up"), _scores(down, name="down")], **FEW)
    assert [(row["metric"], row["system"], row["baseline"]) for row in found.rows] == [
        *(("up", name, "good") for name in ("good", "bad", "same")),
        *(("down", name, "bad") for name in ("bad", "same", "good")),
    ]


def test_families_of_more_than_ten_comparisons_take_more_draws(ts) -> None:
    found = gnomon.compare(ts, "bleu", by="document", examples=0, ngrams=0)
    assert "|bs:1000|" in str(found.signatures["bleu"])
    assert "slices_bs:5000" in str(found.signatures["bleu"])
    coins = {"test": "ar", "resamples": 19, "examples": 0, "ngrams": 0}
    assert not gnomon.compare(ts, "bleu", **coins).notices


def test_without_resamples_there_are_scores_and_differences_alone(ts, monkeypatch) -> None:
    drawn = gnomon.compare(ts, ["bleu", "ter"], **FEW)
    monkeypatch.delattr(SystemFamily, "draws")
    monkeypatch.delattr(SystemFamily, "exchanges")
    plain = gnomon.compare(ts, ["bleu", "ter"], **{**FEW, "resamples": 0})
    gone = ("low", "high", "p", "decided", "score_low", "score_high")
    shown = (*gone, "verdict", "p_least")
    for row, other in zip(plain.rows, drawn.rows, strict=True):
        assert [row[key] for key in gone] == [None] * len(gone)
        kept = [key for key in row if key not in shown]
        assert [row[key] for key in kept] == [other[key] for key in kept]
    assert plain.tables[0].note == "No resamples: neither intervals nor p."
    assert not notes(plain.notices)
    randomised = gnomon.compare(ts, "bleu", test="ar", **{**FEW, "resamples": 0})
    assert {row[key] for row in randomised.rows for key in ("p", "low")} == {None}


@pytest.mark.parametrize("by", ["length", "score", "document"])
def test_slices_share_out_the_segments(ts, by) -> None:
    first = next(iter(ts.systems))
    found = gnomon.compare(ts, "bleu", by=by, baseline=first, **FEW)
    for name in list(ts.systems)[1:]:
        parts = [row for row in found.rows if row["system"] == name and row["slice"] is not None]
        whole = _row(found, name)
        assert len(parts) > 1
        for count in ("segments", "wins", "ties", "losses"):
            assert sum(row[count] for row in parts) == whole[count]
    table = found.table("slices")
    assert len(table.rows) == len(parts) * (len(ts.systems) - 1)
    assert all(row["undecided"] is not None for row in table.rows)


def test_length_slices_are_cut_by_the_references(tiny) -> None:
    found = gnomon.compare(tiny, "chrf", by="length", **FEW)
    parts = [row for row in found.rows if row["system"] == "bad" and row["slice"]]
    # references of 6, 3, 3, 4 words; the outputs of "bad" have 3, 3, 3, 3
    assert {row["slice"]: row["segments"] for row in parts} == {
        "0-3 words": 2,
        "4-5 words": 1,
        "6+ words": 1,
    }
    single = next(row for row in parts if row["slice"] == "6+ words")
    assert single["segments"] == 1
    assert [single[key] for key in ("low", "high", "p", "decided", "verdict")] == [None] * 5
    # of one segment there is a difference but no test
    alone = score(tiny, "chrf").segments[:, 0]
    assert single["difference"] == pytest.approx(alone[1] - alone[0])


def test_labels_of_the_test_set_make_slices_and_unknown_ones_are_refused(tiny) -> None:
    labelled = TestSet(
        "labelled", tiny.references, tiny.systems, labels={"topic": ["pet", "pet", "time", "pet"]}
    )
    found = gnomon.compare(labelled, "bleu", by="topic", **FEW)
    assert [row["segments"] for row in found.rows if row["system"] == "bad"] == [4, 3, 1]
    with pytest.raises(UnknownNameError, match="topic"):
        gnomon.compare(labelled, "bleu", by="topics", **FEW)
    with pytest.raises(UsageError, match="names no domains"):
        gnomon.compare(labelled, "bleu", by="domain", **FEW)


def test_a_metric_without_statistics_is_compared_by_the_mean_of_its_segments(tiny) -> None:
    segments = [[1.0, 0.5, 0.0, 1.0], [0.5, 0.5, 0.5, 0.0]]
    pair = tiny.select(systems=["good", "bad"])
    found = gnomon.compare(pair, [_scores(segments)], **FEW)
    row = _row(found, "bad")
    assert (row["score"], row["difference"]) == pytest.approx((0.375, -0.25))
    assert (row["wins"], row["ties"], row["losses"]) == (1, 1, 2)
    assert not notes(found.notices)
    other = gnomon.compare(pair, [_scores(segments, system=[0.9, 0.1])], **FEW)
    assert "mine: the corpus score is not the mean of its segments" in notes(other.notices)[0]
    assert _row(other, "bad")["difference"] == pytest.approx(-0.25)


def test_segments_without_a_score_are_left_out_of_the_pair_and_counted(tiny) -> None:
    nan = math.nan
    holes = [[1.0, 0.5, nan, 1.0], [0.5, nan, 0.5, 0.0], [nan] * 4]
    found = gnomon.compare(tiny, [_scores(holes, system=[5 / 6, 1 / 3, nan])], **FEW)
    row = _row(found, "bad")
    assert row["score"] == pytest.approx(1 / 3)
    assert row["difference"] == pytest.approx((0.5 - 1.0 + 0.0 - 1.0) / 2)
    assert row["segments"] == 2
    nothing = _row(found, "same")
    assert [nothing[key] for key in ("score", "difference", "p", "verdict")] == [None] * 4
    assert (nothing["segments"], nothing["wins"]) == (0, 0)
    assert [_row(found, name)["missing"] for name in ("good", "bad", "same")] == [1, 1, 4]
    alike = [[1.0, nan, 0.0, 1.0], [0.5, nan, 0.5, 0.0]]
    shared = gnomon.compare(tiny.select(systems=["good", "bad"]), [_scores(alike)], **FEW)
    assert [_row(shared, name)["missing"] for name in ("good", "bad")] == [1, 1]


def test_a_user_s_function_can_be_compared(tiny) -> None:
    found = gnomon.compare(tiny, lambda candidate, reference: candidate == reference, **FEW)
    assert _row(found, "bad")["difference"] == pytest.approx(-0.75)


LINES = st.lists(st.sampled_from(["the", "cat", "sat", "."]), max_size=5).map(" ".join)


@given(rows=st.lists(st.tuples(LINES, LINES, LINES), min_size=1, max_size=5))
def test_exchanging_the_two_systems_turns_every_figure_round(rows) -> None:
    reference, one, two = (list(column) for column in zip(*rows, strict=True))
    ts = TestSet.from_lists({"one": one, "two": two}, reference)
    there = gnomon.compare(ts, "chrf", resamples=99)
    back = gnomon.compare(ts, "chrf", baseline="two", resamples=99)
    row, turned = _row(there, "two"), _row(back, "one")
    assert row["wins"] + row["ties"] + row["losses"] == row["segments"] == len(rows)
    assert (row["wins"], row["losses"]) == (turned["losses"], turned["wins"])
    assert row["difference"] == pytest.approx(-turned["difference"], abs=1e-9)
    assert row["p"] == turned["p"]
    # of one to five segments that differ there is no interval, whether their scores tie or not
    assert (row["p"] is None) == (len(rows) == 1 or row["caveat"] == "different")
    if row["low"] is not None:
        assert row["ties"] == row["segments"]
        assert (row["low"], row["high"]) == pytest.approx((-turned["high"], -turned["low"]))


@pytest.mark.parametrize("names", [["good"], []])
def test_fewer_than_two_systems_are_refused(tiny, names) -> None:
    few = TestSet("few", tiny.references, {name: tiny.systems[name] for name in names})
    with pytest.raises(DataError, match="two systems or more"):
        gnomon.compare(few)


@pytest.mark.parametrize(
    ("options", "error", "said"),
    [
        ({"baseline": "goood"}, UnknownNameError, "did you mean 'good'"),
        ({"test": "bayes"}, UnknownNameError, "bootstrap, ar, sacrebleu"),
        ({"metrics": []}, UsageError, "none is given"),
        ({"metrics": ["bleu", "bleu"]}, UsageError, "named twice"),
        ({"metrics": ["blue"]}, UnknownNameError, "bleu"),
        ({"confidence": 0.0}, UsageError, "confidence"),
        ({"resamples": 18}, UsageError, "19 resamples or more"),
        ({"resamples": 0, "fail_if_worse": ["bleu"]}, UsageError, "none without resamples"),
        ({"seed": -1}, UsageError, "seed"),
        ({"workers": 0}, UsageError, "workers must be a whole number, 1 or more; got 0"),
        ({"examples": -1}, UsageError, "examples"),
        ({"ngrams": -1}, UsageError, "ngrams"),
    ],
)
def test_what_cannot_be_done_is_refused_with_what_can(tiny, options, error, said) -> None:
    with pytest.raises(error, match=said):
        gnomon.compare(tiny, **options)


def test_scores_of_another_test_set_are_refused(tiny) -> None:
    with pytest.raises(DataError, match="of 3 segments"):
        gnomon.compare(tiny, [_scores(np.ones((3, 3)))])
    with pytest.raises(DataError, match="lack same"):
        gnomon.compare(tiny, [_scores(np.ones((2, 4)))])


def test_signatures_say_how_to_make_the_numbers_again(tiny) -> None:
    found = gnomon.compare(tiny, ["bleu"], baseline="bad", test="ar", seed=3, **FEW)
    fields = found.signatures["bleu"]
    assert (fields["baseline"], fields["test"], fields["ar"], fields["seed"]) == (
        "bad",
        "ar",
        "200",
        "3",
    )
    assert fields["bs"] == "200"
