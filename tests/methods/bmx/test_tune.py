import json
import re
from dataclasses import replace

import numpy as np
import pytest
from tests.methods.bmx.counting import Counting
from tests.methods.bmx.invented import (
    PAIRS,
    control_of,
    experiments,
    grids_of_two_data_sets,
    invented,
)
from tests.told import notes

import gnomon as gn
from gnomon import bmx
from gnomon.bmx import Experiment
from gnomon.core.cache import Cache
from gnomon.core.errors import (
    DataError,
    UnknownNameError,
    UsageError,
)
from gnomon.core.human import HumanScores
from gnomon.core.testset import TestSet
from gnomon.report import render, write_html


@pytest.fixture(scope="module")
def tuned():
    return bmx.tune(experiments(), resamples=100)


def of_experiments(found):
    return [row for row in found.rows if row["dataset"] != "all test sets"]


def test_every_explainer_has_a_row_for_all_test_sets_and_one_for_each(tuned):
    keys = [(row["explainer"], row["dataset"], row["language_pair"]) for row in tuned.rows]
    each = [("made up", pair) for pair in PAIRS for _ in ("bleu", "chrf")]
    wanted = [("all test sets", None), *each]
    assert keys == [(explainer, *one) for explainer in ("erasure", "lime") for one in wanted]
    assert {row["data"] for row in tuned.rows} == {"in turn"}


def test_gains_are_the_grids_at_what_the_other_language_pairs_choose(tuned):
    grids = bmx.search(experiments())
    for row in of_experiments(tuned):
        others = [pair for pair in PAIRS if pair != row["language_pair"]]
        setting = bmx.choose(
            grids.where(explainer=row["explainer"], language_pair=others), "largest-mean"
        )
        assert (row["p"], row["w"]) == (setting.p, setting.w)
        named = bmx.Experiment(
            *(row[k] for k in ("dataset", "explainer", "metric", "language_pair"))
        )
        grid = grids.correlations[grids.experiments.index(named)]
        assert row["base"] == pytest.approx(grid[0, -1], abs=1e-12)
        boosted = grid[setting.row, setting.column]
        assert row["gain"] == pytest.approx(boosted - row["base"], abs=1e-12)
        assert row["low"] <= row["high"]


def test_the_row_of_all_test_sets_has_the_choice_of_all_and_the_mean_of_each(tuned):
    grids = bmx.search(experiments())
    for row in tuned.rows:
        if row["dataset"] != "all test sets":
            continue
        setting = bmx.choose(grids.where(explainer=row["explainer"]), "largest-mean")
        assert (row["p"], row["w"]) == (setting.p, setting.w)
        each = [r for r in of_experiments(tuned) if r["explainer"] == row["explainer"]]
        for name in ("gain", "over_control"):
            assert row[name] == pytest.approx(np.mean([r[name] for r in each]))
        assert row["low"] <= row["gain"] <= row["high"]
        assert row["over_low"] <= row["over_control"] <= row["over_high"]
        assert row["n"] == 8


@pytest.mark.parametrize("rule", ["median", "most-improving", "largest-mean"])
def test_the_rule_chooses(rule):
    grids = bmx.search(experiments())
    found = bmx.tune(grids, rule=rule, resamples=0)
    setting = bmx.choose(grids.where(explainer="lime"), rule)
    (row,) = [r for r in found.rows if (r["explainer"], r["dataset"]) == ("lime", "all test sets")]
    assert (row["p"], row["w"]) == (setting.p, setting.w)


def test_both_tables_are_there_and_hold_no_nan(tuned):
    assert [table.name for table in tuned.tables] == ["gains", "curve"]
    for table in tuned.tables:
        for row in table.rows:
            assert set(row) >= {column.name for column in table.columns}
            assert not any(isinstance(v, float) and np.isnan(v) for v in row.values())


def test_the_curve_is_the_mean_of_all_experiments_with_the_metric_alone_as_a_level_line(tuned):
    grids = bmx.search(experiments()).where(explainer="lime")
    rows = [row for row in tuned.table("curve").rows if row["explainer"] == "lime"]
    assert {row["w"] for row in rows} == {0, 0.2, 0.4, 0.6, 0.8, 1}
    assert len({row["value"] for row in rows if row["w"] == 1}) == 1
    assert {0.0, -30.0, 29.9} <= {row["p"] for row in rows}
    for row in rows:
        place = np.searchsorted(grids.p, row["p"]), np.searchsorted(grids.w, row["w"])
        assert row["value"] == pytest.approx(grids.correlations[:, *place].mean())


def test_notices_say_what_was_held_out(tuned):
    said = " ".join(notes(tuned.notices))
    assert "on all other language pairs (or, of one pair, test sets), with one of 4" in said
    assert "random" not in said


def test_one_test_set_alone_is_judged_on_halves_of_its_segments():
    found = bmx.tune([invented(50)], resamples=50)
    said = " ".join(notes(found.notices))
    assert "one test set alone" in said
    assert "random explainer was not run" in said
    every, one = found.rows
    assert {row["data"] for row in found.rows} == {"halves"}
    assert (every["p"] is None, one["p"] is None) == (False, True)
    assert one["lowest"] <= one["gain"] <= one["highest"]
    assert every["gain"] == one["gain"]


def test_one_grid_alone_is_judged_on_nothing():
    found = bmx.tune(bmx.search([invented(50)]), resamples=50)
    (row,) = found.rows
    assert (row["data"], row["gain"], row["n"]) == (None, None, 0)
    assert row["p"] is not None
    assert "none can be held out" in " ".join(notes(found.notices))


def test_what_is_held_back_has_no_part_in_the_choice_by_hand():
    found = bmx.tune(grids_of_two_data_sets(), test_on="new", resamples=0)
    rows = [row for row in found.rows if row["data"] == "held back"]
    every = rows[0]  # p = -0.3, w = 0.4 on the old data alone
    assert {(row["p"], row["w"]) for row in rows} == {(-0.3, 0.4)}
    assert (every["dataset"], every["n"]) == ("all test sets", 2)
    assert every["gain"] == pytest.approx((0.05 - 0.01) / 2)
    # p of the random explainer is -1.0 at w = 0.4 on the old data: .32 and .18 on the new
    assert every["over_control"] == pytest.approx(((0.35 - 0.32) + (0.19 - 0.18)) / 2)
    assert [(row["dataset"], row["language_pair"]) for row in rows[1:]] == [
        ("new", "de-en"),
        ("new", "fi-en"),
    ]
    assert [row["base"] + row["gain"] for row in rows[1:]] == pytest.approx([0.35, 0.19])
    others = [row for row in found.rows if row["data"] == "in turn"]
    assert {row["dataset"] for row in others} == {"all test sets", "old"}


@pytest.mark.parametrize(
    ("named", "back"),
    [
        ("new", {"new/de-en", "new/fi-en"}),
        ("cs-en", {"old/cs-en"}),
        ("new/de-en", {"new/de-en"}),
        ("/some/where/new/de-en", {"new/de-en"}),
    ],
)
def test_a_test_set_is_named_by_data_by_pair_or_by_both(named, back):
    found = bmx.tune(grids_of_two_data_sets(), test_on=named, resamples=0)
    rows = [row for row in found.rows if row["data"] == "held back"][1:]
    assert {f"{row['dataset']}/{row['language_pair']}" for row in rows} == back


def test_what_cannot_be_held_back_is_refused_before_anything_is_explained():
    with pytest.raises(UnknownNameError, match=r"unknown test set 'newer'.*new/de-en"):
        bmx.tune(grids_of_two_data_sets(), test_on="newer")
    counting = Counting()
    with pytest.raises(UnknownNameError, match="toy/de-en"):
        bmx.tune(judged(), counting, test_on="fi-en")
    with pytest.raises(DataError, match="none is left to choose p and w on"):
        bmx.tune(judged(), counting, test_on="toy")
    assert not counting.scored


def test_undefined_experiments_are_named_and_do_not_hurt_the_others():
    one = invented(30)
    still = bmx.Explained(
        Experiment("made up", "erasure", "chrf", "fi-en"),
        one.score, one.values, one.offsets, np.full(30, 2.0),
    )  # fmt: skip
    flat = bmx.Explained(
        Experiment("made up", "erasure", "ter", "fi-en"),
        np.zeros(30), one.values, one.offsets, one.human,
    )  # fmt: skip
    found = bmx.tune([one, still, flat], resamples=20)
    said = " ".join(notes(found.notices))
    assert "fi-en chrf erasure: no correlation is defined: all human scores are equal" in said
    assert "gives all segments the same score" in said
    assert [row["n"] for row in found.rows] == [1, 1, 0, 0]


def test_nothing_defined_is_a_finding_of_undefined_rows():
    one = invented(30)
    nothing = bmx.Explained(one.experiment, one.score, one.values, one.offsets, np.full(30, np.nan))
    found = bmx.tune([nothing], resamples=20)
    assert {row["gain"] for row in found.rows} == {None}
    assert "no correlation is defined" in " ".join(notes(found.notices))
    render(found, "text", command="bmx tune")


def test_a_control_that_is_dwarfed_by_the_scores_is_said():
    one = invented(20)
    hundred = replace(one, score=100 * one.score)
    found = bmx.tune([hundred, control_of(hundred)], resamples=20)
    assert "scores of bleu are far larger" in " ".join(notes(found.notices))
    found = bmx.tune([one, control_of(one)], resamples=20)
    assert "far larger" not in " ".join(notes(found.notices))


def test_options_out_of_range_are_refused():
    some = [invented(20)]
    with pytest.raises(UnknownNameError, match="exponential"):
        bmx.tune(some, shift="exp")
    with pytest.raises(UnknownNameError, match="most-improving"):
        bmx.tune(some, rule="best")
    with pytest.raises(DataError, match="twice"):
        bmx.tune([*some, *some])
    with pytest.raises(DataError, match="control"):
        bmx.tune([control_of(some[0])])


def test_the_page_is_written(tuned, tmp_path):
    write_html(tmp_path / "page.html", [tuned])
    page = (tmp_path / "page.html").read_text()
    assert "Correlation over p" in page
    assert json.loads(render(tuned, "json", command="bmx tune"))["rows"]


WORDS = ["the", "cat", "sat", "on", "a", "mat", "and", "then", "it", "ate", "all", "its", "fish"]


def judged(k: int = 2, n: int = 12) -> TestSet:
    """Outputs that lack ever more words, and people who count them; every fifth is unscored."""
    generator = np.random.default_rng(0)
    lengths = generator.integers(4, len(WORDS), (k, n))
    systems = {f"s{i}": [" ".join(WORDS[:m]) for m in row] for i, row in enumerate(lengths)}
    made = TestSet.from_lists(systems, [" ".join(WORDS)] * n, language_pair="de-en", name="toy")
    human = lengths + generator.normal(0, 1, (k, n))
    human[:, ::5] = np.nan
    return replace(made, human=(HumanScores("da", "segment", tuple(systems), human),))


def test_segments_that_people_judged_are_explained_and_no_others():
    def overlap(candidate: str, reference: str) -> float:
        return len(set(candidate.split()) & set(reference.split())) / 10

    made = judged()
    one = bmx.explained(made, overlap, "erasure")
    scored = ~np.isnan(made.human_scores("da"))
    assert len(one.score) == scored.sum()
    assert not np.isnan(one.human).any()
    np.testing.assert_array_equal(one.human, made.human_scores("da")[scored])
    few = bmx.explained(made, overlap, "erasure", sample=7)
    again = bmx.explained(made, overlap, "erasure", sample=7)
    assert len(few.score) == 7
    assert few.human.tolist() == again.human.tolist()
    with pytest.raises(UsageError, match="sample must be"):
        bmx.explained(made, overlap, sample=0)


def test_a_file_of_human_scores_judges_one_test_set_as_its_own_scores_do(tmp_path):
    made = judged()
    file = tmp_path / "de-en.da.seg.tsv"
    scores = made.human[0]
    lines = [
        f"{name}\t{n}\t{value!r}\n"
        for name, row in zip(scores.systems, scores.values.tolist(), strict=True)
        for n, value in enumerate(row, start=1)
        if not np.isnan(value)
    ]
    file.write_text("".join(["system\tseg\tda\n", *lines]))
    asked = {"resamples": 50}
    own = bmx.tune(made, "chrf", **asked)
    read = bmx.tune(replace(made, human=()), "chrf", human=str(file), **asked)
    assert read.rows == own.rows
    with pytest.raises(UsageError, match="of one test set, and 2 are given"):
        bmx.tune([made, made], "chrf", human=str(file), **asked)


def test_without_human_scores_there_is_nothing_to_tune_on():
    made = TestSet.from_lists({"a": ["x"]}, ["x"])
    with pytest.raises(DataError, match="human"):
        bmx.explained(made, "chrf")


def test_explanations_that_were_saved_are_tuned_on_as_if_they_were_made_anew(tmp_path):
    made, path = judged(), tmp_path / "erasure.jsonl"
    bmx.explain(made, "chrf", "erasure", save_explanations=path)
    direct = bmx.tune(made, "chrf", "erasure", resamples=20)
    saved = bmx.tune(made, "chrf", f"file({str(path)!r})", resamples=20)
    for one, other in zip(direct.rows, saved.rows, strict=True):
        assert {**one, "explainer": other["explainer"]} == other


def test_functions_that_look_alike_do_not_share_explanations(tmp_path):
    def written(weight):
        space = {}
        exec(f"def overlap(candidate, reference): return len(candidate) * {weight}", space)  # noqa: S102  # a function whose source nobody can read
        return space["overlap"]

    made = judged()
    with Cache(tmp_path / "cache") as cache:
        one, two = (bmx.explained(made, written(k), cache=cache) for k in (1.0, 2.0))
    np.testing.assert_allclose(2 * one.values, two.values)
    assert "nothing is kept for later" in " ".join(notes(bmx.tune([one], resamples=20).notices))


def test_the_score_that_is_weighed_is_that_beside_all_references(tmp_path):
    made = judged()
    texts = next(iter(made.references.values()))
    made = replace(made, references={"A": texts, "B": tuple(t[4:] for t in texts)})
    human = made.human_scores("da")
    boosted = gn.score(made, "bmx(bleu, explainer='erasure', p=1, w=0.6)").segments
    path = tmp_path / "x.jsonl"
    bmx.explain(made, "bleu", sides="both", save_explanations=path)
    files = bmx.explained(made, "bleu", f"file({str(path)!r})")
    found = bmx.explanations(made, "bleu")
    assert (found.scores != found.held).any()
    for one in (bmx.explained(made, "bleu"), files):
        means = bmx.power_means(one.values, one.offsets, [1.0]).means[0]
        mixed = bmx.combine(one.score, means, 0.6)
        np.testing.assert_allclose(mixed, boosted[~np.isnan(human)], atol=1e-9)


def test_too_many_calls_are_refused_once_for_all_systems_together():
    made = judged()
    scores = made.human_scores("da").copy()
    scores[0, 0], scores[1, 0] = np.nan, 1.0  # the systems have segments of their own
    made = replace(made, human=(HumanScores("da", "segment", tuple(made.systems), scores),))
    with pytest.raises(UsageError) as refused:
        bmx.explained(made, Counting(), "erasure", max_calls=1)
    needed = int(re.search(r"up to (\d+) metric calls", str(refused.value))[1])
    counting = Counting()
    with pytest.raises(UsageError, match=rf"more than the {needed - 1} that are allowed"):
        bmx.explained(made, counting, "erasure", max_calls=needed - 1)
    assert not counting.scored
    bmx.explained(made, counting, "erasure", max_calls=needed)


def test_test_sets_are_tuned_on_as_their_experiments_are():
    made = judged()
    each = [bmx.explained(made, "chrf", explainer) for explainer in ("erasure", "random")]
    direct = bmx.tune(made, "chrf", resamples=0)
    assert direct.rows == bmx.tune(each, resamples=0).rows
    assert (direct.rows[0]["low"], direct.rows[0]["over_low"]) == (None, None)


def test_the_scale_makes_the_control_count():
    large, small = (bmx.tune(judged(), "chrf", resamples=0, scale=scale) for scale in (1.0, 100.0))
    assert "far larger" in " ".join(notes(large.notices))
    assert "far larger" not in " ".join(notes(small.notices))
    explained = [bmx.explained(judged(), "chrf", "erasure", scale=s) for s in (1.0, 100.0)]
    np.testing.assert_allclose(explained[0].score / 100, explained[1].score)
    np.testing.assert_allclose(explained[0].values / 100, explained[1].values, atol=1e-12)
    random = [bmx.explained(judged(), "chrf", "random", scale=s) for s in (1.0, 100.0)]
    np.testing.assert_array_equal(random[0].values, random[1].values)


def test_a_second_iteration_is_that_of_the_boosted_metric_and_starts_where_the_first_ended():
    made, spec = judged(), "bmx(chrf, explainer='erasure', p=-0.3, w=0.6)"
    first, second = (
        bmx.search([bmx.explained(made, metric, "erasure")]) for metric in ("chrf", spec)
    )
    setting = bmx.grid_setting(first, -0.3, 0.6)
    ended = first.base + bmx.gains_at(first, setting)
    assert second.base == pytest.approx(ended, abs=1e-12)
    twice = gn.score(made, "bmx(chrf, explainer='erasure', p=[-0.3, -0.3], w=[0.6, 0.6])")
    human = made.human_scores("da")
    scored = ~np.isnan(human)
    r = np.corrcoef(twice.segments[scored], human[scored])[0, 1]
    assert second.base + bmx.gains_at(second, setting) == pytest.approx(r, abs=1e-9)
