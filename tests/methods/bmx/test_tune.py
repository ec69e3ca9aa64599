import json
import re
from dataclasses import replace

import numpy as np
import pytest
from tests.methods.bmx.counting import Counting
from tests.methods.bmx.invented import control_of, experiments, invented

import gnomon as gn
from gnomon import bmx
from gnomon.core.cache import Cache
from gnomon.core.errors import (
    DataError,
    FormatError,
    UnknownNameError,
    UsageError,
)
from gnomon.core.human import HumanScores
from gnomon.core.testset import TestSet
from gnomon.methods.bmx._experiments import Experiment
from gnomon.report import render, write_html


@pytest.fixture(scope="module")
def tuned():
    return bmx.tune(experiments(), splits=2, resamples=100)


def test_every_explainer_has_a_row_for_every_rule(tuned):
    rules = ["median", "median-improving", "most-improving", "largest-mean", "held-out", "best"]
    keys = [(row["explainer"], row["rule"]) for row in tuned.rows]
    assert keys == [(e, rule) for e in ("erasure", "lime") for rule in rules]
    for row in tuned.rows:
        assert row["better"] + row["between"] + row["worse"] + row["undefined"] == 8
        assert (row["over_control"] is None) == (row["rule"] != "held-out")


def test_gains_are_the_grids(tuned):
    grids = bmx.search(experiments())
    for row in tuned.table("experiments").rows:
        named = Experiment(*(row[k] for k in ("dataset", "explainer", "metric", "language_pair")))
        grid = grids.of(named)
        place = np.searchsorted(grids.p, row["p"]), np.searchsorted(grids.w, row["w"])
        assert row["boosted"] == pytest.approx(grid[place], abs=1e-12)
        assert row["gain"] == pytest.approx(row["boosted"] - row["base"], abs=1e-12)
        assert row["low"] <= row["high"]
        if row["rule"] == "best":
            assert row["boosted"] == grid.max()


def test_every_table_is_there_and_holds_no_nan(tuned):
    names = ["settings", "experiments", "halves", "density", "spread", "counts", "factors"]
    names += ["relation", "curves", "grid_density", "best_spread"]
    assert [table.name for table in tuned.tables] == names
    for table in tuned.tables:
        for row in table.rows:
            assert set(row) >= {column.name for column in table.columns}
            assert not any(isinstance(v, float) and np.isnan(v) for v in row.values())


def test_curves_hold_all_weights_with_the_metric_alone_as_a_level_line(tuned):
    rows = tuned.table("curves").rows
    assert len({row["experiment"] for row in rows}) == 4
    for name in {row["experiment"] for row in rows}:
        mine = [row for row in rows if row["experiment"] == name]
        assert {row["w"] for row in mine} == {0, 0.2, 0.4, 0.6, 0.8, 1}
        assert len({row["value"] for row in mine if row["w"] == 1}) == 1
        assert {0.0, -30.0, 29.9} <= {row["p"] for row in mine}


def test_notices_say_what_is_in_sample_and_what_was_held_out(tuned):
    said = " ".join(tuned.notices)
    assert "on the very scores that they are judged on" in said
    assert "all other language pairs, with one of 4" in said
    assert re.search(r"Over p < 0, \d+% of the power mean's values collapsed", said)
    assert "random" not in said


def test_one_experiment_alone_is_tuned_and_cannot_be_held_out():
    found = bmx.tune([invented(50)], splits=3, resamples=50)
    said = " ".join(found.notices)
    assert "one language pair alone" in said
    assert "random explainer was not run" in said
    assert "held-out" not in {row["rule"] for row in found.rows}
    assert found.table("halves").rows[0]["n"] == 6


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
    found = bmx.tune([one, still, flat], splits=1, resamples=20)
    said = " ".join(found.notices)
    assert "fi-en chrf erasure: no correlation is defined: all human scores are equal." in said
    assert "gives all segments the same score" in said
    assert found.rows[0]["undefined"] == 2
    assert found.rows[0]["chosen_from"] == 1


def test_nothing_defined_is_a_finding_of_undefined_rows():
    one = invented(30)
    nothing = bmx.Explained(one.experiment, one.score, one.values, one.offsets, np.full(30, np.nan))
    found = bmx.tune([nothing], splits=1, resamples=20)
    assert {row["mean_gain"] for row in found.rows} == {None}
    assert "no correlation is defined" in " ".join(found.notices)
    render(found, "text", command="bmx tune")


def test_a_control_that_is_dwarfed_by_the_scores_is_said():
    one = invented(20)
    hundred = replace(one, score=100 * one.score)
    found = bmx.tune([hundred, control_of(hundred)], splits=0, resamples=20)
    assert "scores of bleu are far larger" in " ".join(found.notices)
    found = bmx.tune([one, control_of(one)], splits=0, resamples=20)
    assert "far larger" not in " ".join(found.notices)


def test_options_out_of_range_are_refused():
    some = [invented(20)]
    with pytest.raises(UnknownNameError, match="exponential"):
        bmx.tune(some, shift="exp")
    with pytest.raises(UnknownNameError, match="language_pair"):
        bmx.tune(some, held_out_by="metric")
    with pytest.raises(UsageError, match="ridge"):
        bmx.tune(some, ridge=0)
    with pytest.raises(DataError, match="twice"):
        bmx.tune([*some, *some])
    with pytest.raises(DataError, match="control"):
        bmx.tune([control_of(some[0])])


def test_the_page_is_written(tuned, tmp_path):
    write_html(tmp_path / "page.html", [tuned])
    page = (tmp_path / "page.html").read_text()
    assert "Density of gains" in page
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
    asked = {"splits": 0, "resamples": 50, "p": [1, 2], "w": [0.5, 1], "curves": 0}
    own = bmx.tune(made, "chrf", **asked)
    read = bmx.tune(replace(made, human=()), "chrf", human=str(file), **asked)
    assert read.rows == own.rows
    with pytest.raises(UsageError, match="of one test set, and 2 are given"):
        bmx.tune([made, made], "chrf", human=str(file), **asked)


def test_without_human_scores_there_is_nothing_to_tune_on():
    made = TestSet.from_lists({"a": ["x"]}, ["x"])
    with pytest.raises(DataError, match="human"):
        bmx.explained(made, "chrf")


def written(path, rows):
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def test_explanation_files_give_what_was_explained(tmp_path):
    made = judged()
    found = bmx.explanations(made, "chrf", "erasure")
    scores = {
        (system, i + 1): found.scores[k, i]
        for k, system in enumerate(found.systems)
        for i in range(found.shape[1])
    }
    rows = [
        {**row, "score": scores[row["system"], row["segment"]], "metric": "chrf"}
        for row in found.rows()
    ]
    read = bmx.read_explanations(written(tmp_path / "erasure.jsonl", rows), made)
    assert str(read.experiment) == "toy de-en chrf erasure"
    grids = bmx.search([read, bmx.explained(made, "chrf", "erasure")]).correlations
    np.testing.assert_allclose(grids[0], grids[1], atol=1e-9)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"system": "nobody"}, "unknown system 'nobody'"),
        ({"segment": 0}, "none of 1 to 12"),
        ({"segment": "1"}, "none of 1 to 12"),
        ({"importance": "much"}, "importance is a number or null"),
        ({"score": 2.0}, "two scores for segment 1"),
        ({"system": ["s0"]}, "unknown system ['s0']"),
        ({"importance": 10**400}, "importance is 1000"),
        ({"metric": "bleu", "position": 2}, "the metric is 'bleu', and 'chrf' before"),
        ({"explainer": "lime", "position": 2}, "the explainer is 'lime', and 'erasure' before"),
        ({}, "word 1 of the candidate of system 's0', segment 1, stands in line 1, too"),
    ],
)
def test_damaged_explanation_files_are_refused_with_their_line(tmp_path, change, said):
    row = {"system": "s0", "segment": 1, "side": "candidate", "importance": 0.1, "score": 1.0}
    row |= {"position": 1, "metric": "chrf", "explainer": "erasure"}
    path = written(tmp_path / "x.jsonl", [row, {**row, **change}])
    with pytest.raises(FormatError, match=re.escape(f"{path}:2: ") + f".*{re.escape(said)}"):
        bmx.read_explanations(path, judged())


def test_lines_that_are_no_records_are_refused(tmp_path):
    path = tmp_path / "x.jsonl"
    path.write_text("[1]\n")
    with pytest.raises(FormatError, match="one object per line"):
        bmx.read_explanations(path, judged())
    path.write_text("{\n")
    with pytest.raises(FormatError, match="not a JSON object"):
        bmx.read_explanations(path, judged())


@pytest.mark.parametrize("number", ["Infinity", "NaN", "1e400", "9" * 400, "9" * 5000])
@pytest.mark.parametrize("key", ["importance", "score"])
def test_explanations_hold_finite_numbers(tmp_path, key, number):
    row = {"system": "s0", "segment": 1, "side": "candidate", "importance": 1, "score": 1}
    path = tmp_path / "x.jsonl"
    path.write_text(json.dumps(row).replace(f'"{key}": 1', f'"{key}": {number}') + "\n")
    with pytest.raises(FormatError, match=r"x\.jsonl:1: .*(a finite number|not a JSON object)"):
        bmx.read_explanations(path, judged())


def test_a_file_without_explanations_is_refused(tmp_path):
    (tmp_path / "x.jsonl").write_text("")
    with pytest.raises(FormatError, match="holds no explanations"):
        bmx.read_explanations(tmp_path / "x.jsonl", judged())


def test_functions_that_look_alike_do_not_share_explanations(tmp_path):
    def written(weight):
        space = {}
        exec(f"def overlap(candidate, reference): return len(candidate) * {weight}", space)  # noqa: S102  # a function whose source nobody can read
        return space["overlap"]

    made = judged()
    with Cache(tmp_path / "cache") as cache:
        one, two = (bmx.explained(made, written(k), cache=cache) for k in (1.0, 2.0))
    np.testing.assert_allclose(2 * one.values, two.values)
    assert "nothing is kept for later" in " ".join(bmx.tune([one], resamples=20, splits=0).notices)


def test_the_score_that_is_weighed_is_that_beside_all_references(tmp_path):
    made = judged()
    texts = next(iter(made.references.values()))
    made = replace(made, references={"A": texts, "B": tuple(t[4:] for t in texts)})
    human = made.human_scores("da")
    boosted = gn.score(made, "bmx(bleu, explainer='erasure', p=1, w=0.6)").segments
    exported = bmx.explain(made, "bleu", sides="both").table("words").rows
    files = bmx.read_explanations(written(tmp_path / "x.jsonl", exported), made)
    found = bmx.explanations(made, "bleu")
    assert (found.scores != found.held).any()
    named = {"dataset": "toy", "explainer": "erasure", "language_pair": "de-en"}
    whole = bmx.Explained.of(found, human, **named)
    judged_alone = bmx.explained(made, "bleu")
    for one in (whole, judged_alone, files):
        means = bmx.power_means(one.values, one.offsets, [1.0]).means[0]
        mixed = bmx.combine(one.score, means, 0.6)
        wanted = boosted[~np.isnan(human)] if one is judged_alone else boosted.ravel()
        np.testing.assert_allclose(mixed, wanted, atol=1e-9)


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


def test_words_that_are_missing_between_others_are_said(tmp_path, caplog):
    row = {"system": "s0", "segment": 1, "side": "candidate", "importance": 0.1, "score": 1.0}
    path = written(tmp_path / "x.jsonl", [row | {"position": n} for n in (1, 2, 4)])
    bmx.read_explanations(path, judged())
    assert "missing between others in 1 texts; the first is the candidate of" in caplog.text


def test_test_sets_are_tuned_on_as_their_experiments_are(tmp_path):
    made = judged()
    each = [bmx.explained(made, "chrf", explainer) for explainer in ("erasure", "random")]
    options = {"splits": 1, "resamples": 0}
    direct = bmx.tune(made, "chrf", save_grids=tmp_path / "g.npz", **options)
    assert direct.rows == bmx.tune(each, **options).rows
    (median, *_) = direct.rows
    assert (median["low"], median["over_low"]) == (None, None)
    grids = bmx.tune(grids=tmp_path / "g.npz", only={"explainer": ["erasure", "random"]}, **options)
    assert [row["mean_gain"] for row in grids.rows] == [row["mean_gain"] for row in direct.rows]


def test_what_contradicts_itself_is_refused_in_python_too():
    for options, said in (
        ({"only": {"metric": "chrf"}}, "only goes with grids"),
        ({"grids": "x.npz", "p": [1.0]}, "grids goes without p"),
        ({}, "nothing to tune"),
    ):
        with pytest.raises(UsageError, match=said):
            bmx.tune(**options)
    with pytest.raises(UsageError, match="one test set, and 2 are named"):
        bmx.tune([judged(), judged()], explanations=["x.jsonl"])
