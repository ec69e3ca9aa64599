"""``gnomon.difficulty.score``: both sides, ranks, agreement, curves, and what is refused."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import pytest
from scipy.stats import norm
from scipy.stats import t as t_distribution
from tests.methods.difficulty.sets import contest, judged, rows, sentences, spoiled

import gnomon as gn
from gnomon import difficulty, stats
from gnomon.core.errors import DataError, UnknownNameError, UsageError
from gnomon.core.testset import SystemInfo
from gnomon.methods.difficulty.agreement import ranks
from gnomon.metrics import bind
from gnomon.stats.measures import grouped_statistic

if TYPE_CHECKING:
    from pathlib import Path

    from gnomon.core.findings import Finding

PLAIN = {"other_metrics": []}
ROUGE = "rouge(type='rouge1')"


@pytest.fixture(scope="module")
def small() -> gn.TestSet:
    return contest()


@pytest.fixture
def tokens(tiny_model: Path) -> str:
    pytest.importorskip("torch", reason="pip install 'gnomon[models]'")
    return f"bertscore(model='{tiny_model}', layer=2, device='cpu')"


def names(found: Finding) -> set[str]:
    return {table.name for table in found.tables}


def test_rows_are_those_of_the_contract_best_first(small) -> None:
    found = difficulty.score(small, "rouge1", **PLAIN)
    assert list(found.rows[0])[:6] == [
        "system", "metric", "score", "base_score", "rank", "base_rank",
    ]  # fmt: skip
    assert [row["rank"] for row in found.rows] == sorted(row["rank"] for row in found.rows)
    weighted = gn.score(small, "difficulty(rouge1)")
    base = gn.score(small, "rouge1")
    for row in found.rows:
        k = small.batch().systems.index(row["system"])
        assert row["score"] == pytest.approx(weighted.system[k])
        assert row["base_score"] == pytest.approx(base.system[k])
        assert row["moved"] == row["base_rank"] - row["rank"]
        assert row["metric"] == "difficulty(rouge(type='rouge1'))"


def test_only_the_weights_differ_between_base_and_weighted_score(small, tokens) -> None:
    spec = f"difficulty({tokens}, rescale=False)"
    found = difficulty.score(small, spec, curves=False, **PLAIN)
    bound = bind(small, spec)[1]
    parts = bound.base_parts(small.batch())  # type: ignore[attr-defined]  # difficulty has them
    p, r = parts[..., 0].mean(axis=1), parts[..., 1].mean(axis=1)
    parts = bound.parts(small.batch()).mean(axis=1)  # type: ignore[attr-defined]  # likewise
    plain = gn.score(small, tokens.replace(")", ", special='exclude')"))
    for row in found.rows:
        k = small.batch().systems.index(row["system"])
        assert row["base_score"] == pytest.approx(2 * p[k] * r[k] / (p[k] + r[k]))
        assert row["base_mean"] == pytest.approx(plain.system[k], abs=1e-6)
        assert (row["base_precision"], row["base_recall"]) == pytest.approx((p[k], r[k]))
        assert [row["precision"], row["recall"]] == pytest.approx(parts[k, :2].tolist())
    judged = {row["metric"] for row in rows(found, "agreement")}
    assert {f"difficulty(bertscore), {half}" for half in ("precision", "recall")} <= judged


def test_equal_scores_share_a_rank_and_undefined_ones_have_none() -> None:
    assert ranks(np.array([1.0, 2.0, np.nan, 2.0])) == [3, 1, None, 1]


def test_agreement_is_that_of_the_statistics_over_all_and_the_best(small) -> None:
    found = difficulty.score(small, "rouge1", other_metrics=["ter", "bleu"])
    scored = {
        "ter": -gn.score(small, "ter").system,
        "bleu": gn.score(small, "bleu").system,
        ROUGE: gn.score(small, "rouge1").system,
        f"difficulty({ROUGE})": gn.score(small, "difficulty(rouge1)").system,
    }
    human = -np.arange(10.0)
    for subset, k in (("all", 10), ("top 3", 3)):
        judged_by = {
            "pearson": stats.pearson,
            "spearman": stats.spearman,
            "kendall_b": stats.kendall_b,
        }
        own = rows(found, "agreement", subset=subset)
        assert {row["statistic"] for row in own} == set(judged_by)
        for row in own:
            if row["metric"] not in scored:
                assert row["metric"].endswith("mean of segments")
                continue
            expected = judged_by[row["statistic"]](human[:k], scored[row["metric"]][:k])
            assert row["value"] == pytest.approx(expected)
            assert (row["n"], row["unit"], row["level"]) == (k, "systems", "system")


@pytest.mark.parametrize("ties", [False, True])
def test_resamples_are_judged_as_by_the_statistics(ties) -> None:
    rng = np.random.default_rng(3)
    human, scores = rng.normal(size=7), rng.normal(size=(7, 20))
    if ties:
        human, scores = human.round(), scores.round()
    for statistic, of in (
        ("pearson", stats.pearson),
        ("spearman", stats.spearman),
        ("kendall_b", stats.kendall_b),
    ):
        found = grouped_statistic(statistic, "none", "system").of_system_scores(human, scores.T)
        assert found == pytest.approx([of(human, one) for one in scores.T])


def test_gains_have_paired_intervals_over_segments(small) -> None:
    found = difficulty.score(small, "rouge1", curves=False, resamples=50, seed=7, **PLAIN)
    (row,) = rows(found, "gains", statistic="pearson", subset="all")
    batch, human = small.batch(), -np.arange(10.0)
    base, weighted = (bind(small, spec)[1] for spec in ("rouge1", "difficulty(rouge1)"))
    assert row["base"] == pytest.approx(stats.pearson(human, base.system(batch)))
    assert row["value"] == pytest.approx(stats.pearson(human, weighted.system(batch)))
    draws = stats.resamples(30, count=50, seed=7)
    both = [bound.segments(batch) for bound in (base, weighted)]
    drawn = [
        stats.pearson(human, both[1][:, one].mean(axis=1))
        - stats.pearson(human, both[0][:, one].mean(axis=1))
        for one in draws
    ]
    # as far out as Student's t asks for of 30 segments (Hesterberg, 2015)
    share = norm.cdf(-np.sqrt(30 / 29) * t_distribution.ppf(0.975, 29))
    ends = np.quantile(drawn, [share, 1 - share])
    assert [row["gain_low"], row["gain_high"]] == pytest.approx(ends, abs=1e-9)


def test_a_curve_keeps_the_difficulties_of_the_pool(small) -> None:
    found = difficulty.score(small, "rouge1", **PLAIN)
    weighted = gn.score(small, "difficulty(rouge1)").system
    curve = rows(
        found, "curves",
        metric=f"difficulty({ROUGE}), d from all 10 systems", statistic="kendall_b",
    )  # fmt: skip
    assert [row["k"] for row in curve] == list(range(3, 11))
    for row in curve:
        expected = stats.kendall_b(-np.arange(float(row["k"])), weighted[: row["k"]])
        assert row["value"] == pytest.approx(expected)


def test_people_do_not_judge_a_metric_whose_pool_they_chose(small) -> None:
    found = difficulty.score(small, "rouge1", pool="top:5", **PLAIN)
    assert names(found) == {"scores"}
    assert any("chose the pool" in notice and "left out" in notice for notice in found.notices)
    with pytest.raises(UsageError, match=r"human scores \(da\) chose the pool"):
        difficulty.score(small, "rouge1", pool="top:5", human="da", **PLAIN)
    allowed = difficulty.score(small, "rouge1", pool="top:5", allow_circular=True, **PLAIN)
    assert "agreement" in names(allowed)
    assert any(notice.startswith("CIRCULAR") for notice in allowed.notices)


def test_other_human_scores_judge_a_pool_that_people_chose(small) -> None:
    both = judged(small, {f"s{k}": float(k) for k in range(10)}, kind="mqm")
    found = difficulty.score(both, "rouge1", pool="top:5", pool_by="da", human="mqm", **PLAIN)
    assert "agreement" in names(found)


def test_a_metric_beside_that_has_seen_the_human_scores_is_refused(small) -> None:
    with pytest.raises(DataError, match="has seen the human scores"):
        difficulty.score(small, "rouge1", other_metrics=["difficulty(bleu, pool='top:3')"])


@pytest.mark.parametrize("inner", ["tokens", "rouge1"])
def test_a_frozen_pool_that_people_chose_stays_circular(inner, small, tmp_path, request) -> None:
    spec = request.getfixturevalue("tokens") if inner == "tokens" else inner
    path = str(tmp_path / "hard.npz")
    difficulty.score(small, spec, pool="top:5", save=path, **PLAIN)
    found = difficulty.score(small, spec, frozen=path, **PLAIN)
    assert names(found) == {"scores"}
    scores = gn.score(small, f"difficulty({spec}, frozen='{path}')")
    assert scores.informed_by == ("da",)


def test_saved_difficulties_give_the_same_scores(small, tmp_path) -> None:
    path = str(tmp_path / "hard.npz")
    once = difficulty.score(small, "rouge1", save=path, **PLAIN)
    again = difficulty.score(small, "rouge1", frozen=path, **PLAIN)
    pick = [(row["system"], row["score"]) for row in once.rows]
    assert [(row["system"], row["score"]) for row in again.rows] == pick
    assert again.facts["pool (systems whose misses make words hard)"] == "from a file"


def test_without_human_scores_agreement_is_left_out_with_a_notice(small) -> None:
    found = difficulty.score(replace(small, human=()), "rouge1")
    assert names(found) == {"scores"}
    assert any("human scores of systems: none" in notice for notice in found.notices)
    assert all(row["human_rank"] is None for row in found.rows)


def test_several_kinds_of_human_scores_judge_one_after_the_other(small) -> None:
    both = judged(small, {f"s{k}": float(k) for k in range(10)}, kind="mqm")
    found = difficulty.score(both, "rouge1", **PLAIN)
    assert found.facts["human scores"] == "da, mqm"
    for kind in ("da", "mqm"):
        alone = difficulty.score(both, "rouge1", human=kind, **PLAIN)
        for table in ("agreement", "ranks", "rank_sums", "curves", "points"):
            assert rows(found, table, human=kind) == rows(alone, table)
    titles = [view.title for view in found.views]
    assert "Agreement with people, all 10 systems (da)" in titles
    assert "Agreement with people, all 10 systems (mqm)" in titles
    named = difficulty.score(both, "rouge1", human=["mqm", "da"], **PLAIN)
    ranked = {row["system"]: row["human_rank"] for row in named.rows}
    assert ranked["s9"] == 1  # by the first kind that is named
    with pytest.raises(UnknownNameError, match="'esa'"):
        difficulty.score(both, "rouge1", human="esa", **PLAIN)


def test_two_judged_systems_are_too_few(small) -> None:
    found = difficulty.score(small.select(systems=["s0", "s1"]), "rouge1", **PLAIN)
    assert names(found) == {"scores"}
    assert any("people judged 2 system(s)" in notice for notice in found.notices)


def test_human_translations_are_not_judged(small) -> None:
    people = replace(small, info={"s3": SystemInfo(human=True)})
    found = difficulty.score(people, "rouge1", **PLAIN)
    assert rows(found, "agreement")[0]["n"] == 9
    assert "s3" not in {row["system"] for row in rows(found, "ranks")}


def test_constant_human_scores_leave_correlations_undefined(small) -> None:
    flat = judged(replace(small, human=()), dict.fromkeys(small.systems, 1.0))
    found = difficulty.score(flat, "rouge1", **PLAIN)
    assert {row["value"] for row in rows(found, "agreement")} == {None}
    assert any("all human scores (da) are equal" in notice for notice in found.notices)


def test_too_few_best_systems_are_left_out_with_a_notice(small) -> None:
    found = difficulty.score(small, "rouge1", top="20%", **PLAIN)
    assert {row["subset"] for row in rows(found, "agreement")} == {"all"}
    assert any("top 20% of 10 systems are 2" in notice for notice in found.notices)


@pytest.mark.parametrize("top", ["0", "x", "-3", "101%", "3.5"])
def test_the_best_systems_are_a_number_or_a_share(small, top) -> None:
    with pytest.raises(UsageError, match="a number or a share"):
        difficulty.score(small, "rouge1", top=top, **PLAIN)


def test_a_pool_of_one_system_is_said_and_an_unknown_one_refused(small) -> None:
    found = difficulty.score(small, "rouge1", pool=("s4",), **PLAIN)
    assert any("is one system" in notice for notice in found.notices)
    assert [row["system"] for row in found.rows if row["in_pool"]] == ["s4"]
    with pytest.raises(UnknownNameError, match="'nobody'"):
        difficulty.score(small, "rouge1", pool=("nobody",), **PLAIN)


def test_an_option_that_the_metric_names_otherwise_is_refused(small) -> None:
    with pytest.raises(UsageError, match="pool is given twice"):
        difficulty.score(small, "difficulty(rouge1, pool='top:3')", pool="top:5", **PLAIN)
    same = difficulty.score(small, "difficulty(rouge1, pool='top:3')", pool="top:3", **PLAIN)
    assert same.facts["pool (systems whose misses make words hard)"] == "top 3 of 10 by human da"


def test_defaults_beside_that_cannot_be_had_are_left_out(small, monkeypatch) -> None:
    from gnomon.core.errors import MissingDependencyError
    from gnomon.methods.difficulty import scoring

    real = scoring.score_by

    def without_meteor(testset: gn.TestSet, spec: str, **options: bool) -> gn.Scores:
        if spec == "meteor":
            raise MissingDependencyError("no words here")
        return real(testset, spec, **options)

    monkeypatch.setattr(scoring, "score_by", without_meteor)
    found = difficulty.score(small, "rouge1")
    assert "meteor is left out: no words here" in found.notices
    assert "bleu" in {row["metric"] for row in rows(found, "agreement")}
    with pytest.raises(MissingDependencyError, match="no words here"):
        difficulty.score(small, "rouge1", other_metrics=["meteor"])


def test_slices_are_scored_as_if_they_were_all(small) -> None:
    found = difficulty.score(small, "rouge1", by="length", **PLAIN)
    (row, *_) = rows(found, "slices", slice="all segments", system="s0")
    (whole,) = rows(found, "scores", system="s0")
    assert row["score"] == pytest.approx(whole["score"])
    own = [row for row in rows(found, "slices", system="s0") if row["slice"] != "all segments"]
    assert sum(row["segments"] for row in own) == 30
    mean = sum(row["segments"] * row["base_score"] for row in own) / 30
    assert mean == pytest.approx(whole["base_score"])


def test_system_order_changes_nothing(small, tokens) -> None:
    turned = small.select(systems=list(reversed(list(small.systems))))
    for spec in ("rouge1", tokens):
        one, two = (difficulty.score(ts, spec, **PLAIN) for ts in (small, turned))
        for a, b in zip(one.rows, two.rows, strict=True):
            assert a["system"] == b["system"]
            assert a["score"] == pytest.approx(b["score"], abs=1e-6)
        for a, b in zip(rows(one, "agreement"), rows(two, "agreement"), strict=True):
            assert a["value"] == pytest.approx(b["value"], abs=1e-4)


def test_leaving_out_oneself_reaches_the_scores(small) -> None:
    found = difficulty.score(small, "rouge1", leave_one_out=True, **PLAIN)
    expected = gn.score(small, "difficulty(rouge1, leave_one_out=True)").system
    got = {row["system"]: row["score"] for row in found.rows}
    assert [got[name] for name in small.systems] == pytest.approx(expected.tolist())


def test_two_references_and_an_empty_output_do_no_harm(tokens) -> None:
    references = sentences(4)
    outputs = {f"s{k}": spoiled(references, 0.2 * k, k) for k in range(3)}
    outputs["s2"][1] = ""
    pairs = [[a, b] for a, b in zip(references, sentences(4, 9), strict=True)]
    testset = gn.TestSet.from_lists(outputs, pairs, language_pair="en")
    found = difficulty.score(testset, f"difficulty({tokens}, rescale=False)", **PLAIN)
    assert [row["rank"] for row in found.rows] == [1, 2, 3]
    assert all(0 <= row["score"] <= row["base_score"] for row in found.rows)


def test_several_metrics_stand_in_the_same_tables(small) -> None:
    options = {"by": "length", "omission": True, "resamples": 0, **PLAIN}
    found = difficulty.score(small, ["rouge1", "bleu"], **options)
    for spec in ("rouge1", "bleu"):
        alone = difficulty.score(small, spec, **options)
        own = alone.rows[0]["metric"]
        assert rows(found, "scores", metric=own) == list(map(dict, alone.rows))
        for table in ("ranks", "slices"):
            mine = [
                {k: v for k, v in r.items() if k != "metric"}
                for r in rows(found, table, metric=own)
            ]
            assert mine == rows(alone, table)
        for table in ("agreement", "rank_sums", "curves", "points", "omission"):
            together = [_of_metric_alone(row) for row in rows(found, table)]
            for row in rows(alone, table):
                assert _of_metric_alone(row) in together
    assert set(found.signatures) == {row["metric"] for row in found.rows}


def _of_metric_alone(row: dict) -> dict:
    """Without what says how a metric stands among those beside it."""
    return {name: cell for name, cell in row.items() if name not in ("rank", "cluster")}


def test_one_file_of_difficulties_is_of_one_metric(small, tmp_path) -> None:
    with pytest.raises(UsageError, match="those of one metric"):
        difficulty.score(small, ["rouge1", "bleu"], save=tmp_path / "hard.npz")


def test_the_room_is_called_as_its_main_method(small) -> None:
    assert (
        gn.difficulty(small, "rouge1", **PLAIN).rows
        == difficulty.score(small, "rouge1", **PLAIN).rows
    )


def test_people_may_judge_from_a_file(small, tmp_path) -> None:
    file = tmp_path / "mqm.sys.tsv"
    file.write_text("system\tmqm\n" + "".join(f"s{k}\t{-k}\n" for k in range(4)), encoding="utf-8")
    found = difficulty.score(small, "rouge1", human=[file, "da"], **PLAIN)
    assert {row["human"] for row in rows(found, "agreement")} == {"da", "mqm"}


def test_a_metric_that_is_named_twice_is_refused(small: gn.TestSet) -> None:
    for method in (difficulty.score, difficulty.words, gn.bmx.score, gn.bmx.explain):
        with pytest.raises(UsageError, match="metric 'chrf' is named twice"):
            method(small, ["chrf", "ter", "chrf"])
    with pytest.raises(UsageError, match="an explainer is named twice: lime, lime"):
        gn.bmx.explain(small, "chrf", ["lime", "lime"])
